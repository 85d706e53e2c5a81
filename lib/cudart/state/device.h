/*
 * device.h - the process's devices. They are the server's devices; each that is used has a session.
 *
 * The first call that needs a device attaches to the device that the server chooses, and learns how
 * many there are. That device gets the number 0, and the server's other devices follow in cyclic
 * order. In a job of MPI or Slurm it gets the process's rank, modulo the number of devices, as its
 * number: if the server gives each rank the device of its rank, all ranks number the devices as the
 * server does.
 *
 * A thread has a current device (cudaSetDevice). Each call of the API works on one device: that of
 * the stream, event or memory that it is given, or else the thread's. device_use, stream_find and
 * device_enter set the call's device, and all folders below get its session from device_session. So
 * each call begins with one of these.
 */
#ifndef GS_CUDART_DEVICE_H
#define GS_CUDART_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cudart/abi.h"
#include "gshare.h"

#define DEVICES_MAX         8      /* of a server */
#define DEVICE_SMEM_DEFAULT 49152u /* per block, unless cudaFuncSetAttribute allows more */
#define DEVICE_LIMITS       7      /* values of cudaLimit are below this */

struct device {
    _Atomic(gs_session) session; /* NULL: not attached */
    gs_session_desc desc;        /* valid while attached */
    /* no host memory but pinned and managed lies at the addresses of the session's window */
    bool host_range_reserved;
    size_t limit[DEVICE_LIMITS]; /* set by cudaDeviceSetLimit; the heap's limit applies to the next
                                    attach */
    unsigned flags;              /* set by cudaSetDeviceFlags */
    enum cudaFuncCache cache_config; /* set by cudaDeviceSetCacheConfig */
};
/* Indexed by device number. Only device.c writes them. The pointer is constant. */
extern const struct device *const devices;

/* The device that a thread has chosen, and the one on which its current call works. */
struct device_choice {
    int chosen;      /* 1 + the chosen number; 0: none, which means the process's first device */
    unsigned number; /* of the current call */
};
/* The calling thread's choice; the address is the same for each call. */
struct device_choice *device_choice(void) __attribute__((const));
/* The number of the device that was attached first. Only device.c writes it. */
extern const _Atomic unsigned *const device_first;

/* The slow path of device_use, when the thread's device has no session yet. */
cudaError_t device_attach_slow(void);

/* Makes the current call work on the device, which is attached. */
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

/* Makes the call work on the thread's device, and attaches a session there unless one is attached.
 */
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

/* Makes the call work on the device with that number. cudaErrorInvalidDevice: there is none. */
cudaError_t device_use_number(int number);
/* As above, and also makes it the thread's device. */
cudaError_t device_choose(int number);
/* The number of devices; one must be attached. */
unsigned device_count(void);

/* The functions below concern the call's device. */
void device_set_flags(unsigned flags);
void device_set_cache_config(enum cudaFuncCache config);
void device_set_limit(enum cudaLimit limit, size_t value);
/* The number of SMs on which the session's kernels may run now. */
unsigned device_sm_count(void);
/* The device memory that the session may hold now, by its own limit and its user's, in bytes. Asks
 * the server. */
uint64_t device_memory_total(void);
/* The largest cluster, in blocks, that every device with clusters supports. */
#define PORTABLE_CLUSTER_BLOCKS 8u
static inline unsigned device_cluster_blocks(void)
{
    return device_here()->desc.compute_major >= 9 ? PORTABLE_CLUSTER_BLOCKS : 1;
}

/* The value of an attribute, as the device's driver reports it; a session is attached. */
int device_attribute(enum cudaDeviceAttr attribute);
/* The CUDA error for a status that a call of the session returned. */
cudaError_t device_error(gs_status status);
/* The same for a call that takes host memory of the server. Its limit is reported once. */
cudaError_t device_host_error(gs_status status);
/* Detaches; the next call attaches again. */
void device_detach(void);

/* Attaches the process's first session with the program's own parameters. GS_ERR_INVALID_VALUE: the
 * process has attached before. */
gs_status device_attach(const gs_attach_params *params);

/* Whether the address belongs to an attached device. Only a reserved range contains no host memory;
 * for other ranges the caller asks its table of allocations. */
static inline bool device_has(const struct device *device, const void *ptr)
{
    return (uint64_t)(uintptr_t)ptr - device->desc.window_base < device->desc.window_size;
}

/* The device whose window contains the address, if that window is reserved; -1: there is none. */
int device_of_window(const void *ptr);

#endif
