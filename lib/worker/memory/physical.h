/*
 * physical.h - pieces of device memory, the sessions that hold each piece, and the limits against
 * which it counts. A piece is physical memory that one call makes (cuMemCreate), with one handle.
 *
 * A piece belongs to its holders: the session that allocated it and the sessions that imported it.
 * It counts against the limit of every session that holds it, since each may be left as the only
 * holder. It counts once for each session and user, and once in the device's memory in use, where
 * it shows under the session that has held it longest. A piece of another device counts there,
 * against its owner, without whom nobody has it.
 *
 * Service threads. A holder belongs to its session's job in progress. The lock in physical.c
 * protects the list of a piece's holders and `revoked`, since jobs of other sessions change these
 * too.
 */
#ifndef GS_WORKER_MEMORY_PHYSICAL_H
#define GS_WORKER_MEMORY_PHYSICAL_H

#include "worker/jobs/job.h"

struct physical;

#define IMPORT_NONE UINT32_MAX

/* Set in the number of a piece of another device, which the supervisor has numbered. */
#define PHYSICAL_PEER (UINT64_C(1) << 63)

/* A session's hold on a piece. A holder without a piece holds nothing. */
struct holder {
    struct physical *memory;
    struct session *session;
    struct holder *next, **at; /* the next younger holder of the same piece; what points here */
    uint64_t since;            /* when the session got the piece, from whichever worker */
    uint32_t import; /* the number among the session's imports; IMPORT_NONE: not imported */
    bool revoked;    /* the owner wants it back */
    bool resting;    /* kept for the session's next need; counts nowhere */
};

/* Where a former worker's memory is found. */
struct chunk_source {
    int descriptor;
    struct preload_piece *preloaded; /* the memory is mapped at its place; NULL: it is not yet */
};

/* A piece of another device. */
struct peer_piece {
    int descriptor;
    uint64_t size, number;
};

/* Makes a piece for the `asked` bytes that a tenant named. Its content is undefined. On failure the
 * job has failed. */
gs_status physical_new(struct job *job, uint64_t asked, struct holder *holder);
/* Makes a piece of a former worker's memory, with its content and its number, for a holder
 * whose `since` and `import` are those of a former worker's. A piece that others may hold (`lent`)
 * is made once, by the first of its holders that is taken up. On failure the job has failed. */
gs_status physical_adopt(struct job *job, const struct chunk_source *source, uint64_t size,
                         uint64_t number, bool lent, struct holder *holder);
/* Adds a holder to a piece that another holder keeps alive meanwhile. On failure the job has
 * failed. */
gs_status physical_hold(struct job *job, struct physical *memory, uint32_t import,
                        struct holder *holder);
/* The same for a piece of another device, whose descriptor stays the caller's: the worker makes it
 * where no session holds it yet. number: with PHYSICAL_PEER. */
gs_status physical_hold_peer(struct job *job, const struct peer_piece *piece, uint32_t import,
                             struct holder *holder);
/* Gives the hold up; the last holder frees the piece. The holder must have unmapped the piece. */
void physical_release(struct holder *holder);

/* Keeps the piece for the session's next need and stops counting it. Returns false, and does
 * nothing, when other sessions hold the piece too. */
bool physical_rest(struct holder *holder);
/* Counts a resting piece again. On failure the job has failed. */
gs_status physical_wake(struct job *job, uint64_t asked, struct holder *holder);

CUmemGenericAllocationHandle physical_handle(const struct physical *memory);
uint64_t physical_size(const struct physical *memory);
/* The piece's number, which no other piece of the device has, had, or will have while the machine
 * runs: a session's journal names by it what it shares with others. */
uint64_t physical_number(const struct physical *memory);

/* Tells every session that holds the piece, except the owner, to let go: each gets a job_unshare,
 * and its journal says so. On failure the job has failed, and no session was told. */
gs_status physical_revoke(struct job *job, const struct holder *owner);
bool physical_revoked(const struct holder *holder);
/* The same for all that hold the piece of another device, whose owner is there. Control thread. */
void physical_revoke_peer(uint64_t number);
/* Notes that a job_unshare begins: memory that is taken back from now on needs a further
 * job_unshare. */
void physical_unshare_begin(struct session *session);

#endif
