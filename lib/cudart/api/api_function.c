/* api_function.c - attributes of kernels, and occupancy: how many of their blocks an SM holds. */
#include <string.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/state/device.h"
#include "cudart/state/module.h"

#define CLUSTER_POLICY_LAST 2 /* cudaClusterSchedulingPolicyLoadBalancing */

static cudaError_t function_use(const void *stub, struct kernel **kernel, gs_kernel *handle)
{
    cudaError_t error = device_use();

    if (error != cudaSuccess)
        return error;
    *kernel = kernel_find(stub);
    return *kernel != NULL ? kernel_use(*kernel, handle) : cudaErrorInvalidResourceHandle;
}

CUDART_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                             const void *stub)
{
    struct kernel *kernel;
    gs_kernel handle;
    cudaError_t error = function_use(stub, &kernel, &handle);

    if (error == cudaSuccess && attributes == NULL)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    memset(attributes, 0, sizeof(*attributes));
    attributes->sharedSizeBytes = kernel_desc(kernel)->static_smem;
    attributes->constSizeBytes = kernel_constant_bytes(kernel);
    attributes->localSizeBytes = kernel_desc(kernel)->local_bytes;
    attributes->maxThreadsPerBlock = (int)kernel_desc(kernel)->max_threads_per_block;
    attributes->numRegs = (int)kernel_desc(kernel)->registers;
    /* Host code that compiles a kernel for several architectures (CUB, Thrust) uses it to tell
     * which one runs. */
    attributes->ptxVersion = (int)kernel_ptx_arch(kernel);
    attributes->binaryVersion =
        (int)(device_here()->desc.compute_major * 10 + device_here()->desc.compute_minor);
    attributes->maxDynamicSharedSizeBytes = (int)kernel_dynamic_smem_max(kernel);
    attributes->requiredClusterWidth = (int)kernel_desc(kernel)->cluster.x;
    attributes->requiredClusterHeight = (int)kernel_desc(kernel)->cluster.y;
    attributes->requiredClusterDepth = (int)kernel_desc(kernel)->cluster.z;
    attributes->clusterDimMustBeSet = kernel_desc(kernel)->in_clusters != 0;
    attributes->clusterSchedulingPolicyPreference = atomic_load(&kernel->cluster_policy);
    attributes->nonPortableClusterSizeAllowed = atomic_load(&kernel->large_clusters);
    attributes->preferredShmemCarveout = atomic_load(&kernel->carveout);
    return cudaSuccess;
}

/* Sets one dimension of the kernel's clusters; it must be SIDE if the compiler has set the
 * dimension. */
static cudaError_t cluster_side_set(const struct kernel *kernel, unsigned side, int value)
{
    if (kernel_desc(kernel)->cluster.x == 0)
        return error_unsupported("a cluster's size set for a kernel");
    return value >= 0 && (unsigned)value == side ? cudaSuccess : cudaErrorInvalidValue;
}

CUDART_API cudaError_t cudaFuncSetAttribute(const void *stub, enum cudaFuncAttribute attribute,
                                            int value)
{
    struct kernel *kernel;
    gs_kernel handle;
    cudaError_t error = function_use(stub, &kernel, &handle);

    if (error != cudaSuccess)
        return error_record(error);
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || (unsigned)value > kernel_desc(kernel)->max_dynamic_smem)
            return error_record(cudaErrorInvalidValue);
        atomic_store(&kernel->dynamic_smem_max, (unsigned)value);
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100)
            return error_record(cudaErrorInvalidValue);
        /* A hint: the server divides the memory by its own rule. */
        atomic_store(&kernel->carveout, value);
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        if (value != 0 && value != 1)
            return error_record(cudaErrorInvalidValue);
        atomic_store(&kernel->large_clusters, value);
        return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        if (value < 0 || value > CLUSTER_POLICY_LAST)
            return error_record(cudaErrorInvalidValue);
        atomic_store(&kernel->cluster_policy, value); /* a hint */
        return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth:
        return error_record(cluster_side_set(kernel, kernel_desc(kernel)->cluster.x, value));
    case cudaFuncAttributeRequiredClusterHeight:
        return error_record(cluster_side_set(kernel, kernel_desc(kernel)->cluster.y, value));
    case cudaFuncAttributeRequiredClusterDepth:
        return error_record(cluster_side_set(kernel, kernel_desc(kernel)->cluster.z, value));
    default:
        return error_record(cudaErrorInvalidValue);
    }
}

