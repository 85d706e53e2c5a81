/* device.c - see device.h. */
#include "cudart/state/device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/state/memory_map.h"

#define STACK_BYTES       1024u
#define ATTACH_TIMEOUT_MS 30000u

/* CUDA's own defaults. */
#define DEVICE_FRESH                                                                               \
    {                                                                                              \
        .limit = {                                                                                 \
            [cudaLimitStackSize] = STACK_BYTES,                                                    \
            [cudaLimitPrintfFifoSize] = 1u << 20,                                                  \
            [cudaLimitMallocHeapSize] = 8u << 20,                                                  \
            [cudaLimitMaxL2FetchGranularity] = 64                                                  \
        }                                                                                          \
    }
static struct device own[DEVICES_MAX] = {DEVICE_FRESH, DEVICE_FRESH, DEVICE_FRESH, DEVICE_FRESH,
                                         DEVICE_FRESH, DEVICE_FRESH, DEVICE_FRESH, DEVICE_FRESH};
const struct device *const devices = own;

static _Atomic unsigned first;
const _Atomic unsigned *const device_first = &first;

static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned count; /* devices of the server; 0: none is attached */
/* Guarded by attach_lock: the server's number for the process's first device; whether strays of
 * sessions are reported at exit. */
static unsigned first_of_server;
static bool tells_at_exit;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* Reports the strays that a session with GS_FENCE_REPORT has recorded; CUDA has no call for them.
 */
static void strays_tell(const struct device *device)
{
    gs_session session = atomic_load(&device->session);
    gs_stray stray = GS_STRAY_INIT;

    if (session != NULL && device->desc.fenced == GS_FENCE_REPORT &&
        gs_stray_report(session, &stray) == GS_OK && stray.count > 0)
        report_error("%llu accesses outside of the session's memory: the first of kernel %s, in "
                     "line %u of the PTX, to 0x%llx",
                     (unsigned long long)stray.count, stray.kernel, stray.line,
                     (unsigned long long)stray.address);
}

static void at_exit(void)
{
    for (unsigned i = 0; i < DEVICES_MAX; i++)
        strays_tell(&own[i]);
}

/* ---- Attaching: attach_lock is held ---------------------------------------------------------- */

/* Numbers the devices once the first session is attached. Settings that the program made for the
 * first device before it had its number move to that number. */
static void devices_number(const gs_session_desc *desc)
{
    const unsigned there = desc->device_count < DEVICES_MAX ? desc->device_count : DEVICES_MAX;
    const unsigned before = first, now = desc->local_rank % there;

    if (now != before) {
        own[now].flags = own[before].flags;
        own[now].cache_config = own[before].cache_config;
        memcpy(own[now].limit, own[before].limit, sizeof(own[now].limit));
    }
    first_of_server = (unsigned)desc->device;
    atomic_store(&first, now);
    atomic_store(&count, there);
}

/* Whether the window overlaps another device's: then an address would not identify its device. */
static bool overlaps(const gs_session_desc *desc)
{
    bool any = false;

    for (unsigned i = 0; i < DEVICES_MAX; i++)
        any = any || (i != device_number() && atomic_load(&own[i].session) != NULL &&
                      desc->window_base < own[i].desc.window_base + own[i].desc.window_size &&
                      own[i].desc.window_base < desc->window_base + desc->window_size);
    return any;
}

/* A forked child has no device, as with NVIDIA's runtime: what the library knows belongs to the
 * parent, and another thread of the parent may hold a lock. */
static void fork_child(void)
{
    if (atomic_load(&count) == 0)
        return;
    for (unsigned i = 0; i < DEVICES_MAX; i++)
        atomic_store(&own[i].session, NULL);
    error_forked_set();
}

static bool is_forked(void)
{
    if (error_forked())
        report_once("no device: this process is a child of fork(), and its parent had used one "
                    "before");
    return error_forked();
}

static void fork_register(void)
{
    pthread_atfork(NULL, NULL, fork_child); /* without memory for this, a child only fails because
                                               its handles are invalid */
}

static gs_status attach_locked(const gs_attach_params *params)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    struct device *device;
    gs_session session;
    gs_status status;

    pthread_once(&fork_once, fork_register);
    status = gs_attach(params, &session);
    if (status != GS_OK) {
        report_once("no session: %s", gs_last_error_message());
        return status;
    }
    status = gs_session_info(session, &desc);
    if (status != GS_OK) {
        gs_detach(session);
        return status;
    }
    if (count == 0) {
        devices_number(&desc);
        device_enter(first);
    }
    device = &own[device_number()];
    if (overlaps(&desc)) {
        report_once(
            "device %u: the server has no addresses for it apart from those of the process's "
            "other devices",
            device_number());
        gs_detach(session);
        return GS_ERR_NO_MEMORY;
    }
    device->desc = desc;
    device->host_range_reserved = desc.window_reserved;
    if (!desc.window_reserved)
        report_debug("host memory lies in the session's range of device addresses, %#llx and %llu "
                     "bytes: cudaMemcpyDefault knows allocations only",
                     (unsigned long long)desc.window_base, (unsigned long long)desc.window_size);
    atomic_store_explicit(&device->session, session, memory_order_release);
    if (desc.fenced == GS_FENCE_REPORT && !tells_at_exit)
        tells_at_exit = atexit(at_exit) == 0;
    return GS_OK;
}

/* A failed attach leaves no session that could have ended, and GS_ERR_NOT_FOUND does not mean a
 * kernel. */
