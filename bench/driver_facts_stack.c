/*
 * The limit of the stack: what cuCtxSetLimit(CU_LIMIT_STACK_SIZE) takes of the device's memory and
 * when, which kernels see it (of green contexts and of graphs that were there before, too), and who
 * is held up. A kernel that runs over its stack ends the context, so such questions have a process
 * each.
 */
#include "driver_facts_lane.h"
#include "driver_facts_other.h"

/* Each level of the recursion has a frame of about 1 KiB. deep: d levels; the sum of the levels'
 * numbers goes to a. */
static const char ptx_deep[] =
    PTX_HEAD ".func (.param .b32 out) dive (.param .b32 n)\n{\n"
             ".local .align 8 .b8 frame[1000]; .reg .b32 %n, %m, %r, %v; .reg .b64 %t<3>;\n"
             ".reg .pred %p;\n"
             "ld.param.u32 %n, [n]; mov.u64 %t0, frame; and.b32 %v, %n, 127;\n"
             "mul.wide.u32 %t1, %v, 4; add.u64 %t2, %t0, %t1; st.local.u32 [%t2], %n;\n"
             "mov.u32 %r, 0; setp.eq.u32 %p, %n, 0; @%p bra bottom; sub.u32 %m, %n, 1;\n"
             "{ .param .b32 p0; st.param.b32 [p0], %m; .param .b32 q;\n"
             "call.uni (q), dive, (p0); ld.param.b32 %r, [q]; }\n"
             "bottom: ld.local.u32 %v, [%t2]; add.u32 %r, %r, %v; st.param.b32 [out], %r; ret; }\n"
             ".visible .entry deep" PTX_PARAMS "{\n"
             ".reg .u64 %t; .reg .b32 %n, %r; ld.param.u64 %t, [a]; ld.param.u32 %n, [d];\n"
             "{ .param .b32 p0; st.param.b32 [p0], %n; .param .b32 q;\n"
             "call.uni (q), dive, (p0); ld.param.b32 %r, [q]; }\n"
             "st.global.u32 [%t], %r; ret; }\n";

static CUfunction deep;
static double used_before; /* MiB */

static CUresult deep_open(void)
{
    CUmodule module;
    void *cubin;
    int bytes = 0;

    CK(own_open());
    CK(cubin_new(ptx_deep, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&deep, module, "deep"));
    CK(cuMemAlloc(&out, 4096));
    CK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, deep));
    size_t limit = 0;
    CK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    printf("  the kernel's own local memory %d bytes; the limit at first %zu\n", bytes, limit);
    used_before = (double)memory_used() / MIB;
    return CUDA_SUCCESS;
}

/* Of the device, since the context was made. */
static double used_mib(void)
{
    return (double)memory_used() / MIB - used_before;
}

static void limit_set(size_t bytes)
{
    const double start = now_us();
    const CUresult result = cuCtxSetLimit(CU_LIMIT_STACK_SIZE, bytes);
    const double took = now_us() - start;
    const char *name = "?";
    size_t now = 0;

    cuGetErrorName(result, &name);
    cuCtxGetLimit(&now, CU_LIMIT_STACK_SIZE);
    printf("  limit %7zu: %s, is %zu, took %.0f us, %+.0f MiB\n", bytes, name, now, took,
           used_mib());
}

static CUresult dived(const char *how, uint32_t depth, CUresult launched, CUstream stream,
                      double start)
{
    const double call = now_us() - start;
    const CUresult result = launched ? launched : cuStreamSynchronize(stream);
    const char *name = "?";
    uint32_t sum = 0;

    cuGetErrorName(result, &name);
    if (!result)
        CK(cuMemcpyDtoH(&sum, out, sizeof(sum)));
    printf("  %-40s depth %4u: %s, %s, the call took %.0f us, %+.0f MiB\n", how, depth, name,
           sum == depth * (depth + 1) / 2 ? "right" : "wrong", call, used_mib());
    return result;
}

static CUresult dive(const char *how, uint32_t depth, CUstream stream)
{
    CK(cuMemsetD32(out, 0, 1));
    arg.a = out;
    arg.d = depth;
    const double start = now_us();
    return dived(how, depth, kernel_launch(deep, stream), stream, start);
}

