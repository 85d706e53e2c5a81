/* kernel_launch.h - one kernel with its arguments, and what the driver wants to know of it; see
 * kernel_launch.c. */
#ifndef GS_WORKER_PARTITION_KERNEL_LAUNCH_H
#define GS_WORKER_PARTITION_KERNEL_LAUNCH_H

#include "ptx/rewrite/completion_params.h"
#include "worker/session_parts.h"

struct partition;

#define LAUNCHES_MAX 64u /* that are issued at a time */

/* One kernel with checked arguments. params: kernel->param_bytes bytes, laid out as the kernel
 * wants them. */
struct launch {
    const struct kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_smem;
    int priority;                /* CUDA's */
    struct partition *partition; /* NULL: the whole device */
    unsigned char *params;
    uint64_t end;         /* ring position after its record */
    uint64_t deadline_ns; /* of clock_ns(); 0: none */
    uint32_t cls;         /* gs_class */
};

/* Pointers to a kernel's parameters, its completion parameter included. */
#define LAUNCH_POINTERS (REQ_PARAMS_MAX + 1)
/* All zeros: a kernel that could tell its end tells nothing. */
extern const struct completion_params completion_none;

/* Fills the driver's parameters of one launch; pointers: LAUNCH_POINTERS of them. tell: what a
 * kernel that tells its own end is to tell, or &completion_none; it outlives the driver's call. */
void launch_params(const struct launch *launch, const struct completion_params *tell,
                   void **pointers, CUDA_KERNEL_NODE_PARAMS *params);
/* Threads of the whole grid; UINT64_MAX where they are beyond counting. */
uint64_t launch_threads(const struct launch *launch);
/* A kernel by itself, at this priority whatever the stream's is. */
CUresult launch_kernel(const CUDA_KERNEL_NODE_PARAMS *p, CUstream stream, int priority);

/* Gives a graph's kernel a priority of its own; the graph is to be instantiated with
 * CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY. Any thread. */
CUresult node_prioritize(CUgraphNode node, int priority);

/* Makes the partition's context, or without one the thread's home, the calling thread's, for
 * adding kernels to graphs and setting them. Whoever calls it with a partition calls it without
 * one before any other driver call. */
void partition_enter(const struct partition *partition);
/* The context that partition_enter(NULL) means for the calling thread from now on, and makes its
 * own at once: that of a lane, or NULL: the primary one, as at first. */
void partition_home(const struct partition *partition);

#endif
