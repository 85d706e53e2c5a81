/*
 * sink.h - sinks: memory that is mapped wherever a session's kernels may stray but the session has
 * no memory of its own, so that an access there neither faults nor reaches anybody's memory.
 *
 * A kernel that faults ends the context of all tenants. Sinks are therefore mapped in the place of
 * an import that its owner has revoked, and wherever a session whose kernels are fenced has no
 * memory: in the open part of its window and behind it (window.h). A sink's content has no meaning.
 * The sessions of a user share the user's sinks, one for each size; no memory is mapped for two
 * users.
 *
 * A driver maps a piece (physical.h) only whole, and takes some 25 us for a mapping of any size. So
 * sinks have a few sizes, the largest that fit are used, and a sink in the way of an allocation is
 * replaced by smaller ones around it.
 *
 * Runs on service threads, in the session's job in progress.
 */
#ifndef GS_WORKER_MEMORY_SINK_H
#define GS_WORKER_MEMORY_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/driver/driver.h"

struct session;
struct window_range;

#define SINK_SIZES 4

/* The sinks of a user, by size. Zeroed: none. Changed under the lock in sink.c. */
struct user_sinks {
    struct {
        CUmemGenericAllocationHandle handle;
        bool made;
    } sink[SINK_SIZES];
};

/* Before the other functions. Sinks may come to all of the range. */
void sinks_init(struct session *session, struct window_range range);
/* Maps sinks in a part of the session's window where nothing is mapped. On failure part of it is
 * covered, and the session has a hole (session_memory.hole). */
CUresult sinks_cover(struct session *session, uint64_t address, uint64_t size);
/* Unmaps the sinks in a part that sinks_cover was to cover. */
void sinks_unmap(struct session *session, uint64_t address, uint64_t size);
/* Unmaps the sinks in a part of the window, and covers anew what they had beside it. On
 * failure the session has a hole. */
CUresult sinks_uncover(struct session *session, uint64_t address, uint64_t size);
/* Covers the place of a chunk that is unmapped and still listed in the window, together with
 * smaller sinks beside it, so that sinks become as large again as other chunks permit. On failure
 * the session has a hole. */
CUresult sinks_cover_place(struct session *session, uint64_t address, uint64_t size);
/* Unmaps all sinks of a session. */
void sinks_deinit(struct session *session);

/* Frees a user's sinks, once no session has them mapped. */
void user_sinks_free(struct user_sinks *sinks);

#endif
