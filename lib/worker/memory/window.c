/* window.c - the addresses of windows: where they are reserved, and how much of the address space
 * each window takes; see window.h. The part of a window that kernels reach is in open_part.c. */
#include "worker/memory/window.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/sanitizers.h"
#include "common/size_text.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/device_memory.h"
#include "worker/memory/limits.h"
#include "worker/memory/open_part.h"
#include "worker/memory/peer_window.h"
#include "worker/memory/preload.h"
#include "worker/memory/region.h"
#include "worker/memory/resume.h"
#include "worker/memory/sink.h"
#include "worker/memory/user.h"

/* The size of a fenced session's window with room for memory beside its kernels (window.h), which a
 * session gets while few addresses are reserved: the open part can be widened beyond the kernels'
 * reach three times, to 32, 64 and 128 GiB. The thread sanitizer leaves no addresses for that. */
#define WINDOW_BESIDE (THREAD_SANITIZER ? WINDOW_MIN : UINT64_C(128) << 30)
/* One part in BESIDE_SHARE of all addresses is for windows of that size: some 42 sessions of a
 * single device get one. */
#define BESIDE_SHARE  4u
/* The addresses for windows of more than the least size, of the 128 TiB that a process has. With
 * windows of the least size, a thousand fenced sessions take 108 TiB. */
#define WINDOW_BUDGET (UINT64_C(64) << 40)

#define HINTS_MAX 64 /* attempts, of two calls of a microsecond each */

static _Atomic uint64_t windows_reserved;

/* The range begins at a multiple of the window's size, as the window does. */
struct window_range window_range(uint64_t base, uint64_t size, bool fenced)
{
    const uint64_t before = round_up(window_margin(fenced), size);

    return (struct window_range){base - before, before + size + window_margin(fenced)};
}

/* Returns how many addresses a window of this size takes from other windows of its size. */
static uint64_t window_stride(const struct session *session, uint64_t size)
{
    return round_up(window_range(0, size, session->fenced).size, size);
}

static uint64_t addresses_all(void)
{
    const uint64_t region = region_size();

    return region ? region : WINDOW_BUDGET;
}

/* Returns the most addresses that the next window may take: a 64th of those of the budget that are
 * still free. So the first sessions of a 139 GiB device get room for all of its memory, and a
 * thousand sessions still get 4 GiB each. A region is smaller: a window may take a 32nd of it, so
 * that one of 24 TiB is enough for some 190 sessions. */
static uint64_t window_share(void)
{
    const uint64_t region = region_size(), budget = addresses_all();
    const uint64_t reserved = atomic_load_explicit(&windows_reserved, memory_order_relaxed);

    return (budget - (reserved < budget ? reserved : budget)) / (region ? 32 : 64);
}

/* Returns whether a fenced session gets a window of that size just to have room for memory beside
 * its kernels. */
static bool window_beside(const struct session *session, uint64_t size)
{
    return session->fenced && size <= WINDOW_BESIDE &&
           atomic_load_explicit(&windows_reserved, memory_order_relaxed) +
                   window_stride(session, size) <=
               addresses_all() / BESIDE_SHARE;
}

/* Reserves a window in the device's region. *base 0, without an error: there is no place. Addresses
 * that the driver does not grant stay taken in the region, since something else lies there. */
static CUresult window_reserve_near(uint64_t size, bool fenced, CUdeviceptr *base)
{
    const struct window_range range = window_range(0, size, fenced);
    CUresult result = CUDA_SUCCESS;
    CUdeviceptr hint, address;

    *base = 0;
    for (unsigned tries = 0; tries < HINTS_MAX && !result; tries++) {
        hint = region_take(range.size, size);
        if (!hint)
            return CUDA_SUCCESS;
        result = DRV(cuMemAddressReserve, &address, range.size, size, hint, 0);
        if (!result && address == hint) {
            *base = hint - range.begin;
            return CUDA_SUCCESS;
        }
        if (result)
            region_give(hint);
        else
            result = DRV(cuMemAddressFree, address, range.size);
    }
    return driver_fatal(result) ? result : CUDA_SUCCESS;
}

/* Reserves a window wherever the driver has addresses. */
static CUresult window_reserve_anywhere(uint64_t size, bool fenced, CUdeviceptr *base)
{
    const struct window_range range = window_range(0, size, fenced);
    CUdeviceptr address = 0;
    const CUresult result = DRV(cuMemAddressReserve, &address, range.size, size, 0, 0);

    *base = address - range.begin;
    return result;
}

