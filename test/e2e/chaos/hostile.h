/*
 * hostile.h - what the hostile tenant of the chaos suite does. Each function below is the body of a
 * tenant and takes a struct hostile, in memory shared with the test, in which it says how far it
 * has come and what it was told. Where the test is root's it does so as another user.
 *
 * It checks nothing: it may be refused, ended or killed at any call.
 */
#ifndef GS_TEST_CHAOS_HOSTILE_H
#define GS_TEST_CHAOS_HOSTILE_H

#include <stdint.h>

#include "harness/harness.h"

struct hostile {
    const char *instance;
    uid_t uid;       /* as whom; only where the test is root's */
    unsigned kernel; /* of hostile_kernels */
    bool waits;      /* hostile_kernel, before it launches: until `go` is passed */
    struct gate go;
    struct gate ready;        /* it is about to launch, waits for `go`, or was refused */
    struct gate launched;     /* its kernels are launched, or it was refused */
    _Atomic uint32_t refused; /* calls that were refused */
    _Atomic uint32_t done;    /* calls that were not */
    _Atomic uint32_t fault;   /* gs_fault_kind of the first of its sessions that had one */
    _Atomic uint32_t ended;   /* sessions of it that ended by no doing of its own */
};

/* Kernels of which each does one kind of harm. */
unsigned hostile_kernel_count(void);
const char *hostile_kernel_name(unsigned kernel);
/* Index of the one with that name. */
unsigned hostile_kernel_named(const char *name);

/* Reads the forms of instructions that address memory; returns how many there are. */
unsigned hostile_forms_read(void);

/* Launches one of those kernels. */
void hostile_kernel(void *hostile);
/* Some of the forms of instructions, each with addresses of neighbours and of anywhere. */
void hostile_stray(void *hostile);
/* Writes anything anywhere into its segment, some time long. */
void hostile_scribbles(void *hostile);
/* Records of every kind with fields that make little sense, among them changes of a graph. */
void hostile_records(void *hostile);
/* PTX with some bytes changed; what can be loaded is launched. */
void hostile_mutants(void *hostile);
/* Takes all that it can get of device memory, pinned memory, and pieces that can be exported. */
void hostile_memory(void *hostile);
/* The same of sessions, streams and events. */
void hostile_sessions(void *hostile);
/* The same of arrays, their levels, textures and surfaces, of modules, and of graphs. */
void hostile_objects(void *hostile);
/* Message queues of its own, and messages to the server that mean nothing. */
void hostile_queues(void *hostile);
/* Processes, each with a session. */
void hostile_processes(void *hostile);

#endif
