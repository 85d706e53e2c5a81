/*
 * device.h - the process's devices: those of the server, with a session for each that is used.
 *
 * The first call that needs a device attaches where the server chooses, and tells how many there
 * are. That device has the number 0, and the server's others follow round. In a job of MPI or Slurm
 * it has the process's rank for its number, modulo their count, so that all ranks have the server's
 * order, where the server gives each rank the device of its rank.
 *
 * A thread has a current device (cudaSetDevice). Each call of the API works on one device, that of
 * the stream, event or memory it is given, or else the thread's: device_use, stream_find and
 * device_enter set it, and all folders below find its session by device_session. So a call begins
 * with one of these.
 */
#ifndef GS_CUDART_DEVICE_H
#define GS_CUDART_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cudart/abi.h"
#include "gshare.h"

#define DEVICES_MAX         8      /* of a server */
#define DEVICE_SMEM_DEFAULT 49152u /* of a block, unless cudaFuncSetAttribute allows more */
#define DEVICE_LIMITS       7      /* cudaLimit...: numbers below it */

struct device {
    _Atomic(gs_session) session; /* NULL: not attached */
    gs_session_desc desc;        /* valid while attached */
    /* no host memory but pinned and managed lies at the addresses of the session's window */
    bool host_range_reserved;
    size_t limit[DEVICE_LIMITS];     /* cudaDeviceSetLimit; the heap's for the next attach */
    unsigned flags;                  /* cudaSetDeviceFlags */
    enum cudaFuncCache cache_config; /* cudaDeviceSetCacheConfig */
};
/* By number. Every folder reads them, device.c alone writes. The pointer is constant. */
extern const struct device *const devices;

/* What a thread has chosen, and which device its call in progress works on. */
struct device_choice {
    int chosen;      /* 1 more than the number; 0: none, which means the process's first one */
    unsigned number; /* of the call in progress */
};
/* The calling thread's, always the same. */
struct device_choice *device_choice(void) __attribute__((const));
/* The number of the device that was attached first. device.c alone writes it. */
extern const _Atomic unsigned *const device_first;

/* What device_use does if the thread's device has no session yet. */
cudaError_t device_attach_slow(void);

/* Has the call in progress work on the device, which is attached. */
static inline void device_enter(unsigned number)
{
    device_choice()->number = number;
}

/* The number of the device that the call works on. */
static inline unsigned device_number(void)
{
    return device_choice()->number;
}

static inline const struct device *device_here(void)
{
    return &devices[device_number()];
}

/* The number of the thread's current device. */
static inline unsigned device_current(void)
{
    const int chosen = device_choice()->chosen;

    return chosen != 0 ? (unsigned)chosen - 1
                       : atomic_load_explicit(device_first, memory_order_relaxed);
}

/* Has the call work on the thread's device, and attaches a session there, unless a call before
 * has. */
static inline cudaError_t device_use(void)
{
    device_enter(device_current());
    /* acquire: makes desc visible */
    if (atomic_load_explicit(&device_here()->session, memory_order_acquire) != NULL)
        return cudaSuccess;
    return device_attach_slow();
}

static inline gs_session device_session(void)
{
    return atomic_load_explicit(&device_here()->session, memory_order_relaxed);
}

/* Has the call work on the device of that number. cudaErrorInvalidDevice: there is none. */
cudaError_t device_use_number(int number);
/* The same, and makes it the thread's device. */
cudaError_t device_choose(int number);
/* How many devices there are; one has been attached. */
unsigned device_count(void);

/* These are of the call's device. */
void device_set_flags(unsigned flags);
void device_set_cache_config(enum cudaFuncCache config);
void device_set_limit(enum cudaLimit limit, size_t value);
/* The number of SMs that the attached session's kernels may run on now. */
unsigned device_sm_count(void);
/* Bytes of device memory that the attached session may hold now, by its own limit and its user's.
 * Asks the server. */
uint64_t device_memory_total(void);
/* The most blocks that a cluster may have on each device that has clusters at all. */
#define PORTABLE_CLUSTER_BLOCKS 8u
static inline unsigned device_cluster_blocks(void)
{
    return device_here()->desc.compute_major >= 9 ? PORTABLE_CLUSTER_BLOCKS : 1;
}

/* The value of an attribute as the device's driver says it; a session is attached. */
int device_attribute(enum cudaDeviceAttr attribute);
/* CUDA's error for the status of a call of the session. */
cudaError_t device_error(gs_status status);
/* The same of a call that takes host memory of the server's: its limit is said once. */
cudaError_t device_host_error(gs_status status);
/* Detaches; the next call attaches anew. */
void device_detach(void);

/* Attaches the process's first session with parameters of the program's own. GS_ERR_INVALID_VALUE:
 * the process has attached before. */
gs_status device_attach(const gs_attach_params *params);

/* Whether the address belongs to a device that is attached. Only of a range that is reserved can no
 * host memory be there; otherwise the caller asks its table of allocations. */
static inline bool device_has(const struct device *device, const void *ptr)
{
    return (uint64_t)(uintptr_t)ptr - device->desc.window_base < device->desc.window_size;
}

/* The device in whose window, which is reserved, the address lies; -1: in none. */
int device_of_window(const void *ptr);

#endif
