/* open_part.c - the open part of a window, to which fenced kernels are confined, and the sinks that
 * cover it; see window.h. */
#include "worker/memory/open_part.h"

#include <inttypes.h>
#include <stdlib.h>

#include "worker/memory/device_memory.h"
#include "worker/memory/sink.h"
#include "worker/memory/user.h"
#include "worker/memory/window.h"

/* The most bytes that the sessions of a user may have open together when one of them opens more for
 * memory beside its kernels. To cover so much takes 0.1 s, and the next worker has to do it again.
 */
#define OPEN_BESIDE (UINT64_C(512) << 30)

/* Charges the user for an open part of that size, except for the first WINDOW_MIN bytes, which each
 * session has, and for what is charged already. False: the sum would exceed the limit (0: none). */
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

/* The window's first granule has no chunk, so that a null pointer which the fence has forced into
 * the window meets a sink. The last granule of the open part has none, so that a pointer to the end
 * of an allocation is in the window. */
void window_open(struct session *session, uint64_t size)
{
    struct session_memory *memory = &session->memory;

    /* release: the part has its sinks; pairs with window_open_size */
    atomic_store_explicit(&memory->window_open, size, memory_order_release);
    memory->window.size = size - 2 * worker->granularity;
    opened_charge(session, size, 0);
}

/* ---- Sinks ----------------------------------------------------------------------------------- */

/* Returns the end of the sinks that an open part of this size needs. */
static uint64_t cover_end(const struct session_memory *memory, uint64_t open, enum cover cover)
{
    return memory->window_base + open + worker->granularity +
           (cover == COVER_REACH ? FENCE_REACH : 0);
}

/* Covers a part that no kernel reaches yet with sinks. On failure the part has no sinks, as before,
 * and the hole there does no harm. */
static CUresult cover_part(struct session *session, uint64_t at, uint64_t size)
{
    const bool hole = session->memory.hole;
    CUresult result = sinks_cover(session, at, size);

    if (result) {
        sinks_unmap(session, at, size);
        session->memory.hole = hole;
    }
    return result;
}

/* Extends the covered part up to `end`, if it does not reach so far. */
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

/* Returns the beginning of the gap before chunk number `number` of the window or, where there is no
 * such chunk, of the gap between the last chunk and `end`. *size: the gap's size. */
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
 * all of these sinks are removed again. The sinks of revoked imports belong to chunks, and stay. */
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
    sinks_unmap(session, memory->window_base - worker->granularity, worker->granularity);
    while (covered-- > 0) {
        const uint64_t at = gap_at(memory, covered, end, &size);
        if (size > 0) /* 0: a chunk begins at `at`, which may itself be a sink */
            sinks_unmap(session, at, size);
    }
    memory->hole = false; /* holes do no harm: the session has no kernel yet */
    return result;
}

/* Covers as far beyond both ends of the window as indices and strides reach. */
static CUresult cover_reach(struct session *session)
{
    struct session_memory *memory = &session->memory;
    const uint64_t before = memory->window_base - window_margin(session->fenced);
    CUresult result = cover_part(session, before, FENCE_REACH);

    if (result)
        return result;
    result = cover_more(session, cover_end(memory, memory->window_open, COVER_REACH));
    if (result)
        sinks_unmap(session, before, FENCE_REACH);
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

/* Returns the smallest size of the open part, from the present one on, that has room for `size`
 * bytes; 0: the window has no room. */
static uint64_t open_wanted(const struct session_memory *memory, uint64_t size)
{
    struct space window = memory->window; /* a copy, whose places stay unchanged */

    for (uint64_t open = memory->window_open; open <= memory->window_size; open *= 2) {
        window.size = open - 2 * worker->granularity;
        if (space_has(&window, size, worker->granularity))
            return open;
    }
    return 0;
}

/* Widens the open part, whose new part is covered: rewrites the fence of each bound module. */
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

/* Returns the smallest size of the open part that reaches a granule beyond `end`, or at most the
 * size of the whole window. */
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

/* The charge stays until the window is freed, also when this job then fails: the session's next
 * memory beside its kernels is charged already. */
void window_go_beside(struct job *job)
{
    const struct session_memory *memory = &job->session->memory;
    const uint64_t open = open_up_to(memory, memory->covered_end + job->beside);

    if (opened_charge(job->session, open, OPEN_BESIDE))
        job->session_idle = false;
}

/* Takes the first place that no kernel reaches, and covers all else that kernels will reach once
 * the open part includes this place. */
static struct place *take_beyond(struct job *job, uint64_t size)
{
    struct session_memory *memory = &job->session->memory;
    const uint64_t at = memory->covered_end, open = open_up_to(memory, at + size);
    CUresult result;

    if (!space_add(&memory->window, at, size, NULL)) {
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an allocation's record");
        return NULL;
    }
    memory->covered_end = at + size; /* the chunk will be mapped there */
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
    /* The open part may be widened without sinks: the session has no kernel yet. */
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
