// Graphs: order inside, parameters set anew, value writes, and launches among streams.
#include "conform.h"

static CUDA_KERNEL_NODE_PARAMS kernel_params(const char *name, uint32_t grid, uint32_t block,
                                             void **params)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = kernel(name),
                                     .gridDimX = grid,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = block,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = params};
}

static CUgraphNode add_kernel(CUgraph g, const CUgraphNode *after, size_t count, const char *name,
                              uint64_t a, uint64_t b, uint64_t c)
{
    void *params[] = {&a, &b, &c};
    CUDA_KERNEL_NODE_PARAMS p = kernel_params(name, 1, 1, params);
    CUgraphNode node;

    OK(cu.cuGraphAddKernelNode_v2(&node, g, after, count, &p));
    return node;
}

static void set_kernel(CUgraphExec e, CUgraphNode node, const char *name, uint64_t a, uint64_t b,
                       uint64_t c)
{
    void *params[] = {&a, &b, &c};
    CUDA_KERNEL_NODE_PARAMS p = kernel_params(name, 1, 1, params);

    OK(cu.cuGraphExecKernelNodeSetParams_v2(e, node, &p));
}

static CUDA_BATCH_MEM_OP_NODE_PARAMS write_params(CUstreamBatchMemOpParams *op, CUdeviceptr address,
                                                  uint64_t value)
{
    *op = (CUstreamBatchMemOpParams){.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64,
                                                    .address = address,
                                                    .value64 = value}};
    return (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = primary, .count = 1, .paramArray = op};
}

static CUgraphExec instantiate(CUgraph g)
{
    CUgraphExec e;

    OK(cu.cuGraphInstantiateWithFlags(&e, g, 0));
    return e;
}

static CUgraph graph_open(void)
{
    CUgraph g;

    OK(cu.cuGraphCreate(&g, 0));
    return g;
}

static void chain_runs_in_order(void)
{
    CUgraph g = graph_open();
    CUdeviceptr p = device_alloc(4);
    CUgraphNode last = NULL;
    CUstream s = stream_open();
    uint32_t expected = 0;
    CUgraphExec e;

    for (uint32_t i = 1; i <= 20; i++) {
        last = add_kernel(g, &last, i > 1, "step", p, 3, i);
        expected = expected * 3 + i;
    }
    e = instantiate(g);
    OK(cu.cuGraphDestroy(g));
    OK(cu.cuGraphLaunch(e, s));
    OK(cu.cuStreamSynchronize(s));
    CHECK(device_word(p) == expected);
    OK(cu.cuGraphExecDestroy(e));
}

static void diamond_joins(void)
{
    CUgraph g = graph_open();
    CUdeviceptr p = device_alloc(4);
    CUgraphNode top = add_kernel(g, NULL, 0, "store", p, 10, 0), side[8], end;
    CUgraphExec e;

    for (size_t i = 0; i < ARRAY_SIZE(side); i++)
        side[i] = add_kernel(g, &top, 1, "meet", p, 0, 0);
    OK(cu.cuGraphAddEmptyNode(&end, g, side, ARRAY_SIZE(side)));
    add_kernel(g, &end, 1, "step", p, 2, 1);
    e = instantiate(g);
    for (int i = 0; i < 3; i++)
        OK(cu.cuGraphLaunch(e, NULL));
    OK(cu.cuCtxSynchronize());
    CHECK(device_word(p) == 37);
}

static void all_kinds_of_nodes(void)
{
    CUgraph g = graph_open();
    CUdeviceptr p = device_alloc(64), q = device_alloc(64);
    _Atomic uint64_t *words = host_words();
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = p, .value = 6, .elementSize = 4, .width = 16, .height = 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = q,
                          .WidthInBytes = 64,
                          .Height = 1,
                          .Depth = 1};
    CUstreamBatchMemOpParams op;
    CUDA_BATCH_MEM_OP_NODE_PARAMS write = write_params(&op, (CUdeviceptr)(uintptr_t)words, 77);
    CUgraphNode fill, step, moved, done;
    CUgraphExec e;

    OK(cu.cuGraphAddMemsetNode(&fill, g, NULL, 0, &set, primary));
    step = add_kernel(g, &fill, 1, "step", p, 10, 1);
    OK(cu.cuGraphAddMemcpyNode(&moved, g, &step, 1, &copy, primary));
    OK(cu.cuGraphAddBatchMemOpNode(&done, g, &moved, 1, &write));
    e = instantiate(g);
    OK(cu.cuGraphLaunch(e, stream_open()));
    host_wait(words, 77);
    CHECK(device_word(q) == 61 && device_word(q + 60) == 6);
}

