/*
 * env.h - the environment variables that gs_attach obeys: gshare's own and, where one is unset,
 * NVIDIA MPS's. A variable can only lower the caller's request. A value is parsed to its end:
 * trailing text is an error.
 */
#ifndef GS_CLIENT_ENV_H
#define GS_CLIENT_ENV_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "gshare.h"

/* Reads a number of bytes other than 0, such as "512M"; K, M, G and T are powers of 1024. */
bool env_parse_size(const char *text, uint64_t *bytes);
/* Reads one size for all devices, or MPS's form "0=1G,1=512M". Sets *bytes to the device's size, or
 * to 0 if the text has none for it; with GS_DEVICE_AUTO, to the lowest size in the text, because
 * the server chooses the device later. */
bool env_parse_mem_limit(const char *text, int device, uint64_t *bytes);
/* Reads a percentage over 0 and up to 100; "12.5" is valid, as with MPS. */
bool env_parse_percentage(const char *text, double *percentage);
/* Reads a whole number from 0. */
bool env_parse_priority(const char *text, int *priority);

/* Upper limits of a session. */
struct env_limits {
    uint64_t mem_limit; /* 0: none */
    bool mem_lowered;   /* the environment lowered it */
    int priority;
    gs_class cls;        /* the highest: GS_CLASS_LATENCY or GS_CLASS_BEST_EFFORT */
    unsigned percentage; /* of the SMs, rounded up */
    unsigned hundredths; /* the same, in hundredths of a percent */
};
#define ENV_NO_LIMITS ((struct env_limits){0, false, INT_MAX, GS_CLASS_LATENCY, 100, 10000})

/* Lowers *limits to those of the environment. GS_ERR_INVALID_VALUE: a variable has an invalid
 * value; the message names the variable. */
gs_status env_apply(int device, struct env_limits *limits);

/* Finds the reservation for a caller that names none: that of $GSHARE_RESERVATION, else that of
 * $CUDA_MPS_SM_PARTITION, which has the form DEVICE/NAME, as `gsctl mps sm_partition add` prints
 * it. If the caller has GS_DEVICE_AUTO, *device becomes DEVICE. *name points into the variable.
 * GS_ERR_INVALID_VALUE: as env_apply. */
gs_status env_reservation(const char **name, int *device);

/* Raises *fence to the value of $GSHARE_FENCE (on, report or strict, in rising order) if that is
 * higher. GS_ERR_INVALID_VALUE: as env_apply. */
gs_status env_fence(gs_fence *fence);

/* Sets *rank to the rank of this process among its MPI job's processes on this machine, counted
 * from 1, as Open MPI, MPICH, MVAPICH2 or Slurm give it; 0: the process is in no job.
 * GS_ERR_INVALID_VALUE: as env_apply. */
gs_status env_local_rank(uint32_t *rank);

/* Returns the instance's name: the caller's, else $GSHARE_INSTANCE, else "default". */
const char *env_instance(const char *instance);

#endif
