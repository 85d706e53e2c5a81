/*
 * gsctl.h - the operator's tool, as a process of its own: for what a measurement changes or reads
 * of its server while it runs. In a cell, not in its tenants.
 */
#ifndef GS_BENCH_GSCTL_H
#define GS_BENCH_GSCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts `gsctl ARGS`, ended by NULL, with these for input, output and standard error; -1: the
 * caller's. */
pid_t gsctl_start(const char *const *args, int in, int out, int err);
/* Runs `gsctl ARGS`, ended by NULL; what it prints goes to output unless that is NULL. False: it
 * printed more than size holds, or ended with another status than 0 and said why on stderr. */
bool gsctl_run(const char *const *args, char *output, size_t size);

/* The time on the device that a tenant has been charged. */
struct charge {
    pid_t pid;
    uint64_t gpu_ns;
};

/* Reads the charges of all tenants, `max` at most, and returns how many there are. Fails the cell
 * where gsctl fails. Takes some ms. */
size_t charges_read(struct charge *charges, size_t max);

#endif
