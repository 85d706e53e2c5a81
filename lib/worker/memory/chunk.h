/*
 * chunk.h - chunks: a chunk is a piece of physical memory (physical.h) mapped at its place in a
 * session's window (the session's range of device addresses). Service threads: a session's chunks
 * belong to its job in progress.
 */
#ifndef GS_WORKER_MEMORY_CHUNK_H
#define GS_WORKER_MEMORY_CHUNK_H

#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/physical.h"

struct chunk {
    struct holder holder;
    uint64_t address, size;
    bool shared; /* the chunk holds small allocations, in blocks */
    bool dirty;  /* a block was freed: a block taken from now on must be zeroed first */
    bool lent;   /* it was exported at least once: other sessions may hold its memory */
    struct space blocks;
    uint64_t refuses; /* a block of this size or more finds no room in `blocks`; 0: not known */
    struct mem_export *exports; /* see export_table.h */
    bool sunk;     /* it has no memory: a revoked import, or the place of host memory */
    bool exported; /* the vault has its descriptor */
    bool named;    /* used at a takeover: the journal has the allocation that fills this chunk */
};

/* Makes a chunk of newly created, zeroed memory for the `asked` bytes that a tenant named. NULL:
 * the job has failed. */
struct chunk *chunk_new(struct job *job, uint64_t asked);
/* Notes the chunk in the session's journal. */
void chunk_note(const struct chunk *chunk);
/* Returns whether the memory of the journal's chunk entry may have several holders. */
bool chunk_noted_lent(const struct journal_entry *entry);
/* Returns the import number in a chunk entry; IMPORT_NONE: the chunk is not an import. */
uint32_t chunk_noted_import(const struct journal_entry *entry);
/* Makes the chunk of a former worker's journal entry again, at its place and with its content.
 * source NULL: the entry is of a revoked import, and sinks are mapped at its place. The source's
 * descriptor stays the caller's. NULL: the job has failed. */
struct chunk *chunk_adopt(struct job *job, const struct journal_entry *entry,
                          const struct chunk_source *source);
/* Returns whether the session has a spare chunk with room for `size` bytes. */
bool chunk_spare_holds(const struct session *session, uint64_t size);
/* Returns the chunk that begins at an address of the window; NULL: none begins there. */
struct chunk *chunk_at(struct session *session, uint64_t address);
/* Frees a chunk and its place, or keeps it, uncounted, as the session's spare chunk. */
void chunk_free(struct session *session, struct chunk *chunk);
/* Frees all chunks of a session. */
void chunks_deinit(struct session *session);

/* The steps of making a chunk, for code that makes chunks of existing memory. */
/* Takes a place in the window for the memory that the chunk holds. On failure the job has
 * failed. */
gs_status chunk_address_take(struct job *job, struct chunk *chunk);
/* Takes the place at `address` in a peer window (peer_window.h) instead. False: that place is in no
 * peer window, or is taken. */
bool chunk_address_take_peer(struct job *job, struct chunk *chunk, uint64_t address);
void chunk_address_free(struct session *session, const struct chunk *chunk);
/* Maps the memory that the chunk holds and lets the device read and write it. */
CUresult chunk_map(const struct chunk *chunk);
void chunk_unmap(const struct chunk *chunk);

/* Makes a chunk without memory: a place where nothing is mapped, for host memory (host_place.c).
 * address: where the place is to begin; 0: anywhere. NULL: the job has failed. */
struct chunk *chunk_place_new(struct job *job, uint64_t address, uint64_t size);
/* Frees such a chunk and its place. Nothing may be mapped at the place any more. */
void chunk_place_free(struct chunk *chunk);

#endif
