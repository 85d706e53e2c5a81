/*
 * driver_functions.c - see driver_functions.h. There is no driver in the process: each function
 * does what the runtime's call does, and returns the driver's error codes. A device has its
 * runtime's number, streams and events are the runtime's, and a context stands for a device's
 * session.
 */
#include "cudart/api/driver_functions.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cudart/api/runtime_calls.h"
#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/state/device.h"
#include "cudart/state/memory_map.h"

/* Values of the driver's CUresult. */
enum driver_error {
#define DRIVER_ERROR(name, value) name = value,
#include "cudart/api/driver_errors.def"
#undef DRIVER_ERROR
};

static const struct {
    const char *name;
    int value;
} error_names[] = {
#define DRIVER_ERROR(name, value) {#name, value},
#include "cudart/api/driver_errors.def"
#undef DRIVER_ERROR
};

/* NULL: the driver has no such error. */
static const char *error_name(int error)
{
    for (size_t i = 0; i < sizeof(error_names) / sizeof(error_names[0]); i++) {
        if (error_names[i].value == error)
            return error_names[i].name;
    }
    return NULL;
}

/* The driver's error for the result of a runtime call. Restores the runtime's last error, since
 * functions of the driver do not change it. */
static enum driver_error after_call(cudaError_t last, cudaError_t error)
{
    error_last(true);
    error_record(last);
    return error_name((int)error) != NULL ? (enum driver_error)error : CUDA_ERROR_INVALID_VALUE;
}

#define CALL(call)                                                                                 \
    const cudaError_t last = error_last(false);                                                    \
    return after_call(last, call)

/* ---- Errors ---------------------------------------------------------------------------------- */

