// Driver calls about memory: allocation, mapping, export, registration, attributes.
#include <stdint.h>

#include "softcuda/api/api.h"
#include "softcuda/api/more.h"
#include "softcuda/context/context.h"
#include "softcuda/memory/host.h"
#include "softcuda/memory/memory.h"
#include "softcuda/memory/vmm.h"

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CUcontext context;
    CUresult result = context_current(&context);
    uint64_t left, total;

    if (result)
        return result;
    memory_info(&left, &total);
    if (free_bytes)
        *free_bytes = left;
    if (total_bytes)
        *total_bytes = total;
    return CUDA_SUCCESS;
}

// ---- cuMemAlloc

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
    CUcontext context;
    CUresult result = context_current(&context);
    uint64_t found;

    if (result)
        return result;
    if (!address)
        return CUDA_ERROR_INVALID_VALUE;
    result = alloc_new(context->root, size, &found);
    if (!result)
        *address = found;
    return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned int element)
{
    size_t wide = (width + 511) & ~(size_t)511, bytes;
    CUresult result;

    if (!pitch || (element != 4 && element != 8 && element != 16) || wide < width ||
        __builtin_mul_overflow(wide, height, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    result = cuMemAlloc_v2(address, bytes);
    if (!result)
        *pitch = wide;
    return result;
}

// Device memory is host memory here, so host and device can use all of it.
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned int flags)
{
    if (flags != 1 && flags != 2)
        return CUDA_ERROR_INVALID_VALUE;
    return cuMemAlloc_v2(address, size);
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result || !address)
        return result;
    return alloc_free(address);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    CUcontext context;
    CUresult result = context_current(&context);
    uint64_t start, bytes;

    if (result)
        return result;
    result = alloc_range(address, &start, &bytes);
    if (result)
        return result;
    if (base)
        *base = start;
    if (size)
        *size = bytes;
    return CUDA_SUCCESS;
}

// ---- Virtual memory management. Works without a current context, as in CUDA; where a
// context is current, its sticky error is reported.

static CUresult vmm_ready(void)
{
    CUresult result = device_ready();
    CUcontext context;

    if (result)
        return result;
    result = context_current(&context);
    return result == CUDA_ERROR_INVALID_CONTEXT ? CUDA_SUCCESS : result;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    CUresult result = vmm_ready();

    if (result)
        return result;
    if (!granularity || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                         option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    result = vmm_check_prop(prop);
    if (!result)
        *granularity = MEMORY_GRANULARITY;
    return result;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags)
{
    CUresult result = vmm_ready();
    uint64_t found;

    if (result)
        return result;
    if (!address || flags)
        return CUDA_ERROR_INVALID_VALUE;
    result = vmm_reserve(&found, size, alignment, hint);
    if (!result)
        *address = found;
    return result;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
    CUresult result = vmm_ready();

    return result ? result : vmm_unreserve(address, size);
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult result = vmm_ready();

    if (result)
        return result;
    return handle && !flags ? vmm_create(handle, size, prop) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CUresult result = vmm_ready();

    return result ? result : vmm_release(handle);
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    CUresult result = vmm_ready();

    if (result)
        return result;
    return flags ? CUDA_ERROR_INVALID_VALUE : vmm_map(address, size, offset, handle);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
    CUresult result = vmm_ready();

    return result ? result : vmm_unmap(address, size);
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    CUresult result = vmm_ready();

    if (result)
        return result;
    // There is one device, so access can only be set for that one.
    if (!desc || count != 1 || desc->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (desc->location.id != device_used())
        return CUDA_ERROR_INVALID_DEVICE;
    return vmm_set_access(address, size, desc->flags);
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                        CUdeviceptr address)
{
    CUresult result = vmm_ready();

    if (result)
        return result;
    if (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return vmm_get_access(flags, address);
}

CUresult cuMemExportToShareableHandle(void *os_handle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags)
{
    CUresult result = vmm_ready();

    if (result)
        return result;
    if (!os_handle || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    return vmm_export(os_handle, handle);
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *os_handle,
                                        CUmemAllocationHandleType type)
{
    CUresult result = vmm_ready();

    if (result)
        return result;
    if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    return vmm_import(handle, (int)(intptr_t)os_handle);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    CUresult result = vmm_ready();

    if (result)
        return result;
    return handle ? vmm_retain(handle, (uintptr_t)address) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle)
{
    CUresult result = vmm_ready();

    if (result)
        return result;
    return prop ? vmm_properties(prop, handle) : CUDA_ERROR_INVALID_VALUE;
}

// ---- Host memory

CUresult cuMemHostRegister_v2(void *address, size_t size, unsigned int flags)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : host_register(context->root, address, size, flags);
}

CUresult cuMemHostUnregister(void *address)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : host_unregister(address);
}

CUresult cuMemHostAlloc(void **address, size_t size, unsigned int flags)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    if (!address || flags & ~(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                              CU_MEMHOSTALLOC_WRITECOMBINED))
        return CUDA_ERROR_INVALID_VALUE;
    return host_alloc(context->root, size, address);
}

CUresult cuMemAllocHost_v2(void **address, size_t size)
{
    return cuMemHostAlloc(address, size, 0);
}

CUresult cuMemFreeHost(void *address)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : host_free(address);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned int flags)
{
    CUcontext context;
    CUresult result = context_current(&context);
    uint64_t found;

    if (result)
        return result;
    if (!device || flags)
        return CUDA_ERROR_INVALID_VALUE;
    result = host_device_pointer(&found, host);
    if (!result)
        *device = found;
    return result;
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *address)
{
    CUcontext context;
    CUresult result = context_current(&context);
    uint64_t device;

    if (result)
        return result;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    result = host_device_pointer(&device, address);
    if (!result)
        *flags = CU_MEMHOSTALLOC_DEVICEMAP;
    return result;
}

// ---- Pointers

static CUresult pointer_attribute(CUcontext context, void *value, CUpointer_attribute attribute,
                                  CUdeviceptr address)
{
    enum memory_kind kind = memory_locate(address, 1);
    uint64_t base, size;

    if (attribute == CU_POINTER_ATTRIBUTE_MAPPED) {
        *(int *)value = kind != MEMORY_UNKNOWN;
        return CUDA_SUCCESS;
    }
    if (kind == MEMORY_UNKNOWN || alloc_range(address, &base, &size))
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)value = context->root;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned int *)value = kind == MEMORY_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (kind != MEMORY_HOST)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)value = mem_pointer(address);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)value = base;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(char *)value = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)value = base;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)value = size;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    return value ? pointer_attribute(context, value, attribute, address) : CUDA_ERROR_INVALID_VALUE;
}

// Attributes that do not apply to an address are zero; cuPointerGetAttribute fails for them.
CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **values,
                                CUdeviceptr address)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    if (!attributes || !values)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count; i++) {
        if (pointer_attribute(context, values[i], attributes[i], address))
            *(char *)values[i] = 0;
    }
    return CUDA_SUCCESS;
}
