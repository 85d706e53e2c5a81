/*
 * What the questions about dispatch lanes share: a lane, which is a green context of all SMs, and a
 * graph of one kernel whose end the host learns from a word that it polls.
 *
 * The own store: the kernel itself writes the word, at its end. A warp adds the lanes that have
 * come so far to a counter in device memory; whoever makes the count complete is the last one.
 */
#ifndef DRIVER_FACTS_LANE_H
#define DRIVER_FACTS_LANE_H

#include "driver_facts.h"

#define GROUPS_MAX 128
#define LANES_MAX  8

/* own: a is the word's address or 0, b what it becomes, c the counter's address, d the lanes of the
 * grid. signal: what a completing kernel is; it takes a and b in the same way. */
KIT const char ptx_own[] =
    PTX_HEAD ".visible .entry nop" PTX_PARAMS "{ ret; }\n"
             ".visible .entry own" PTX_PARAMS "{\n"
             ".reg .u64 %word, %value, %counter, %time; .reg .pred %p;\n"
             ".reg .u32 %mask, %first, %lane, %n, %before, %all;\n"
             "ld.param.u64 %word, [a]; setp.eq.u64 %p, %word, 0; @%p bra done;\n"
             "activemask.b32 %mask; bar.warp.sync %mask;\n"
             "brev.b32 %first, %mask; clz.b32 %first, %first; mov.u32 %lane, %laneid;\n"
             "setp.ne.u32 %p, %lane, %first; @%p bra done;\n"
             "popc.b32 %n, %mask; ld.param.u64 %counter, [c]; ld.param.u32 %all, [d];\n"
             "fence.acq_rel.gpu;\n"
             "atom.global.add.u32 %before, [%counter], %n; add.u32 %before, %before, %n;\n"
             "setp.ne.u32 %p, %before, %all; @%p bra done;\n"
             "ld.param.u64 %value, [b]; mov.u32 %n, 0; st.global.u32 [%counter], %n;\n"
             "mov.u64 %time, %globaltimer;\n"
             "st.release.sys.global.u64 [%word], %value;\n"
             "st.relaxed.sys.global.u64 [%word+8], %time;\n"
             "done: ret; }\n"
             ".visible .entry signal" PTX_PARAMS "{\n"
             ".reg .u64 %word, %value, %time;\n"
             "ld.param.u64 %word, [a]; ld.param.u64 %value, [b]; mov.u64 %time, %globaltimer;\n"
             "st.release.sys.global.u64 [%word], %value;\n"
             "st.relaxed.sys.global.u64 [%word+8], %time;\n"
             "ret; }\n";

KIT CUfunction own_nop, own, own_signal;

/* As context_open, with these kernels loaded at once. */
KIT CUresult own_open(void)
{
    CUmodule module;
    void *cubin;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    CK(context_open(CU_CTX_SCHED_SPIN));
    CK(cubin_new(ptx_own, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&own_nop, module, "nop"));
    CK(cuModuleGetFunction(&own, module, "own"));
    return cuModuleGetFunction(&own_signal, module, "signal");
}

/* ------------------------------------------------------------------ lanes */

struct lane {
    CUgreenCtx green;
    CUcontext context;
};

/* Described without a split, which takes the device's SMs as they are; `split`: as all groups of
 * the finest one. */
KIT CUresult lane_describe(CUdevResourceDesc *desc, int split)
{
    static CUdevResource all, groups[GROUPS_MAX];
    unsigned n = GROUPS_MAX;

    CK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
    if (!split)
        return cuDevResourceGenerateDesc(desc, &all, 1);
    CK(cuDevSmResourceSplitByCount(groups, &n, &all, NULL,
                                   CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2));
    return cuDevResourceGenerateDesc(desc, groups, n);
}

/* Of all SMs, by whichever description the driver takes. The calling thread's context stays. */
KIT CUresult lane_new(struct lane *lane)
{
    CUdevResourceDesc desc;

    if (lane_describe(&desc, 0) ||
        cuGreenCtxCreate(&lane->green, desc, device, CU_GREEN_CTX_DEFAULT_STREAM)) {
        CK(lane_describe(&desc, 1));
        CK(cuGreenCtxCreate(&lane->green, desc, device, CU_GREEN_CTX_DEFAULT_STREAM));
    }
    return cuCtxFromGreenCtx(&lane->context, lane->green);
}

/* ------------------------------------------------- a kernel whose end is signalled */

enum signal_by {
    SIGNAL_NONE,  /* an empty kernel; no signal */
    SIGNAL_OFF,   /* the kernel with the own store, which is off */
    SIGNAL_OWN,   /* the kernel's own store */
    SIGNAL_AFTER, /* a completing kernel of one thread behind an empty kernel */
    SIGNAL_WRITE, /* a memory-write node behind an empty kernel */
    SIGNAL_SYNC,  /* no graph: cuLaunchKernel of an empty kernel and cuStreamSynchronize */
};

