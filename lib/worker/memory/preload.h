/*
 * preload.h - what a standby makes of the sessions of the worker that it is to follow, while that
 * worker goes on: windows reserved, chunks mapped, segments and pinned host blocks registered. With
 * another worker's context alive a driver call that goes to the kernel takes milliseconds, and at a
 * takeover the tenants would wait for all of them.
 *
 * All of it is a guess that the journal and the vault's pieces confirm when the session is taken up
 * (resume.c): a piece by its number, a host block by its identifier, which is nobody else's while
 * this process has it attached. What is not confirmed is given back.
 *
 * The control thread has a preload until preload_take; then it belongs to the session's job. All
 * functions take NULL for a session of which nothing was preloaded.
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
    bool held;   /* the handle is to be released */
    bool mapped; /* at its address */
};

struct preload_host {
    int id;
    void *memory; /* NULL: taken */
    uint64_t size;
    uint64_t room; /* of its place in the window (host_place.h); 0: it has none */
    bool mapped;   /* kernels may use it, not only copies */
};

struct journal;

struct preload {
    uint64_t session_id;
    uint64_t window_base, window_size;
    bool fenced;
    bool window; /* reserved */
    int segment; /* kept by segment_mapping.c until the session takes it; -1: not made */
    struct preload_piece *pieces; /* sorted by address */
    uint32_t count, capacity;
    struct preload_host *hosts;
    uint32_t host_count, host_capacity;
};

/* ---- The control thread ---------------------------------------------------------------------- */

/* Makes what a session needs, and (preload_add) one piece of its memory. Both take the descriptor
 * over. What cannot be made is left out. */
void preload_session(uint32_t slot, const struct link_preload *what, int journal);
void preload_add(uint32_t slot, const struct link_vault *piece, int descriptor);
/* Gives the piece with that number back; 0: all of the slot. LINK_SLOT_NONE: of every slot. */
void preload_remove(uint32_t slot, uint64_t number);
/* Hands over what was made for the session that is to be taken up. What was made for other sessions
 * at its addresses is given back first. NULL: nothing was made. */
struct preload *preload_take(uint32_t slot, const struct link_open *open);

/* ---- The session's job ----------------------------------------------------------------------- */

/* Gives back what nobody has taken. */
void preload_free(struct preload *preload);
/* The same for its pieces alone: before the window goes. */
void preload_pieces_deinit(struct preload *preload);
void preload_piece_deinit(struct preload_piece *piece);
/* The piece that begins there; NULL: there is none. */
struct preload_piece *preload_piece_at(const struct preload *preload, uint64_t address);
/* A host block, attached and registered; NULL: it was not made. address: where it must be attached,
 * or 0. */
void *preload_host_take(struct preload *preload, int id, uint64_t size, bool mapped,
                        uint64_t address);

/* Makes room in the window where host memory was mapped beforehand that the journal does not name.
 */
void preload_hosts_settle(struct preload *preload, const struct journal *journal);
/* Whether the window is reserved; the caller has it then. */
static inline bool preload_window_take(struct preload *preload)
{
    const bool window = preload && preload->window;

    if (window)
        preload->window = false;
    return window;
}

/* The caller has what was the piece's. */
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
