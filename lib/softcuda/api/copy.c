// Driver calls that move memory. Each becomes one operation; the synchronous forms run it on the
// calling thread when nothing is in the way, else in the default stream, and wait.
#include <stdlib.h>
#include <string.h>

#include "softcuda/api/api.h"
#include "softcuda/api/copy.h"
#include "softcuda/api/more.h"
#include "softcuda/context/context.h"
#include "softcuda/engine/engine.h"
#include "softcuda/memory/memory.h"
#include "softcuda/stream/order.h"
#include "softcuda/texture/array.h"

// Up to this size the driver copies pageable memory before the call returns.
enum { STAGING_BYTES = 64 << 10 };

// ---- From arguments to a copy

// Fills in one side of a copy. DEVICE: the address must be device or registered memory.
static CUresult side_of(struct copy_side *side, uint64_t address, uint64_t bytes, bool device)
{
    enum memory_kind kind = memory_locate(address, bytes);

    if (!address || kind == MEMORY_BROKEN || (device && kind == MEMORY_UNKNOWN))
        return CUDA_ERROR_INVALID_VALUE;
    side->address = address;
    side->checked = kind != MEMORY_UNKNOWN;
    return CUDA_SUCCESS;
}

static CUresult copy_linear(struct copy *c, uint64_t dst, bool dst_device, uint64_t src,
                            bool src_device, uint64_t size)
{
    CUresult result;

    *c = (struct copy){.width = size, .height = 1, .depth = 1};
    result = side_of(&c->dst, dst, size, dst_device);
    return result ? result : side_of(&c->src, src, size, src_device);
}

struct box_side {
    CUmemorytype type;
    uint64_t host, device;
    CUarray array;
    uint64_t x, y, z, pitch, rows;
};

static bool within(uint64_t at, uint64_t count, uint64_t all)
{
    return at <= all && count <= all - at;
}

// Fills in a side that is a part of an array, whose image gives the layout of its rows.
static CUresult array_side_of(struct copy_side *side, const struct box_side *b,
                              const CUDA_MEMCPY3D *box)
{
    struct image image;
    CUresult result = array_describe(b->array, NULL, &image);

    if (result)
        return result;
    if (!within(b->x, box->WidthInBytes, (uint64_t)image.width * image.texel_bytes) ||
        !within(b->y, box->Height, image.height) || !within(b->z, box->Depth, image.depth))
        return CUDA_ERROR_INVALID_VALUE;
    *side = (struct copy_side){.address =
                                   image.address + b->z * image.slice + b->y * image.pitch + b->x,
                               .pitch = image.pitch,
                               .slice = image.slice,
                               .checked = true};
    return CUDA_SUCCESS;
}

