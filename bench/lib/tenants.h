/*
 * tenants.h - processes that do the same thing at the same time. A cell forks them before it uses
 * the device itself, since neither CUDA nor a session survives a fork.
 *
 * Steps are numbered from 1. A tenant that has prepared step n arrives at it and is let through
 * when the cell says go(n); all tenants of a group are let through at once.
 */
#ifndef GS_BENCH_TENANTS_H
#define GS_BENCH_TENANTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/cell.h"

#define TENANT_VALUES 12

struct tenants;

struct tenant {
    struct tenants *group;
    unsigned index;
    const void *arg;
    pid_t pid;
    bool ended;                  /* reaped by the cell */
    int status;                  /* its wait status then */
    _Atomic uint32_t step;       /* arrived at */
    double value[TENANT_VALUES]; /* what it measured */
    char failure[FAILURE_TEXT_MAX];
};

struct tenants {
    unsigned count;
    _Atomic uint32_t go;      /* step let through; a futex */
    _Atomic uint32_t arrived; /* counts arrivals and is a futex: the cell sleeps on it */
    bool tolerant;            /* a tenant that fails does not end the cell */
    struct tenant tenant[];
};

/* Forks count processes that run body and exit. */
struct tenants *tenants_start(unsigned count, void (*body)(struct tenant *), const void *arg);

/* In the tenant: arrives at the step and waits for the go. */
void tenant_arrive(struct tenant *tenant, uint32_t step);

/* In the cell: waits until every tenant has arrived at the step; fails the cell when one has ended
 * instead, or, if the group is tolerant, goes on without it. Returns how many have arrived. */
unsigned tenants_await(struct tenants *group, uint32_t step);

/* In the cell: fails it when a tenant has failed, unless the group is tolerant. */
void tenants_check(struct tenants *group);

/* Lets all tenants through up to the step; returns the time just before. */
uint64_t tenants_go(struct tenants *group, uint32_t step);

/* Waits until all have ended; fails the cell when one failed, unless the group is tolerant. */
void tenants_join(struct tenants *group);

/* Ends the tenants and forgets the group: for groups whose end is not part of the measurement. */
void tenants_free(struct tenants *group);

#endif
