/* sink.c - see sink.h. */
#include "worker/memory/sink.h"

#include <pthread.h>

#include "worker/memory/device_memory.h"
#include "worker/memory/user.h"
#include "worker/session_parts.h"

/* The sizes of sinks in units of the driver's granularity, which is 2 MiB on NVIDIA's devices: 4
 * GiB are 32 mappings of 128 MiB, 0.9 ms, and a user's sinks take 146 MiB. The largest sinks, of
 * 512 MiB, are for the margins that indices reach beyond a window, which are 48 GiB. On a device
 * with less than 128 GiB they are smaller, and below 64 GiB there are none. */
static const uint64_t units[SINK_SIZES] = {256, 64, 8, 1};
#define LARGEST_FROM  (UINT64_C(16) << 30) /* least range for which largest sinks are used */
#define LARGEST_PARTS 256u /* a largest sink takes one of these parts of the device */

/* Protects the making and clearing of sinks. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t sink_size(unsigned kind)
{
    uint64_t size = units[kind] * worker->granularity;

    while (kind == 0 && size > sink_size(1) && size > worker->info.memory_total / LARGEST_PARTS)
        size /= 2;
    return size;
}

/* Makes the user's sink of a kind and maps it at `address`, its first mapping, to clear it: the
 * driver may hand out memory that another user has just freed. The caller holds the lock. */
static CUresult sink_make(struct user_sinks *sinks, unsigned kind, uint64_t address)
{
    CUmemGenericAllocationHandle handle;
    CUresult result = device_create(sink_size(kind), &handle);

    if (result)
        return result;
    result = device_map(address, sink_size(kind), handle);
    if (!result) {
        result = device_zero(address, sink_size(kind));
        if (result)
            DRV_MUST(cuMemUnmap, address, sink_size(kind));
    }
    if (result) {
        DRV_MUST(cuMemRelease, handle);
        return result;
    }
    sinks->sink[kind].handle = handle;
    sinks->sink[kind].made = true;
    return CUDA_SUCCESS;
}

static CUresult sink_map(struct session *session, uint64_t address, unsigned kind)
{
    struct user_sinks *sinks = &session->memory.user->sinks;
    CUresult result;
    bool made;

    pthread_mutex_lock(&lock);
    made = sinks->sink[kind].made;
    result = made ? CUDA_SUCCESS : sink_make(sinks, kind, address);
    pthread_mutex_unlock(&lock);
    if (!result && made)
        result = device_map(address, sink_size(kind), sinks->sink[kind].handle);
    if (!result && !space_add(&session->memory.sinks, address, sink_size(kind), NULL)) {
        DRV_MUST(cuMemUnmap, address, sink_size(kind));
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return result;
}

/* Returns the largest kind of sink, not larger than `kind`, that may begin at the address and ends
 * by `end`. */
static unsigned kind_fitting(uint64_t address, uint64_t end, unsigned kind)
{
    while (kind < SINK_SIZES - 1 && (address % sink_size(kind) || sink_size(kind) > end - address))
        kind++;
    return kind;
}

CUresult sinks_cover(struct session *session, uint64_t address, uint64_t size)
{
    const uint64_t end = address + size;
    const unsigned largest = size < LARGEST_FROM || sink_size(0) == sink_size(1);

    while (address < end) {
        unsigned kind = kind_fitting(address, end, largest);
        CUresult result;

        /* A device that is nearly full may still have memory for a smaller sink. */
        while ((result = sink_map(session, address, kind)) == CUDA_ERROR_OUT_OF_MEMORY &&
               kind < SINK_SIZES - 1)
            kind++;
        if (result) {
            session->memory.hole = true;
            return result;
        }
        address += sink_size(kind);
    }
    return CUDA_SUCCESS;
}

/* Unmaps the sinks that overlap the range, and extends [*low, *high) to all that they covered. */
static void range_unmap(struct space *sinks, uint64_t address, uint64_t size, uint64_t *low,
                        uint64_t *high)
{
    for (struct place *sink; (sink = space_overlapping(sinks, address, size));) {
        const struct place gone = *sink;

        DRV_MUST(cuMemUnmap, gone.address, gone.size);
        space_remove(sinks, sink);
        *low = gone.address < *low ? gone.address : *low;
        *high = gone.address + gone.size > *high ? gone.address + gone.size : *high;
    }
}

void sinks_unmap(struct session *session, uint64_t address, uint64_t size)
{
    uint64_t low = address, high = address + size;

    range_unmap(&session->memory.sinks, address, size, &low, &high);
}

CUresult sinks_uncover(struct session *session, uint64_t address, uint64_t size)
{
    uint64_t low = address, high = address + size;
    CUresult result;

    range_unmap(&session->memory.sinks, address, size, &low, &high);
    result = sinks_cover(session, low, address - low);
    return result ? result : sinks_cover(session, address + size, high - (address + size));
}

CUresult sinks_cover_place(struct session *session, uint64_t address, uint64_t size)
{
    const struct space *window = &session->memory.window;
    const struct place *chunk = space_at(&session->memory.window, address);
    const uint64_t begin = session->memory.window_base, end = session->memory.covered_end;
    /* the end of the chunk before this one, and the beginning of the next one */
    const uint64_t before = chunk > window->places ? chunk[-1].address + chunk[-1].size : begin;
    const uint64_t behind = chunk + 1 < window->places + window->count ? chunk[1].address : end;
    uint64_t low = address, high = address + size;

    for (unsigned kind = SINK_SIZES; kind-- > 1;) { /* the largest sinks are not restored */
        const uint64_t unit = sink_size(kind), down = address - address % unit,
                       up = round_up(address + size, unit);
        low = down >= before ? down : low;
        high = up <= behind ? up : high;
    }
    range_unmap(&session->memory.sinks, low, high - low, &low, &high);
    return sinks_cover(session, low, high - low);
}

void sinks_init(struct session *session, struct window_range range)
{
    space_init(&session->memory.sinks, range.begin, range.size);
}

void sinks_deinit(struct session *session)
{
    struct space *sinks = &session->memory.sinks;

    for (size_t i = 0; i < sinks->count; i++)
        DRV_MUST(cuMemUnmap, sinks->places[i].address, sinks->places[i].size);
    space_deinit(sinks);
}

void user_sinks_free(struct user_sinks *sinks)
{
    for (unsigned kind = 0; kind < SINK_SIZES; kind++) {
        if (sinks->sink[kind].made)
            DRV_MUST(cuMemRelease, sinks->sink[kind].handle);
        sinks->sink[kind].made = false;
    }
}
