/* api_device.c - the process's devices: their number, and the current one. api_device_properties.c
 * describes them. */
#include <pthread.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/graph/capture.h"
#include "cudart/graph/exec.h"
#include "cudart/graph/graph_memory.h"
#include "cudart/state/device.h"
#include "cudart/state/device_memory.h"
#include "cudart/state/event.h"
#include "cudart/state/managed.h"
#include "cudart/state/managed_variable.h"
#include "cudart/state/mipmap.h"
#include "cudart/state/module.h"
#include "cudart/state/peer_access.h"
#include "cudart/state/pinned.h"
#include "cudart/state/registered.h"
#include "cudart/state/stream.h"
#include "cudart/state/texture.h"

/* ---- Which device ---------------------------------------------------------------------------- */

CUDART_API cudaError_t cudaGetDeviceCount(int *count)
{
    /* A forked child still knows its parent's devices, as with NVIDIA's runtime. */
    cudaError_t error = error_forked() ? cudaSuccess : device_use();

    if (count == NULL)
        return error_record(cudaErrorInvalidValue);
    /* A caller that ignores the error sees no devices. */
    *count = error == cudaSuccess ? (int)device_count() : 0;
    return error == cudaSuccess ? error : error_record(error);
}

CUDART_API cudaError_t cudaGetDevice(int *number)
{
    if (number == NULL)
        return error_record(cudaErrorInvalidValue);
    /* In an MPI job the first device may have a number other than 0, which attaching determines. */
    if (device_count() == 0 && device_use() != cudaSuccess)
        report_debug("cudaGetDevice: no session, so it is taken for 0");
    *number = (int)device_current();
    return error_record(cudaSuccess);
}

CUDART_API cudaError_t cudaSetDevice(int number)
{
    return error_record(device_choose(number));
}

/* The flags of cudaSetDeviceFlags: at most one way to wait. */
static bool flags_good(unsigned flags)
{
    const unsigned schedule = flags & cudaDeviceScheduleMask;

    return !(flags & ~(unsigned)cudaDeviceMask) && (schedule & (schedule - 1)) == 0;
}

CUDART_API cudaError_t cudaInitDevice(int number, unsigned device_flags, unsigned flags)
{
    cudaError_t error = device_use_number(number);

    if (error == cudaSuccess && flags & ~(unsigned)cudaInitDeviceFlagsAreValid)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess || !(flags & cudaInitDeviceFlagsAreValid))
        return error_record(error);
    if (!flags_good(device_flags))
        return error_record(cudaErrorInvalidValue);
    device_set_flags(device_flags);
    return cudaSuccess;
}

/* Device 0 is already in use, so the list can only be checked. */
CUDART_API cudaError_t cudaSetValidDevices(int *numbers, int count)
{
    cudaError_t error = device_use();

    if (count < 0 || (count > 0 && numbers == NULL))
        return error_record(cudaErrorInvalidValue);
    for (int i = 0; i < count && error == cudaSuccess; i++) {
        if (numbers[i] < 0 || (unsigned)numbers[i] >= device_count())
            error = cudaErrorInvalidDevice;
    }
    return error_record(error);
}

CUDART_API cudaError_t cudaChooseDevice(int *number, const struct cudaDeviceProp *wanted)
{
    if (number == NULL || wanted == NULL)
        return error_record(cudaErrorInvalidValue);
    *number = 0;
    return cudaSuccess;
}

/* ---- Peers ----------------------------------------------------------------------------------- */

/* Whether both numbers are devices. */
static cudaError_t pair_check(int number, int peer)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && (number < 0 || peer < 0 || (unsigned)number >= device_count() ||
                                 (unsigned)peer >= device_count()))
        error = cudaErrorInvalidDevice;
    return error;
}

CUDART_API cudaError_t cudaDeviceCanAccessPeer(int *can, int number, int peer)
{
    cudaError_t error = pair_check(number, peer);
    bool there = false;

    if (error == cudaSuccess && can == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && number != peer) /* a device is not its own peer */
        error = peer_access_can((unsigned)number, (unsigned)peer, &there);
    if (error == cudaSuccess)
        *can = there;
    return error_record(error);
}

CUDART_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    cudaError_t error = pair_check(0, peer);

    if (flags != 0)
        return error_record(cudaErrorInvalidValue);
    if (error == cudaSuccess && (unsigned)peer == device_number())
        error = cudaErrorPeerAccessUnsupported;
    return error_record(error == cudaSuccess ? peer_access_enable((unsigned)peer) : error);
}

CUDART_API cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    cudaError_t error = pair_check(0, peer);

    if (error == cudaSuccess && (unsigned)peer == device_number())
        error = cudaErrorInvalidDevice;
    return error_record(error == cudaSuccess ? peer_access_disable((unsigned)peer) : error);
}