CUDART_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                       enum cudaFuncAttribute attribute, int value,
                                                       int number)
{
    const cudaError_t error = device_use_number(number);

    /* The setting applies to the kernel on every device. */
    return error == cudaSuccess ? cudaFuncSetAttribute(kernel, attribute, value)
                                : error_record(error);
}

/* Hints. */
CUDART_API cudaError_t cudaFuncSetCacheConfig(const void *stub, enum cudaFuncCache config)
{
    (void)config;
    return error_record(kernel_find(stub) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

CUDART_API cudaError_t cudaFuncSetSharedMemConfig(const void *stub, enum cudaSharedMemConfig config)
{
    (void)config;
    return error_record(kernel_find(stub) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

CUDART_API cudaError_t cudaFuncGetName(const char **name, const void *stub)
{
    const struct kernel *kernel = kernel_find(stub);

    if (name == NULL)
        return error_record(cudaErrorInvalidValue);
    if (kernel == NULL)
        return error_record(cudaErrorInvalidResourceHandle);
    *name = kernel->name;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset,
                                            size_t *size)
{
    struct kernel *kernel;
    gs_kernel handle;
    cudaError_t error = function_use(stub, &kernel, &handle);

    if (error == cudaSuccess && (offset == NULL || index > UINT32_MAX))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = device_error(gs_kernel_param_info(handle, (unsigned)index, offset, size));
    return error_record(error);
}

/* The handle can be used wherever the stub's address can. */
CUDART_API cudaError_t cudaGetKernel(cudaKernel_t *out, const void *stub)
{
    struct kernel *kernel = kernel_find(stub);

    if (out == NULL)
        return error_record(cudaErrorInvalidValue);
    if (kernel == NULL)
        return error_record(cudaErrorInvalidResourceHandle);
    *out = (cudaKernel_t)kernel;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *stub)
{
    return cudaGetKernel((cudaKernel_t *)out, stub);
}

/* ---- Occupancy ------------------------------------------------------------------------------- */

static cudaError_t occupancy(int *blocks, const void *stub, int threads, size_t dynamic_smem,
                             unsigned flags)
{
    struct kernel *kernel;
    gs_kernel handle;
    cudaError_t error = function_use(stub, &kernel, &handle);
    gs_status status;
    unsigned count;

    if (error != cudaSuccess)
        return error_record(error);
    if (blocks == NULL || threads <= 0 || flags > 1)
        return error_record(cudaErrorInvalidValue);
    if (dynamic_smem > kernel_dynamic_smem_max(kernel)) {
        *blocks = 0;
        return cudaSuccess;
    }
    status = gs_kernel_occupancy(handle, (unsigned)threads, (unsigned)dynamic_smem, &count);
    if (status == GS_ERR_LAUNCH_CONFIG) { /* such a block is impossible, so an SM holds none */
        status = GS_OK;
        count = 0;
    }
    if (status == GS_OK)
        *blocks = (int)count;
    return error_record(device_error(status));
}

CUDART_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub,
                                                                     int threads,
                                                                     size_t dynamic_smem)
{
    return occupancy(blocks, stub, threads, dynamic_smem, 0);
}

CUDART_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *stub, int threads, size_t dynamic_smem, unsigned flags)
{
    return occupancy(blocks, stub, threads, dynamic_smem, flags);
}

/* The largest size with which an SM still holds that many blocks: an equal part of its shared
 * memory, in steps of 128 bytes. */
CUDART_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, const void *stub,
                                                                 int blocks, int threads)
{
    struct kernel *kernel;
    gs_kernel handle;
    cudaError_t error = function_use(stub, &kernel, &handle);
    size_t each, used;

    if (error == cudaSuccess && (size == NULL || blocks <= 0 || threads <= 0))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error_record(error);
    each = (size_t)device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / (size_t)blocks /
           128 * 128;
    used = kernel_desc(kernel)->static_smem +
           (size_t)device_attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    each = each > used ? each - used : 0;
    *size =
        each < kernel_desc(kernel)->max_dynamic_smem ? each : kernel_desc(kernel)->max_dynamic_smem;
    return cudaSuccess;
}

/* The clusters that the launch specifies or, if it does not, those of the kernel; zeros: neither
 * does. */
static cudaError_t cluster_size(const struct kernel *kernel, const cudaLaunchConfig_t *config,
                                gs_dim3 *size)
{
    const gs_dim3 own = kernel_desc(kernel)->cluster;
    const unsigned most = kernel_cluster_blocks(kernel);

    *size = own;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            *size = (gs_dim3){config->attrs[i].val.clusterDim.x, config->attrs[i].val.clusterDim.y,
                              config->attrs[i].val.clusterDim.z};
    }
    return (own.x != 0 && (size->x != own.x || size->y != own.y || size->z != own.z)) ||
                   size->x > most || size->y > most || size->z > most ||
                   size->x * size->y * size->z > most
               ? cudaErrorInvalidClusterSize
               : cudaSuccess;
}

