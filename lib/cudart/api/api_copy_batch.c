/* api_copy_batch.c - several copies by one call. Their attributes are hints: when the source may be
 * read, and where the memory is. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/submit.h"
#include "cudart/state/array.h"

static cudaError_t batch(void *const *dsts, const void *const *srcs, const size_t *sizes,
                         size_t count, const struct cudaMemcpyAttributes *attributes,
                         const size_t *indexes, size_t attribute_count, size_t *failed,
                         cudaStream_t handle, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    *failed = SIZE_MAX;
    if (error != cudaSuccess)
        return error;
    /* The legacy stream does not support batches. */
    if (dsts == NULL || srcs == NULL || sizes == NULL || count == 0 || attributes == NULL ||
        indexes == NULL || attribute_count == 0 || attribute_count > count || indexes[0] != 0 ||
        stream_is_legacy(stream))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = submit_copy(stream, dsts[i], sizes[i], srcs[i], sizes[i], sizes[i], 1,
                            cudaMemcpyDefault, false);
        if (error != cudaSuccess)
            *failed = i;
    }
    return error;
}

/* Version 12 reports which copy failed. */
#ifdef GS_CUDART_12
#define BATCH(name, per_thread)                                                                    \
    CUDART_API cudaError_t name(void **dsts, void **srcs, size_t *sizes, size_t count,             \
                                struct cudaMemcpyAttributes *attributes, size_t *indexes,          \
                                size_t attribute_count, size_t *failed, cudaStream_t stream)       \
    {                                                                                              \
        size_t index;                                                                              \
                                                                                                   \
        return error_record(batch(dsts, (const void *const *)srcs, sizes, count, attributes,       \
                                  indexes, attribute_count, failed != NULL ? failed : &index,      \
                                  stream, per_thread));                                            \
    }
#else
#define BATCH(name, per_thread)                                                                    \
    CUDART_API cudaError_t name(void *const *dsts, const void *const *srcs, const size_t *sizes,   \
                                size_t count, struct cudaMemcpyAttributes *attributes,             \
                                size_t *indexes, size_t attribute_count, cudaStream_t stream)      \
    {                                                                                              \
        size_t index;                                                                              \
                                                                                                   \
        return error_record(batch(dsts, srcs, sizes, count, attributes, indexes, attribute_count,  \
                                  &index, stream, per_thread));                                    \
    }
#endif
BATCH(cudaMemcpyBatchAsync, false)
BATCH(cudaMemcpyBatchAsync_ptsz, true)

/* ---- Boxes: each is one of cudaMemcpy3D's ---------------------------------------------------- */

/* The bytes of an element of the arrays; 1 without arrays. */
static cudaError_t element_bytes(const struct cudaMemcpy3DBatchOp *op, size_t *bytes)
{
    const struct cudaMemcpy3DOperand *sides[] = {&op->src, &op->dst};
    gs_array_desc desc;
    cudaError_t error;

    *bytes = 1;
    for (int i = 0; i < 2; i++) {
        if (sides[i]->type != cudaMemcpyOperandTypeArray)
            continue;
        error = array_describe(sides[i]->op.array.array, &desc);
        if (error != cudaSuccess)
            return error;
        *bytes = array_texel(&desc);
    }
    return cudaSuccess;
}

/* False: the operand is invalid. */
static bool side_of(const struct cudaMemcpy3DOperand *side, struct cudaExtent extent, size_t bytes,
                    cudaArray_t *array, struct cudaPos *at, struct cudaPitchedPtr *memory)
{
    const size_t row = side->op.ptr.rowLength, rows = side->op.ptr.layerHeight;

    if (side->type == cudaMemcpyOperandTypeArray) {
        const struct cudaOffset3D *offset = &side->op.array.offset;

        *array = side->op.array.array;
        *at = (struct cudaPos){offset->x, offset->y, offset->z};
        return true;
    }
    if (side->type != cudaMemcpyOperandTypePointer || (row != 0 && row < extent.width) ||
        (rows != 0 && rows < extent.height) || row > SIZE_MAX / bytes ||
        extent.width > SIZE_MAX / bytes)
        return false;
    *memory = (struct cudaPitchedPtr){side->op.ptr.ptr, (row != 0 ? row : extent.width) * bytes,
                                      extent.width * bytes, rows != 0 ? rows : extent.height};
    return true;
}

static cudaError_t box_copy(struct stream *stream, const struct cudaMemcpy3DBatchOp *op)
{
    struct cudaMemcpy3DParms box = {.extent = op->extent, .kind = cudaMemcpyDefault};
    size_t bytes;
    cudaError_t error = element_bytes(op, &bytes);

    if (error != cudaSuccess)
        return error;
    if (op->extent.width == 0 || op->extent.height == 0 || op->extent.depth == 0 ||
        op->srcAccessOrder < cudaMemcpySrcAccessOrderStream ||
        op->srcAccessOrder > cudaMemcpySrcAccessOrderAny ||
        !side_of(&op->src, op->extent, bytes, &box.srcArray, &box.srcPos, &box.srcPtr) ||
        !side_of(&op->dst, op->extent, bytes, &box.dstArray, &box.dstPos, &box.dstPtr))
        return cudaErrorInvalidValue;
    return submit_copy3d(stream, &box, false);
}

static cudaError_t boxes(size_t count, const struct cudaMemcpy3DBatchOp *ops, size_t *failed,
                         unsigned long long flags, cudaStream_t handle, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    *failed = SIZE_MAX;
    if (error == cudaSuccess &&
        (count == 0 || ops == NULL || flags != 0 || stream_is_legacy(stream)))
        error = cudaErrorInvalidValue;
    for (size_t i = 0; error == cudaSuccess && i < count; i++) {
        error = box_copy(stream, &ops[i]);
        if (error != cudaSuccess)
            *failed = i;
    }
    return error_record(error);
}

#ifdef GS_CUDART_12
#define BOXES(name, per_thread)                                                                    \
    CUDART_API cudaError_t name(size_t count, struct cudaMemcpy3DBatchOp *ops, size_t *failed,     \
                                unsigned long long flags, cudaStream_t stream)                     \
    {                                                                                              \
        size_t index;                                                                              \
                                                                                                   \
        return boxes(count, ops, failed != NULL ? failed : &index, flags, stream, per_thread);     \
    }
#else
#define BOXES(name, per_thread)                                                                    \
    CUDART_API cudaError_t name(size_t count, struct cudaMemcpy3DBatchOp *ops,                     \
                                unsigned long long flags, cudaStream_t stream)                     \
    {                                                                                              \
        size_t index;                                                                              \
                                                                                                   \
        return boxes(count, ops, &index, flags, stream, per_thread);                               \
    }
#endif
BOXES(cudaMemcpy3DBatchAsync, false)
BOXES(cudaMemcpy3DBatchAsync_ptsz, true)