static cudaError_t attach_error(gs_status status)
{
    switch (status) {
    case GS_ERR_NOT_FOUND: /* the reservation was not found */
        return cudaErrorInvalidValue;
    case GS_ERR_LIMIT: /* the limit of tenants or sessions, or too few SMs */
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

/* The server's number for the call's device. */
static int number_at_server(void)
{
    return (int)((first_of_server + device_number() + count - first) % count);
}

/* Attaches a session with default parameters for the device. A program does not expect its first
 * call to fail because a takeover is in progress, so this waits longer than gs_attach does. */
static gs_status default_attach_locked(unsigned number, int server_device)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;

    params.device = server_device;
    params.timeout_ms = ATTACH_TIMEOUT_MS;
    params.kernel_heap = own[number].limit[cudaLimitMallocHeapSize];
    return attach_locked(&params);
}

/* Attaches the process's first session, unless there is one. It determines the devices' numbers. */
static gs_status first_attach_locked(void)
{
    return count != 0 ? GS_OK : default_attach_locked(first, GS_DEVICE_AUTO);
}

/* Makes the call work on the device, and attaches a session there unless there is one. */
static gs_status number_attach_locked(unsigned number)
{
    if (number >= count)
        return GS_ERR_NO_DEVICE;
    device_enter(number);
    return device_session() != NULL ? GS_OK : default_attach_locked(number, number_at_server());
}

/* The number of the thread's device is read again, since the thread may have chosen none, and
 * another thread's attach may have determined it meanwhile. */
cudaError_t device_attach_slow(void)
{
    gs_status status;

    if (is_forked())
        return cudaErrorInitializationError;
    pthread_mutex_lock(&attach_lock);
    status = first_attach_locked();
    if (status == GS_OK)
        status = number_attach_locked(device_current());
    pthread_mutex_unlock(&attach_lock);
    return attach_error(status);
}

gs_status device_attach(const gs_attach_params *params)
{
    gs_status status = GS_ERR_INVALID_VALUE;

    if (is_forked())
        return GS_ERR_FORKED;
    pthread_mutex_lock(&attach_lock);
    if (count == 0)
        status = attach_locked(params);
    pthread_mutex_unlock(&attach_lock);
    return status;
}

void device_detach(void)
{
    struct device *device = &own[device_number()];
    unsigned left = 0;
    gs_session session;

    pthread_mutex_lock(&attach_lock);
    strays_tell(device);
    session = atomic_exchange(&device->session, NULL);
    if (session != NULL) {
        gs_detach(session);
        memory_map_clear(device_number());
        error_forget(session);
        /* A limit that is set after the attach applies to the next session. */
        device->limit[cudaLimitStackSize] = STACK_BYTES;
    }
    for (unsigned i = 0; i < DEVICES_MAX; i++)
        left += atomic_load(&own[i].session) != NULL;
    if (left == 0)
        atomic_store(&count, 0);
    pthread_mutex_unlock(&attach_lock);
}

struct device_choice *device_choice(void)
{
    static _Thread_local struct device_choice choice;

    return &choice;
}

/* ---- Which device ---------------------------------------------------------------------------- */

unsigned device_count(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}

/* Attaches first, to know how many devices there are. */
cudaError_t device_use_number(int number)
{
    gs_status status;
    bool there = number >= 0 && number < DEVICES_MAX;

    /* acquire: as in device_use */
    if (there && atomic_load_explicit(&devices[number].session, memory_order_acquire) != NULL) {
        device_enter((unsigned)number);
        return cudaSuccess;
    }
    if (is_forked())
        return cudaErrorInitializationError;
    pthread_mutex_lock(&attach_lock);
    status = first_attach_locked();
    there = number >= 0 && (unsigned)number < count;
    if (status == GS_OK && there)
        status = number_attach_locked((unsigned)number);
    pthread_mutex_unlock(&attach_lock);
    return status == GS_OK && !there ? cudaErrorInvalidDevice : attach_error(status);
}

cudaError_t device_choose(int number)
{
    cudaError_t error = device_use_number(number);

    if (error == cudaSuccess)
        device_choice()->chosen = number + 1;
    return error;
}

int device_of_window(const void *ptr)
{
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        const struct device *device = &devices[i];

        /* acquire: as in device_use */
        if (atomic_load_explicit(&device->session, memory_order_acquire) != NULL &&
            device->host_range_reserved && device_has(device, ptr))
            return (int)i;
    }
    return -1;
}

/* ---- The call's device ----------------------------------------------------------------------- */

void device_set_flags(unsigned flags)
{
    own[device_number()].flags = flags;
}

void device_set_cache_config(enum cudaFuncCache config)
{
    own[device_number()].cache_config = config;
}

void device_set_limit(enum cudaLimit limit, size_t value)
{
    own[device_number()].limit[limit] = value;
}

unsigned device_sm_count(void)
{
    gs_exec_affinity affinity;

    return gs_get_exec_affinity(device_session(), &affinity) == GS_OK
               ? affinity.sm_count
               : device_here()->desc.sm_count;
}

uint64_t device_memory_total(void)
{
    const gs_session_desc *desc = &device_here()->desc;
    size_t total;

    if (gs_mem_info(device_session(), NULL, &total) == GS_OK)
        return total;
    return desc->mem_limit != 0 ? desc->mem_limit : desc->device_memory;
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

cudaError_t device_host_error(gs_status status)
{
    return status == GS_OK ? cudaSuccess : error_of_host(device_session(), status);
}
