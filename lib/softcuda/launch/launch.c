// Launches of kernels: the driver's checks, and the grid that a launch becomes.
#include "softcuda/launch/launch.h"

#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "softcuda/module/module.h"
#include "softcuda/sched/sched.h"
#include "softcuda/stream/order.h"
#include "softcuda/stream/stream.h"

enum {
    REGISTER_GRAIN = 256, // warps get registers in units of 256
    PORTABLE_CLUSTER = 8, // cluster size, in blocks, that each device with clusters supports
};

static _Atomic uint64_t grid_ids = 1;

void launch_cost(CUfunction function, uint32_t threads, uint32_t dynamic_shared,
                 struct block_cost *cost)
{
    uint32_t warps = (threads + WARP_SIZE - 1) / WARP_SIZE;
    uint32_t of_warp = (function->registers * WARP_SIZE + REGISTER_GRAIN - 1) & -REGISTER_GRAIN;
    uint32_t shared = function->kernel->shared_bytes + dynamic_shared;

    *cost = (struct block_cost){
        .threads = warps * WARP_SIZE,
        .registers = warps * of_warp,
        .shared = ((shared + 127) & ~127u) + BLOCK_SHARED_RESERVED,
    };
}

static CUresult check_dimensions(const struct launch *l, uint64_t *threads)
{
    static const uint32_t grid_max[3] = {INT32_MAX, 65535, 65535};
    static const uint32_t block_max[3] = {1024, 1024, 64};

    *threads = 1;
    for (int i = 0; i < 3; i++) {
        if (l->grid[i] == 0 || l->grid[i] > grid_max[i] || l->block[i] == 0 ||
            l->block[i] > block_max[i])
            return CUDA_ERROR_INVALID_VALUE;
        *threads *= l->block[i];
    }
    return *threads <= BLOCK_MAX_THREADS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_block_directives(const struct launch *l, uint64_t threads)
{
    const uint32_t *required = l->function->kernel->func->reqntid;

    // The kernel was not compiled for such a block; the driver returns the same error.
    if (threads > l->function->max_threads)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; required[0] && i < 3; i++) {
        if (l->block[i] != (required[i] ? required[i] : 1))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

// The cluster size of the launch or, without one, of its kernel. Zeros: neither has one.
static void launch_clusters(const struct launch *l, uint32_t cluster[3])
{
    const struct ptx_func *f = l->function->kernel->func;

    memcpy(cluster, l->cluster[0] ? l->cluster : f->reqnctapercluster, 3 * sizeof(*cluster));
}

static CUresult check_clusters(CUcontext context, const struct launch *l, uint32_t fit)
{
    const struct ptx_func *f = l->function->kernel->func;
    uint32_t cluster[3];
    uint64_t blocks = 1;

    launch_clusters(l, cluster);
    if (!cluster[0])
        return f->explicit_cluster ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
    for (int i = 0; i < 3; i++) {
        if (!cluster[i] || cluster[i] > EXEC_CLUSTER_BLOCKS || l->grid[i] % cluster[i] ||
            (f->reqnctapercluster[0] && f->reqnctapercluster[i] != cluster[i]))
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        blocks *= cluster[i];
    }
    if (blocks > (atomic_load_explicit(&l->function->large_clusters, memory_order_relaxed)
                      ? EXEC_CLUSTER_BLOCKS
                      : PORTABLE_CLUSTER) ||
        (f->maxclusterrank && blocks > f->maxclusterrank) ||
        blocks > (uint64_t)fit * context->sm_count)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return CUDA_SUCCESS;
}

// Checks whether an SM can hold a block of the launch.
static CUresult check_blocks(CUcontext context, const struct launch *launch, uint32_t *fit)
{
    struct block_cost cost;
    uint64_t threads;
    CUresult result = function_check(launch->function);

    if (!result && launch->function->module->root != context->root)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (!result)
        result = check_dimensions(launch, &threads);
    if (!result)
        result = check_block_directives(launch, threads);
    if (result)
        return result;
    if (launch->dynamic_shared >
        atomic_load_explicit(&launch->function->max_dynamic_shared, memory_order_relaxed))
        return CUDA_ERROR_INVALID_VALUE;
    launch_cost(launch->function, threads, launch->dynamic_shared, &cost);
    *fit = place_occupancy(&cost);
    return *fit ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

// On this device, the blocks of a cluster may be on any SMs.
CUresult launch_clusters_at_once(CUcontext context, const struct launch *launch, int *clusters)
{
    uint32_t fit, size[3];
    CUresult result = check_blocks(context, launch, &fit);

    if (!result)
        result = check_clusters(context, launch, fit);
    if (result)
        return result;
    launch_clusters(launch, size);
    *clusters =
        size[0] ? (int)(fit * (uint64_t)context->sm_count / (size[0] * size[1] * size[2])) : 0;
    return CUDA_SUCCESS;
}

CUresult launch_check(CUcontext context, const struct launch *launch)
{
    uint64_t blocks;
    uint32_t fit;
    CUresult result = check_blocks(context, launch, &fit);

    if (result)
        return result;
    blocks = (uint64_t)launch->grid[0] * launch->grid[1];
    if (launch->cooperative && (blocks > (uint64_t)fit * context->sm_count ||
                                blocks * launch->grid[2] > (uint64_t)fit * context->sm_count))
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return check_clusters(context, launch, fit);
}

static const void *extra_value(void **extra, void *key)
{
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == key)
            return extra[i + 1];
    }
    return NULL;
}

static CUresult params_from_extra(uint8_t *out, uint32_t bytes, void **extra)
{
    const void *buffer = extra_value(extra, CU_LAUNCH_PARAM_BUFFER_POINTER);
    const size_t *size = extra_value(extra, CU_LAUNCH_PARAM_BUFFER_SIZE);

    if (!buffer || !size || *size < bytes)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(out, buffer, bytes);
    return CUDA_SUCCESS;
}

CUresult launch_params(struct launch *launch, void **params, void **extra)
{
    const struct ptx_func *f = launch->function->kernel->func;
    CLEANUP_FREE uint8_t *out = calloc(1, f->param_bytes ? f->param_bytes : 1);
    CUresult result = CUDA_SUCCESS;

    if (!out)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (params && extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (f->nparams && extra)
        result = params_from_extra(out, f->param_bytes, extra);
    else if (f->nparams && !params)
        result = CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < f->nparams && params && !result; i++) {
        if (params[i])
            memcpy(out + f->params[i]->offset, params[i], f->params[i]->size);
        else
            result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result)
        return result;
    launch->params = out;
    out = NULL;
    return CUDA_SUCCESS;
}

CUresult launch_attribute(struct launch *launch, CUlaunchAttributeID id,
                          const CUlaunchAttributeValue *value)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        launch->cooperative = value->cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        launch->has_priority = true;
        launch->priority = priority_clamp(value->priority);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        if (!value->clusterDim.x || !value->clusterDim.y || !value->clusterDim.z)
            return CUDA_ERROR_INVALID_VALUE;
        launch->cluster[0] = value->clusterDim.x;
        launch->cluster[1] = value->clusterDim.y;
        launch->cluster[2] = value->clusterDim.z;
        return CUDA_SUCCESS;
    // A device may ignore these hints.
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult launch_op(CUcontext context, const struct launch *launch, int priority, struct op **out)
{
    const struct exec_kernel *kernel = launch->function->kernel;
    uint32_t bytes = kernel->func->param_bytes;
    uint32_t stack;
    CUresult result = context_prepare(context->root, &stack);
    struct grid *g;
    struct op *op;

    if (result)
        return result;
    if (launch->stack > stack) { // the local memory for it is gone
        sched_lock();
        order_fail(context->root, CUDA_ERROR_LAUNCH_FAILED);
        sched_unlock();
        return CUDA_ERROR_LAUNCH_FAILED;
    }
    op = op_new(OP_KERNEL);
    // aligned_alloc requires a multiple of the alignment.
    g = op ? aligned_alloc(16, (sizeof(*g) + bytes + 15) & ~(size_t)15) : NULL;
    if (!g) {
        free(op);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *g = (struct grid){
        .exec =
            {
                .kernel = kernel,
                .device = &context->root->exec,
                .id = atomic_fetch_add_explicit(&grid_ids, 1, memory_order_relaxed),
                .grid_dim = {launch->grid[0], launch->grid[1], launch->grid[2]},
                .block_dim = {launch->block[0], launch->block[1], launch->block[2]},
                .dynamic_shared = launch->dynamic_shared,
                .stack_bytes = launch->stack ? launch->stack : stack,
                .params = g->params,
            },
        .op = op,
        .context = context,
        .module = launch->function->module,
        .level = priority_level(launch->has_priority ? launch->priority : priority),
        .cooperative = launch->cooperative,
    };
    g->exec.let_go = &g->let_go;
    launch_clusters(launch, g->exec.cluster_dim);
    g->cluster_size = exec_cluster_size(&g->exec);
    g->total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] / g->cluster_size;
    launch_cost(launch->function, launch->block[0] * launch->block[1] * launch->block[2],
                launch->dynamic_shared, &g->cost);
    memcpy(g->params, launch->params, bytes);
    module_reference(g->module);
    op->grid = g;
    *out = op;
    return CUDA_SUCCESS;
}