/* Collects what both queries about clusters need: the kernel, the cluster size of the kernel and
 * the launch, and the number of blocks that the session's SMs hold at once. */
static cudaError_t cluster_ask(const int *answer, const void *stub,
                               const cudaLaunchConfig_t *config, gs_kernel *handle, gs_dim3 *size,
                               int *blocks)
{
    struct kernel *kernel;
    cudaError_t error = function_use(stub, &kernel, handle);
    dim3 block;

    if (error == cudaSuccess && (answer == NULL || config == NULL))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = cluster_size(kernel, config, size);
    if (error != cudaSuccess)
        return error_record(error);
    block = config->blockDim;
    error =
        occupancy(blocks, stub, (int)(block.x * block.y * block.z), config->dynamicSmemBytes, 0);
    if (error == cudaSuccess)
        *blocks *= (int)device_sm_count();
    return error;
}

/* The device's answer. A session with a part of the SMs has at most as many clusters as these hold.
 */
CUDART_API cudaError_t cudaOccupancyMaxActiveClusters(int *count, const void *stub,
                                                      const cudaLaunchConfig_t *config)
{
    gs_kernel handle;
    gs_dim3 size;
    unsigned clusters = 0;
    int blocks, most;
    gs_status status = GS_OK;
    cudaError_t error = cluster_ask(count, stub, config, &handle, &size, &blocks);

    if (error != cudaSuccess)
        return error;
    most = size.x != 0 ? blocks / (int)(size.x * size.y * size.z) : 0;
    if (most > 0 && device_cluster_blocks() > 1)
        status =
            gs_kernel_clusters(handle, config->blockDim.x * config->blockDim.y * config->blockDim.z,
                               (unsigned)config->dynamicSmemBytes, size, &clusters);
    if (status != GS_OK)
        return error_record(status == GS_ERR_LAUNCH_CONFIG ? cudaErrorInvalidClusterSize
                                                           : device_error(status));
    *count = (int)clusters < most ? (int)clusters : most;
    return cudaSuccess;
}

/* Whether the device runs a cluster of the largest size that gshare supports, if the program allows
 * it. */
static bool large_clusters(gs_kernel handle, const cudaLaunchConfig_t *config)
{
    const dim3 block = config->blockDim;
    unsigned clusters = 0;

    return gs_kernel_clusters(handle, block.x * block.y * block.z,
                              (unsigned)config->dynamicSmemBytes,
                              (gs_dim3){GS_CLUSTER_BLOCKS, 1, 1}, &clusters) == GS_OK &&
           clusters > 0;
}

/* Answers like the driver: the size of the kernel and the launch is checked, and otherwise ignored.
 */
CUDART_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *stub,
                                                            const cudaLaunchConfig_t *config)
{
    gs_kernel handle;
    gs_dim3 named;
    int blocks;
    cudaError_t error = cluster_ask(size, stub, config, &handle, &named, &blocks);

    if (error != cudaSuccess)
        return error;
    *size = (int)device_cluster_blocks();
    if (*size > 1 && kernel_cluster_blocks(kernel_find(stub)) > PORTABLE_CLUSTER_BLOCKS &&
        large_clusters(handle, config))
        *size = GS_CLUSTER_BLOCKS;
    while (*size > blocks)
        *size /= 2;
    return cudaSuccess;
}
