// Driver calls about streams, events, value writes and waits, and host functions.
#include <stdlib.h>
#include <string.h>

#include "softcuda/api/api.h"
#include "softcuda/api/mem_op.h"
#include "softcuda/api/more.h"
#include "softcuda/context/context.h"
#include "softcuda/engine/engine.h"
#include "softcuda/memory/memory.h"
#include "softcuda/stream/order.h"
#include "softcuda/stream/stream.h"

// The calling thread's context and the stream that HANDLE names in it.
static CUresult stream_find(CUstream handle, CUstream *stream)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : stream_of(context, handle, stream);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    if (!stream || flags & ~CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    return stream_new(context, flags, priority, stream);
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream handle)
{
    CUcontext context;
    CUresult result = context_current_any(&context);

    if (result)
        return result;
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD ||
        handle->magic != MAGIC_STREAM)
        return CUDA_ERROR_INVALID_HANDLE;
    result = atomic_load(&handle->context->root->error);
    stream_free(handle);
    return result;
}

CUresult cuStreamSynchronize(CUstream handle)
{
    CUstream stream;
    CUresult result = stream_find(handle, &stream);

    return result ? result : engine_wait_stream(stream);
}

CUresult cuStreamQuery(CUstream handle)
{
    CUstream stream;
    CUresult result = stream_find(handle, &stream);

    if (result)
        return result;
    return stream_is_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *context)
{
    CUstream stream;
    CUresult result = stream_find(handle, &stream);

    if (result)
        return result;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = stream->context;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream handle, int *priority)
{
    CUstream stream;
    CUresult result = stream_find(handle, &stream);

    if (result)
        return result;
    if (!priority)
        return CUDA_ERROR_INVALID_VALUE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int *flags)
{
    CUstream stream;
    CUresult result = stream_find(handle, &stream);

    if (result)
        return result;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx *green)
{
    CUstream stream;
    CUresult result = stream_find(handle, &stream);

    if (result)
        return result;
    if (!green)
        return CUDA_ERROR_INVALID_VALUE;
    *green = stream->context->green;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id)
{
    CUstream stream;
    CUresult result = stream_find(handle, &stream);

    if (result)
        return result;
    if (!id)
        return CUDA_ERROR_INVALID_VALUE;
    *id = (uintptr_t)stream;
    return CUDA_SUCCESS;
}

// ---- Value writes and waits

static CUresult mem_op_check(const CUstreamBatchMemOpParams *p)
{
    uint64_t size = p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64 ||
                            p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64
                        ? 8
                        : 4;

    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        if (p->waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (p->waitValue.flags > CU_STREAM_WAIT_VALUE_NOR)
            return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        if (p->writeValue.flags & ~CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
            return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_STREAM_MEM_OP_BARRIER:
        return p->memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    // Waits and writes have their address in the same field.
    if (p->waitValue.address % size)
        return CUDA_ERROR_INVALID_VALUE;
    return memory_is_mapped(p->waitValue.address, size) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult mem_ops_copy(struct op_mem *to, const CUstreamBatchMemOpParams *params, unsigned int count,
                      unsigned int flags)
{
    CUresult result = CUDA_SUCCESS;

    if (!params || count == 0 || count > MEM_OPS_MAX || flags)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count && !result; i++)
        result = mem_op_check(&params[i]);
    if (result)
        return result;
    *to = (struct op_mem){.count = count, .params = malloc(count * sizeof(*params))};
    if (!to->params)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(to->params, params, count * sizeof(*params));
    return CUDA_SUCCESS;
}

static CUresult mem_ops_submit(CUstream handle, const CUstreamBatchMemOpParams *params,
                               unsigned int count, unsigned int flags)
{
    struct op_mem mem;
    CUstream stream;
    CUresult result = stream_find(handle, &stream);
    struct op *op;

    if (!result)
        result = mem_ops_copy(&mem, params, count, flags);
    if (result)
        return result;
    op = op_new(OP_MEM);
    if (!op) {
        free(mem.params);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    op->mem = mem;
    return stream_submit(stream, op, NULL);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                               CUstreamBatchMemOpParams *params, unsigned int flags)
{
    return mem_ops_submit(stream, params, count, flags);
}

// A write and a wait have the same fields, and a 32-bit value is the lower half of a 64-bit one.
static CUresult mem_op_submit(CUstream stream, CUstreamBatchMemOpType operation,
                              CUdeviceptr address, uint64_t value, unsigned int flags)
{
    const CUstreamBatchMemOpParams p = {
        .writeValue = {
            .operation = operation, .address = address, .value64 = value, .flags = flags}};

    return mem_ops_submit(stream, &p, 1, 0);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                 unsigned int flags)
{
    return mem_op_submit(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                 unsigned int flags)
{
    return mem_op_submit(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                unsigned int flags)
{
    return mem_op_submit(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                unsigned int flags)
{
    return mem_op_submit(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data)
{
    CUstream stream;
    CUresult result = stream_find(handle, &stream);
    struct op *op;

    if (result)
        return result;
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    result = engine_callbacks_start();
    if (result)
        return result;
    op = op_new(OP_HOST);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->host.function = function;
    op->host.data = data;
    return stream_submit(stream, op, NULL);
}

// ---- Events

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    if (!event || flags & ~(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING))
        return flags & CU_EVENT_INTERPROCESS ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    return event_new(flags, event);
}

static CUresult event_find(CUevent event)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : event_check(event);
}

CUresult cuEventDestroy_v2(CUevent event)
{
    CUcontext context;
    CUresult result = context_current_any(&context);

    if (!result)
        result = event_check(event);
    if (result)
        return result;
    event_free(event);
    return atomic_load(&context->root->error);
}

CUresult cuEventRecord(CUevent event, CUstream handle)
{
    CUstream stream;
    CUresult result = event_find(event);

    if (!result)
        result = stream_find(handle, &stream);
    return result ? result : event_record(event, stream);
}

CUresult cuEventSynchronize(CUevent event)
{
    CUresult result = event_find(event);

    return result ? result : engine_wait_event(event);
}

CUresult cuEventQuery(CUevent event)
{
    CUresult result = event_find(event);

    return result ? result : event_query(event);
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    CUresult result = event_find(start);

    if (!result)
        result = event_check(end);
    if (result)
        return result;
    return ms ? event_elapsed(ms, start, end) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
    return cuEventElapsedTime(ms, start, end);
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags)
{
    CUstream stream;
    CUresult result = event_find(event);

    if (!result)
        result = stream_find(handle, &stream);
    if (result)
        return result;
    // The other flag only matters while a stream is captured.
    return flags > CU_EVENT_WAIT_EXTERNAL ? CUDA_ERROR_INVALID_VALUE
                                          : event_wait_stream(event, stream);
}