static CUresult box_side_of(struct copy_side *side, const struct box_side *b,
                            const CUDA_MEMCPY3D *box)
{
    bool unified = b->type == CU_MEMORYTYPE_UNIFIED, device = b->type == CU_MEMORYTYPE_DEVICE;
    uint64_t base = unified || device ? b->device : b->host, first, extent;
    CUresult result;

    if (b->type == CU_MEMORYTYPE_ARRAY)
        return array_side_of(side, b, box);
    if (!unified && !device && b->type != CU_MEMORYTYPE_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    side->pitch = b->pitch ? b->pitch : b->x + box->WidthInBytes;
    if (side->pitch < b->x + box->WidthInBytes && (box->Height > 1 || box->Depth > 1))
        return CUDA_ERROR_INVALID_VALUE;
    if (__builtin_mul_overflow(side->pitch, b->rows ? b->rows : b->y + box->Height, &side->slice) ||
        __builtin_mul_overflow(side->slice, b->z + box->Depth - 1, &extent) ||
        __builtin_add_overflow(extent, side->pitch * (b->y + box->Height - 1), &extent) ||
        __builtin_add_overflow(extent, b->x + box->WidthInBytes, &extent))
        return CUDA_ERROR_INVALID_VALUE;
    first = b->z * side->slice + b->y * side->pitch + b->x;
    result = side_of(side, base + first, extent - first, device);
    return base ? result : CUDA_ERROR_INVALID_VALUE;
}

CUresult copy_from_3d(struct copy *c, const CUDA_MEMCPY3D *box)
{
    struct box_side dst, src;
    CUresult result;

    if (!box || box->srcLOD || box->dstLOD || box->WidthInBytes > INT64_MAX / 2 ||
        box->Height > INT32_MAX || box->Depth > INT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    *c = (struct copy){.width = box->WidthInBytes, .height = box->Height, .depth = box->Depth};
    if (!c->width || !c->height || !c->depth) {
        c->depth = 0; // nothing to move
        return CUDA_SUCCESS;
    }
    dst = (struct box_side){box->dstMemoryType, (uintptr_t)box->dstHost, box->dstDevice,
                            box->dstArray,      box->dstXInBytes,        box->dstY,
                            box->dstZ,          box->dstPitch,           box->dstHeight};
    src = (struct box_side){box->srcMemoryType, (uintptr_t)box->srcHost, box->srcDevice,
                            box->srcArray,      box->srcXInBytes,        box->srcY,
                            box->srcZ,          box->srcPitch,           box->srcHeight};
    result = box_side_of(&c->dst, &dst, box);
    return result ? result : box_side_of(&c->src, &src, box);
}

CUresult fill_from(struct fill *f, uint64_t address, uint64_t pitch, uint32_t value,
                   uint32_t element, uint64_t width, uint64_t height)
{
    uint64_t bytes, extent;
    enum memory_kind kind;

    if ((element != 1 && element != 2 && element != 4) || address % element ||
        __builtin_mul_overflow(width, element, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (height > 1 && (pitch < bytes || pitch % element))
        return CUDA_ERROR_INVALID_VALUE;
    *f = (struct fill){.address = address,
                       .pitch = pitch,
                       .width = bytes,
                       .height = bytes ? height : 0,
                       .value = value,
                       .element = element};
    if (!bytes || !height)
        return CUDA_SUCCESS;
    if (__builtin_mul_overflow(pitch, height - 1, &extent) ||
        __builtin_add_overflow(extent, bytes, &extent))
        return CUDA_ERROR_INVALID_VALUE;
    kind = memory_locate(address, extent);
    f->device = kind == MEMORY_DEVICE;
    return f->device || kind == MEMORY_HOST ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// ---- Running them

static CUresult op_run_now(CUcontext context, struct op *op)
{
    CUstream stream = context->legacy;
    uint64_t position;
    CUresult result;

    if (engine_move_now(context, op, &result))
        return result;
    result = stream_submit(stream, op, &position);
    return result ? result : engine_wait(stream, position);
}

static CUresult copy_now(const struct copy *copy)
{
    CUcontext context;
    CUresult result = context_current(&context);
    struct op *op;

    if (result || !copy->depth || !copy->width)
        return result;
    op = op_new(OP_COPY);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->copy = *copy;
    return op_run_now(context, op);
}

static CUresult fill_now(const struct fill *fill)
{
    CUcontext context;
    CUresult result = context_current(&context);
    struct op *op;

    if (result || !fill->height)
        return result;
    op = op_new(OP_FILL);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->fill = *fill;
    return op_run_now(context, op);
}

// Copies small pageable sources, so that the caller may overwrite them at once.
static CUresult copy_stage(struct copy *c)
{
    if (c->src.checked || c->height != 1 || c->depth != 1 || c->width > STAGING_BYTES)
        return CUDA_SUCCESS;
    c->staging = malloc(c->width);
    if (!c->staging)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(c->staging, mem_pointer(c->src.address), c->width);
    c->src.address = (uintptr_t)c->staging;
    return CUDA_SUCCESS;
}

// Copies from or to pageable memory are synchronous, as in CUDA: the device must not access such
// memory later.
static CUresult copy_async(const struct copy *copy, CUstream handle)
{
    CUcontext context;
    CUresult result = context_current(&context);
    CUstream stream;
    struct copy c = *copy;
    bool wait;
    uint64_t position;
    struct op *op;

    if (!result)
        result = stream_of(context, handle, &stream);
    if (!result)
        result = copy_stage(&c);
    if (result)
        return result;
    wait = !c.dst.checked || (!c.src.checked && !c.staging);
    op = op_new(c.depth && c.width ? OP_COPY : OP_EMPTY);
    if (!op) {
        free(c.staging);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (op->kind == OP_COPY)
        op->copy = c;
    result = stream_submit(stream, op, &position);
    return result || !wait ? result : engine_wait(stream, position);
}

static CUresult fill_async(const struct fill *fill, CUstream handle)
{
    CUcontext context;
    CUresult result = context_current(&context);
    CUstream stream;
    struct op *op;

    if (!result)
        result = stream_of(context, handle, &stream);
    if (result)
        return result;
    op = op_new(fill->height ? OP_FILL : OP_EMPTY);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (op->kind == OP_FILL)
        op->fill = *fill;
    return stream_submit(stream, op, NULL);
}

// ---- Copies

// Checks the context first: a sticky error is reported whatever the addresses are.
static CUresult linear_checked(struct copy *c, uint64_t dst, bool dst_device, uint64_t src,
                               bool src_device, size_t size)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    if (size == 0) {
        *c = (struct copy){0};
        return CUDA_SUCCESS;
    }
    return copy_linear(c, dst, dst_device, src, src_device, size);
}

static CUresult linear_now(uint64_t dst, bool dst_device, uint64_t src, bool src_device,
                           size_t size)
{
    struct copy c;
    CUresult result = linear_checked(&c, dst, dst_device, src, src_device, size);

    return result ? result : copy_now(&c);
}

static CUresult linear_async(uint64_t dst, bool dst_device, uint64_t src, bool src_device,
                             size_t size, CUstream stream)
{
    struct copy c;
    CUresult result = linear_checked(&c, dst, dst_device, src, src_device, size);

    return result ? result : copy_async(&c, stream);
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
    return linear_now(dst, false, src, false, size);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
    return linear_async(dst, false, src, false, size, stream);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t size)
{
    return linear_now(dst, true, (uintptr_t)src, false, size);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t size, CUstream stream)
{
    return linear_async(dst, true, (uintptr_t)src, false, size, stream);
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t size)
{
    return linear_now((uintptr_t)dst, false, src, true, size);
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t size, CUstream stream)
{
    return linear_async((uintptr_t)dst, false, src, true, size, stream);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
    return linear_now(dst, true, src, true, size);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
    return linear_async(dst, true, src, true, size, stream);
}

static CUresult box_checked(struct copy *c, const CUDA_MEMCPY3D *box)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : copy_from_3d(c, box);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *box)
{
    struct copy c;
    CUresult result = box_checked(&c, box);

    return result ? result : copy_now(&c);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *box, CUstream stream)
{
    struct copy c;
    CUresult result = box_checked(&c, box);

    return result ? result : copy_async(&c, stream);
}

static CUDA_MEMCPY3D box_of_2d(const CUDA_MEMCPY2D *flat)
{
    return (CUDA_MEMCPY3D){
        .srcXInBytes = flat->srcXInBytes,
        .srcY = flat->srcY,
        .srcMemoryType = flat->srcMemoryType,
        .srcHost = flat->srcHost,
        .srcDevice = flat->srcDevice,
        .srcArray = flat->srcArray,
        .srcPitch = flat->srcPitch,
        .dstXInBytes = flat->dstXInBytes,
        .dstY = flat->dstY,
        .dstMemoryType = flat->dstMemoryType,
        .dstHost = flat->dstHost,
        .dstDevice = flat->dstDevice,
        .dstArray = flat->dstArray,
        .dstPitch = flat->dstPitch,
        .WidthInBytes = flat->WidthInBytes,
        .Height = flat->Height,
        .Depth = 1,
    };
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *flat)
{
    CUDA_MEMCPY3D box;

    if (!flat)
        return CUDA_ERROR_INVALID_VALUE;
    box = box_of_2d(flat);
    return cuMemcpy3D_v2(&box);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *flat)
{
    return cuMemcpy2D_v2(flat);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *flat, CUstream stream)
{
    CUDA_MEMCPY3D box;

    if (!flat)
        return CUDA_ERROR_INVALID_VALUE;
    box = box_of_2d(flat);
    return cuMemcpy3DAsync_v2(&box, stream);
}

// ---- Fills

static CUresult fill_checked(struct fill *f, uint64_t dst, uint64_t pitch, uint32_t value,
                             uint32_t element, uint64_t width, uint64_t height)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : fill_from(f, dst, pitch, value, element, width, height);
}

static CUresult rows_fill_now(uint64_t dst, uint64_t pitch, uint32_t value, uint32_t element,
                              uint64_t width, uint64_t height)
{
    struct fill f;
    CUresult result = fill_checked(&f, dst, pitch, value, element, width, height);

    return result ? result : fill_now(&f);
}

static CUresult row_fill_async(uint64_t dst, uint32_t value, uint32_t element, uint64_t width,
                               CUstream stream)
{
    struct fill f;
    CUresult result = fill_checked(&f, dst, 0, value, element, width, 1);

    return result ? result : fill_async(&f, stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char value, size_t count)
{
    return rows_fill_now(dst, 0, value, 1, count, 1);
}

CUresult cuMemsetD16_v2(CUdeviceptr dst, unsigned short value, size_t count)
{
    return rows_fill_now(dst, 0, value, 2, count, 1);
}

CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned int value, size_t count)
{
    return rows_fill_now(dst, 0, value, 4, count, 1);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
                         size_t height)
{
    return rows_fill_now(dst, pitch, value, 1, width, height);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
                          size_t height)
{
    return rows_fill_now(dst, pitch, value, 4, width, height);
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
    return row_fill_async(dst, value, 1, count, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
{
    return row_fill_async(dst, value, 2, count, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t count, CUstream stream)
{
    return row_fill_async(dst, value, 4, count, stream);
}
