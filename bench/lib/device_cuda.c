/*
 * device_cuda.c - the device through the CUDA driver: the baseline. One process has one context, as
 * a CUDA application has; whether that is time sliced or an MPS client is the environment's matter.
 *
 * The driver is libcuda.so.1, or the software device, which exports the same names.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/driver.h"

static struct driver cu;
static CUcontext context;
static CUstream stream;
static CUevent events[EVENTS];
static CUmodule module;
static CUfunction function[KERNEL_COUNT];

/* ---- Start ----------------------------------------------------------------------------------- */

static void cuda_prepare(void)
{
    if (cu.library == NULL)
        driver_load(&cu, plan.facts->driver_path);
}

/* The variables of MPS count when the driver is initialised; without its daemon they do nothing. */
static void role_announce(const struct role *role)
{
    char percent[16];

    if (role->cls == ROLE_BEST_EFFORT)
        setenv("CUDA_MPS_CLIENT_PRIORITY", "1", 1);
    if (role->mps_percent == 0)
        return;
    snprintf(percent, sizeof(percent), "%u", role->mps_percent);
    setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", percent, 1);
}

static void cuda_open_as(const struct role *role)
{
    int lowest, highest;

    role_announce(role);
    CU(cuInit, 0);
    CU(cuDevicePrimaryCtxRetain, &context, 0);
    CU(cuCtxSetCurrent, context);
    CU(cuCtxGetStreamPriorityRange, &lowest, &highest);
    CU(cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING,
       role->cls == ROLE_LATENCY ? highest : lowest);
}

static void cuda_open(void)
{
    cuda_open_as(&(struct role){0});
}

static void cuda_close(void)
{
    CU(cuStreamDestroy_v2, stream);
    if (module != NULL)
        CU(cuModuleUnload, module);
    module = NULL;
    CU(cuDevicePrimaryCtxRelease_v2, 0);
}

/* ---- Work ------------------------------------------------------------------------------------ */

static void cuda_load(const void *image, size_t size)
{
    (void)size;
    CU(cuModuleLoadData, &module, image);
    for (int i = 0; i < KERNEL_COUNT; i++)
        CU(cuModuleGetFunction, &function[i], module, kernel_names[i]);
}

static void cuda_module_cycle(const char *ptx)
{
    CUmodule other;

    CU(cuModuleLoadData, &other, ptx);
    CU(cuModuleUnload, other);
}

static void cuda_module_load(const char *ptx, const char *name)
{
    CUfunction kernel;
    CUmodule other;

    CU(cuModuleLoadData, &other, ptx);
    CU(cuModuleGetFunction, &kernel, other, name);
}

