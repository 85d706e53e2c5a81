/*
 * partition.h - partitions: a partition is a cached green context over a set of SMs, on which
 * kernels can be kept; see partition.c. Main lane, except where a comment says otherwise.
 */
#ifndef GS_WORKER_PARTITION_PARTITION_H
#define GS_WORKER_PARTITION_PARTITION_H

#include "common/sm_mask.h"
#include "worker/jobs/job.h"

/* The most partitions in the table: those that can be granted; PARTITIONS_TRIMMED trimmed
 * partitions, each of which is a grant less the SMs that best-effort work leaves for latency work;
 * and 16 for grants that tenants are just leaving and for launches that name SMs of their own. The
 * table is larger where the driver does not give a green context's memory back. */
#define PARTITIONS_TRIMMED 16u
#define PARTITIONS_MAX     (LINK_SETS_MAX + PARTITIONS_TRIMMED + 16u)

enum partition_state { PARTITION_MAKING, PARTITION_READY, PARTITION_FAILED };

struct partition {
    struct sm_mask mask;
    uint32_t id; /* for reports; 0: the whole device; no number is used twice */
    uint32_t sm_count;
    enum partition_state state;
    gs_status status; /* in state FAILED: the reason */
    char text[192];
    uint64_t failed_ns;
    uint32_t holders; /* how many grants and waiting jobs hold it */
    uint32_t trimmed; /* how many of these use it only as a trimmed partition */
    uint64_t used;    /* cache.clock when it was last asked for */
    uint32_t uid;     /* the user of the session for which it was made */

    /* How many graphs have nodes bound to the partition. The owners destroy these graphs before the
     * partition, without holders, can be removed. */
    _Atomic uint32_t graphs;

    /* The driver's objects (green_context.c); the partition's job sets them. */
    CUgreenCtx green;
    CUcontext context;      /* must be current while a kernel's node is added or set */
    CUstream aside;         /* for work without a graph: launch.c, product_graph.c */
    CUevent before, after;  /* keep such work in the order of the tenant's stream */
    struct partition *next; /* the next one in the bucket, or the next one to destroy */
};

/* Computes the size of the table. Called at the worker's start, once sm_topology.c has found out
 * whether the driver gives a destroyed partition's memory back. GS_ERR_SYSTEM: no random number. */
gs_status partitions_init(void);

/* Returns the partition of these SMs, which are whole groups but not all of the device. If there is
 * none yet, it begins to be made, in the background and at a quiet moment; its state is MAKING
 * until then. A failed partition stays for FAILURE_KEPT_NS, so that all jobs that waited see the
 * failure, and is made again when it is asked for later. Without a hold, the partition may be gone
 * at the main lane's next round. NULL: the table is full, the asker's user has had its part of the
 * table, or there is no host memory; *status says which. asker NULL: no particular session. */
struct partition *partition_get(const struct sm_mask *mask, const struct session *asker,
                                gs_status *status);
/* Returns the partition, as partition_get does, for a launch, which holds no partition and can
 * wait. Only a few partitions are made for launches at a time, so that the table has room for
 * partitions that will be held. GS_NOT_READY: the launch has to ask again. */
struct partition *partition_get_in_turn(const struct sm_mask *mask, const struct session *asker,
                                        gs_status *status);
/* Finds or makes a trimmed partition and holds it. At most PARTITIONS_TRIMMED exist at a time, so
 * that the table has room for grants. NULL: that many are held, or partition_get returns NULL. */
struct partition *partition_get_trimmed(const struct sm_mask *mask);
void partition_release_trimmed(struct partition *partition);
/* Returns a text for people that says why there is no partition. status: from partition_get. */
const char *partition_trouble(gs_status status);

static inline void partition_hold(struct partition *partition)
{
    if (partition)
        partition->holders++;
}
void partition_release(struct partition *partition);

/* Count a graph that has nodes in the partition, and no longer has. NULL, the whole device: nothing
 * to count. Any thread. */
static inline void partition_graph_add(struct partition *partition)
{
    if (partition)
        atomic_fetch_add_explicit(&partition->graphs, 1, memory_order_relaxed);
}
static inline void partition_graph_remove(struct partition *partition)
{
    /* release: the graph is gone before the count says so; pairs with partition_has_graphs */
    if (partition)
        atomic_fetch_sub_explicit(&partition->graphs, 1, memory_order_release);
}
static inline bool partition_has_graphs(const struct partition *partition)
{
    /* acquire: pairs with partition_graph_remove */
    return atomic_load_explicit(&partition->graphs, memory_order_acquire);
}

/* Notes a use of the partition without partition_get. */
void partition_use(struct partition *partition);
/* Keeps every partition that is asked for from now on in the table until the next such call, also
 * without a holder: a launch needs its partition between the reading of its record and its issue.
 */
void partitions_keep(void);
/* Returns how many partitions were removed so far: while the number stays the same, no pointer to a
 * partition has become stale. */
uint64_t partition_losses(void);

/* ---- Room in the table -----------------------------------------------------------------------
 * A caller first makes room in a full table for the partition that it will ask for (placement.c):
 * it chooses a partition to remove, whose graphs' owners destroy these graphs. */

/* Returns whether the table is full and has no partition of these SMs. */
bool partition_table_full(const struct sm_mask *mask);
/* Returns the partition without holders that was asked for least recently, of those asked for after
 * `before` (NULL: of all); NULL: there is none. Where the driver gives no memory back, only a
 * failed partition is returned. */
struct partition *partition_idle(const struct partition *before);
/* Removes the partition from the table; the next partition job destroys it. Returns false, and does
 * nothing, while graphs have nodes in it. */
bool partition_dismiss(struct partition *partition);

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Returns a partition job that is to be sent to a quiet moment; NULL: there is none. Called after
 * anything that asks for partitions. */
struct job *partition_job(void);
/* Returns whether the job is a partition job. When such a job returns, it is passed to one of the
 * next two functions. */
bool partition_is_job(const struct job *job);
/* Sends a partition job once more. Called when it failed because the device had no memory and some
 * may be free now. */
void partition_retry(struct job *job);
/* Sets the partition's new state and frees the job. */
void partition_settle(struct job *job);

#endif
