/*
 * device.h - the process's device: one session, which the first call that needs it attaches.
 */
#ifndef GS_CUDART_DEVICE_H
#define GS_CUDART_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cudart/abi.h"
#include "gshare.h"

#define DEVICE_SMEM_DEFAULT 49152u /* of a block, unless cudaFuncSetAttribute allows more */
#define DEVICE_LIMITS       7      /* cudaLimit...: numbers below it */

struct device {
    _Atomic(gs_session) session; /* NULL: not attached */
    gs_session_desc desc;        /* valid while attached */
    /* no host memory but pinned and managed lies at the addresses of the session's window */
    bool host_range_reserved;
    size_t limit[DEVICE_LIMITS]; /* cudaDeviceSetLimit; the heap's for the next attach */
    unsigned flags;              /* cudaSetDeviceFlags */
    bool tells_at_exit;          /* the strays of its session */
};
/* Every room reads it, device.c alone writes. The pointer is constant. */
extern const struct device *const device;

cudaError_t device_attach_slow(void);

/* Attaches the process's session, unless a call before has. */
static inline cudaError_t device_use(void)
{
    /* acquire: makes device->desc visible */
    if (atomic_load_explicit(&device->session, memory_order_acquire) != NULL)
        return cudaSuccess;
    return device_attach_slow();
}

static inline gs_session device_session(void)
{
    return atomic_load_explicit(&device->session, memory_order_relaxed);
}

void device_set_flags(unsigned flags);
void device_set_limit(enum cudaLimit limit, size_t value);
/* The number of SMs that the attached session's kernels may run on now. */
unsigned device_sm_count(void);
/* The value of an attribute as the device's driver says it; a session is attached. */
int device_attribute(enum cudaDeviceAttr attribute);
/* CUDA's error for the status of a call of the session. */
cudaError_t device_error(gs_status status);
/* Attaches with parameters of the program's own. GS_ERR_INVALID_VALUE:
 * the process has attached before. */
gs_status device_attach(const gs_attach_params *params);
/* Detaches; the next call attaches anew. */
void device_detach(void);

/* Whether the address belongs to the device. Only of a range that is reserved can no host memory be
 * there; otherwise the caller asks its table of allocations. */
static inline bool device_has(const void *ptr)
{
    return (uint64_t)(uintptr_t)ptr - device->desc.window_base < device->desc.window_size;
}

#endif
