/*
 * preload.h - preloading: while a worker still runs, its standby reserves the windows of the
 * worker's sessions, maps their chunks, and registers their segments and pinned host blocks. While
 * another worker's context is alive, a driver call that enters the kernel takes milliseconds, and
 * at a takeover the tenants would wait for all of these calls.
 *
 * What was preloaded is a guess until the session is taken up. Then the journal and the vault's
 * pieces confirm it (resume.c): a piece by its number, a host block by its System V identifier,
 * which no other segment gets while this process has the block attached. What is not confirmed is
 * freed.
 *
 * The control thread owns a preload until preload_take; then it belongs to the session's job. All
 * functions of that job take NULL for a session of which nothing was preloaded.
 */
#ifndef GS_WORKER_MEMORY_PRELOAD_H
#define GS_WORKER_MEMORY_PRELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "worker/driver/driver.h"

struct preload_piece {
    uint64_t address, size, number;
    CUmemGenericAllocationHandle handle;
    bool held;   /* the preload owns the handle */
    bool mapped; /* the preload owns the mapping at `address` */
};

struct preload_host {
    int id;
    void *memory; /* NULL: taken */
    uint64_t size;
    uint64_t room; /* size of its place in the window (host_place.h); 0: no place */
    bool mapped;   /* registered for kernels, not only for copies */
};

struct journal;

struct preload {
    uint64_t session_id;
    uint64_t window_base, window_size;
    bool fenced;
    bool window; /* the preload owns the window's reservation */
    int segment; /* id of the segment, whose mapping segment_mapping.c keeps; -1: none */
    struct preload_piece *pieces; /* sorted by address */
    uint32_t count, capacity;
    struct preload_host *hosts;
    uint32_t host_count, host_capacity;
};

/* ---- The control thread ---------------------------------------------------------------------- */

/* Preloads a session without its pieces, and (preload_add) one of its pieces. Both close the
 * descriptor. What cannot be made is left out. */
void preload_session(uint32_t slot, const struct link_preload *what, int journal);
void preload_add(uint32_t slot, const struct link_vault *piece, int descriptor);
/* Frees the piece with that number; 0: the slot's whole preload. LINK_SLOT_NONE: every slot's. */
void preload_remove(uint32_t slot, uint64_t number);
/* Hands over the preload of the session that is to be taken up. Preloads of other sessions that
 * overlap the session's addresses are freed first. NULL: there is none for this session. */
struct preload *preload_take(uint32_t slot, const struct link_open *open);

/* ---- The session's job ----------------------------------------------------------------------- */

/* Frees the preload with all that was not taken from it. */
void preload_free(struct preload *preload);
/* Frees the pieces alone: before the window is freed. */
void preload_pieces_deinit(struct preload *preload);
void preload_piece_deinit(struct preload_piece *piece);
/* Returns the piece that begins at `address`; NULL: there is none. */
struct preload_piece *preload_piece_at(const struct preload *preload, uint64_t address);
/* Takes a host block, which is attached and registered, and returns its memory; NULL: it was not
 * preloaded. address: where it must be attached, or 0. */
void *preload_host_take(struct preload *preload, int id, uint64_t size, bool mapped,
                        uint64_t address);

/* Frees the preloaded host blocks at places in the window that the journal does not name. */
void preload_hosts_settle(struct preload *preload, const struct journal *journal);
/* Returns whether the window is reserved; the reservation is the caller's then. */
static inline bool preload_window_take(struct preload *preload)
{
    const bool window = preload && preload->window;

    if (window)
        preload->window = false;
    return window;
}

/* Take the handle, or the mapping, which are the caller's then. */
static inline CUmemGenericAllocationHandle preload_handle_take(struct preload_piece *piece)
{
    piece->held = false;
    return piece->handle;
}

static inline void preload_mapping_take(struct preload_piece *piece)
{
    piece->mapped = false;
}

#endif
