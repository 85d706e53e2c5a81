/*
 * chunk.h - a piece of physical memory at its place in a session's window. Service threads: a
 * session's chunks belong to its job in progress.
 */
#ifndef GS_WORKER_MEMORY_CHUNK_H
#define GS_WORKER_MEMORY_CHUNK_H

#include "worker/jobs/job.h"
#include "worker/memory/physical.h"

#define CHUNK_OWN UINT32_MAX

struct chunk {
    struct holder holder;
    uint64_t address, size;
    bool shared; /* holds small allocations, in blocks */
    bool dirty;  /* a block was given back: what is taken next must be zeroed first */
    struct space blocks;
    struct mem_export *exports; /* memory_share.c's */
    uint32_t import;            /* its number among the session's imports; CHUNK_OWN: it is none */
    bool sunk;   /* an import that was taken back: the session's sink is mapped there */
    bool queued; /* vault_export.c's */
    struct chunk *next_queued;
};

/* A chunk of zeroed memory of its own, for the `asked` bytes that a tenant named. NULL: the job has
 * failed. */
struct chunk *chunk_new(struct job *job, uint64_t asked);
/* The chunk at an address of the window; NULL: none begins there. */
struct chunk *chunk_at(struct session *session, uint64_t address);
/* Frees a chunk and its place; or keeps it, uncounted, for the session's next one. */
void chunk_free(struct session *session, struct chunk *chunk);
/* Frees all chunks of a session. */
void chunks_deinit(struct session *session);

/* Steps of making one, for what makes chunks of memory that is there already. */
/* Takes a place for what it holds. Else the job has failed. */
gs_status chunk_address_take(struct job *job, struct chunk *chunk);
void chunk_address_free(struct session *session, const struct chunk *chunk);
/* Maps the memory that it holds and lets the device read and write it. */
CUresult chunk_map(const struct chunk *chunk);
void chunk_unmap(const struct chunk *chunk);
/* Clears what is mapped there: the driver may hand out what another tenant has just given back.
 * Waits. */
CUresult device_zero(uint64_t address, uint64_t size);

#endif
