/*
 * env.h - the environment variables that gs_attach obeys: gshare's own, and where one is unset,
 * NVIDIA MPS's. Each can only lower what the caller asked for. Texts are parsed whole: what is left
 * over is an error, never ignored.
 */
#ifndef GS_CLIENT_ENV_H
#define GS_CLIENT_ENV_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "gshare.h"

/* "512M": a number of bytes, with K, M, G or T for powers of 1024. Not 0. */
bool env_parse_size(const char *text, uint64_t *bytes);
/* A size for every device, or MPS's form "0=1G,1=512M". *bytes: that of the device; with
 * GS_DEVICE_AUTO the lowest, for the server has yet to choose; 0 when none is for the device. */
bool env_parse_mem_limit(const char *text, int device, uint64_t *bytes);
/* Over 0, at most 100; "12.5" is allowed, as by MPS. */
bool env_parse_percentage(const char *text, double *percentage);
/* 0 or more. */
bool env_parse_priority(const char *text, int *priority);

/* What a session may have at most. */
struct env_limits {
    uint64_t mem_limit; /* 0: none */
    int priority;
    gs_class cls;        /* GS_CLASS_LATENCY: any; else GS_CLASS_BEST_EFFORT */
    unsigned percentage; /* of the SMs */
};
#define ENV_NO_LIMITS ((struct env_limits){0, INT_MAX, GS_CLASS_LATENCY, 100})

/* Lowers *limits as the environment says. GS_ERR_INVALID_VALUE: a variable that is not understood,
 * with its name. */
gs_status env_apply(int device, struct env_limits *limits);

/* Which of its MPI job's processes on this machine this one is, as Open MPI, MPICH, MVAPICH2 or
 * Slurm tell it: counted from 1; 0: it is in no job. GS_ERR_INVALID_VALUE: a variable that is not
 * understood, with its name. */
gs_status env_local_rank(uint32_t *rank);

/* The instance: the caller's, else $GSHARE_INSTANCE, else "default". */
const char *env_instance(const char *instance);

#endif
