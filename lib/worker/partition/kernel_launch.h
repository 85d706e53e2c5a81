/*
 * kernel_launch.h - launches: a launch is one kernel with its arguments, in the form in which the
 * driver takes it; see kernel_launch.c. Any thread; which context is current is noted for each
 * thread.
 */
#ifndef GS_WORKER_PARTITION_KERNEL_LAUNCH_H
#define GS_WORKER_PARTITION_KERNEL_LAUNCH_H

#include "ptx/rewrite/completion_params.h"
#include "ptx/rewrite/rewrite.h"
#include "worker/session_parts.h"

struct partition;

#define LAUNCHES_MAX 64u /* the most launches that are issued at a time */

/* One kernel with checked arguments. params holds kernel->param_bytes bytes in the layout of the
 * kernel's parameters. */
struct launch {
    const struct kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_smem;
    bool cooperative;            /* all blocks run at once */
    bool programmatic;           /* it may begin before the launch ahead of it has ended */
    uint16_t cluster[3];         /* blocks of a cluster; zeros: as the kernel says */
    int priority;                /* CUDA's: lower runs earlier */
    struct partition *partition; /* NULL: the whole device */
    unsigned char *params;
    struct fence_window window; /* the value of a kernel's window parameter, where it has one */
    uint64_t end;               /* ring position after the launch's record */
    uint64_t deadline_ns;       /* in the time of clock_ns(); 0: no deadline */
    uint32_t cls;               /* a gs_class */
};

/* The most parameters of a kernel, with the two that ptx/rewrite adds. */
#define LAUNCH_POINTERS (REQ_PARAMS_MAX + 2)
/* Parameters for a kernel with an own store that is to store nothing: all zero. */
extern const struct completion_params completion_none;

/* Fills the driver's parameters of one launch. `pointers` has LAUNCH_POINTERS entries. `signal` is
 * what a kernel with an own store stores at its end, or &completion_none. The launch, the signal
 * and the pointers must outlive the driver's call. */
void launch_params(const struct launch *launch, const struct completion_params *signal,
                   void **pointers, CUDA_KERNEL_NODE_PARAMS *params);
/* Returns the number of threads of the whole grid; UINT64_MAX where that number does not fit. */
uint64_t launch_threads(const struct launch *launch);
/* Returns whether the launch is issued by itself and without a graph: cooperative launches, and
 * those that name a cluster, are rare and run long. */
static inline bool launch_goes_alone(const struct launch *launch)
{
    return launch->cooperative || launch->cluster[0];
}

static inline bool launch_in_clusters(const struct launch *launch)
{
    return launch->cluster[0] || launch->kernel->cluster[0];
}

static inline CUlaunchAttribute cluster_attribute(const uint16_t cluster[3])
{
    return (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                               .value = {.clusterDim = {cluster[0], cluster[1], cluster[2]}}};
}

/* Launches one kernel without a graph, at this priority whatever the stream's priority is.
 * cooperative: all blocks run at once. cluster: the blocks of a cluster, or NULL. */
CUresult launch_kernel(const CUDA_KERNEL_NODE_PARAMS *p, CUstream stream, int priority,
                       bool cooperative, const uint16_t cluster[3]);

/* Gives a kernel node a priority of its own. The caller instantiates the graph with
 * CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY. Any thread. */
CUresult node_prioritize(CUgraphNode node, int priority);

/* Gives a kernel node the blocks of its launch's clusters. Any thread. */
CUresult node_cluster(CUgraphNode node, const uint16_t cluster[3]);

/* Makes a kernel node wait for another one by a programmatic edge: until all blocks of the other
 * kernel have ended or called griddepcontrol.launch_dependents. Such a node may end before the
 * other one, so its end does not tell that the other one has ended: the caller relies on the end of
 * the graph, or on a kernel that ends after all that it depends on. Any thread. */
CUresult node_follow(CUgraph graph, CUgraphNode before, CUgraphNode node);

/* Makes the partition's context current for the calling thread, so that kernel nodes can be added
 * or set; NULL: the thread's own context. A caller that has entered a partition calls
 * partition_enter(NULL) before any other driver call. */
void partition_enter(const struct partition *partition);
/* Sets the calling thread's own context, and makes it current at once: the green context of a side
 * lane or, as at first, the primary context (NULL). */
void thread_context_set(const struct partition *partition);

#endif