static gs_status window_reserve(struct job *job, uint64_t *base, uint64_t *size)
{
    const struct session *session = job->session;
    const uint64_t limit = memory_limits(session).session, share = window_share();
    uint64_t wanted = WINDOW_MIN;
    CUdeviceptr address = 0;
    CUresult result;

    while ((wanted < 2 * limit && window_stride(session, wanted * 2) <= share) ||
           window_beside(session, wanted * 2))
        wanted *= 2;
    *size = wanted;
    while (!(result = window_reserve_near(*size, session->fenced, &address)) && !address &&
           *size / 2 >= WINDOW_MIN && *size / 2 > limit)
        *size /= 2;
    if (!result && !address) {
        /* The region has no room, so the window lies where the driver places it. */
        *size = wanted;
        while ((result = window_reserve_anywhere(*size, session->fenced, &address)) &&
               !driver_fatal(result) && *size > WINDOW_MIN)
            *size /= 2;
    }
    *base = address;
    return result ? job_fail_driver(job, result) : GS_OK;
}

CUresult window_reserve_at(uint64_t base, uint64_t size, bool fenced, bool *there)
{
    const struct window_range range = window_range(base, size, fenced);
    CUdeviceptr address = 0;
    CUresult result = DRV(cuMemAddressReserve, &address, range.size, size, range.begin, 0);

    *there = !result && address == range.begin;
    if (*there)
        region_put(range.begin, range.size);
    else if (!result)
        result = DRV(cuMemAddressFree, address, range.size);
    return result;
}

/* Reserves the window that the session had with a former worker, unless the standby has reserved it
 * already. On failure the job has failed. */
static gs_status window_reserve_again(struct job *job, uint64_t *base, uint64_t *size)
{
    CUresult result;
    bool there;

    *base = job->open.window_base;
    *size = job->open.window_size;
    if (job->session->resume && preload_window_take(job->session->resume->preload))
        return GS_OK;
    result = window_reserve_at(*base, *size, job->session->fenced, &there);
    if (result)
        return job_fail_driver(job, result);
    return there
               ? GS_OK
               : job_fail(job, GS_ERR_INTERRUPTED, "the session's addresses are not free any more");
}

gs_status window_init(struct job *job)
{
    struct session *session = job->session;
    struct session_memory *memory = &session->memory;
    const struct limits limits = memory_limits(session);
    char limit[SIZE_TEXT_MAX], granularity[SIZE_TEXT_MAX];
    uint64_t size, base;

    if (limits.session < worker->granularity)
        return job_fail(job, GS_ERR_INVALID_VALUE,
                        "a memory limit of %s holds nothing: the device gives memory in pieces of "
                        "%s",
                        size_exact(limit, limits.session),
                        size_exact(granularity, worker->granularity));
    memory->user = user_hold(session->uid);
    if (!memory->user)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for a user's record");
    if ((job->open.resume ? window_reserve_again(job, &base, &size)
                          : window_reserve(job, &base, &size)) != GS_OK)
        return job->status;
    atomic_fetch_add_explicit(&windows_reserved, window_stride(session, size),
                              memory_order_relaxed);
    memory->window_base = base;
    memory->window_size = size;
    space_init(&memory->window, base + worker->granularity, 0);
    window_open(session, session->fenced ? WINDOW_MIN : size);
    sinks_init(session, window_range(base, size, session->fenced));
    memory_limit_set(session, limits.session, limits.user);
    return GS_OK;
}

void window_unreserve(uint64_t base, uint64_t size, bool fenced, bool places)
{
    const struct window_range range = window_range(base, size, fenced);

    if (places) {
        deferred_release_window(range.begin, range.size);
        return;
    }
    DRV_MUST(cuMemAddressFree, range.begin, range.size);
    region_give(range.begin);
}

void window_deinit(struct session *session)
{
    struct session_memory *memory = &session->memory;

    memory->cover = COVER_NONE;
    sinks_deinit(session);
    peer_windows_settle(session);
    if (!memory->window_size)
        return;
    window_unreserve(memory->window_base, memory->window_size, session->fenced,
                     memory->host_places);
    atomic_fetch_sub_explicit(&windows_reserved, window_stride(session, memory->window_size),
                              memory_order_relaxed);
    user_opened_discharge(memory->user, memory->opened);
    memory->window_base = memory->window_size = memory->opened = 0;
    atomic_store_explicit(&memory->window_open, 0, memory_order_relaxed);
    space_deinit(&memory->window);
    free(memory->bound);
    memory->bound = NULL;
    memory->bound_count = 0;
}

uint64_t window_capacity(const struct session *session)
{
    return session->memory.window_size ? session->memory.window_size - 2 * worker->granularity : 0;
}
