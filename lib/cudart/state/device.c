/* device.c - see device.h. */
#include "cudart/state/device.h"

#include <pthread.h>
#include <stdlib.h>

#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/state/memory_map.h"

#define STACK_BYTES 1024u

/* CUDA's own defaults. */
static struct device own = {.limit = {[cudaLimitStackSize] = STACK_BYTES,
                                      [cudaLimitPrintfFifoSize] = 1u << 20,
                                      [cudaLimitMallocHeapSize] = 8u << 20,
                                      [cudaLimitMaxL2FetchGranularity] = 64}};
const struct device *const device = &own;

static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;

/* Says what a session with GS_FENCE_REPORT has recorded, for which CUDA has no call. */
static void strays_tell(gs_session session)
{
    gs_stray stray = GS_STRAY_INIT;

    if (own.desc.fenced == GS_FENCE_REPORT && gs_stray_report(session, &stray) == GS_OK &&
        stray.count > 0)
        report_error("%llu accesses outside of the session's memory: the first of kernel %s, in "
                     "line %u of the PTX, to 0x%llx",
                     (unsigned long long)stray.count, stray.kernel, stray.line,
                     (unsigned long long)stray.address);
}

static void at_exit(void)
{
    gs_session session = device_session();

    if (session != NULL)
        strays_tell(session);
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
    own.desc = desc;
    own.host_range_reserved = desc.window_reserved;
    if (!desc.window_reserved)
        report_debug("host memory lies in the session's range of device addresses, %#llx and %llu "
                     "bytes: cudaMemcpyDefault knows allocations only",
                     (unsigned long long)desc.window_base, (unsigned long long)desc.window_size);
    atomic_store_explicit(&own.session, session, memory_order_release);
    if (desc.fenced == GS_FENCE_REPORT && !own.tells_at_exit)
        own.tells_at_exit = atexit(at_exit) == 0;
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
    params.kernel_heap = own.limit[cudaLimitMallocHeapSize];
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
    session = atomic_exchange(&own.session, NULL);
    if (session != NULL) {
        strays_tell(session);
        gs_detach(session);
        memory_map_clear();
        error_forget();
        own.limit[cudaLimitStackSize] = STACK_BYTES; /* the next session's */
    }
    pthread_mutex_unlock(&attach_lock);
}

void device_set_flags(unsigned flags)
{
    own.flags = flags;
}

void device_set_limit(enum cudaLimit limit, size_t value)
{
    own.limit[limit] = value;
}

unsigned device_sm_count(void)
{
    gs_exec_affinity affinity;

    return gs_get_exec_affinity(device_session(), &affinity) == GS_OK ? affinity.sm_count
                                                                      : own.desc.sm_count;
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
