/*
 * kernel_launch.h - a launch: one kernel with its arguments, in the form in which the driver takes
 * it; see kernel_launch.c. Any thread; what is kept of a context is the calling thread's own.
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
    bool programmatic;           /* it may begin before the launch that it waits for has ended */
    uint16_t cluster[3];         /* the blocks of a cluster; zeros: what the kernel says */
    int priority;                /* CUDA's: lower runs earlier */
    struct partition *partition; /* NULL: the whole device */
    unsigned char *params;
    struct fence_window window; /* of a kernel that has it as a parameter */
    uint64_t end;               /* ring position after the launch's record */
    uint64_t deadline_ns;       /* of clock_ns(); 0: none */
    uint32_t cls;               /* gs_class */
};

/* The most parameters of a kernel, with the two that passes add. */
#define LAUNCH_POINTERS (REQ_PARAMS_MAX + 2)
/* All zero: a kernel with an own store signals nothing. */
extern const struct completion_params completion_none;

/* Fills the driver's parameters of one launch. `pointers` has LAUNCH_POINTERS entries. `signal` is
 * what a kernel with an own store stores at its end, or &completion_none. All of them
 * outlive the driver's call. */
void launch_params(const struct launch *launch, const struct completion_params *signal,
                   void **pointers, CUDA_KERNEL_NODE_PARAMS *params);
/* The number of threads of the whole grid; UINT64_MAX where the number does not fit. */
uint64_t launch_threads(const struct launch *launch);
/* Whether the launch goes without a graph, and alone: such launches come seldom, and take long. */
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

/* Has the kernel node wait for the other one, but no longer than until all blocks of that one's
 * kernel have ended or called griddepcontrol.launch_dependents (a programmatic edge). Such a node
 * may end before the other one, so its end says nothing of that one: the caller takes the graph's
 * end, or gives the node a kernel that ends after what it depends on. Any thread. */
CUresult node_follow(CUgraph graph, CUgraphNode before, CUgraphNode node);

/* Makes the partition's context current for the calling thread, so that kernel nodes can be added
 * or set; NULL: the thread's own context. A caller that has entered a partition calls
 * partition_enter(NULL) before any other driver call. */
void partition_enter(const struct partition *partition);
/* Sets the calling thread's own context, and makes it current at once: the green context of a side
 * lane or, as at first, the primary context (NULL). */
void thread_context_set(const struct partition *partition);

#endif
