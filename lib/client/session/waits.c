/* waits.c - see waits.h. */
#include "client/session/waits.h"

_Static_assert(SEG_STREAMS <= 64, "a bit for each stream");

void waits_init(struct waits *waits)
{
    pthread_mutex_init(&waits->lock, NULL);
    for (uint32_t i = 0; i < SEG_STREAMS; i++)
        waits->waiting[i] = 0;
}

void waits_deinit(struct waits *waits)
{
    pthread_mutex_destroy(&waits->lock);
}

void waits_note(struct waits *waits, uint32_t stream, uint64_t end, uint32_t other,
                uint64_t position)
{
    pthread_mutex_lock(&waits->lock);
    waits->newest[other][stream].position = position;
    waits->newest[other][stream].end = end;
    waits->waiting[other] |= UINT64_C(1) << stream;
    pthread_mutex_unlock(&waits->lock);
}

static bool reaches(uint64_t at, uint64_t position)
{
    return (int64_t)(at - position) >= 0;
}

static bool passed(const struct seg_complete *complete, uint32_t stream, uint64_t position)
{
    /* acquire: as position_complete */
    return reaches(atomic_load_explicit(&complete->position[stream], memory_order_acquire),
                   position);
}

/* Returns whether a stream that waited for this one has gone on. `seen` has the streams already
 * examined, each of which is examined once, so that the search stays short. */
static bool implied(const struct waits *waits, const struct seg_complete *complete, uint32_t stream,
                    uint64_t position, uint64_t *seen)
{
    uint64_t waiting;

    *seen |= UINT64_C(1) << stream;
    while ((waiting = waits->waiting[stream] & ~*seen) != 0) {
        const uint32_t other = (uint32_t)__builtin_ctzll(waiting);
        const uint64_t end = waits->newest[stream][other].end;

        *seen |= UINT64_C(1) << other;
        if (reaches(waits->newest[stream][other].position, position) &&
            (passed(complete, other, end) || implied(waits, complete, other, end, seen)))
            return true;
    }
    return false;
}

bool waits_passed(struct waits *waits, const struct seg_complete *complete, uint32_t stream,
                  uint64_t position)
{
    uint64_t seen = 0;
    bool is;

    if (passed(complete, stream, position))
        return true;
    pthread_mutex_lock(&waits->lock);
    is = implied(waits, complete, stream, position, &seen);
    pthread_mutex_unlock(&waits->lock);
    return is;
}
