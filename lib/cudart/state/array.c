/* array.c - see array.h. */
#include "cudart/state/array.h"

#include "cudart/state/copy.h"
#include "cudart/state/managed.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/peer.h"

/* ---- What a texel is ------------------------------------------------------------------------- */

static bool format_of(int bits, enum cudaChannelFormatKind kind, gs_format *format)
{
    switch (kind) {
    case cudaChannelFormatKindSigned:
        *format = bits == 8 ? GS_FORMAT_INT8 : bits == 16 ? GS_FORMAT_INT16 : GS_FORMAT_INT32;
        return bits == 8 || bits == 16 || bits == 32;
    case cudaChannelFormatKindUnsigned:
        *format = bits == 8 ? GS_FORMAT_UINT8 : bits == 16 ? GS_FORMAT_UINT16 : GS_FORMAT_UINT32;
        return bits == 8 || bits == 16 || bits == 32;
    case cudaChannelFormatKindFloat:
        *format = bits == 16 ? GS_FORMAT_FLOAT16 : GS_FORMAT_FLOAT32;
        return bits == 16 || bits == 32;
    default:
        return false;
    }
}

cudaError_t array_format(const struct cudaChannelFormatDesc *desc, gs_format *format,
                         unsigned *channels)
{
    const int bits[4] = {desc->x, desc->y, desc->z, desc->w};
    unsigned count = 0;

    while (count < 4 && bits[count] != 0)
        count++;
    for (unsigned i = 0; i < 4; i++) {
        if (bits[i] != (i < count ? bits[0] : 0))
            return cudaErrorInvalidChannelDescriptor;
    }
    if (count == 0 || count == 3 || !format_of(bits[0], desc->f, format))
        return cudaErrorInvalidChannelDescriptor;
    *channels = count;
    return cudaSuccess;
}

static int channel_bits(gs_format format)
{
    switch (format) {
    case GS_FORMAT_UINT8:
    case GS_FORMAT_INT8:
        return 8;
    case GS_FORMAT_UINT16:
    case GS_FORMAT_INT16:
    case GS_FORMAT_FLOAT16:
        return 16;
    default:
        return 32;
    }
}

struct cudaChannelFormatDesc array_channels(const gs_array_desc *desc)
{
    const int bits = channel_bits(desc->format);
    struct cudaChannelFormatDesc channels = {.x = bits, .f = cudaChannelFormatKindUnsigned};

    channels.y = desc->channels > 1 ? bits : 0;
    channels.z = channels.w = desc->channels > 2 ? bits : 0;
    if (desc->format == GS_FORMAT_FLOAT16 || desc->format == GS_FORMAT_FLOAT32)
        channels.f = cudaChannelFormatKindFloat;
    else if (desc->format >= GS_FORMAT_INT8)
        channels.f = cudaChannelFormatKindSigned;
    return channels;
}

size_t array_texel(const gs_array_desc *desc)
{
    return (size_t)channel_bits(desc->format) / 8 * desc->channels;
}

/* A handle is a number that libgshare looks up; nothing is written through it. */
static gs_array handle_of(cudaArray_const_t array)
{
    return (gs_array)(uintptr_t)array;
}

