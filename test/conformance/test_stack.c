// The limit of the stack: which launches have it, and what happens beyond it.
#include "common/embed.h"
#include "conform.h"

enum { DEEP = 12 }; // levels of about 1 KiB each: too many for the default, few for 32 KiB

// The kernel deep(out, levels, unused).
EMBED_TEXT(deep_ptx, DEEP_PTX)

static CUfunction deep;
static CUdeviceptr out;

static void deep_open(void)
{
    CUmodule module;

    OK(cu.cuModuleLoadData(&module, deep_ptx));
    OK(cu.cuModuleGetFunction(&deep, module, "deep"));
    out = device_alloc(4);
}

static void stack_set(size_t bytes)
{
    size_t now;

    OK(cu.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, bytes));
    OK(cu.cuCtxGetLimit(&now, CU_LIMIT_STACK_SIZE));
    CHECK(now >= bytes, "the limit is %zu", now);
}

// The parameters, which a node's setting copies.
static struct {
    uint64_t a, b, c;
} arg;
static void *params[] = {&arg.a, &arg.b, &arg.c};

static CUresult dive(uint64_t levels)
{
    CUresult result;

    arg.a = out;
    arg.b = levels;
    result = cu.cuLaunchKernel(deep, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
    return result ? result : cu.cuCtxSynchronize();
}

static void check_sum(uint32_t levels)
{
    CHECK(device_word(out) == levels * (levels + 1) / 2, "%u", device_word(out));
}

static void raised_limit_is_seen(void)
{
    deep_open();
    stack_set(32 << 10);
    OK(dive(DEEP));
    check_sum(DEEP);
    stack_set(128 << 10);
    OK(dive(100));
    check_sum(100);
}

static void limit_has_a_most(void)
{
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1 << 20));
}

static void deeper_ends_the_context(void)
{
    CUdeviceptr p;

    deep_open();
    const CUresult result = dive(DEEP);
    CHECK(result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_HARDWARE_STACK_ERROR,
          "gave %s", result_name(result));
    EXPECT(result, cu.cuMemAlloc_v2(&p, 16));
}

// ---- Executable graphs

struct deep_graph {
    CUgraphNode node;
    CUgraphExec exec;
};

static CUDA_KERNEL_NODE_PARAMS node_params(uint64_t levels)
{
    arg.a = out;
    arg.b = levels;
    return (CUDA_KERNEL_NODE_PARAMS){.func = deep,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = params};
}

static struct deep_graph graph_open(void)
{
    const CUDA_KERNEL_NODE_PARAMS p = node_params(0);
    struct deep_graph g;
    CUgraph graph;

    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddKernelNode_v2(&g.node, graph, NULL, 0, &p));
    OK(cu.cuGraphInstantiateWithFlags(&g.exec, graph, 0));
    return g;
}

static CUresult graph_dive(const struct deep_graph *g, uint64_t levels)
{
    const CUDA_KERNEL_NODE_PARAMS p = node_params(levels);
    CUresult result;

    OK(cu.cuGraphExecKernelNodeSetParams_v2(g->exec, g->node, &p));
    result = cu.cuGraphLaunch(g->exec, NULL);
    return result ? result : cu.cuCtxSynchronize();
}

static void graphs_from_before_go_on(void)
{
    deep_open();
    const struct deep_graph before = graph_open();
    stack_set(32 << 10);
    const struct deep_graph after = graph_open();
    OK(graph_dive(&before, 0));
    OK(graph_dive(&after, DEEP));
    check_sum(DEEP);
    stack_set(64 << 10);
    OK(graph_dive(&before, 0));
    OK(graph_dive(&after, DEEP));
    check_sum(DEEP);
}

static void graphs_from_before_have_their_old_stack(void)
{
    deep_open();
    const struct deep_graph before = graph_open();
    OK(graph_dive(&before, 0)); // from its first launch on
    stack_set(32 << 10);
    CHECK(graph_dive(&before, DEEP) != CUDA_SUCCESS);
}

static void graphs_for_more_end_the_context(void)
{
    deep_open();
    stack_set(32 << 10);
    const struct deep_graph high = graph_open();
    OK(graph_dive(&high, 0));
    stack_set(1 << 10);
    EXPECT(CUDA_ERROR_LAUNCH_FAILED, graph_dive(&high, 0));
}

static const struct test tests[] = {
    {"kernels have the stack that the limit gives", raised_limit_is_seen, false},
    {"no limit is beyond what a thread can have", limit_has_a_most, false},
    {"a kernel that goes deeper ends its context", deeper_ends_the_context, false},
    {"graphs from before a raised limit go on", graphs_from_before_go_on, false},
    {"graphs from before a raised limit go no deeper", graphs_from_before_have_their_old_stack,
     false},
    {"a graph made for more than the limit ends its context", graphs_for_more_end_the_context,
     false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