// How the worker launches: a kernel and its completion word, both set anew each time, function
// included.
static void kernel_and_completion_set_anew(void)
{
    CUgraph g = graph_open();
    CUdeviceptr p = device_alloc(8);
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words;
    CUstreamBatchMemOpParams op;
    CUDA_BATCH_MEM_OP_NODE_PARAMS write = write_params(&op, base, 0);
    CUstream s = stream_open();
    CUgraphNode work, done;
    CUgraphExec e;
    uint32_t expected = 0;

    work = add_kernel(g, NULL, 0, "store", p, 0, 0);
    OK(cu.cuGraphAddBatchMemOpNode(&done, g, &work, 1, &write));
    e = instantiate(g);
    for (uint64_t i = 1; i <= 500; i++) {
        if (i % 3 == 0) {
            set_kernel(e, work, "store", p, i, 0);
            expected = i;
        } else {
            set_kernel(e, work, "step", p, 3, i);
            expected = expected * 3 + i;
        }
        write = write_params(&op, base, i);
        OK(cu.cuGraphExecBatchMemOpNodeSetParams(e, done, &write));
        OK(cu.cuGraphLaunch(e, s));
        if (i % 7 == 0)
            host_wait(words, i);
    }
    host_wait(words, 500);
    CHECK(device_word(p) == expected);
}

static void set_params_spare_earlier_launches(void)
{
    CUgraph g = graph_open();
    CUdeviceptr p = device_alloc(4);
    _Atomic uint64_t *words = host_words();
    CUstream s = stream_open();
    CUgraphNode node = add_kernel(g, NULL, 0, "step", p, 10, 1);
    CUgraphExec e = instantiate(g);

    launch(s, "await", (CUdeviceptr)(uintptr_t)words, 1, 0);
    for (uint64_t i = 1; i <= 4; i++) {
        set_kernel(e, node, "step", p, 10, i);
        OK(cu.cuGraphLaunch(e, s));
    }
    OK(cu.cuGraphExecDestroy(e));
    words[0] = 1;
    OK(cu.cuStreamSynchronize(s));
    CHECK(device_word(p) == 1234);
}

static void one_executable_runs_once_at_a_time(void)
{
    CUgraph g = graph_open();
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words;
    CUstream a = stream_open(), b = stream_open();
    CUgraphNode node = add_kernel(g, NULL, 0, "await", base, 1, 0);
    CUgraphExec e = instantiate(g);

    OK(cu.cuGraphLaunch(e, a));
    set_kernel(e, node, "store64", base + 8, 1, 0);
    OK(cu.cuGraphLaunch(e, b));
    launch(stream_open(), "where", device_alloc(4), 5000000, 0);
    CHECK(words[1] == 0, "the second launch overtook the first");
    words[0] = 1;
    OK(cu.cuStreamSynchronize(b));
    CHECK(words[1] == 1);
}

static void other_nodes_set_anew(void)
{
    CUgraph g = graph_open();
    CUdeviceptr p = device_alloc(64), q = device_alloc(64);
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = p, .value = 6, .elementSize = 1, .width = 64, .height = 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = q,
                          .WidthInBytes = 32,
                          .Height = 1,
                          .Depth = 1};
    CUgraphNode fill, moved;
    CUgraphExec e;

    OK(cu.cuGraphAddMemsetNode(&fill, g, NULL, 0, &set, primary));
    OK(cu.cuGraphAddMemcpyNode(&moved, g, &fill, 1, &copy, primary));
    e = instantiate(g);
    set.value = 9;
    copy.dstDevice = q + 4;
    OK(cu.cuGraphExecMemsetNodeSetParams(e, fill, &set, primary));
    OK(cu.cuGraphExecMemcpyNodeSetParams(e, moved, &copy, primary));
    OK(cu.cuGraphLaunch(e, NULL));
    OK(cu.cuCtxSynchronize());
    CHECK(device_word(q) == 0 && device_word(q + 4) == 0x09090909);
}

