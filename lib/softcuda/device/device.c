// The device's settings and what it reports about itself. Trusts the environment only as far as the
// ranges below.
#include "softcuda/device/device.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"

const char device_name[] = "gshare software device";
static _Atomic uint64_t thread_instructions;

static struct device_config config;
// Set when everything is there, cleared in a forked child: see device_set_ready.
static atomic_bool initialized;
static atomic_int used = -1; // the device that contexts are on; -1: none yet

_Atomic uint64_t *device_counter(void)
{
    return config.counting ? &thread_instructions : NULL;
}

uint64_t device_counted(void)
{
    return atomic_load_explicit(&thread_instructions, memory_order_relaxed);
}

static bool setting_read(const char *name, uint64_t low, uint64_t high, uint64_t *value)
{
    const char *text = getenv(name);
    char *end;
    uint64_t number;

    if (!text || !*text)
        return true;
    errno = 0;
    number = strtoull(text, &end, 0);
    switch (*end) {
    case 'k':
    case 'K':
        number <<= 10;
        end++;
        break;
    case 'm':
    case 'M':
        number <<= 20;
        end++;
        break;
    case 'g':
    case 'G':
        number <<= 30;
        end++;
        break;
    }
    if (errno || *end || end == text || *text == '-' || number < low || number > high) {
        fprintf(stderr, "softcuda: %s=%s: must be a number from %llu to %llu\n", name, text,
                (unsigned long long)low, (unsigned long long)high);
        return false;
    }
    *value = number;
    return true;
}

static bool config_read(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t sms = 16, clock_khz = 1980000, timeout_ms = 0, memory = (uint64_t)4 << 30, count = 0;
    uint64_t devices = 1, peers = 1, graphs = UINT32_MAX, greens = UINT32_MAX, turn = 0;
    uint64_t threads = cores < 1 ? 1 : cores > DEVICE_MAX_THREADS ? DEVICE_MAX_THREADS : cores;

    if (!setting_read("GSHARE_SOFT_DEVICES", 1, DEVICE_MAX_COUNT, &devices) ||
        !setting_read("GSHARE_SOFT_SMS", 2, DEVICE_MAX_SMS, &sms) ||
        !setting_read("GSHARE_SOFT_MEM", (uint64_t)16 << 20, (uint64_t)1 << 42, &memory) ||
        !setting_read("GSHARE_SOFT_THREADS", 1, DEVICE_MAX_THREADS, &threads) ||
        !setting_read("GSHARE_SOFT_CLOCK_KHZ", 1, 100000000, &clock_khz) ||
        !setting_read("GSHARE_SOFT_TIMEOUT_MS", 0, 1u << 30, &timeout_ms) ||
        !setting_read("GSHARE_SOFT_GRAPHS", 0, UINT32_MAX, &graphs) ||
        !setting_read("GSHARE_SOFT_PEERS", 0, 1, &peers) ||
        !setting_read("GSHARE_SOFT_GREENS", 0, UINT32_MAX, &greens) ||
        !setting_read("GSHARE_SOFT_COUNT", 0, 1, &count) ||
        !setting_read("GSHARE_SOFT_TURN", 0, 1u << 20, &turn))
        return false;
    config = (struct device_config){
        .count = devices,
        .sm_count = sms,
        .thread_count = threads,
        .clock_khz = clock_khz,
        .memory_bytes = memory & ~((uint64_t)MEMORY_GRANULARITY - 1),
        .timeout_ns = timeout_ms * 1000000,
        .graphs = graphs,
        .greens = greens,
        .peers = peers,
        .counting = count,
        .turn = turn,
    };
    return true;
}

CUresult device_configure(void)
{
    return config_read() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void device_set_ready(bool ready)
{
    atomic_store_explicit(&initialized, ready, memory_order_release);
}

CUresult device_ready(void)
{
    return atomic_load_explicit(&initialized, memory_order_acquire) ? CUDA_SUCCESS
                                                                    : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult device_check(CUdevice device)
{
    CUresult result = device_ready();

    if (result)
        return result;
    return device >= 0 && (uint32_t)device < config.count ? CUDA_SUCCESS
                                                          : CUDA_ERROR_INVALID_DEVICE;
}

CUresult device_use(CUdevice device)
{
    CUresult result = device_check(device);
    int none = -1;

    if (result)
        return result;
    // Relaxed: nothing else depends on the number.
    if (atomic_compare_exchange_strong_explicit(&used, &none, device, memory_order_relaxed,
                                                memory_order_relaxed))
        return CUDA_SUCCESS;
    return none == device ? CUDA_SUCCESS : CUDA_ERROR_DEVICE_UNAVAILABLE;
}

CUdevice device_used(void)
{
    int device = atomic_load_explicit(&used, memory_order_relaxed);

    return device < 0 ? 0 : device;
}

const struct device_config *device_config(void)
{
    return &config;
}

// A name-based identity, the same in every process, so that a worker and its standby agree.
void device_uuid(CUuuid *uuid, CUdevice device)
{
    static const char identity[16] = "gshare-soft-dev";

    memcpy(uuid->bytes, identity, sizeof(identity));
    uuid->bytes[15] = (char)device;
}

uint32_t sm_set_count(const struct sm_set *set)
{
    uint32_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(set->bits); i++)
        count += __builtin_popcountll(set->bits[i]);
    return count;
}

void sm_set_fill(struct sm_set *set)
{
    *set = (struct sm_set){{0}};
    for (uint32_t sm = 0; sm < config.sm_count; sm++)
        sm_set_add(set, sm);
}

struct attribute {
    CUdevice_attribute id;
    int value;
};

// The values are those of an H200, where the software device can keep the promise.
static const struct attribute attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, BLOCK_MAX_THREADS},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT32_MAX},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, BLOCK_SHARED_DEFAULT},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, WARP_SIZE},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, INT32_MAX},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, SM_REGISTERS},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 28},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 8192},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 8192},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 2046},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 0},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
    {CU_DEVICE_ATTRIBUTE_TCC_DRIVER, 0},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 60 << 20},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, SM_MAX_THREADS},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, SM_SHARED_BYTES},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, SM_REGISTERS},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0},
    {CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, 0},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 0},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH, 0},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, BLOCK_SHARED_MAX},
    {CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 0},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, SM_MAX_BLOCKS},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, BLOCK_SHARED_RESERVED},
    {CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 0},
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, -1},
};

// Attributes that the table lacks exist but say no: the features they ask for are not there.
CUresult device_attribute(int *value, CUdevice_attribute attribute)
{
    if (attribute <= 0 || attribute > 256)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) {
        *value = config.sm_count;
        return CUDA_SUCCESS;
    }
    if (attribute == CU_DEVICE_ATTRIBUTE_CLOCK_RATE) {
        *value = config.clock_khz;
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
        if (attributes[i].id == attribute) {
            *value = attributes[i].value;
            return CUDA_SUCCESS;
        }
    }
    *value = 0;
    return CUDA_SUCCESS;
}