cudaError_t array_describe(cudaArray_const_t array, gs_array_desc *desc)
{
    cudaError_t error;

    *desc = (gs_array_desc)GS_ARRAY_DESC_INIT;
    error = device_error(gs_array_info(handle_of(array), desc));
    return error == cudaSuccess && desc->levels > 0 ? cudaErrorInvalidResourceHandle : error;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Whether this side is device memory: an array always is; for cudaMemcpyDefault the address
 * decides. */
static cudaError_t side_on_device(const struct array_side *side, bool by_kind, bool device_by_kind,
                                  bool *on_device)
{
    if (side->array != NULL) {
        *on_device = true;
        return by_kind && !device_by_kind ? cudaErrorInvalidMemcpyDirection : cudaSuccess;
    }
    *on_device =
        managed_has(side->memory) || (by_kind ? device_by_kind : copy_is_device(side->memory));
    if (!*on_device && copy_host_cannot_reach(side->memory))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* Whether rows of device memory lie within one allocation, as copy_rows checks it. */
static bool rows_allowed(const struct array_side *side, const struct cudaExtent *extent)
{
    size_t first, rows, size;

    return !__builtin_mul_overflow(side->rows, side->at.z, &first) &&
           !__builtin_add_overflow(first, side->at.y, &first) &&
           !__builtin_mul_overflow(first, side->pitch, &first) &&
           !__builtin_add_overflow(first, side->at.x, &first) &&
           !__builtin_mul_overflow(side->rows, extent->depth - 1, &rows) &&
           !__builtin_add_overflow(rows, extent->height - 1, &rows) &&
           !__builtin_mul_overflow(rows, side->pitch, &size) &&
           !__builtin_add_overflow(size, extent->width, &size) &&
           memory_map_allows((char *)side->memory + first, size);
}

static gs_memcpy_side side_of(const struct array_side *side, bool on_device)
{
    gs_memcpy_side given = {.x = side->at.x,
                            .y = side->at.y,
                            .z = side->at.z,
                            .pitch = side->pitch,
                            .rows = side->rows};

    if (side->array != NULL)
        given.array = handle_of(side->array);
    else if (on_device)
        given.device = (uint64_t)(uintptr_t)side->memory;
    else
        given.host = side->memory;
    return given;
}

static bool side_fits(const struct array_side *side, bool on_device,
                      const struct cudaExtent *extent)
{
    return side->array != NULL || !on_device || rows_allowed(side, extent);
}

/* The pitch must hold a row; it does not matter for a single row, and may be 0. */
static bool pitch_fits(const struct array_side *side, const struct cudaExtent *extent)
{
    return side->array != NULL || side->pitch >= extent->width ||
           (side->pitch == 0 && extent->height == 1 && extent->depth == 1);
}

cudaError_t array_copy(struct stream *stream, const struct array_side *dst,
                       const struct array_side *src, struct cudaExtent extent,
                       enum cudaMemcpyKind kind, bool wait)
{
    const bool by_kind = kind != cudaMemcpyDefault;
    gs_memcpy_3d_params params = GS_MEMCPY_3D_PARAMS_INIT;
    bool to_device, from_device, held;
    cudaError_t error;
    gs_status status;

    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    error = side_on_device(dst, by_kind,
                           kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice,
                           &to_device);
    if (error == cudaSuccess)
        error = side_on_device(src, by_kind,
                               kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice,
                               &from_device);
    if (error != cudaSuccess || extent.width == 0 || extent.height == 0 || extent.depth == 0)
        return error;
    if (!pitch_fits(dst, &extent) || !pitch_fits(src, &extent))
        return cudaErrorInvalidValue;
    if (!side_fits(dst, to_device, &extent) || !side_fits(src, from_device, &extent))
        return cudaErrorInvalidValue;
    params.dst = side_of(dst, to_device);
    params.src = side_of(src, from_device);
    params.width = extent.width;
    params.height = extent.height;
    params.depth = extent.depth;
    status = managed_work_begin(&held);
    if (status != GS_OK)
        return device_error(status);
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_memcpy_3d_async(device_session(), &params, stream->handle);
    managed_work_end(held);
    if (status == GS_OK)
        stream_leave(stream);
    if (status == GS_OK && wait && !(to_device && from_device))
        status = stream_wait(stream);
    return stream_error(stream, status);
}

/* Fills one side of a copy with an array. CUDA counts x in texels for an array, in bytes for
 * memory. */
static cudaError_t side_take(cudaArray_t array, const struct cudaPitchedPtr *memory,
                             const struct cudaPos *at, struct array_side *side, size_t *texel)
{
    gs_array_desc desc;
    cudaError_t error;

    if ((array != NULL) == (memory->ptr != NULL))
        return cudaErrorInvalidValue; /* exactly one of the two must be given */
    *side = (struct array_side){.array = array,
                                .memory = memory->ptr,
                                .at = *at,
                                .pitch = memory->pitch,
                                .rows = memory->ysize};
    if (array == NULL)
        return cudaSuccess;
    error = array_describe(array, &desc);
    if (error != cudaSuccess)
        return error;
    if (*texel != 0 && *texel != array_texel(&desc))
        return cudaErrorInvalidValue;
    *texel = array_texel(&desc);
    return __builtin_mul_overflow(at->x, *texel, &side->at.x) ? cudaErrorInvalidValue : cudaSuccess;
}

/* The extent's width is in texels if an array takes part. */
cudaError_t array_copy_box(struct stream *stream, const struct cudaMemcpy3DParms *p, bool wait)
{
    struct cudaExtent extent = p->extent;
    struct array_side dst, src;
    size_t texel = 0;
    cudaError_t error;

    if (p->dstArray == NULL && p->srcArray == NULL)
        return peer_copy_box(stream, p, wait);
    error = side_take(p->dstArray, &p->dstPtr, &p->dstPos, &dst, &texel);
    if (error == cudaSuccess)
        error = side_take(p->srcArray, &p->srcPtr, &p->srcPos, &src, &texel);
    if (error != cudaSuccess)
        return error;
    if (__builtin_mul_overflow(extent.width, texel, &extent.width))
        return cudaErrorInvalidValue;
    return array_copy(stream, &dst, &src, extent, p->kind, wait);
}