struct signaller {
    enum signal_by how;
    unsigned blocks, threads;
    int word; /* its index; the fence is the next one */
    CUstream stream;
    CUcontext context;
    CUdeviceptr counter;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node, last;
    CUstreamBatchMemOpParams op;
    struct {
        uint64_t a, b, c;
        uint32_t d;
    } arg;
    void *args[4];
};

KIT CUDA_KERNEL_NODE_PARAMS signaller_params(struct signaller *t, int last)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = last ? own_signal
                                             : t->how == SIGNAL_OWN || t->how == SIGNAL_OFF
                                                 ? own
                                                 : own_nop,
                                     .gridDimX = last ? 1 : t->blocks,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = last ? 1 : t->threads,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = t->args};
}

KIT CUDA_BATCH_MEM_OP_NODE_PARAMS signaller_write(struct signaller *t)
{
    return (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = t->context, .count = 1, .paramArray = &t->op};
}

/* In the calling thread's context, in which all launches are made too. */
KIT CUresult signaller_new(struct signaller *t, enum signal_by how, unsigned blocks,
                           unsigned threads, int word, CUstream stream)
{
    CUDA_KERNEL_NODE_PARAMS kernel, last;
    CUDA_BATCH_MEM_OP_NODE_PARAMS write;

    *t = (struct signaller){
        .how = how, .blocks = blocks, .threads = threads, .word = word, .stream = stream};
    t->args[0] = &t->arg.a;
    t->args[1] = &t->arg.b;
    t->args[2] = &t->arg.c;
    t->args[3] = &t->arg.d;
    CK(cuCtxGetCurrent(&t->context));
    CK(cuMemAlloc(&t->counter, 64));
    CK(cuMemsetD8Async(t->counter, 0, 64, stream));
    atomic_store(&words[word], 0);
    t->arg.a = how == SIGNAL_OFF || how == SIGNAL_NONE ? 0 : words_dev + 8 * word;
    t->arg.c = t->counter;
    t->arg.d = blocks * threads;
    t->op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    t->op.writeValue.address = words_dev + 8 * word;
    t->op.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
    kernel = signaller_params(t, 0);
    last = signaller_params(t, 1);
    write = signaller_write(t);
    CK(cuGraphCreate(&t->graph, 0));
    CK(cuGraphAddKernelNode(&t->node, t->graph, NULL, 0, &kernel));
    if (how == SIGNAL_AFTER)
        CK(cuGraphAddKernelNode(&t->last, t->graph, &t->node, 1, &last));
    if (how == SIGNAL_WRITE && cuGraphAddBatchMemOpNode(&t->last, t->graph, &t->node, 1, &write)) {
        t->context = write.ctx = context; /* where a green context has no such nodes */
        CK(cuGraphAddBatchMemOpNode(&t->last, t->graph, &t->node, 1, &write));
    }
    return cuGraphInstantiate(&t->exec, t->graph, 0);
}

KIT CUresult signaller_free(struct signaller *t)
{
    CK(cuStreamSynchronize(t->stream));
    CK(cuGraphExecDestroy(t->exec));
    CK(cuGraphDestroy(t->graph));
    return cuMemFree(t->counter);
}

/* Every node's parameters are set, as a server does for launches that it knows nothing of. */
KIT CUresult signaller_launch(struct signaller *t, uint64_t value)
{
    CUDA_KERNEL_NODE_PARAMS kernel = signaller_params(t, 0);

    t->arg.b = value;
    if (t->how == SIGNAL_SYNC)
        return cuLaunchKernel(own_nop, t->blocks, 1, 1, t->threads, 1, 1, 0, t->stream, t->args,
                              NULL);
    CK(cuGraphExecKernelNodeSetParams(t->exec, t->node, &kernel));
    if (t->how == SIGNAL_AFTER) {
        CUDA_KERNEL_NODE_PARAMS last = signaller_params(t, 1);

        CK(cuGraphExecKernelNodeSetParams(t->exec, t->last, &last));
    }
    if (t->how == SIGNAL_WRITE) {
        CUDA_BATCH_MEM_OP_NODE_PARAMS write;

        t->op.writeValue.value64 = value;
        write = signaller_write(t);
        CK(cuGraphExecBatchMemOpNodeSetParams(t->exec, t->last, &write));
    }
    return cuGraphLaunch(t->exec, t->stream);
}

KIT CUresult signaller_wait(struct signaller *t, uint64_t value)
{
    if (t->how == SIGNAL_SYNC)
        return cuStreamSynchronize(t->stream);
    word_wait(t->word, value);
    return CUDA_SUCCESS;
}

#endif
