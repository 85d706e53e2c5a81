/*
 * sink.h - sinks: memory that is mapped wherever a session's kernels may stray but the session has
 * no memory of its own, so that a stray access neither faults nor reaches anybody's memory.
 *
 * A kernel that faults ends the context of all tenants. Sinks are therefore mapped at the place of
 * a revoked import and, where the session's kernels are fenced, wherever the session has no memory
 * in the open part of its window and in the margins of the window (window.h). A sink's content has
 * no meaning. All sessions of a user share the user's sinks, one of each size; no sink is mapped
 * for two users.
 *
 * A driver maps a piece (physical.h) only whole, and takes some 25 us for a mapping of any size. So
 * sinks come in a few sizes, the largest that fit are used, and a sink in the way of an allocation
 * is replaced by smaller ones around the allocation.
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

/* A user's sinks, by size. All zero: none. The lock in sink.c protects changes. */
struct user_sinks {
    struct {
        CUmemGenericAllocationHandle handle;
        bool made;
    } sink[SINK_SIZES];
};

/* Initializes the session's list of sinks, which may come to lie anywhere in the range. Called
 * before the other functions. */
void sinks_init(struct session *session, struct window_range range);
/* Maps sinks over a range where nothing is mapped. On failure the range is covered in part, and the
 * session has a hole (session_memory.hole). */
CUresult sinks_cover(struct session *session, uint64_t address, uint64_t size);
/* Unmaps the sinks in a range that sinks_cover was called for. */
void sinks_unmap(struct session *session, uint64_t address, uint64_t size);
/* Unmaps the sinks in a range, and covers again what these sinks covered outside of the range. On
 * failure the session has a hole. */
CUresult sinks_uncover(struct session *session, uint64_t address, uint64_t size);
/* Covers the place of a chunk that is unmapped and still listed in the window. Smaller sinks beside
 * the place are replaced, too, so that sinks become as large as other chunks permit. On failure the
 * session has a hole. */
CUresult sinks_cover_place(struct session *session, uint64_t address, uint64_t size);
/* Unmaps all sinks of a session. */
void sinks_deinit(struct session *session);

/* Frees a user's sinks, once no session has them mapped. */
void user_sinks_free(struct user_sinks *sinks);

#endif
