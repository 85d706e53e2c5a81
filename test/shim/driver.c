/*
 * driver.c - see driver.h. Exports the calls that can fail for want of something; all others the
 * loader finds in the software device, on which this library depends. Any thread.
 */
#include "shim/driver.h"
#include "shim/countdown.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util.h"
#include "cuda/abi.h"

#define EXPORT __attribute__((visibility("default")))

static struct driver_plan none, *plan = &none;
static void *device;

__attribute__((constructor)) static void plan_find(void)
{
    const char *path = getenv("GSHARE_DRIVER_PLAN");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *map;

    device = dlopen("libgshare-softcuda.so", RTLD_LAZY | RTLD_NOLOAD);
    if (device == NULL || fd < 0)
        abort();
    map = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        abort();
    plan = map;
}

static void *next(const char *name)
{
    void *function = dlsym(device, name);

    if (function == NULL)
        abort();
    return function;
}

/* Takes its time where the test has it so. */
static void slow_down(const char *name)
{
    const uint32_t ms = atomic_load_explicit(&plan->slow_ms, memory_order_acquire);

    if (!ms || strcmp(plan->slow, name))
        return;
    usleep(ms * 1000);
    atomic_fetch_add(&plan->slow_calls, 1);
}

/* Waits while the test holds this function up. */
static void hold(const char *name)
{
    slow_down(name);
    if (atomic_load_explicit(&plan->holding, memory_order_acquire) && !strcmp(plan->held, name)) {
        atomic_fetch_add(&plan->waiting, 1);
        while (atomic_load(&plan->holding))
            futex_wait(&plan->holding, 1, 10000000);
        atomic_fetch_sub(&plan->waiting, 1);
    }
}

/* Whether this is the call that fails. */
static int fail_now(const char *name)
{
    hold(name);
    if (!atomic_load_explicit(&plan->armed, memory_order_acquire) ||
        (plan->only[0] && strcmp(plan->only, name)))
        return 0;
    if (!countdown_over(&plan->calls))
        return 0;
    strncpy(plan->name, name, sizeof(plan->name) - 1);
    atomic_store_explicit(&plan->failures, 1, memory_order_release);
    return 1;
}

#define WRAP(name, parameters, arguments)                                                          \
    EXPORT CUresult name parameters;                                                               \
    CUresult name parameters                                                                       \
    {                                                                                              \
        static CUresult(*_Atomic call) parameters;                                                 \
                                                                                                   \
        if (call == NULL)                                                                          \
            call = (CUresult(*) parameters)(uintptr_t)next(#name);                                 \
        return fail_now(#name) ? CUDA_ERROR_OUT_OF_MEMORY : call arguments;                        \
    }

/* ---- Memory ---------------------------------------------------------------------------------- */

WRAP(cuMemAddressReserve,
     (CUdeviceptr * address, size_t size, size_t alignment, CUdeviceptr hint,
      unsigned long long flags),
     (address, size, alignment, hint, flags))
WRAP(cuMemMap,
     (CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
      unsigned long long flags),
     (address, size, offset, handle, flags))
WRAP(cuMemSetAccess, (CUdeviceptr address, size_t size, const CUmemAccessDesc *desc, size_t count),
     (address, size, desc, count))
WRAP(cuMemExportToShareableHandle,
     (void *os_handle, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
      unsigned long long flags),
     (os_handle, handle, type, flags))
WRAP(cuMemImportFromShareableHandle,
     (CUmemGenericAllocationHandle * handle, void *os_handle, CUmemAllocationHandleType type),
     (handle, os_handle, type))

EXPORT CUresult cuMemHostRegister_v2(void *address, size_t size, unsigned int flags);
CUresult cuMemHostRegister_v2(void *address, size_t size, unsigned int flags)
{
    CUresult (*take)(void *, size_t, unsigned int) =
        (CUresult(*)(void *, size_t, unsigned int))(uintptr_t)next("cuMemHostRegister_v2");

    if (fail_now("cuMemHostRegister_v2"))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (size >= 1u << 20)
        slow_down(HOST_LARGE);
    return take(address, size, flags);
}

/* It never fails, and is only counted. */
EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value);
CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    CUresult (*set)(CUlimit, size_t) =
        (CUresult(*)(CUlimit, size_t))(uintptr_t)next("cuCtxSetLimit");

    hold("cuCtxSetLimit");
    return set(limit, value);
}

WRAP(cuMemHostGetDevicePointer_v2, (CUdeviceptr * address, void *host, unsigned int flags),
     (address, host, flags))
WRAP(cuOccupancyMaxActiveClusters,
     (int *clusters, CUfunction function, const CUlaunchConfig *config),
     (clusters, function, config))

/* These never fail, and are only held up. */
EXPORT CUresult cuMemHostUnregister(void *address);
CUresult cuMemHostUnregister(void *address)
{
    CUresult (*give)(void *) = (CUresult(*)(void *))(uintptr_t)next("cuMemHostUnregister");

    hold("cuMemHostUnregister");
    return give(address);
}

EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CUresult (*release)(CUmemGenericAllocationHandle) =
        (CUresult(*)(CUmemGenericAllocationHandle))(uintptr_t)next("cuMemRelease");

    hold("cuMemRelease");
    return release(handle);
}

static _Atomic uint64_t kept;

EXPORT CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CUresult (*info)(size_t *, size_t *) =
        (CUresult(*)(size_t *, size_t *))(uintptr_t)next("cuMemGetInfo_v2");
    CUresult result =
        fail_now("cuMemGetInfo_v2") ? CUDA_ERROR_OUT_OF_MEMORY : info(free_bytes, total_bytes);

    if (!result)
        *free_bytes -= atomic_load(&kept) < *free_bytes ? atomic_load(&kept) : *free_bytes;
    return result;
}

typedef CUresult create_call(CUmemGenericAllocationHandle *handle, size_t size,
                             const CUmemAllocationProp *prop, unsigned long long flags);
typedef CUresult export_call(void *os_handle, CUmemGenericAllocationHandle handle,
                             CUmemAllocationHandleType type, unsigned long long flags);

static void dirty(CUmemGenericAllocationHandle handle, size_t size)
{
    export_call *export = (export_call *)(uintptr_t)next("cuMemExportToShareableHandle");
    void *memory;
    int fd;

    if (export(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
        abort();
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        abort();
    memset(memory, DRIVER_DIRT, size);
    munmap(memory, size);
    close(fd);
}

/* As a driver may: with what somebody else has left in it. */
EXPORT create_call cuMemCreate;
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    create_call *create = (create_call *)(uintptr_t)next("cuMemCreate");
    CUresult result =
        fail_now("cuMemCreate") ? CUDA_ERROR_OUT_OF_MEMORY : create(handle, size, prop, flags);

    if (!result)
        dirty(*handle, size);
    return result;
}

/* ---- Streams and events ---------------------------------------------------------------------- */

WRAP(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority),
     (stream, flags, priority))
WRAP(cuStreamWriteValue64_v2,
     (CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags),
     (stream, address, value, flags))
WRAP(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags),
     (stream, event, flags))
WRAP(cuEventCreate, (CUevent * event, unsigned int flags), (event, flags))
WRAP(cuEventRecord, (CUevent event, CUstream stream), (event, stream))
WRAP(cuMemcpyHtoDAsync_v2, (CUdeviceptr dst, const void *src, size_t size, CUstream stream),
     (dst, src, size, stream))
WRAP(cuMemcpyDtoHAsync_v2, (void *dst, CUdeviceptr src, size_t size, CUstream stream),
     (dst, src, size, stream))
WRAP(cuMemcpyDtoDAsync_v2, (CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream),
     (dst, src, size, stream))
WRAP(cuMemsetD8Async, (CUdeviceptr dst, unsigned char value, size_t count, CUstream stream),
     (dst, value, count, stream))

/* ---- Textures -------------------------------------------------------------------------------- */

WRAP(cuArray3DCreate_v2, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR *desc), (array, desc))
WRAP(cuMipmappedArrayCreate,
     (CUmipmappedArray * mipmap, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned int levels),
     (mipmap, desc, levels))
WRAP(cuMipmappedArrayGetLevel, (CUarray * array, CUmipmappedArray mipmap, unsigned int level),
     (array, mipmap, level))
WRAP(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream), (copy, stream))
WRAP(cuTexObjectCreate,
     (CUtexObject * texture, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *desc,
      const struct CUDA_RESOURCE_VIEW_DESC_st *view),
     (texture, resource, desc, view))
WRAP(cuSurfObjectCreate, (CUsurfObject * surface, const CUDA_RESOURCE_DESC *resource),
     (surface, resource))

/* ---- Modules --------------------------------------------------------------------------------- */

WRAP(cuLinkCreate_v2,
     (unsigned int option_count, CUjit_option *options, void **values, CUlinkState *state),
     (option_count, options, values, state))
typedef CUresult add_call(CUlinkState state, CUjitInputType type, void *data, size_t size,
                          const char *name, unsigned int option_count, CUjit_option *options,
                          void **values);

/* Takes as much memory as the plan says, and keeps it while the test holds "hungry" up. */
static void eat(void)
{
    const size_t size = atomic_load(&plan->hunger);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    memset(memory, 1, size);
    hold("hungry");
    munmap(memory, size);
}

