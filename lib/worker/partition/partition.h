/*
 * partition.h - sets of SMs that kernels can be kept on: green contexts, cached; see partition.c.
 * Dispatcher, but where it says otherwise.
 */
#ifndef GS_WORKER_PARTITION_PARTITION_H
#define GS_WORKER_PARTITION_PARTITION_H

#include "common/sm_mask.h"
#include "worker/jobs/job.h"

/* What can be granted; what best-effort work keeps to beside latency work; and 16 for what tenants
 * are just leaving and for launches that ask for a place of their own. More where the driver does
 * not give their memory back. */
#define PARTITIONS_TRIMMED 16u
#define PARTITIONS_MAX     (LINK_SETS_MAX + PARTITIONS_TRIMMED + 16u)

enum partition_state { PARTITION_MAKING, PARTITION_READY, PARTITION_FAILED };

struct partition {
    struct sm_mask mask;
    uint32_t id; /* for reports; 0 is the whole device, no number is used twice */
    uint32_t sm_count;
    enum partition_state state;
    gs_status status; /* FAILED: why */
    char text[192];
    uint64_t failed_ns;
    uint32_t holders; /* grants, and who waits for one */
    uint32_t trimmed; /* those of them that are only best-effort work's, beside latency work */
    uint64_t used;    /* when it was last asked for: a counter */

    /* Graphs that have nodes bound to it; any thread. A partition without holders takes them down
     * when it must go. */
    _Atomic uint32_t graphs;

    /* What the device has of it; set by its job. */
    CUgreenCtx green;
    CUcontext context;      /* must be current while a kernel's node is added or set */
    CUstream aside;         /* for a launch that no graph could be made for, see launch.c */
    CUevent before, after;  /* its order in the tenant's stream */
    struct partition *next; /* of its bucket, or of those to be destroyed */
};

/* How many there can be; once sm_topology.c has found out whether the driver gives their memory
 * back. At the worker's start. GS_ERR_SYSTEM: no random number. */
gs_status partitions_init(void);

/* Makes one of all SMs, for a lane: in no table, with id 0, and for good. At the start. */
CUresult partition_whole(struct partition *partition);

/* The partition of these SMs: whole groups, not all of the device. If it is not there, its making
 * begins (beside the rest, at a quiet moment), and its state says MAKING until then; a failed one
 * stays for a moment, so that all who waited see it, and is tried again when asked for later. The
 * result may be gone at the next round of the dispatcher unless it is held. NULL: there are as many
 * as there can be, or no host memory; *status says which. */
struct partition *partition_get(const struct sm_mask *mask, gs_status *status);
/* The same for a launch, which holds nothing and can wait: a few are being made at a time, so that
 * there is room for those that are to be held. GS_NOT_READY: ask again. */
struct partition *partition_get_in_turn(const struct sm_mask *mask, gs_status *status);
/* The same for best-effort work beside latency work, held: there are PARTITIONS_TRIMMED of these at
 * a time, so that the others are for grants. NULL also when all those are held. */
struct partition *partition_get_trimmed(const struct sm_mask *mask);
void partition_release_trimmed(struct partition *partition);
/* Why there is none, for people. */
const char *partition_trouble(gs_status status);

static inline void partition_hold(struct partition *partition)
{
    if (partition)
        partition->holders++;
}
void partition_release(struct partition *partition);

/* It was used without being asked for. */
void partition_use(struct partition *partition);
/* What has been asked for since this call stays until the next one, also without being held: for
 * launches between their record and their issue. */
void partitions_keep(void);
/* How many have gone: while this does not change, no pointer to a partition becomes stale. */
uint64_t partition_losses(void);

/* ---- Room in the table -----------------------------------------------------------------------
 * Whoever asks for a partition first makes room for it where there is none (placement.c): graphs
 * with nodes in the one that goes are destroyed by those who own them. */

/* Is the partition of these SMs not there, and the table full? */
bool partition_table_full(const struct sm_mask *mask);
/* Of those that nobody holds, the one that was asked for least lately after `before` (NULL: of
 * all). Where the driver gives nothing back, of those that could not be made. NULL: none. */
struct partition *partition_idle(const struct partition *before);
/* Out of the table: the next job destroys it. false: there are graphs in it still. */
bool partition_dismiss(struct partition *partition);

/* ---- Its jobs -------------------------------------------------------------------------------- */

/* One that is to be sent on its way to a quiet moment; NULL: none. After anything that asks for
 * partitions. */
struct job *partition_job(void);
/* Is this the job of one of them? Then it is back, and given to one of the next two. */
bool partition_is_job(const struct job *job);
/* There was no device memory, and some may be free now: once more. */
void partition_retry(struct job *job);
/* The partition has its new state; the job is freed. */
void partition_settle(struct job *job);

#endif
