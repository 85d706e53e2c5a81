/* window.c - see window.h. */
#include "worker/memory/window.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/sanitizers.h"
#include "common/size_text.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/device_memory.h"
#include "worker/memory/limits.h"
#include "worker/memory/peer_window.h"
#include "worker/memory/preload.h"
#include "worker/memory/region.h"
#include "worker/memory/resume.h"
#include "worker/memory/sink.h"
#include "worker/memory/user.h"

#define WINDOW_MIN    (UINT64_C(4) << 30)
/* What a fenced session's window has for memory beside its kernels: three times the open part can
 * be widened beyond their reach, to 32, 64 and 128 GiB. The thread sanitizer leaves no addresses
 * for that. */
#define WINDOW_BESIDE (THREAD_SANITIZER ? WINDOW_MIN : UINT64_C(128) << 30)
/* Of the addresses, for windows that are so large: some 42 sessions' of a single device. */
#define BESIDE_SHARE  4u
/* What all sessions of a user have open together, where one opens more for memory beside its
 * kernels. To cover it takes 0.1 s, which the next worker has to do again. */
#define OPEN_BESIDE   (UINT64_C(512) << 30)
/* Of the 128 TiB of addresses that a process has. Windows beyond it have the least size; with
 * these, a thousand fenced sessions take 108 TiB. */
#define WINDOW_BUDGET (UINT64_C(64) << 40)

#define HINTS_MAX 64 /* each two calls of a microsecond */

static _Atomic uint64_t windows_reserved;

/* ---- Addresses ------------------------------------------------------------------------------- */

/* What kernels reach behind a fenced session's window, and before it: a granule, since the fence
 * sees to where an access begins and offsets in an instruction come on top, and what indices and
 * strides add. Nothing keeps an unfenced session's kernels to its window. */
static uint64_t margin_of(bool fenced)
{
    return fenced ? worker->granularity + FENCE_REACH : 0;
}

/* All begins at a multiple of the window's size, as the window does. */
struct window_range window_range(uint64_t base, uint64_t size, bool fenced)
{
    const uint64_t before = round_up(margin_of(fenced), size);

    return (struct window_range){base - before, before + size + margin_of(fenced)};
}

/* The addresses that a window of this size takes from other windows of its size. */
static uint64_t window_stride(const struct session *session, uint64_t size)
{
    return round_up(window_range(0, size, session->fenced).size, size);
}

static uint64_t addresses_all(void)
{
    const uint64_t region = region_size();

    return region ? region : WINDOW_BUDGET;
}

/* A window may take a 64th of the budget's addresses that are still free: the first of a 139 GiB
 * device's sessions get room for all of its memory, and a thousand still get 4 GiB each. A region
 * is smaller: of one of 24 TiB a window may take a 32nd, which is enough for some 190 sessions. */
static uint64_t window_share(void)
{
    const uint64_t region = region_size(), budget = addresses_all();
    const uint64_t reserved = atomic_load_explicit(&windows_reserved, memory_order_relaxed);

    return (budget - (reserved < budget ? reserved : budget)) / (region ? 32 : 64);
}

/* Whether a fenced session gets a window of that size only for memory beside its kernels. */
static bool window_beside(const struct session *session, uint64_t size)
{
    return session->fenced && size <= WINDOW_BESIDE &&
           atomic_load_explicit(&windows_reserved, memory_order_relaxed) +
                   window_stride(session, size) <=
               addresses_all() / BESIDE_SHARE;
}

/* Reserves a window in the device's region. *base 0, without an error: there is no place. A place
 * where the driver has something of its own stays taken. */
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

/* Reserves the window that the session had with a former worker, if that is not done already. */
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

/* Charges the user for an open part of that size, as far as it is beyond its first size, which each
 * session has, and not charged yet. False: the sum would exceed the limit (0: none). */
static bool opened_charge(struct session *session, uint64_t size, uint64_t limit)
{
    struct session_memory *memory = &session->memory;
    const uint64_t counted = session->fenced && size > WINDOW_MIN ? size - WINDOW_MIN : 0;

    if (counted <= memory->opened)
        return true;
    if (!user_opened_charge(memory->user, counted - memory->opened, limit))
        return false;
    memory->opened = counted;
    return true;
}

/* The first granule stays free, so that a null pointer which the fence has forced into the window
 * meets a sink; and the last, so that a pointer to the end of an allocation is in the window. */
static void window_open(struct session *session, uint64_t size)
{
    struct session_memory *memory = &session->memory;

    /* release: the part has its sinks; pairs with window_open_size */
    atomic_store_explicit(&memory->window_open, size, memory_order_release);
    memory->window.size = size - 2 * worker->granularity;
    opened_charge(session, size, 0);
}