/* A compiler may take much memory, and crash on what it does not expect. */
EXPORT add_call cuLinkAddData_v2;
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                          const char *name, unsigned int option_count, CUjit_option *options,
                          void **values)
{
    add_call *add = (add_call *)(uintptr_t)next("cuLinkAddData_v2");
    const bool fails = fail_now("cuLinkAddData_v2");

    if (plan->crash[0] && memmem(data, size, plan->crash, strlen(plan->crash)))
        abort();
    if (plan->hungry[0] && memmem(data, size, plan->hungry, strlen(plan->hungry)))
        eat();
    return fails ? CUDA_ERROR_OUT_OF_MEMORY
                 : add(state, type, data, size, name, option_count, options, values);
}

WRAP(cuLinkComplete, (CUlinkState state, void **cubin, size_t *size), (state, cubin, size))
typedef CUresult load_call(CUmodule *module, const void *image, unsigned int option_count,
                           CUjit_option *options, void **values);

/* The software device's machine code is text. */
EXPORT load_call cuModuleLoadDataEx;
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int option_count,
                            CUjit_option *options, void **values)
{
    load_call *load = (load_call *)(uintptr_t)next("cuModuleLoadDataEx");

    if (!strncmp(image, "\x50\xed\x55\xba", 4) || !strncmp(image,
                                                           "\x7f"
                                                           "ELF",
                                                           4))
        atomic_fetch_add(&plan->containers, 1);
    return fail_now("cuModuleLoadDataEx") ? CUDA_ERROR_OUT_OF_MEMORY
                                          : load(module, image, option_count, options, values);
}
WRAP(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name),
     (function, module, name))
WRAP(cuModuleGetGlobal_v2, (CUdeviceptr * address, size_t *size, CUmodule module, const char *name),
     (address, size, module, name))
WRAP(cuFuncLoad, (CUfunction function), (function))
WRAP(cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function),
     (value, attribute, function))
WRAP(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value),
     (function, attribute, value))

/* ---- Launches and graphs --------------------------------------------------------------------- */

WRAP(cuLaunchKernel,
     (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
      unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int dynamic_shared,
      CUstream stream, void **params, void **extra),
     (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_shared, stream, params,
      extra))
WRAP(cuLaunchKernelEx,
     (const CUlaunchConfig *config, CUfunction function, void **params, void **extra),
     (config, function, params, extra))
WRAP(cuGraphCreate, (CUgraph * graph, unsigned int flags), (graph, flags))
WRAP(cuGraphAddKernelNode_v2,
     (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
      const CUDA_KERNEL_NODE_PARAMS *params),
     (node, graph, dependencies, count, params))
WRAP(cuGraphAddMemcpyNode,
     (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
      const CUDA_MEMCPY3D *params, CUcontext context),
     (node, graph, dependencies, count, params, context))
WRAP(cuGraphAddMemsetNode,
     (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
      const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context),
     (node, graph, dependencies, count, params, context))
WRAP(cuGraphAddBatchMemOpNode,
     (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
      const CUDA_BATCH_MEM_OP_NODE_PARAMS *params),
     (node, graph, dependencies, count, params))
WRAP(cuGraphKernelNodeSetAttribute,
     (CUgraphNode node, CUlaunchAttributeID attribute, const CUlaunchAttributeValue *value),
     (node, attribute, value))
WRAP(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags),
     (exec, graph, flags))
WRAP(cuGraphLaunch, (CUgraphExec exec, CUstream stream), (exec, stream))
WRAP(cuGraphExecKernelNodeSetParams_v2,
     (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params),
     (exec, node, params))
WRAP(cuGraphExecMemcpyNodeSetParams,
     (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params, CUcontext context),
     (exec, node, params, context))
WRAP(cuGraphExecMemsetNodeSetParams,
     (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context),
     (exec, node, params, context))
WRAP(cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned int enabled),
     (exec, node, enabled))
WRAP(cuGraphExecBatchMemOpNodeSetParams,
     (CUgraphExec exec, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params),
     (exec, node, params))

/* ---- Partitions ------------------------------------------------------------------------------ */

WRAP(cuDevResourceGenerateDesc,
     (CUdevResourceDesc * desc, CUdevResource *resources, unsigned int count),
     (desc, resources, count))
typedef CUresult green_call(CUgreenCtx *green, CUdevResourceDesc desc, CUdevice ordinal,
                            unsigned int flags);

/* What it keeps of one is gone from here on. */
EXPORT green_call cuGreenCtxCreate;
CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc desc, CUdevice ordinal,
                          unsigned int flags)
{
    green_call *create = (green_call *)(uintptr_t)next("cuGreenCtxCreate");
    CUresult result = fail_now("cuGreenCtxCreate") ? CUDA_ERROR_OUT_OF_MEMORY
                                                   : create(green, desc, ordinal, flags);

    if (!result)
        atomic_fetch_add(&kept, atomic_load(&plan->keeps));
    return result;
}
WRAP(cuCtxFromGreenCtx, (CUcontext * context, CUgreenCtx green), (context, green))
WRAP(cuGreenCtxStreamCreate,
     (CUstream * stream, CUgreenCtx green, unsigned int flags, int priority),
     (stream, green, flags, priority))