// A node that is disabled does nothing, keeps what it is set to meanwhile, and its dependents go
// on; earlier launches have what they were launched with.
static void disabled_nodes_do_nothing(void)
{
    CUgraph g = graph_open();
    CUdeviceptr p = device_alloc(4), q = device_alloc(4);
    CUDA_MEMSET_NODE_PARAMS set = {.dst = p, .value = 1, .elementSize = 4, .width = 1, .height = 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = q,
                          .WidthInBytes = 4,
                          .Height = 1,
                          .Depth = 1};
    CUgraphNode fill, step, moved, none;
    CUgraphExec e;

    OK(cu.cuGraphAddMemsetNode(&fill, g, NULL, 0, &set, primary));
    step = add_kernel(g, &fill, 1, "step", p, 3, 2);
    OK(cu.cuGraphAddMemcpyNode(&moved, g, &step, 1, &copy, primary));
    OK(cu.cuGraphAddEmptyNode(&none, g, NULL, 0));
    e = instantiate(g);
    OK(cu.cuGraphLaunch(e, NULL));
    OK(cu.cuGraphNodeSetEnabled(e, fill, 0));
    OK(cu.cuGraphLaunch(e, NULL));
    OK(cu.cuCtxSynchronize());
    CHECK(device_word(q) == (1 * 3 + 2) * 3 + 2);
    OK(cu.cuGraphNodeSetEnabled(e, step, 0));
    set_kernel(e, step, "step", p, 10, 1);
    OK(cu.cuGraphLaunch(e, NULL));
    OK(cu.cuCtxSynchronize());
    CHECK(device_word(p) == 17 && device_word(q) == 17);
    OK(cu.cuGraphNodeSetEnabled(e, step, 1));
    OK(cu.cuGraphNodeSetEnabled(e, moved, 0));
    OK(cu.cuGraphLaunch(e, NULL));
    OK(cu.cuCtxSynchronize());
    CHECK(device_word(p) == 171 && device_word(q) == 17);
    OK(cu.cuGraphNodeSetEnabled(e, fill, 1));
    OK(cu.cuGraphNodeSetEnabled(e, moved, 1));
    OK(cu.cuGraphLaunch(e, NULL));
    OK(cu.cuCtxSynchronize());
    CHECK(device_word(q) == 11);
    CHECK(cu.cuGraphNodeSetEnabled(e, none, 0) != CUDA_SUCCESS);
    CHECK(cu.cuGraphNodeSetEnabled(e, NULL, 0) != CUDA_SUCCESS);
}

static void circles_are_refused(void)
{
    CUgraph g = graph_open(), other = graph_open();
    CUgraphNode a, b, c;
    CUgraphExec e;

    OK(cu.cuGraphAddEmptyNode(&a, g, NULL, 0));
    OK(cu.cuGraphAddEmptyNode(&b, g, &a, 1));
    OK(cu.cuGraphAddEmptyNode(&c, other, NULL, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuGraphAddDependencies_v2(g, &c, &b, NULL, 1));
    OK(cu.cuGraphAddDependencies_v2(g, &b, &a, NULL, 1));
    CHECK(cu.cuGraphInstantiateWithFlags(&e, g, 0) != CUDA_SUCCESS);
}

static void empty_graph_runs(void)
{
    CUgraphExec e = instantiate(graph_open());
    CUstream s = stream_open();

    OK(cu.cuGraphLaunch(e, s));
    OK(cu.cuGraphUpload(e, s));
    OK(cu.cuStreamSynchronize(s));
}

static void bad_nodes_are_refused(void)
{
    CUgraph g = graph_open();
    uint64_t zero = 0;
    void *params[] = {&zero, &zero, &zero};
    CUDA_KERNEL_NODE_PARAMS p = kernel_params("empty", 0, 1, params);
    CUgraphNode node, fill;
    CUdeviceptr d = device_alloc(64);
    CUDA_MEMSET_NODE_PARAMS set = {.dst = d, .elementSize = 3, .width = 1, .height = 1};
    CUgraphExec e;

    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuGraphAddMemsetNode(&fill, g, NULL, 0, &set, primary));
    node = add_kernel(g, NULL, 0, "empty", 0, 0, 0);
    e = instantiate(g);
    // A grid without blocks may be refused when it is set or when it is launched.
    CHECK(cu.cuGraphExecKernelNodeSetParams_v2(e, node, &p) || cu.cuGraphLaunch(e, NULL) ||
          cu.cuCtxSynchronize());
}