gs_status window_init(struct job *job)
{
    struct session *session = job->session;
    struct session_memory *memory = &session->memory;
    const struct limits limits = memory_limits(session);
    char limit[SIZE_TEXT_MAX], piece[SIZE_TEXT_MAX];
    uint64_t size, base;

    if (limits.session < worker->granularity)
        return job_fail(job, GS_ERR_INVALID_VALUE,
                        "a memory limit of %s holds nothing: the device gives memory in pieces of "
                        "%s",
                        size_exact(limit, limits.session), size_exact(piece, worker->granularity));
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

/* ---- Sinks ----------------------------------------------------------------------------------- */

/* Returns the end of the sinks that an open part of this size needs. */
static uint64_t cover_end(const struct session_memory *memory, uint64_t open, enum cover cover)
{
    return memory->window_base + open + worker->granularity +
           (cover == COVER_REACH ? FENCE_REACH : 0);
}

/* Covers with sinks a part that no kernel reaches yet, so that a hole there does no harm. On
 * failure the part has no sinks, as before. */
static CUresult cover_part(struct session *session, uint64_t at, uint64_t size)
{
    const bool hole = session->memory.hole;
    CUresult result = sinks_cover(session, at, size);

    if (result) {
        sinks_drop(session, at, size);
        session->memory.hole = hole;
    }
    return result;
}

/* Covers from the end of the covered part up to `end`. */
static CUresult cover_more(struct session *session, uint64_t end)
{
    struct session_memory *memory = &session->memory;
    CUresult result;

    if (end <= memory->covered_end)
        return CUDA_SUCCESS;
    result = cover_part(session, memory->covered_end, end - memory->covered_end);
    if (!result)
        memory->covered_end = end;
    return result;
}

/* Returns the beginning of the gap before the chunk of that number or, where there is no such
 * chunk, of the gap between the last chunk and `end`; *size is the gap's size. */
static uint64_t gap_at(const struct session_memory *memory, size_t number, uint64_t end,
                       uint64_t *size)
{
    const struct place *places = memory->window.places;
    const uint64_t begin =
        number ? places[number - 1].address + places[number - 1].size : memory->window_base;

    *size = (number < memory->window.count ? places[number].address : end) - begin;
    return begin;
}

/* Covers the gaps between the chunks, and a granule at both ends, for the first time. On failure
 * all of these sinks are removed again. Those that stand for imports which were taken back are
 * chunks, and stay. */
static CUresult cover_first(struct session *session)
{
    struct session_memory *memory = &session->memory;
    const uint64_t end = cover_end(memory, memory->window_open, COVER_WINDOW);
    CUresult result = CUDA_SUCCESS;
    size_t covered = 0;
    uint64_t size;

    result = sinks_cover(session, memory->window_base - worker->granularity, worker->granularity);
    for (; covered <= memory->window.count && !result; covered++) {
        const uint64_t at = gap_at(memory, covered, end, &size);
        result = sinks_cover(session, at, size);
    }
    if (!result) {
        memory->covered_end = end;
        memory->cover = COVER_WINDOW;
        return result;
    }
    sinks_drop(session, memory->window_base - worker->granularity, worker->granularity);
    while (covered-- > 0) {
        const uint64_t at = gap_at(memory, covered, end, &size);
        if (size > 0) /* 0: a chunk begins at `at`, which may itself be a sink */
            sinks_drop(session, at, size);
    }
    memory->hole = false; /* holes do no harm: the session has no kernel yet */
    return result;
}

/* Covers what indices and strides reach at both ends. */
static CUresult cover_reach(struct session *session)
{
    struct session_memory *memory = &session->memory;
    const uint64_t before = memory->window_base - margin_of(session->fenced);
    CUresult result = cover_part(session, before, FENCE_REACH);

    if (result)
        return result;
    result = cover_more(session, cover_end(memory, memory->window_open, COVER_REACH));
    if (result)
        sinks_drop(session, before, FENCE_REACH);
    else
        memory->cover = COVER_REACH;
    return result;
}

gs_status window_cover(struct job *job, bool reach)
{
    struct session_memory *memory = &job->session->memory;
    CUresult result;

    pthread_mutex_lock(&memory->sinks_lock);
    result = memory->cover == COVER_NONE ? cover_first(job->session) : CUDA_SUCCESS;
    if (!result && reach && memory->cover != COVER_REACH)
        result = cover_reach(job->session);
    pthread_mutex_unlock(&memory->sinks_lock);
    return result ? job_fail_driver(job, result) : GS_OK;
}

/* ---- The open part --------------------------------------------------------------------------- */

/* The size of the open part in which there is room; 0: there is none. */
static uint64_t open_wanted(const struct session_memory *memory, uint64_t size)
{
    struct space window = memory->window; /* its places are not changed */

    for (uint64_t open = memory->window_open; open <= memory->window_size; open *= 2) {
        window.size = open - 2 * worker->granularity;
        if (space_has(&window, size, worker->granularity))
            return open;
    }
    return 0;
}

/* Lets kernels come to a wider part, which is covered. */
static CUresult open_covered(struct session *session, uint64_t open)
{
    struct session_memory *memory = &session->memory;
    const struct fence_window window = fence_window(memory->window_base, open, 0);
    CUresult result = CUDA_SUCCESS, done;

    for (uint32_t i = 0; i < memory->bound_count && !result; i++)
        result = DRV(cuMemcpyHtoDAsync_v2, memory->bound[i] + offsetof(struct fence_window, mask),
                     &window.mask, sizeof(window.mask), service_stream());
    done = DRV(cuStreamSynchronize, service_stream());
    result = result ? result : done;
    if (!result)
        window_open(session, open);
    return result;
}

static CUresult open_wider(struct session *session, uint64_t open)
{
    struct session_memory *memory = &session->memory;
    CUresult result = CUDA_SUCCESS;

    if (memory->cover != COVER_NONE)
        result = cover_more(session, cover_end(memory, open, memory->cover));
    return result ? result : open_covered(session, open);
}

/* ---- Beside the session's kernels ------------------------------------------------------------ */

/* Returns the smallest size of the open part that reaches a granule beyond `end`, or the size of
 * the whole window. */
static uint64_t open_up_to(const struct session_memory *memory, uint64_t end)
{
    uint64_t open = memory->window_open;

    while (open < memory->window_size && end + worker->granularity > memory->window_base + open)
        open *= 2;
    return open;
}

void window_await(struct job *job, uint64_t size)
{
    const struct session_memory *memory = &job->session->memory;
    const bool room = memory->covered_end + size + worker->granularity <=
                      memory->window_base + memory->window_size;

    job->session_idle = memory->cover != COVER_NONE;
    job->beside = job->session_idle && room ? size : 0;
}

/* The charge stays until the window's end, also where the memory does not come after all: then the
 * session's next memory beside its kernels is charged already. */
void window_go_beside(struct job *job)
{
    const struct session_memory *memory = &job->session->memory;
    const uint64_t open = open_up_to(memory, memory->covered_end + job->beside);

    if (opened_charge(job->session, open, OPEN_BESIDE))
        job->session_idle = false;
}

/* Takes the first place that no kernel reaches, and covers all else that kernels will reach once
 * the open part includes the place. */
static struct place *take_beyond(struct job *job, uint64_t size)
{
    struct session_memory *memory = &job->session->memory;
    const uint64_t at = memory->covered_end, open = open_up_to(memory, at + size);
    CUresult result;

    if (!space_add(&memory->window, at, size, NULL)) {
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an allocation's record");
        return NULL;
    }
    memory->covered_end = at + size; /* the chunk comes there */
    result = cover_more(job->session, cover_end(memory, open, memory->cover));
    if (!result)
        return space_at(&memory->window, at);
    memory->covered_end = at;
    space_remove(&memory->window, space_at(&memory->window, at));
    job_fail_driver(job, result);
    return NULL;
}

CUresult window_follow(struct session *session)
{
    const struct session_memory *memory = &session->memory;
    const struct place *last = &memory->window.places[memory->window.count - 1];
    const uint64_t open = open_up_to(memory, last->address + last->size);

    return open > memory->window_open ? open_covered(session, open) : CUDA_SUCCESS;
}

bool window_reached(const struct session *session, uint64_t address)
{
    return address - session->memory.window_base < session->memory.window_open;
}

struct place *window_take(struct job *job, uint64_t size)
{
    struct session_memory *memory = &job->session->memory;
    CUresult result = CUDA_SUCCESS;
    struct place *place = NULL;
    uint64_t open;

    if (job_beside(job))
        return take_beyond(job, size);
    open = open_wanted(memory, size);
    if (open > memory->window_open)
        result = open_wider(job->session, open);
    if (result)
        job_fail_driver(job, result);
    else if (open == 0 || !(place = space_take(&memory->window, size, worker->granularity)))
        job_fail(job, GS_ERR_NO_MEMORY,
                 "no %" PRIu64 " consecutive bytes are free in the session's window", size);
    return place;
}

bool window_put(struct session *session, uint64_t address, uint64_t size, void *tag)
{
    struct session_memory *memory = &session->memory;
    /* The window can grow: the session has no kernel yet. */
    window_open(session, open_up_to(memory, address + size));
    return space_put(&memory->window, address, size, tag);
}

CUresult window_bind(struct session *session, CUdeviceptr constant)
{
    struct session_memory *memory = &session->memory;
    CUdeviceptr *bound =
        reallocarray(memory->bound, memory->bound_count + 1, sizeof(*memory->bound));

    if (!bound)
        return CUDA_ERROR_OUT_OF_MEMORY;
    bound[memory->bound_count++] = constant;
    memory->bound = bound;
    return CUDA_SUCCESS;
}

void window_unbind(struct session *session, CUdeviceptr constant)
{
    struct session_memory *memory = &session->memory;

    for (uint32_t i = 0; i < memory->bound_count; i++) {
        if (memory->bound[i] != constant)
            continue;
        memory->bound[i] = memory->bound[--memory->bound_count];
        return;
    }
}