static void cuda_launch(enum kernel kernel, const struct kernel_args *args)
{
    void *params[] = {(void *)&args->a, (void *)&args->b, (void *)&args->c, (void *)&args->d};

    CU(cuLaunchKernel, function[kernel], 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static void cuda_launch_grid(enum kernel kernel, const struct kernel_args *args, unsigned blocks,
                             unsigned threads)
{
    void *params[] = {(void *)&args->a, (void *)&args->b, (void *)&args->c, (void *)&args->d};

    CU(cuLaunchKernel, function[kernel], blocks, 1, 1, threads, 1, 1, 0, stream, params, NULL);
}

static void cuda_event_record(unsigned event)
{
    if (events[event] == NULL)
        CU(cuEventCreate, &events[event], CU_EVENT_DISABLE_TIMING);
    CU(cuEventRecord, events[event], stream);
}

static void cuda_event_wait(unsigned event)
{
    CU(cuEventSynchronize, events[event]);
}

static void cuda_sync(void)
{
    CU(cuStreamSynchronize, stream);
}

static void cuda_stream_create(void)
{
    CUstream more;

    CU(cuStreamCreate, &more, CU_STREAM_NON_BLOCKING);
}

static uint64_t cuda_alloc(size_t size)
{
    CUdeviceptr address;

    CU(cuMemAlloc_v2, &address, size);
    return address;
}

static void cuda_free(uint64_t address)
{
    CU(cuMemFree_v2, address);
}

static void *cuda_host_alloc(size_t size)
{
    void *memory;

    CU(cuMemHostAlloc, &memory, size, 0);
    return memory;
}

static void cuda_host_free(void *memory)
{
    CU(cuMemFreeHost, memory);
}

static void cuda_htod(uint64_t dst, const void *src, size_t size)
{
    CU(cuMemcpyHtoD_v2, dst, src, size);
}

static void cuda_dtoh(void *dst, uint64_t src, size_t size)
{
    CU(cuMemcpyDtoH_v2, dst, src, size);
}

const struct device_ops device_cuda = {
    .prepare = cuda_prepare,
    .open = cuda_open,
    .open_as = cuda_open_as,
    .close = cuda_close,
    .load = cuda_load,
    .module_cycle = cuda_module_cycle,
    .module_load = cuda_module_load,
    .launch = cuda_launch,
    .launch_grid = cuda_launch_grid,
    .sync = cuda_sync,
    .event_record = cuda_event_record,
    .event_wait = cuda_event_wait,
    .stream_create = cuda_stream_create,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .htod = cuda_htod,
    .dtoh = cuda_dtoh,
};

double device_memory_used(void)
{
    size_t free_bytes, total;

    CU(cuMemGetInfo_v2, &free_bytes, &total);
    return (double)(total - free_bytes);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

/* Compiles the kernels for this device, as nvcc would have: then loading measures no compiler. */
static void image_compile(struct facts *facts)
{
    CUlinkState link;
    void *image;
    size_t size;

    CU(cuLinkCreate_v2, 0, NULL, NULL, &link);
    CU(cuLinkAddData_v2, link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)kernels_ptx,
       strlen(kernels_ptx) + 1, "kernels", 0, NULL, NULL);
    CU(cuLinkComplete, link, &image, &size);
    if (size > sizeof(facts->image))
        cell_fail("the kernels are %zu bytes compiled, over %zu", size, sizeof(facts->image));
    memcpy(facts->image, image, size);
    facts->image_size = size;
}

static bool cuda_present(void)
{
    void *at = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    CUresult (*init)(unsigned) = NULL;

    if (at == NULL)
        return false;
    *(void **)&init = dlsym(at, "cuInit");
    return init != NULL && init(0) == CUDA_SUCCESS;
}

/* How many NUMA nodes the machine has; at least one. */
static int numa_nodes(void)
{
    DIR *dir = opendir("/sys/devices/system/node");
    const struct dirent *entry;
    int count = 0, number;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        count += sscanf(entry->d_name, "node%d", &number) == 1;
    if (dir != NULL)
        closedir(dir);
    return count > 0 ? count : 1;
}

/* The NUMA node whose memory and processors are nearest to the GPU; -1: the system does not tell.
 */
static int gpu_node(void)
{
    int domain, bus, slot, node = -1;
    char path[96];
    FILE *f;

    CU(cuDeviceGetAttribute, &domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0);
    CU(cuDeviceGetAttribute, &bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0);
    CU(cuDeviceGetAttribute, &slot, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0);
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%04x:%02x:%02x.0/numa_node",
             (unsigned)domain, (unsigned)bus, (unsigned)slot);
    f = fopen(path, "re");
    if (f == NULL)
        return -1;
    if (fscanf(f, "%d", &node) != 1)
        node = -1;
    fclose(f);
    return node;
}

void device_probe(const char *kind, const char *soft_library)
{
    struct facts *facts = plan.facts;

    facts->soft = strcmp(kind, "soft") == 0 || (strcmp(kind, "auto") == 0 && !cuda_present());
    snprintf(facts->driver_path, sizeof(facts->driver_path), "%s",
             facts->soft ? soft_library : "libcuda.so.1");
    snprintf(facts->soft_library, sizeof(facts->soft_library), "%s", soft_library);
    cuda_prepare();
    cuda_open();
    CU(cuDeviceGetName, facts->device, sizeof(facts->device), 0);
    CU(cuDriverGetVersion, &facts->driver_version);
    CU(cuDeviceGetAttribute, &facts->sm_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    facts->numa_nodes = numa_nodes();
    facts->gpu_node = facts->soft ? -1 : gpu_node();
    if (facts->soft) {
        facts->image_size = strlen(kernels_ptx) + 1;
        memcpy(facts->image, kernels_ptx, facts->image_size);
    } else {
        image_compile(facts);
    }
}

const struct device_ops *device_of_side(void)
{
    return plan.side == SIDE_GSHARE ? &device_gshare : &device_cuda;
}

const struct device_ops *device_start(void)
{
    return device_start_as(&(struct role){0});
}

const struct device_ops *device_start_as(const struct role *role)
{
    const struct device_ops *device = device_of_side();

    device->prepare();
    device->open_as(role);
    if (role->replay)
        device->load(kernels_ptx, strlen(kernels_ptx) + 1);
    else
        device->load(plan.facts->image, plan.facts->image_size);
    return device;
}