/* 41: sizes. */
CUresult question_stack(void)
{
    static const size_t kib[] = {1, 2, 4, 16, 64, 128, 256, 384, 511, 512, 1024};
    CUstream stream;

    CK(deep_open());
    CK(stream_new(&stream));
    CK(dive("before", 0, stream));
    for (size_t i = 0; i < sizeof(kib) / sizeof(*kib); i++) {
        limit_set(kib[i] * KIB);
        CK(dive("  a launch", kib[i] / 4 * 3 > 500 ? 500 : kib[i] / 4 * 3, stream));
    }
    limit_set(KIB);
    CK(dive("  a launch", 0, stream));
    limit_set(16 * KIB);
    CK(dive("  a launch", 12, stream));
    return CUDA_SUCCESS;
}

static CUresult lane_stream(struct lane *lane, CUstream *stream)
{
    CK(lane_new(lane));
    CK(cuCtxSetCurrent(lane->context));
    CK(stream_new(stream));
    return cuCtxSetCurrent(context);
}

/* 41g: a green context from before, and one from afterwards. */
CUresult question_stack_green(void)
{
    struct lane before = {0}, after = {0};
    CUstream stream;

    CK(deep_open());
    CK(lane_stream(&before, &stream));
    CK(cuCtxSetCurrent(before.context));
    size_t limit = 0;
    const CUresult got = cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE);
    printf("  the limit with the green context current: %d, %zu\n", got, limit);
    CK(cuCtxSetCurrent(context));
    CK(dive("green context, before", 0, stream));
    limit_set(16 * KIB);
    CK(dive("green context from before", 12, stream));
    CK(cuCtxSetCurrent(before.context));
    CK(dive("... current", 12, stream));
    CK(cuCtxSetCurrent(context));
    CK(lane_stream(&after, &stream));
    CK(dive("green context from afterwards", 12, stream));
    CK(cuCtxSetCurrent(before.context));
    printf("  set with the green context current:\n");
    limit_set(32 * KIB);
    CK(dive("the same", 24, stream));
    return CUDA_SUCCESS;
}

struct deep_graph {
    CUgraphExec exec;
    CUgraph graph;
    CUgraphNode node;
};

static CUresult graph_new(struct deep_graph *g, CUcontext where)
{
    CUDA_KERNEL_NODE_PARAMS k = node_params(deep);

    arg.a = out;
    arg.d = 0;
    CK(cuCtxSetCurrent(where));
    CK(cuGraphCreate(&g->graph, 0));
    CK(cuGraphAddKernelNode(&g->node, g->graph, NULL, 0, &k));
    CK(cuGraphInstantiate(&g->exec, g->graph, 0));
    return cuCtxSetCurrent(context);
}

static CUresult graph_dive(const char *how, uint32_t depth, const struct deep_graph *g,
                           CUcontext where, CUstream stream)
{
    CUDA_KERNEL_NODE_PARAMS k = node_params(deep);

    CK(cuMemsetD32(out, 0, 1));
    arg.a = out;
    arg.d = depth;
    CK(cuCtxSetCurrent(where));
    CK(cuGraphExecKernelNodeSetParams(g->exec, g->node, &k));
    CK(cuCtxSetCurrent(context));
    const double start = now_us();
    return dived(how, depth, cuGraphLaunch(g->exec, stream), stream, start);
}

/* A graph from before the limit was raised goes on within its old stack; one made afterwards has
 * the new one. At last the old one is to go deeper, which may end the context. */
static CUresult graphs_dive(CUcontext where, CUstream stream)
{
    struct deep_graph before, after, low;

    CK(graph_new(&before, where));
    CK(graph_dive("graph, before", 0, &before, where, stream));
    limit_set(16 * KIB);
    CK(graph_dive("graph from before", 0, &before, where, stream));
    CK(graph_new(&after, where));
    CK(graph_dive("graph from afterwards", 12, &after, where, stream));
    CK(graph_dive("graph from before, again", 0, &before, where, stream));
    limit_set(64 * KIB);
    CK(graph_dive("raised: graph from before", 0, &before, where, stream));
    CK(graph_dive("... the other", 12, &after, where, stream));
    limit_set(1 * KIB);
    CK(graph_dive("lowered: graph from before", 0, &before, where, stream));
    CK(graph_dive("... the other", 0, &after, where, stream));
    CK(graph_new(&low, where));
    limit_set(16 * KIB);
    CK(graph_dive("raised again: the other", 12, &after, where, stream));
    CK(graph_dive("... the one made for 1 KiB", 0, &low, where, stream));
    return graph_dive("graph from before, deeper", 12, &before, where, stream);
}

