// Driver calls about the driver and its devices.
#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "softcuda/api/api.h"
#include "softcuda/api/more.h"
#include "softcuda/context/context.h"
#include "softcuda/device/device.h"
#include "softcuda/lifecycle/green.h"
#include "softcuda/lifecycle/lifecycle.h"

enum { DRIVER_VERSION = 13000 };

CUresult cuInit(unsigned int flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : driver_init();
}

CUresult cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    CUresult result = device_ready();

    if (result)
        return result;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = (int)device_config()->count;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult result = device_check(ordinal);

    if (result)
        return result;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    CUresult result = device_check(device);

    if (result)
        return result;
    if (!name || size <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    strncpy(name, device_name, size - 1);
    name[size - 1] = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    CUresult result = device_check(device);

    if (result)
        return result;
    if (!uuid)
        return CUDA_ERROR_INVALID_VALUE;
    device_uuid(uuid, device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    CUresult result = device_check(device);

    if (result)
        return result;
    if (value && attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) {
        *value = device; // same number as for cuDeviceGetPCIBusId
        return CUDA_SUCCESS;
    }
    return value ? device_attribute(value, attribute) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult result = device_check(device);

    if (result)
        return result;
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = device_config()->memory_bytes;
    return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    CUresult result = device_check(device);

    if (result)
        return result;
    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    device_attribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    device_attribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    CUresult result = device_check(device);

    if (result)
        return result;
    if (!id || size <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(id, size, "0000:%02x:00.0", (unsigned)device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    CUresult result = device_check(device);

    if (!result)
        result = device_check(peer);
    if (result)
        return result;
    if (!can || device == peer)
        return CUDA_ERROR_INVALID_VALUE;
    *can = device_config()->peers;
    return CUDA_SUCCESS;
}

// ---- SM partitions

static CUresult resource_answer(CUdevResource *resource, CUdevResourceType type,
                                const struct sm_set *sms)
{
    if (!resource)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    resource_of(resource, sms);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type)
{
    CUresult result = device_check(device);
    struct sm_set all;

    if (result)
        return result;
    sm_set_fill(&all);
    return resource_answer(resource, type, &all);
}

CUresult cuCtxGetDevResource(CUcontext context, CUdevResource *resource, CUdevResourceType type)
{
    CUresult result = device_ready();

    if (!result)
        result = context_check(context);
    return result ? result : resource_answer(resource, type, &context->sms);
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx green, CUdevResource *resource, CUdevResourceType type)
{
    CUresult result = device_ready();

    if (!result)
        result = green_check(green);
    return result ? result : resource_answer(resource, type, &green_context(green)->sms);
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *groups, unsigned int *group_count,
                                     const CUdevResource *input, CUdevResource *remaining,
                                     unsigned int flags, unsigned int min_count)
{
    CUresult result = device_ready();

    return result ? result
                  : resource_split(groups, group_count, input, remaining, flags, min_count);
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *desc, CUdevResource *resources,
                                   unsigned int count)
{
    CUresult result = device_ready();

    return result ? result : resource_describe(desc, resources, count);
}

// ---- Errors

static const struct result_row {
    CUresult value;
    const char *name, *text;
} results[] = {
#define RESULT_ROW(name, value, text) {name, #name, text},
    CUDA_ABI_RESULTS(RESULT_ROW)
#undef RESULT_ROW
};

// Finds the texts of an error; the row for an unknown error has none.
static const struct result_row *result_find(CUresult error)
{
    static const struct result_row unknown;

    for (size_t i = 0; i < ARRAY_SIZE(results); i++)
        if (results[i].value == error)
            return &results[i];
    return &unknown;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = result_find(error)->name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = result_find(error)->text;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// CUDA does not have this function. It returns the work of all kernels so far, in PTX instructions
// times active threads; 0 if GSHARE_SOFT_COUNT does not ask for it. Instructions are counted at the
// end of their turn.
CUAPI uint64_t softcudaThreadInstructions(void);
uint64_t softcudaThreadInstructions(void)
{
    return device_counted();
}
