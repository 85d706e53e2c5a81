/* launch.c - see launch.h. What kernel_launch does before and after gs_launch is the overhead of
 * <<<>>>. */
#include "cudart/state/launch.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/base/report.h"
#include "cudart/state/managed.h"

/* For an impossible grid, the runtime of CUDA 13 returns the driver's CUDA_ERROR_INVALID_VALUE;
 * that of CUDA 12 has an error of its own. */
#ifdef GS_CUDART_12
#define SHAPE_ERROR cudaErrorInvalidConfiguration
#else
#define SHAPE_ERROR cudaErrorInvalidValue
#endif

static bool within(const gs_dim3 *size, const unsigned max[3])
{
    return size->x != 0 && size->y != 0 && size->z != 0 && size->x <= max[0] && size->y <= max[1] &&
           size->z <= max[2];
}

/* Whether the device has room for all blocks of the launch at once. */
static bool grid_fits(gs_kernel handle, const gs_launch_config *config)
{
    const gs_dim3 grid = config->grid, block = config->block;
    unsigned blocks = 0;

    return gs_kernel_occupancy(handle, block.x * block.y * block.z, config->dynamic_smem,
                               &blocks) == GS_OK &&
           (uint64_t)grid.x * grid.y <= UINT32_MAX &&
           (uint64_t)grid.x * grid.y * grid.z <= (uint64_t)blocks * device_sm_count();
}

/* Whether an SM has enough registers for a block of that many threads: a warp gets them in units of
 * 256. */
static bool registers_fit(const struct kernel *kernel, uint64_t threads)
{
    const uint64_t warp = ((uint64_t)kernel_desc(kernel)->registers * 32 + 255) / 256 * 256;

    return (threads + 31) / 32 * warp <=
           (uint64_t)device_attribute(cudaDevAttrMaxRegistersPerBlock);
}

/* CUDA has several errors for what GS_ERR_LAUNCH_CONFIG means. */
static cudaError_t config_error(const struct kernel *kernel, gs_kernel handle,
                                const gs_launch_config *config)
{
    const gs_session_desc *desc = &device_here()->desc;
    uint64_t threads = (uint64_t)config->block.x * config->block.y * config->block.z;
    const bool clusters = config->cluster.x != 0 || kernel_desc(kernel)->in_clusters != 0;

    if (!within(&config->grid, desc->max_grid_dim) ||
        !within(&config->block, desc->max_block_dim) || threads > desc->max_threads_per_block)
        return SHAPE_ERROR;
    if (threads > kernel_desc(kernel)->max_threads_per_block)
        return registers_fit(kernel, threads)
                   ? cudaErrorInvalidValue /* the kernel's launch bounds */
                   : cudaErrorLaunchOutOfResources;
    report_once("kernel %s: %s", kernel->name, gs_last_error_message());
    if (config->cooperative && !grid_fits(handle, config))
        return cudaErrorCooperativeLaunchTooLarge;
    return clusters ? cudaErrorInvalidClusterSize : SHAPE_ERROR;
}

cudaError_t kernel_args_copy(struct kernel *kernel, void **args, void ***out)
{
    gs_kernel handle;
    cudaError_t error = kernel_use(kernel, &handle);
    size_t count, offset, size;
    char *values;

    if (error != cudaSuccess)
        return error;
    count = kernel_desc(kernel)->param_count;
    *out = NULL;
    if (count == 0)
        return cudaSuccess;
    if (args == NULL)
        return cudaErrorInvalidValue;
    /* A value is aligned to its size in the parameter buffer, up to 16 bytes. */
    size = (count * sizeof(void *) + 15) / 16 * 16;
    *out = calloc(1, size + kernel_desc(kernel)->param_bytes);
    if (*out == NULL)
        return cudaErrorMemoryAllocation;
    values = (char *)*out + size;
    for (unsigned i = 0; i < count; i++) {
        if (gs_kernel_param_info(handle, i, &offset, &size) != GS_OK || args[i] == NULL) {
            free(*out);
            *out = NULL;
            return cudaErrorInvalidValue;
        }
        (*out)[i] = memcpy(values + offset, args[i], size);
    }
    return cudaSuccess;
}

/* Whether an argument lies in managed memory, which gs_launch must not read: a fault would wait for
 * the stream whose lock gs_launch holds. */
static bool args_managed(const struct kernel *kernel, void **args)
{
    for (unsigned i = 0; args != NULL && i < kernel_desc(kernel)->param_count; i++) {
        if (managed_has(args[i]))
            return true;
    }
    return false;
}

static gs_status launch_managed(gs_stream stream, struct kernel *kernel, gs_kernel handle,
                                const gs_launch_config *config, void **args)
{
    void **copy = NULL;
    gs_status status;
    bool held;

    if (args_managed(kernel, args)) {
        if (kernel_args_copy(kernel, args, &copy) != cudaSuccess)
            return GS_ERR_NO_MEMORY;
        args = copy;
    }
    status = managed_work_begin(&held);
    if (status == GS_OK)
        status = gs_launch(stream, handle, config, args);
    managed_work_end(held);
    free(copy);
    return status;
}

/* Whether the clusters have more blocks than the program has allowed for the kernel. The server
 * accepts as many as the device supports. */
static bool clusters_too_large(const struct kernel *kernel, const gs_launch_config *config)
{
    const gs_dim3 size = config->cluster.x != 0 ? config->cluster : kernel_desc(kernel)->cluster;

    if (size.x * size.y * size.z <= kernel_cluster_blocks(kernel))
        return false;
    report_once("kernel %s: clusters of more than %u blocks, which only "
                "cudaFuncAttributeNonPortableClusterSizeAllowed allows",
                kernel->name, PORTABLE_CLUSTER_BLOCKS);
    return true;
}

cudaError_t kernel_launch(struct kernel *kernel, const gs_launch_config *config, size_t shared,
                          void **args, struct stream *stream)
{
    gs_kernel handle;
    gs_status status;
    cudaError_t error = kernel_use(kernel, &handle);

    if (error != cudaSuccess)
        return error;
    if (shared > kernel_dynamic_smem_max(kernel))
        return cudaErrorInvalidValue;
    if (clusters_too_large(kernel, config))
        return cudaErrorInvalidClusterSize;
    status = stream_enter(stream);
    if (status == GS_OK && atomic_load_explicit(managed_regions, memory_order_relaxed) != 0)
        status = launch_managed(stream->handle, kernel, handle, config, args);
    else if (status == GS_OK)
        status = gs_launch(stream->handle, handle, config, args);
    if (status != GS_OK)
        return status == GS_ERR_LAUNCH_CONFIG ? config_error(kernel, handle, config)
                                              : stream_error(stream, status);
    stream_leave(stream);
    return cudaSuccess;
}
