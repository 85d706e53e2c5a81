/* device.c - see device.h. */
#include "cudart/state/device.h"

#include <pthread.h>
#include <sys/mman.h>

#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/state/memory_map.h"

/* CUDA's own defaults. */
struct device device = {.limit = {[cudaLimitStackSize] = 1024,
                                  [cudaLimitPrintfFifoSize] = 1u << 20,
                                  [cudaLimitMallocHeapSize] = 8u << 20,
                                  [cudaLimitMaxL2FetchGranularity] = 64}};

static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;

/* A pointer is of the device or of the host, and cudaMemcpyDefault tells by the address alone. The
 * server chose the window's addresses without a look at this process, so the process keeps its own
 * memory away from there. Such memory takes no page; a program that follows a device pointer gets
 * SIGSEGV, as with CUDA. */
static bool host_range_reserve(const gs_session_desc *desc)
{
    void *base = (void *)(uintptr_t)desc->window_base; // NOLINT: an address that the server chose
    void *got = mmap(base, desc->window_size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (got == base)
        return true;
    if (got != MAP_FAILED)
        munmap(got, desc->window_size);
    report_debug("host memory lies in the session's range of device addresses, %#llx and %llu "
                 "bytes: cudaMemcpyDefault knows allocations only",
                 (unsigned long long)desc->window_base, (unsigned long long)desc->window_size);
    return false;
}

/* attach_lock is held. */
static gs_status attach_locked(const gs_attach_params *params)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_status status = gs_attach(params, &session);

    if (status != GS_OK) {
        report_once("no session: %s", gs_last_error_message());
        return status;
    }
    status = gs_session_info(session, &desc);
    if (status != GS_OK) {
        gs_detach(session);
        return status;
    }
    device.desc = desc;
    device.host_range_reserved = host_range_reserve(&desc);
    atomic_store_explicit(&device.session, session, memory_order_release);
    return GS_OK;
}

/* An attach that fails leaves nothing that has ended, and what it did not find is no kernel. */
static cudaError_t attach_error(gs_status status)
{
    switch (status) {
    case GS_ERR_NOT_FOUND: /* the reservation */
        return cudaErrorInvalidValue;
    case GS_ERR_LIMIT: /* tenants, sessions, or the SMs asked for */
        return cudaErrorMpsMaxClientsReached;
    case GS_ERR_SERVER_LOST:
    case GS_ERR_INTERRUPTED:
    case GS_ERR_FAULT:
    case GS_ERR_ILLEGAL_ADDRESS:
        return cudaErrorMpsRpcFailure;
    default:
        return error_of(NULL, status);
    }
}

cudaError_t device_attach_slow(void)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_status status = GS_OK;

    pthread_mutex_lock(&attach_lock);
    params.kernel_heap = device.limit[cudaLimitMallocHeapSize];
    if (device_session() == NULL)
        status = attach_locked(&params);
    pthread_mutex_unlock(&attach_lock);
    return attach_error(status);
}

gs_status device_attach(const gs_attach_params *params)
{
    gs_status status = GS_ERR_INVALID_VALUE;

    pthread_mutex_lock(&attach_lock);
    if (device_session() == NULL)
        status = attach_locked(params);
    pthread_mutex_unlock(&attach_lock);
    return status;
}

void device_detach(void)
{
    gs_session session;

    pthread_mutex_lock(&attach_lock);
    session = atomic_exchange(&device.session, NULL);
    if (session != NULL) {
        gs_detach(session);
        if (device.host_range_reserved)
            munmap((void *)(uintptr_t)device.desc.window_base, // NOLINT: as above
                   device.desc.window_size);
        memory_map_clear();
        error_forget();
    }
    pthread_mutex_unlock(&attach_lock);
}

unsigned device_sm_count(void)
{
    gs_exec_affinity affinity;

    return gs_get_exec_affinity(device_session(), &affinity) == GS_OK ? affinity.sm_count
                                                                      : device.desc.sm_count;
}

int device_attribute(enum cudaDeviceAttr attribute)
{
    int value = 0;

    gs_device_attribute(device_session(), (unsigned)attribute, &value);
    return value;
}

cudaError_t device_error(gs_status status)
{
    return status == GS_OK ? cudaSuccess : error_of(device_session(), status);
}
