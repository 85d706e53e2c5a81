/*
 * segment_pool.h - segments of sessions that have been closed, kept for the same user's next
 * sessions on the same device.
 *
 * The worker keeps each of them mapped, and its completion page registered with the driver:
 * registering and unregistering that page stalls the launches of all tenants for 57 and 47 us
 * (H200), so an attach and a detach do without.
 *
 * A segment is given out again only while nobody but the supervisor and the worker has it attached,
 * and all of it is zero then. A process of the same user can still attach it by its id, as it can
 * any other segment of its user.
 */
#ifndef GS_SERVER_SEGMENT_POOL_H
#define GS_SERVER_SEGMENT_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The most segments of a pool. Tenants may have filled theirs, so these hold up to 258 MiB. */
#define SEGMENT_POOL_MAX 64u

struct pooled_segment {
    int id;
    uid_t uid; /* the user whom it was made for */
    unsigned char *memory;
};

struct segment_pool {
    struct pooled_segment segment[SEGMENT_POOL_MAX]; /* the one that has been unused longest
                                                        comes first */
    uint32_t count;
};

/* Takes out the user's segment that was put in last, and clears it. A segment that is still
 * attached elsewhere stays in the pool. Returns false if there is none. */
bool segment_pool_take(struct segment_pool *pool, uid_t uid, struct pooled_segment *segment);
/* Puts a segment in. Returns true if the pool was full; the segment unused for longest has then
 * been detached, and *dropped is its id. */
bool segment_pool_put(struct segment_pool *pool, const struct pooled_segment *segment,
                      int *dropped);
/* Attaches the segments of a former supervisor's pool. */
void segment_pool_restore(struct segment_pool *pool);
/* Detaches all segments. */
void segment_pool_deinit(struct segment_pool *pool);

#endif
