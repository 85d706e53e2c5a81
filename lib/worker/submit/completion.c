/*
 * completion.c - has the device signal that a stream's work is complete, to the tenant by the
 * stream's completion word, to the worker by the stream's fence (inflight.c). Runs on the session's
 * lane.
 *
 * The device's front end writes only the word; the completing kernel writes word and fence. The
 * completing kernel has the highest priority: with a lower one, it would find no SM beside another
 * stream's kernel that fills the device, and would signal the end of a short kernel only when that
 * long one ends. After a kernel of the latency class it has that kernel's priority: this class goes
 * before the other kernels anyway, and a graph with a single priority is faster.
 */
#include "worker/submit/completion.h"

#include "worker/partition/kernel_launch.h"
#include "worker/sched/fence.h"
#include "worker/sched/inflight.h"
#include "worker/sched/priority.h"
#include "worker/submit/account.h"

/* Returns the device address of the stream's completion word. */
static CUdeviceptr completion_address(const struct session *session, const struct stream *stream)
{
    return session->submit.complete +
           (CUdeviceptr)(stream - session->submit.streams) * sizeof(uint64_t);
}

CUresult completion_write(struct session *session, struct stream *stream, uint64_t position)
{
    CUresult result = DRV(cuStreamWriteValue64_v2, stream->cu, completion_address(session, stream),
                          position, CU_STREAM_WRITE_VALUE_DEFAULT);

    if (!result)
        account_issued(session, stream,
                       &(struct issued){.position = position, .completion = COMPLETION_WRITTEN});
    return result;
}

CUDA_BATCH_MEM_OP_NODE_PARAMS completion_node(const struct completion_params *signal,
                                              CUstreamBatchMemOpParams *operation)
{
    *operation =
        (CUstreamBatchMemOpParams){.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64,
                                                  .address = signal->word,
                                                  .value64 = signal->position,
                                                  .flags = CU_STREAM_WRITE_VALUE_DEFAULT}};
    return (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        .ctx = worker->context, .count = 1, .paramArray = operation};
}

/* The completing kernel. It stores its second parameter at the address in its first, and a fence at
 * the address in its third. The fence's low 24 bits are the fourth parameter, the bits above them
 * are the device's clock. release.sys: the host sees everything that earlier kernels of the stream
 * wrote before it sees the word. */
static const char completing_ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry done(.param .u64 word, .param .u64 position,\n"
    "                     .param .u64 fence, .param .u64 sequence)\n"
    "{\n"
    "    .reg .b64 %rd<7>;\n"
    "    ld.param.u64 %rd1, [word];\n"
    "    ld.param.u64 %rd2, [position];\n"
    "    ld.param.u64 %rd3, [fence];\n"
    "    ld.param.u64 %rd4, [sequence];\n"
    "    mov.u64 %rd5, %globaltimer;\n"
    "    st.release.sys.u64 [%rd1], %rd2;\n"
    "    shl.b64 %rd5, %rd5, 24;\n"
    "    or.b64 %rd6, %rd5, %rd4;\n"
    "    st.relaxed.sys.u64 [%rd3], %rd6;\n"
    "    ret;\n"
    "}\n";
static CUfunction completing_function;
/* A u32 in device memory for each stream, which counts the threads that have come to the end of a
 * kernel with an own store. */
static CUdeviceptr counters;

CUresult completion_init(void)
{
    CUmodule module;
    const size_t size = FENCES * sizeof(uint32_t);
    CUresult result = DRV(cuModuleLoadData, &module, completing_ptx);

    if (!result)
        result = DRV(cuMemAlloc_v2, &counters, size);
    if (!result)
        result = DRV(cuMemsetD8_v2, counters, 0, size);
    if (!result)
        result = DRV(cuModuleGetFunction, &completing_function, module, "done");
    /* The function is loaded now, because otherwise its first launch might wait for the device
     * (main.c: with cuBLAS, modules are loaded lazily). */
    return result ? result : DRV(cuFuncLoad, completing_function);
}

struct completion_params completion_at(const struct session *session, const struct stream *stream,
                                       uint64_t position)
{
    return (struct completion_params){.word = completion_address(session, stream),
                                      .position = position,
                                      .fence = inflight_fence_address(stream->inflight),
                                      .sequence = inflight_fence_next(stream->inflight),
                                      .counter = counters + inflight_number(stream->inflight) *
                                                                sizeof(uint32_t)};
}

CUDA_KERNEL_NODE_PARAMS completing_params(const struct completion_params *signal,
                                          void *pointers[COMPLETING_PARAMS])
{
    pointers[0] = (void *)(uintptr_t)&signal->word;
    pointers[1] = (void *)(uintptr_t)&signal->position;
    pointers[2] = (void *)(uintptr_t)&signal->fence;
    pointers[3] = (void *)(uintptr_t)&signal->sequence;
    return (CUDA_KERNEL_NODE_PARAMS){.func = completing_function,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = pointers};
}

int completing_priority(int priority)
{
    return priority <= stream_priority(GS_CLASS_LATENCY, 0) ? priority
                                                            : worker->info.priority_highest;
}

CUresult completion_fence(struct session *session, struct stream *stream, uint64_t position)
{
    const struct completion_params signal = completion_at(session, stream, position);
    void *pointers[COMPLETING_PARAMS];
    const CUDA_KERNEL_NODE_PARAMS params = completing_params(&signal, pointers);
    CUresult result =
        launch_kernel(&params, stream->cu, completing_priority(stream->priority), false, NULL);

    if (!result)
        account_issued(session, stream,
                       &(struct issued){.position = position, .completion = COMPLETION_FENCE});
    return result;
}
