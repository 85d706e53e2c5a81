/*
 * api_driver.c - cudaGetDriverEntryPoint and its like, by which a program asks the runtime for a
 * function of the driver. There is no driver in the process, so one alone is found: the encoding of
 * tensor maps, which the server's driver does.
 */
#include <string.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/state/device.h"

#define FLAGS_MAX         2u /* cudaEnablePerThreadDefaultStream */
#define TENSOR_MAPS_SINCE 12000u

/* ---- cuTensorMapEncodeTiled ------------------------------------------------------------------ */

/* Of the driver's CUresult. */
enum driver_result {
    DRIVER_SUCCESS = 0,
    DRIVER_INVALID_VALUE = 1,
    DRIVER_NOT_INITIALIZED = 3,
    DRIVER_NOT_SUPPORTED = 801,
    DRIVER_UNKNOWN = 999
};

static enum driver_result driver_result(gs_status status)
{
    switch (status) {
    case GS_OK:
        return DRIVER_SUCCESS;
    case GS_ERR_INVALID_VALUE:
        return DRIVER_INVALID_VALUE;
    case GS_ERR_NOT_SUPPORTED:
        report_once("cuTensorMapEncodeTiled: %s", gs_last_error_message());
        return DRIVER_NOT_SUPPORTED;
    default:
        return DRIVER_UNKNOWN;
    }
}

/* The driver's cuTensorMapEncodeTiled, for the device of the calling thread. Its enumerations are
 * passed on as numbers. */
static enum driver_result tensor_map_encode(gs_tensor_map *map, int type, unsigned rank,
                                            void *address, const uint64_t *dims,
                                            const uint64_t *strides, const unsigned *box,
                                            const unsigned *steps, int interleave, int swizzle,
                                            int promotion, int fill)
{
    gs_tensor_map_desc desc = GS_TENSOR_MAP_DESC_INIT;

    if (map == NULL || dims == NULL || box == NULL || steps == NULL || rank == 0 ||
        rank > sizeof(desc.dim) / sizeof(desc.dim[0]) || (rank > 1 && strides == NULL))
        return DRIVER_INVALID_VALUE;
    if (device_use() != cudaSuccess)
        return DRIVER_NOT_INITIALIZED;
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
    return driver_result(gs_tensor_map_encode(device_session(), &desc, map));
}

/* ---- Functions by name ----------------------------------------------------------------------- */

/* The version of CUDA that the program was written for: VERSION, as 12000. */
static cudaError_t entry_point(const char *symbol, void **function, unsigned version,
                               unsigned long long flags,
                               enum cudaDriverEntryPointQueryResult *result)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    __typeof__(&tensor_map_encode) encode = NULL;

    if (symbol == NULL || symbol[0] == '\0' || function == NULL || flags > FLAGS_MAX)
        return error_record(cudaErrorInvalidValue);
    if (strcmp(symbol, "cuTensorMapEncodeTiled") == 0)
        found = version < TENSOR_MAPS_SINCE ? cudaDriverEntryPointVersionNotSufficent
                                            : cudaDriverEntryPointSuccess;
    if (found == cudaDriverEntryPointSuccess)
        encode = tensor_map_encode;
    memcpy(function, &encode, sizeof(*function));
    if (result != NULL)
        *result = found;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function,
                                               unsigned long long flags,
                                               enum cudaDriverEntryPointQueryResult *result)
{
    return entry_point(symbol, function, TENSOR_MAPS_SINCE, flags, result);
}

CUDART_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function,
                                                    unsigned long long flags,
                                                    enum cudaDriverEntryPointQueryResult *result)
{
    return entry_point(symbol, function, TENSOR_MAPS_SINCE, flags, result);
}

CUDART_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char *symbol, void **function, unsigned version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *result)
{
    return entry_point(symbol, function, version, flags, result);
}

CUDART_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char *symbol, void **function, unsigned version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *result)
{
    return entry_point(symbol, function, version, flags, result);
}
