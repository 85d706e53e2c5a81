/* kernel_launch.c - see kernel_launch.h. */
#include "worker/partition/kernel_launch.h"

#include "worker/partition/partition.h"

const struct completion_params completion_none;

void launch_params(const struct launch *launch, const struct completion_params *signal,
                   void **pointers, CUDA_KERNEL_NODE_PARAMS *params)
{
    const struct kernel *kernel = launch->kernel;
    uint32_t count = kernel->param_count;

    for (uint32_t i = 0; i < count; i++)
        pointers[i] = launch->params + kernel->param_offset[i];
    if (kernel->windowed)
        pointers[count++] = (void *)(uintptr_t)&launch->window;
    if (kernel->signals_end)
        pointers[count] = (void *)(uintptr_t)signal;
    *params = (CUDA_KERNEL_NODE_PARAMS){
        .func = kernel->function,
        .gridDimX = launch->grid[0],
        .gridDimY = launch->grid[1],
        .gridDimZ = launch->grid[2],
        .blockDimX = launch->block[0],
        .blockDimY = launch->block[1],
        .blockDimZ = launch->block[2],
        .sharedMemBytes = launch->dynamic_smem,
        .kernelParams = pointers,
    };
}

uint64_t launch_threads(const struct launch *launch)
{
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1];
    const uint64_t block = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t threads;

    if (__builtin_mul_overflow(blocks, launch->grid[2], &threads) ||
        __builtin_mul_overflow(threads, block, &threads))
        return UINT64_MAX;
    return threads;
}

CUresult launch_kernel(const CUDA_KERNEL_NODE_PARAMS *p, CUstream stream, int priority,
                       bool cooperative, const uint16_t cluster[3])
{
    CUlaunchAttribute attributes[3] = {
        {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value = {.priority = priority}}};
    unsigned count = 1;

    if (cooperative)
        attributes[count++] =
            (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};
    if (cluster)
        attributes[count++] = cluster_attribute(cluster);
    const CUlaunchConfig config = {.gridDimX = p->gridDimX,
                                   .gridDimY = p->gridDimY,
                                   .gridDimZ = p->gridDimZ,
                                   .blockDimX = p->blockDimX,
                                   .blockDimY = p->blockDimY,
                                   .blockDimZ = p->blockDimZ,
                                   .sharedMemBytes = p->sharedMemBytes,
                                   .hStream = stream,
                                   .attrs = attributes,
                                   .numAttrs = count};

    return DRV(cuLaunchKernelEx, &config, p->func, p->kernelParams, NULL);
}

/* The thread's own context, to which it returns. NULL: the primary context. */
static _Thread_local const struct partition *thread_context;

/* A graph's kernel runs on the SMs of the context that is current while its node is added. */
void partition_enter(const struct partition *partition)
{
    static _Thread_local CUcontext current; /* NULL: the primary context */
    const struct partition *entered = partition ? partition : thread_context;
    CUcontext wanted = entered ? entered->context : NULL;

    if (current == wanted)
        return;
    DRV_MUST(cuCtxSetCurrent, wanted ? wanted : worker->context);
    current = wanted;
}

void thread_context_set(const struct partition *partition)
{
    thread_context = partition;
    partition_enter(NULL);
}

CUresult node_prioritize(CUgraphNode node, int priority)
{
    const CUlaunchAttributeValue value = {.priority = priority};

    return DRV(cuGraphKernelNodeSetAttribute, node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
}

CUresult node_cluster(CUgraphNode node, const uint16_t cluster[3])
{
    const CUlaunchAttribute attribute = cluster_attribute(cluster);

    return DRV(cuGraphKernelNodeSetAttribute, node, attribute.id, &attribute.value);
}

CUresult node_follow(CUgraph graph, CUgraphNode before, CUgraphNode node)
{
    const CUgraphEdgeData edge = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                  .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};

    return DRV(cuGraphAddDependencies_v2, graph, &before, &node, &edge, 1);
}
