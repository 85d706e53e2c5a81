/*
 * physical.h - pieces of device memory, the sessions that hold each piece, and what each piece is
 * charged for. A piece is physical memory that one call makes (cuMemCreate), with one handle.
 *
 * A piece belongs to its holders: the session that allocated it and the sessions that imported it.
 * Each of these sessions is charged for it, since each may be left as its only holder. A session
 * that holds a piece several times, and a user with several such sessions, are charged once. In the
 * device's memory in use the piece also counts once, under the session that has held it longest. A
 * piece of another device is charged there, to its owner, without whom no session keeps it.
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

/* Set in the number of a piece of another device; the supervisor assigns the rest of that number.
 */
#define PHYSICAL_PEER (UINT64_C(1) << 63)

/* A session's hold on a piece. A holder without a piece holds nothing. */
struct holder {
    struct physical *memory;
    struct session *session;
    struct holder *next, **at; /* next younger holder of the piece; link to this one */
    uint64_t since;            /* when the session got the piece, from this or a former worker */
    uint32_t import;           /* the session's number for this import; IMPORT_NONE: not imported */
    bool revoked;              /* the owner wants it back */
    bool resting;              /* kept as the spare chunk's memory; charged to nobody */
};

/* Where the memory of a former worker's piece comes from. */
struct chunk_source {
    int descriptor;
    struct preload_piece *preloaded; /* mapped at its place by the standby; NULL: not mapped */
};

/* A piece of another device. */
struct peer_piece {
    int descriptor;
    uint64_t size, number;
};

/* Makes a piece for the `asked` bytes that a tenant named, and charges for it. Its content is
 * undefined. On failure the job has failed. */
gs_status physical_new(struct job *job, uint64_t asked, struct holder *holder);
/* Makes a piece again from a former worker's memory, with its content and number, for a holder
 * whose `since` and `import` are set from the journal. A piece that may have several holders
 * (`lent`) is made once, for the first holder that is taken up. On failure the job has failed. */
gs_status physical_adopt(struct job *job, const struct chunk_source *source, uint64_t size,
                         uint64_t number, bool lent, struct holder *holder);
/* Adds a holder to a piece, which another holder keeps alive during the call. On failure the job
 * has failed. */
gs_status physical_hold(struct job *job, struct physical *memory, uint32_t import,
                        struct holder *holder);
/* Adds a holder to a piece of another device, which is made first where no session holds it yet.
 * The piece's number has PHYSICAL_PEER set; its descriptor stays the caller's. On failure the job
 * has failed. */
gs_status physical_hold_peer(struct job *job, const struct peer_piece *piece, uint32_t import,
                             struct holder *holder);
/* Ends the hold; the last holder frees the piece. The caller has unmapped the piece. */
void physical_release(struct holder *holder);

/* Lets the piece rest: the session keeps it for its next allocation, and nobody is charged for it.
 * Returns false, and does nothing, when other sessions hold the piece too. */
bool physical_rest(struct holder *holder);
/* Ends the rest: charges for the piece again. On failure the job has failed. */
gs_status physical_wake(struct job *job, uint64_t asked, struct holder *holder);

CUmemGenericAllocationHandle physical_handle(const struct physical *memory);
uint64_t physical_size(const struct physical *memory);
/* Returns the piece's number, which no other piece of the device has, had, or will have while the
 * machine runs. A session's journal names the memory that it shares with others by this number. */
uint64_t physical_number(const struct physical *memory);

/* Takes the piece back from every session that holds it, except the owner: each gets a job_unshare,
 * and its journal notes the revocation. On failure the job has failed, and no session was told. */
gs_status physical_revoke(struct job *job, const struct holder *owner);
bool physical_revoked(const struct holder *holder);
/* Takes a piece of another device back from all sessions of this device that hold it. Control
 * thread. */
void physical_revoke_peer(uint64_t number);
/* Notes that a job_unshare begins: memory that is taken back from now on needs a further
 * job_unshare. */
void physical_unshare_begin(struct session *session);

#endif
