/*
 * deferred_release.h - deferred release: host memory that waits to be unregistered and unmapped,
 * arrays and textures that wait to be destroyed; see deferred_release.c.
 */
#ifndef GS_WORKER_MEMORY_DEFERRED_RELEASE_H
#define GS_WORKER_MEMORY_DEFERRED_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"

struct user;

/* What is to be told once something is released; called on the thread that releases. All zero:
 * nothing. */
struct deferred_end {
    void (*gone)(struct user *user, uint64_t size);
    struct user *user;
};

/* Takes over a System V mapping of `size` bytes, of which the driver knows the part `registered`
 * (NULL: none). Any thread. Without memory for the note, the mapping is released at once. */
void deferred_release_add(void *mapping, void *registered, uint64_t size, struct deferred_end end);

/* The same for host memory of `size` bytes at a place of `room` bytes of a window (host_place.h);
 * and for such a window, of which all places were given here before. */
void deferred_release_place(void *memory, uint64_t room, uint64_t size, struct deferred_end end);
void deferred_release_window(uint64_t base, uint64_t size);

/* The same for an array of `size` bytes, with which the device has finished. */
void deferred_release_array(CUarray array, uint64_t size, struct deferred_end end);
void deferred_release_mipmap(CUmipmappedArray mipmap, uint64_t size, struct deferred_end end);
/* The same for a texture or a surface, which goes before an array that comes after it. */
void deferred_release_texture(CUtexObject texture, struct deferred_end end);
void deferred_release_surface(CUsurfObject surface, struct deferred_end end);

/* Whether a window waits that has the address. Any thread. */
bool deferred_release_has(uint64_t address);
/* Whether any memory waits, and whether so much waits that sessions are to be paused for a quiet
 * moment. Any thread. */
bool deferred_release_any(void);
bool deferred_release_full(void);

/* Unregisters, unmaps and destroys what has waited longest: what takes a short while, so that a
 * quiet moment stays short. Stalls all launches while the device is busy. Service thread. */
void deferred_release_run(void);

#endif
