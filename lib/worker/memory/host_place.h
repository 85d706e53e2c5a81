/*
 * host_place.h - places: addresses where a session's kernels reach host memory; see host_place.c.
 * Service threads, in the session's job in progress.
 */
#ifndef GS_WORKER_MEMORY_HOST_PLACE_H
#define GS_WORKER_MEMORY_HOST_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct session;

/* Attaches the segment, which is attached at *memory, at a place of the session's instead. Returns
 * false, and leaves it, where the session has no place for it. */
bool host_place_move(struct session *session, int id, uint64_t size, void **memory);

#endif