static void fault_in_a_graph(void)
{
    CUgraph g = graph_open();
    CUdeviceptr p = device_alloc(4);
    CUgraphNode bad = add_kernel(g, NULL, 0, "store", 0x10, 1, 0);
    CUstream s = stream_open();

    add_kernel(g, &bad, 1, "store", p, 1, 0);
    OK(cu.cuGraphLaunch(instantiate(g), s));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuStreamSynchronize(s));
}

static CUgraph capture_steps(CUstream s, CUdeviceptr p, uint32_t steps)
{
    CUgraph g;

    OK(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (uint32_t i = 1; i <= steps; i++) {
        uint64_t a = p, b = 3, c = i;
        void *params[] = {&a, &b, &c};
        OK(cu.cuLaunchKernel(kernel("step"), 1, 1, 1, 1, 1, 1, 0, s, params, NULL));
    }
    OK(cu.cuStreamEndCapture(s, &g));
    return g;
}

static void captured_kernels_run_with_the_graph_alone(void)
{
    CUstream s = stream_open(), other = stream_open();
    CUdeviceptr p = device_alloc(4);
    CUgraph g = capture_steps(s, p, 3);
    CUgraphExec e = instantiate(g);

    OK(cu.cuGraphDestroy(g));
    OK(cu.cuStreamSynchronize(s));
    CHECK(device_word(p) == 0);
    OK(cu.cuGraphLaunch(e, other));
    OK(cu.cuStreamSynchronize(other));
    CHECK(device_word(p) == 18);
    OK(cu.cuGraphLaunch(e, s));
    OK(cu.cuStreamSynchronize(s));
    CHECK(device_word(p) == ((18 * 3 + 1) * 3 + 2) * 3 + 3);
    OK(cu.cuGraphExecDestroy(e));
}

static void capture_ends_once(void)
{
    CUstream s = stream_open();
    CUdeviceptr p = device_alloc(4);
    CUgraph g = NULL;

    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cu.cuStreamEndCapture(s, &g));
    OK(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    EXPECT(CUDA_ERROR_ILLEGAL_STATE,
           cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cu.cuStreamEndCapture(s, &g));
    OK(cu.cuGraphDestroy(g));
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cu.cuStreamEndCapture(s, &g));
    OK(cu.cuMemsetD8Async(p, 7, 4, s));
    OK(cu.cuStreamSynchronize(s));
    CHECK(device_word(p) == 0x07070707);
}

static const struct test tests[] = {
    {"a chain runs in order and outlives its graph", chain_runs_in_order, false},
    {"nodes side by side join again, launch after launch", diamond_joins, false},
    {"fill, kernel, copy and value write follow one another", all_kinds_of_nodes, false},
    {"a kernel and its completion word are set anew 500 times", kernel_and_completion_set_anew,
     false},
    {"new parameters spare earlier launches", set_params_spare_earlier_launches, false},
    {"launches of one executable follow one another", one_executable_runs_once_at_a_time, false},
    {"fills and copies are set anew", other_nodes_set_anew, false},
    {"disabled nodes do nothing", disabled_nodes_do_nothing, false},
    {"circles and foreign nodes are refused", circles_are_refused, false},
    {"a graph without nodes runs", empty_graph_runs, false},
    {"bad nodes are refused", bad_nodes_are_refused, false},
    {"captured kernels run with the graph alone, in any stream",
     captured_kernels_run_with_the_graph_alone, false},
    {"a capture begins and ends once", capture_ends_once, false},
    {"a fault in a graph ends the context", fault_in_a_graph, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
