/*
 * deferred_release.h - deferred release: a list of host memory to be unregistered and unmapped, and
 * of arrays and textures to be destroyed, at a quiet moment; see deferred_release.c.
 */
#ifndef GS_WORKER_MEMORY_DEFERRED_RELEASE_H
#define GS_WORKER_MEMORY_DEFERRED_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"

struct user;

/* A callback for the moment when an item has been released; it runs on the thread that releases.
 * All zero: no callback. */
struct deferred_end {
    void (*gone)(struct user *user, uint64_t size);
    struct user *user;
};

/* Adds a System V mapping of `size` bytes, which the list then owns. registered: the part of it
 * that is registered with the driver; NULL: none. Any thread. Without memory for the item, the
 * mapping is released at once. */
void deferred_release_add(void *mapping, void *registered, uint64_t size, struct deferred_end end);

/* Adds host memory of `size` bytes at a place of `room` bytes in a window (host_place.h), or such a
 * window itself, after all of its places were added. */
void deferred_release_place(void *memory, uint64_t room, uint64_t size, struct deferred_end end);
void deferred_release_window(uint64_t base, uint64_t size);

/* Adds an array of `size` bytes, with which the device has finished. */
void deferred_release_array(CUarray array, uint64_t size, struct deferred_end end);
void deferred_release_mipmap(CUmipmappedArray mipmap, uint64_t size, struct deferred_end end);
/* Adds a texture or a surface. It is destroyed before any array that is added later. */
void deferred_release_texture(CUtexObject texture, struct deferred_end end);
void deferred_release_surface(CUsurfObject surface, struct deferred_end end);

/* Returns whether a window that contains the address is in the list. Any thread. */
bool deferred_release_has(uint64_t address);
/* Return whether the list has any memory, and whether it has so much that sessions are to be paused
 * for a quiet moment. Any thread. */
bool deferred_release_any(void);
bool deferred_release_full(void);

/* Releases the oldest items, for a short while only, so that a quiet moment stays short. Stalls all
 * launches while the device is busy. Service thread. */
void deferred_release_run(void);

#endif
