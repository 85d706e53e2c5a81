/*
 * partition.h - partitions: a partition is a cached green context over a set of SMs, on which
 * kernels can be kept; see partition.c. Main lane, except where a comment says otherwise.
 */
#ifndef GS_WORKER_PARTITION_PARTITION_H
#define GS_WORKER_PARTITION_PARTITION_H

#include "common/sm_mask.h"
#include "worker/jobs/job.h"

/* The most partitions: those that can be granted; PARTITIONS_TRIMMED trimmed partitions, which are
 * a grant less the SMs that best-effort work leaves for latency work; and 16 for grants that
 * tenants are just leaving and for launches that name SMs of their own. There can be more where the
 * driver does not give a green context's memory back. */
#define PARTITIONS_TRIMMED 16u
#define PARTITIONS_MAX     (LINK_SETS_MAX + PARTITIONS_TRIMMED + 16u)

enum partition_state { PARTITION_MAKING, PARTITION_READY, PARTITION_FAILED };

struct partition {
    struct sm_mask mask;
    uint32_t id; /* for reports; 0 is the whole device, no number is used twice */
    uint32_t sm_count;
    enum partition_state state;
    gs_status status; /* in state FAILED: the reason */
    char text[192];
    uint64_t failed_ns;
    uint32_t holders; /* counts the grants, and the jobs that wait for one */
    uint32_t trimmed; /* counts the holders that use it only as a trimmed partition */
    uint64_t used;    /* when it was last asked for, by cache.clock */
    uint32_t uid;     /* the user of the session for which it was made */

    /* Counts the graphs that have nodes bound to the partition. Before a partition without holders
     * can go, their owners destroy these graphs. */
    _Atomic uint32_t graphs;

    /* The driver's objects (green_context.c); the partition's job sets them. */
    CUgreenCtx green;
    CUcontext context;      /* must be current while a kernel's node is added or set */
    CUstream aside;         /* for work that goes without a graph: see launch.c, product_graph.c */
    CUevent before, after;  /* keep such work in the order of the tenant's stream */
    struct partition *next; /* the next one in the bucket, or the next one to destroy */
};

/* Computes how many partitions there can be. Called at the worker's start, once sm_topology.c has
 * found out whether the driver gives their memory back. GS_ERR_SYSTEM: no random number. */
gs_status partitions_init(void);

/* The partition of these SMs, which are whole groups but not all of the device. Where there is
 * none, the making begins, in the background and at a quiet moment, and the state is MAKING until
 * it ends. A failed partition stays for FAILURE_KEPT_NS, so that all jobs that waited see the
 * failure, and is made again when it is asked for later. Unless it is held, the result may be gone
 * at the main lane's next round. NULL: the table is full, the asker's user has had its part of the
 * table, or there is no host memory; *status says which. asker NULL: for no session in
 * particular. */
struct partition *partition_get(const struct sm_mask *mask, const struct session *asker,
                                gs_status *status);
/* The same for a launch, which holds nothing and can wait. Only a few partitions are being made for
 * launches at a time, so that there is room for partitions that are to be held. GS_NOT_READY: the
 * launch has to ask again. */
struct partition *partition_get_in_turn(const struct sm_mask *mask, const struct session *asker,
                                        gs_status *status);
/* Finds or makes a trimmed partition and holds it. There are at most PARTITIONS_TRIMMED at a time,
 * so that the other partitions remain for grants. NULL also when that many are held. */
struct partition *partition_get_trimmed(const struct sm_mask *mask);
void partition_release_trimmed(struct partition *partition);
/* Describes for people why there is no partition. */
const char *partition_trouble(gs_status status);

static inline void partition_hold(struct partition *partition)
{
    if (partition)
        partition->holders++;
}
void partition_release(struct partition *partition);

/* Counts a graph that has nodes in the partition, or (below) no longer. NULL: the whole device,
 * which does not count. Any thread. */
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
/* Keeps every partition that is asked for after this call until the next such call, also without a
 * holder: launches need theirs between their record and their issue. */
void partitions_keep(void);
/* Counts the partitions that have gone: while the count does not change, no pointer to a partition
 * becomes stale. */
uint64_t partition_losses(void);

/* ---- Room in the table -----------------------------------------------------------------------
 * The caller that asks for a partition first makes room for it in a full table (placement.c): the
 * owners of graphs with nodes in the partition that goes destroy these graphs. */

/* Whether there is no partition of these SMs and the table is full. */
bool partition_table_full(const struct sm_mask *mask);
/* The partition without holders that was asked for least recently after `before` (NULL: of all).
 * Where the driver gives no memory back, only a partition that could not be made. NULL: none. */
struct partition *partition_idle(const struct partition *before);
/* Takes the partition out of the table; the next job destroys it. Returns false while graphs have
 * nodes in it. */
bool partition_dismiss(struct partition *partition);

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* A partition's job that is to be sent to a quiet moment; NULL: none. Called after anything that
 * asks for partitions. */
struct job *partition_job(void);
/* Whether the job belongs to a partition. Such a job, once it is back, goes to one of the next two
 * functions. */
bool partition_is_job(const struct job *job);
/* Sends the job of a partition once more, because there was no device memory and some may be free
 * now. */
void partition_retry(struct job *job);
/* Sets the partition's new state and frees the job. */
void partition_settle(struct job *job);

#endif