static enum driver_error cuGetErrorName_v6000(enum driver_error error, const char **name)
{
    if (name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *name = error_name((int)error);
    return *name != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static enum driver_error cuGetErrorString_v6000(enum driver_error error, const char **text)
{
    if (text == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *text = error_name((int)error) != NULL ? cudaGetErrorString((cudaError_t)error) : NULL;
    return *text != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Devices --------------------------------------------------------------------------------- */

#define ATTRIBUTE_LAST 148 /* the last one in CUDA 13.0's driver */

static enum driver_error cuInit_v2000(unsigned flags)
{
    CALL(flags != 0 ? cudaErrorInvalidValue : device_use());
}

static cudaError_t device_check(int *device, int number)
{
    int count = 0;
    cudaError_t error = device != NULL ? cudaGetDeviceCount(&count) : cudaErrorInvalidValue;

    if (error == cudaSuccess && (number < 0 || number >= count))
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess)
        *device = number;
    return error;
}

static enum driver_error cuDeviceGet_v2000(int *device, int number)
{
    CALL(device_check(device, number));
}

/* Gets the properties for a function that reports one of them. asked: the program has given an
 * address for the result. */
static cudaError_t properties_get(struct cudaDeviceProp *p, int device, bool asked)
{
    const cudaError_t error = cudaGetDeviceProperties(p, device);

    return error == cudaSuccess && !asked ? cudaErrorInvalidValue : error;
}

static cudaError_t device_name(char *name, int size, int device)
{
    struct cudaDeviceProp p;
    const cudaError_t error = properties_get(&p, device, name != NULL && size > 0);

    if (error == cudaSuccess)
        snprintf(name, (size_t)size, "%s", p.name);
    return error;
}

static enum driver_error cuDeviceGetName_v2000(char *name, int size, int device)
{
    CALL(device_name(name, size, device));
}

static cudaError_t device_uuid(cudaUUID_t *uuid, int device)
{
    struct cudaDeviceProp p;
    const cudaError_t error = properties_get(&p, device, uuid != NULL);

    if (error == cudaSuccess)
        *uuid = p.uuid;
    return error;
}

static enum driver_error cuDeviceGetUuid_v9020(cudaUUID_t *uuid, int device)
{
    CALL(device_uuid(uuid, device));
}

static cudaError_t device_memory(size_t *bytes, int device)
{
    struct cudaDeviceProp p;
    const cudaError_t error = properties_get(&p, device, bytes != NULL);

    if (error == cudaSuccess)
        *bytes = p.totalGlobalMem;
    return error;
}

static enum driver_error cuDeviceTotalMem_v3020(size_t *bytes, int device)
{
    CALL(device_memory(bytes, device));
}

/* The driver's attributes have the runtime's numbers. Attributes that only the driver knows are
 * about functions that are not here, such as those for virtual memory; the device reports 0 for
 * them. */
static cudaError_t device_attribute_get(int *value, int attribute, int device)
{
    if (value == NULL || attribute < cudaDevAttrMax || attribute > ATTRIBUTE_LAST)
        return cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device);
    *value = 0;
    return device_use_number(device);
}

static enum driver_error cuDeviceGetAttribute_v2000(int *value, int attribute, int device)
{
    CALL(device_attribute_get(value, attribute, device));
}

/* ---- Contexts -------------------------------------------------------------------------------- */

/* A context's handle is the address of its device's byte, which stores nothing. */
static char contexts[DEVICES_MAX];

/* The number of a context's device; -1: the handle is invalid. */
static int context_device(const char *context)
{
    const uintptr_t number = (uintptr_t)context - (uintptr_t)contexts;

    return number < DEVICES_MAX ? (int)number : -1;
}

/* A thread has a context after its first call that uses its device. */
static enum driver_error cuCtxGetCurrent_v4000(char **context)
{
    if (context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    device_enter(device_current());
    *context = device_session() != NULL ? &contexts[device_number()] : NULL;
    return CUDA_SUCCESS;
}

/* NULL does not change the thread's device, and the next call makes its context current. */
static enum driver_error cuCtxSetCurrent_v4000(char *context)
{
    const int device = context_device(context);

    if (context == NULL)
        return CUDA_SUCCESS;
    if (device < 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    CALL(cudaSetDevice(device));
}

static enum driver_error cuCtxGetDevice_v13000(int *device, char *context)
{
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (context != NULL) {
        *device = context_device(context);
        return *device >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    }
    CALL(cudaGetDevice(device));
}

static cudaError_t device_synchronize(int number)
{
    const int current = (int)device_current();
    cudaError_t error = cudaSetDevice(number);

    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    cudaSetDevice(current);
    return error;
}

static enum driver_error cuCtxSynchronize_v13000(char *context)
{
    const int device = context != NULL ? context_device(context) : (int)device_current();

    if (device < 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    CALL(device_synchronize(device));
}

static enum driver_error cuDevicePrimaryCtxRetain_v7000(char **context, int device)
{
    if (context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (device >= 0 && device < DEVICES_MAX)
        *context = &contexts[device];
    CALL(device_use_number(device));
}

/* The session lasts until the process ends or resets its device. */
static enum driver_error cuDevicePrimaryCtxRelease_v7000(int device)
{
    CALL(device_use_number(device));
}

/* ---- What an address is ---------------------------------------------------------------------- */

/* Values of the driver's CUpointer_attribute and CUmemorytype. */
enum {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE = 2,
    POINTER_DEVICE_POINTER = 3,
    POINTER_HOST_POINTER = 4,
    POINTER_BUFFER_ID = 7,
    POINTER_IS_MANAGED = 8,
    POINTER_DEVICE_ORDINAL = 9,
    POINTER_RANGE_START = 11,
    POINTER_RANGE_SIZE = 12,
    POINTER_MAPPED = 13,

    MEMORY_TYPE_HOST = 1,
    MEMORY_TYPE_DEVICE = 2
};

static enum driver_error pointer_attribute(void *data, int attribute,
                                           const struct cudaPointerAttributes *is,
                                           const struct memory_range *range)
{
    const bool host = is->type == cudaMemoryTypeHost;

    switch (attribute) {
    case POINTER_CONTEXT:
        *(char **)data = &contexts[is->device];
        return CUDA_SUCCESS;
    case POINTER_MEMORY_TYPE:
        *(unsigned *)data = host ? MEMORY_TYPE_HOST : MEMORY_TYPE_DEVICE;
        return CUDA_SUCCESS;
    case POINTER_DEVICE_POINTER:
        *(void **)data = is->devicePointer;
        return is->devicePointer != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case POINTER_HOST_POINTER:
        *(void **)data = is->hostPointer;
        return is->hostPointer != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case POINTER_BUFFER_ID:
        *(uint64_t *)data = range->id;
        return CUDA_SUCCESS;
    case POINTER_IS_MANAGED:
        *(bool *)data = is->type == cudaMemoryTypeManaged;
        return CUDA_SUCCESS;
    case POINTER_DEVICE_ORDINAL:
        *(int *)data = is->device;
        return CUDA_SUCCESS;
    case POINTER_RANGE_START:
        *(uint64_t *)data = range->base;
        return CUDA_SUCCESS;
    case POINTER_RANGE_SIZE:
        *(size_t *)data = range->size;
        return CUDA_SUCCESS;
    case POINTER_MAPPED:
        *(bool *)data = true;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

static enum driver_error cuPointerGetAttribute_v4000(void *data, int attribute, const void *ptr)
{
    const cudaError_t last = error_last(false);
    struct cudaPointerAttributes is;
    struct memory_range range;
    cudaError_t error = cudaPointerGetAttributes(&is, ptr);

    if (error == cudaSuccess &&
        (data == NULL || is.type == cudaMemoryTypeUnregistered || !memory_map_find(ptr, &range)))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return after_call(last, error);
    return pointer_attribute(data, attribute, &is, &range);
}

static enum driver_error cuMemGetAddressRange_v3020(uint64_t *base, size_t *size, const void *ptr)
{
    struct memory_range range;

    if (!memory_map_find(ptr, &range))
        return CUDA_ERROR_NOT_FOUND;
    if (base != NULL)
        *base = range.base;
    if (size != NULL)
        *size = range.size;
    return CUDA_SUCCESS;
}

/* ---- Tensor maps ----------------------------------------------------------------------------- */

static enum driver_error tensor_map_error(gs_status status)
{
    switch (status) {
    case GS_OK:
        return CUDA_SUCCESS;
    case GS_ERR_INVALID_VALUE:
        return CUDA_ERROR_INVALID_VALUE;
    case GS_ERR_NOT_SUPPORTED:
        report_once("cuTensorMapEncodeTiled: %s", gs_last_error_message());
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_UNKNOWN;
    }
}

/* Encodes a map for the calling thread's device; the server's driver does it. The enumerations are
 * passed on as numbers. */
static enum driver_error cuTensorMapEncodeTiled_v12000(gs_tensor_map *map, int type, unsigned rank,
                                                       void *address, const uint64_t *dims,
                                                       const uint64_t *strides, const unsigned *box,
                                                       const unsigned *steps, int interleave,
                                                       int swizzle, int promotion, int fill)
{
    gs_tensor_map_desc desc = GS_TENSOR_MAP_DESC_INIT;

    if (map == NULL || dims == NULL || box == NULL || steps == NULL || rank == 0 ||
        rank > sizeof(desc.dim) / sizeof(desc.dim[0]) || (rank > 1 && strides == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    if (device_use() != cudaSuccess)
        return CUDA_ERROR_NOT_INITIALIZED;
    desc.address = (gs_devptr)(uintptr_t)address;
    desc.rank = rank;
    desc.type = (unsigned)type;
    memcpy(desc.dim, dims, rank * sizeof(*dims));
    if (rank > 1)
        memcpy(desc.stride, strides, (rank - 1) * sizeof(*strides));
    memcpy(desc.box, box, rank * sizeof(*box));
    memcpy(desc.step, steps, rank * sizeof(*steps));
    desc.interleave = (unsigned)interleave;
    desc.swizzle = (unsigned)swizzle;
    desc.l2_promotion = (unsigned)promotion;
    desc.fill = (unsigned)fill;
    return tensor_map_error(gs_tensor_map_encode(device_session(), &desc, map));
}

/* ---- Functions by name ----------------------------------------------------------------------- */

#define PER_THREAD_SINCE   7000u
#define PER_THREAD_STREAMS 2u /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */

static enum driver_error cuGetProcAddress_v12000(const char *name, driver_function *function,
                                                 int version, uint64_t flags, int *result)
{
    enum cudaDriverEntryPointQueryResult found;

    if (name == NULL || function == NULL || flags > PER_THREAD_STREAMS || version < 0)
        return CUDA_ERROR_INVALID_VALUE;
    found = driver_function_find(name, (unsigned)version, flags == PER_THREAD_STREAMS, function);
    if (result != NULL)
        *result = (int)found; /* the driver's values equal the runtime's */
    return found == cudaDriverEntryPointSuccess || result != NULL ? CUDA_SUCCESS
                                                                  : CUDA_ERROR_NOT_FOUND;
}

static enum driver_error cuGetProcAddress_v11030(const char *name, driver_function *function,
                                                 int version, uint64_t flags)
{
    return cuGetProcAddress_v12000(name, function, version, flags, NULL);
}

#define DEFINED(name, version)
#define FUNCTION(name, version, parameters, call)                                                  \
    static enum driver_error name##_v##version parameters                                          \
    {                                                                                              \
        CALL(call);                                                                                \
    }
#define STREAM_FUNCTION(name, version, parameters, call, call_per_thread)                          \
    FUNCTION(name, version, parameters, call)                                                      \
    static enum driver_error name##_v##version##_ptsz parameters                                   \
    {                                                                                              \
        CALL(call_per_thread);                                                                     \
    }
#include "cudart/api/driver_functions.def"
#undef DEFINED
#undef FUNCTION
#undef STREAM_FUNCTION

/* Rows with the same name are sorted by version. */
static const struct {
    const char *name;
    unsigned version;
    driver_function function, per_thread;
} functions[] = {
#define ROW(name, version, function, per_thread)                                                   \
    {#name, version, (driver_function)(function), (driver_function)(per_thread)},
#define DEFINED(name, version)                    ROW(name, version, name##_v##version, name##_v##version)
#define FUNCTION(name, version, parameters, call) DEFINED(name, version)
#define STREAM_FUNCTION(name, version, parameters, call, call_per_thread)                          \
    ROW(name, version, name##_v##version, name##_v##version##_ptsz)
#include "cudart/api/driver_functions.def"
#undef DEFINED
#undef FUNCTION
#undef STREAM_FUNCTION
#undef ROW
};

/* The version that introduced the function; variants for per-thread streams came later. */
static unsigned since(size_t row, bool per_thread)
{
    const bool own = per_thread && functions[row].per_thread != functions[row].function;

    return own && functions[row].version < PER_THREAD_SINCE ? PER_THREAD_SINCE
                                                            : functions[row].version;
}

enum cudaDriverEntryPointQueryResult driver_function_find(const char *name, unsigned version,
                                                          bool per_thread, driver_function *found)
{
    enum cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;

    *found = NULL;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].name, name) != 0)
            continue;
        if (since(i, per_thread) <= version) {
            *found = per_thread ? functions[i].per_thread : functions[i].function;
            result = cudaDriverEntryPointSuccess;
        } else if (result == cudaDriverEntryPointSymbolNotFound) {
            result = cudaDriverEntryPointVersionNotSufficent;
        }
    }
    return result;
}
