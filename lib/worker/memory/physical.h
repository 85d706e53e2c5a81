/*
 * physical.h - pieces of device memory, which sessions hold each, and against whom it counts.
 *
 * A piece belongs to its holders: the session that allocated it, and those that imported it. It
 * counts against the limit of every session that holds it, since each may be left as the only one;
 * but once for each user, and once in what the device is said to have in use, under the session
 * that has held it longest.
 *
 * Service threads. A holder belongs to its session's job in progress; the list of a piece's holders
 * and `revoked` are under the lock in physical.c, since others' jobs change them too.
 */
#ifndef GS_WORKER_MEMORY_PHYSICAL_H
#define GS_WORKER_MEMORY_PHYSICAL_H

#include "worker/jobs/job.h"

struct physical;

/* A session's hold on a piece. All zero: none. */
struct holder {
    struct physical *memory;
    struct session *session;
    struct holder *next; /* a younger one of the same piece */
    bool revoked;        /* the owner wants it back */
    bool resting;        /* counts nowhere */
};

/* Makes a piece for the `asked` bytes that a tenant named. What is in it is unknown. Else the job
 * has failed. */
gs_status physical_new(struct job *job, uint64_t asked, struct holder *holder);
/* Holds a piece that another holder keeps alive meanwhile. Else the job has failed. */
gs_status physical_hold(struct job *job, struct physical *memory, struct holder *holder);
/* Gives the hold up; with the last one the piece is freed. It must not be mapped any more. */
void physical_release(struct holder *holder);

/* Keeps the piece for the session's next need, and counts it no more. false: others hold it too,
 * and nothing was done. */
bool physical_rest(struct holder *holder);
/* Counts it again. Else the job has failed. */
gs_status physical_wake(struct job *job, uint64_t asked, struct holder *holder);

CUmemGenericAllocationHandle physical_handle(const struct physical *memory);
uint64_t physical_size(const struct physical *memory);

/* Tells every session but the owner's hold to let go: each gets a job_unshare. Else the job has
 * failed, and nobody was told. */
gs_status physical_revoke(struct job *job, const struct holder *owner);
bool physical_revoked(const struct holder *holder);

#endif