/* The server does not report how fast devices reach each other, or by which instructions. */
CUDART_API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute,
                                                 int from, int to)
{
    cudaError_t error;
    bool can = false;

    if (value == NULL || attribute < cudaDevP2PAttrPerformanceRank ||
        attribute > cudaDevP2PAttrCudaArrayAccessSupported)
        return error_record(cudaErrorInvalidValue);
    error = from == to ? cudaErrorInvalidDevice : pair_check(from, to);
    if (error == cudaSuccess && attribute == cudaDevP2PAttrAccessSupported)
        error = peer_access_can((unsigned)from, (unsigned)to, &can);
    if (error == cudaSuccess)
        *value = can;
    return error_record(error);
}

/* ---- Waiting and ending ---------------------------------------------------------------------- */

CUDART_API cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess)
        error = capture_forbids_device();
    if (error == cudaSuccess)
        error = device_error(gs_sync(device_session()));
    mem_pools_waited();
    return error_record(error);
}

/* The current device's session ends, and everything in it; the next call attaches again. */
CUDART_API cudaError_t cudaDeviceReset(void)
{
    if (error_forked())
        return error_record(cudaErrorInitializationError);
    device_enter(device_current());
    captures_forget();
    managed_variables_give();
    images_forget();
    streams_forget();
    events_forget();
    textures_forget();
    mipmaps_forget();
    execs_forget();
    graph_memory_forget();
    managed_forget();
    registered_forget();
    pinned_forget();
    device_memory_forget();
    peer_access_forget();
    device_detach();
    error_last(true);
    return cudaSuccess;
}

/* ---- Flags and limits ------------------------------------------------------------------------ */

/* libgshare decides how the host waits: it spins, yields, and sleeps. */
CUDART_API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    if (!flags_good(flags))
        return error_record(cudaErrorInvalidValue);
    device_enter(device_current());
    device_set_flags(flags);
    return cudaSuccess;
}

CUDART_API cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    if (flags == NULL)
        return error_record(cudaErrorInvalidValue);
    device_enter(device_current());
    *flags = device_here()->flags | cudaDeviceMapHost;
    return cudaSuccess;
}

/* Kernels cannot launch kernels, to which the other two limits apply. */
static cudaError_t limit_check(enum cudaLimit limit)
{
    if ((unsigned)limit >= DEVICE_LIMITS)
        return cudaErrorInvalidValue;
    return limit == cudaLimitDevRuntimeSyncDepth || limit == cudaLimitDevRuntimePendingLaunchCount
               ? cudaErrorUnsupportedLimit
               : cudaSuccess;
}

CUDART_API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    cudaError_t error = value != NULL ? limit_check(limit) : cudaErrorInvalidValue;

    device_enter(device_current());
    if (error == cudaSuccess)
        *value = device_here()->limit[limit];
    return error_record(error);
}

/* The heap size counts until the heap is made, with the first module whose kernels allocate. Every
 * session has a stack of the default size. The other limits are stored and have no effect: the
 * buffer for kernels' printf has a fixed size, and the limits of the L2 cache are hints. */
CUDART_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    cudaError_t error = limit_check(limit);

    if (error != cudaSuccess)
        return error_record(error);
    device_enter(device_current());
    if (limit == cudaLimitMallocHeapSize && device_session() != NULL)
        error = device_error(gs_kernel_heap(device_session(), value));
    if (limit == cudaLimitStackSize && value > device_here()->limit[limit] &&
        (error = device_use()) == cudaSuccess)
        error = device_error(gs_kernel_stack(device_session(), value));
    if (error == cudaSuccess)
        device_set_limit(limit, value);
    return error_record(error);
}

CUDART_API cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return error_record(device_use());
}

/* Hints. */
CUDART_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    if (config == NULL)
        return error_record(cudaErrorInvalidValue);
    device_enter(device_current());
    *config = device_here()->cache_config;
    return cudaSuccess;
}

/* A hint, which is stored. */
CUDART_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    if ((unsigned)config > cudaFuncCachePreferEqual)
        return error_record(cudaErrorInvalidValue);
    device_enter(device_current());
    device_set_cache_config(config);
    return cudaSuccess;
}

CUDART_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    if (config == NULL)
        return error_record(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    (void)config;
    return cudaSuccess;
}

/* ---- Versions -------------------------------------------------------------------------------- */

CUDART_API cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (version == NULL)
        return error_record(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* The driver is the server's. It runs what this library gives it, so it counts as new enough. */
CUDART_API cudaError_t cudaDriverGetVersion(int *version)
{
    return cudaRuntimeGetVersion(version);
}

/* A profiler sees the server, not its tenants. */
CUDART_API cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

CUDART_API cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}