/* 41x, 41y: executable graphs that were there before, of the primary and of a green context. */
CUresult question_stack_graph(void)
{
    CUstream stream;

    CK(deep_open());
    CK(stream_new(&stream));
    return graphs_dive(context, stream);
}

CUresult question_stack_graph_green(void)
{
    struct lane lane = {0};
    CUstream stream;

    CK(deep_open());
    CK(lane_stream(&lane, &stream));
    return graphs_dive(lane.context, stream);
}

/* 41l: the same where the limit is lowered while a graph made for more is kept, which then goes as
 * deep as before: whether the graph has memory of its own. */
CUresult question_stack_lowered(void)
{
    struct deep_graph high;
    CUstream stream;

    CK(deep_open());
    CK(stream_new(&stream));
    limit_set(16 * KIB);
    CK(graph_new(&high, context));
    CK(graph_dive("graph made for 16 KiB", 12, &high, context, stream));
    limit_set(1 * KIB);
    CK(graph_dive("lowered", 12, &high, context, stream));
    return graph_dive("... again", 12, &high, context, stream);
}

/* 300 ms, or until the word is 1. */
static CUresult spin_start(CUstream stream)
{
    words[0] = 0;
    arg.a = 300 * 1000 * 1000;
    arg.b = words_dev + 64;
    arg.c = words_dev;
    arg.d = 1;
    words[8] = 0;
    CK(kernel_launch(spin, stream));
    word_wait(8, 1);
    return CUDA_SUCCESS;
}

static void longest_print(const char *what)
{
    printf("  %-40s others' longest launch and wait %.3f ms\n", what,
           (double)other.longest_ns / 1e6);
    other.longest_ns = 0;
}

/* 41w: who waits, beside a kernel of 300 ms. */
CUresult question_stack_waits(void)
{
    CUstream stream, spinning;

    CK(deep_open());
    CK(stream_new(&stream));
    CK(stream_new(&spinning));
    other_start();
    usleep(200000);
    longest_print("nothing");
    CK(spin_start(spinning));
    limit_set(2 * KIB);
    longest_print("raised beside a kernel of 300 ms");
    CK(cuStreamSynchronize(spinning));
    CK(dive("a launch", 1, stream));
    longest_print("launched with nothing else");
    limit_set(16 * KIB);
    longest_print("raised with nothing else");
    CK(spin_start(spinning));
    CK(dive("a launch beside it", 12, stream));
    longest_print("launched beside a kernel of 300 ms");
    CK(cuStreamSynchronize(spinning));
    limit_set(64 * KIB);
    longest_print("raised with nothing else");
    CK(dive("a launch", 48, stream));
    longest_print("launched with nothing else");
    CK(spin_start(spinning));
    CK(dive("a launch beside it", 48, stream));
    longest_print("launched again beside a kernel of 300 ms");
    limit_set(1 * KIB);
    longest_print("lowered beside it");
    CK(cuStreamSynchronize(spinning));
    other_end();
    return CUDA_SUCCESS;
}

/* 41o: a stack that runs over: what others in the context see, and after how long. */
CUresult question_stack_over(void)
{
    CUstream stream;

    CK(deep_open());
    CK(stream_new(&stream));
    for (uint32_t depth = 1; depth < 64; depth++)
        CK(dive("limit 1 KiB", depth, stream));
    return CUDA_SUCCESS;
}

/* 41m: raised where the device has less memory than that takes, and then where it has enough. */
CUresult question_stack_full(void)
{
    size_t there, total;
    CUdeviceptr rest;
    CUstream stream;

    CK(deep_open());
    CK(stream_new(&stream));
    CK(dive("before", 0, stream));
    CK(cuMemGetInfo(&there, &total));
    CK(cuMemAlloc(&rest, there - 512 * MIB));
    limit_set(16 * KIB);
    CK(dive("a launch, too little memory", 0, stream));
    limit_set(2 * KIB);
    CK(dive("a launch", 1, stream));
    CK(cuMemFree(rest));
    limit_set(16 * KIB);
    CK(dive("a launch, memory again", 12, stream));
    return CUDA_SUCCESS;
}
