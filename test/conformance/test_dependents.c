// Programmatic edges: a kernel that begins before the one that it depends on has ended.
#include <string.h>

#include "conform.h"
#include "ptx/rewrite/completion_params.h"
#include "ptx/rewrite/rewrite.h"

// Each thread is a block. a, b, c are words of host memory.
#define ENTRY(name, body)                                                                          \
    ".visible .entry " name "(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n"                   \
    ".reg .pred %p, %q; .reg .b32 %i; .reg .b64 %a, %b, %c, %v, %t, %s;\n"                         \
    "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; mov.u32 %i, %ctaid.x;\n"    \
    "setp.ne.u32 %q, %i, 0;\n" body "ret;\n}\n"
#define LET_GO "griddepcontrol.launch_dependents;\n"
#define AWAIT  "griddepcontrol.wait;\n"
// Until [a] is not 0, or for 10 s, which it takes where the dependent does not begin early.
#define HOLD                                                                                       \
    "mov.u64 %s, %globaltimer;\n"                                                                  \
    "again: ld.acquire.sys.global.u64 %v, [%a]; mov.u64 %t, %globaltimer; sub.u64 %t, %t, %s;\n"   \
    "setp.gt.u64 %p, %t, 10000000000; @%p bra over; setp.eq.u64 %p, %v, 0; @%p bra again;\n"       \
    "over:\n"
#define STORE(word, value) "mov.u64 %t, " value "; st.release.sys.global.u64 [" word "], %t;\n"

static const char source[] = ".version 7.8\n.target sm_90\n.address_size 64\n"
    // waits for [a], then says in [b] what it saw; the second: of its blocks only the first lets go
    // before that, and says so in [c]
    ENTRY("first", LET_GO HOLD "st.release.sys.global.u64 [%b], %v;\n")
        ENTRY("uneven", "@%q bra hold;\n" LET_GO STORE("%c", "1") "ret; hold:\n" HOLD)
    // says in [a] that it has begun; the second then says in [c] what it sees in [b] at its end
    ENTRY("brief", STORE("%a", "1") LET_GO)
        ENTRY("second", STORE("%a", "1") AWAIT "ld.global.u64 %v, [%b];\n"
                                               "st.release.sys.global.u64 [%c], %v;\n")
            ENTRY("traps", LET_GO HOLD "trap;\n");

static CUmodule module;
static _Atomic uint64_t *words;
static CUdeviceptr words_address;
static CUstream others;
static CUdeviceptr others_count;

// Beside a kernel that runs on, a device may let the first use of memory, of a kernel or of a copy
// wait for that kernel's end, so all of these have been used before one is started.
static void others_prepare(void)
{
    others = stream_open();
    others_count = device_alloc(4);
    launch(others, "step", others_count, 1, 1);
    OK(cu.cuStreamSynchronize(others));
    CHECK(device_word(others_count) == 1);
}

static void open_module(const char *text)
{
    int major;

    OK(cu.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    if (major < 9)
        skip("the device has no dependent launches");
    OK(cu.cuModuleLoadData(&module, text));
    words = host_words();
    OK(cu.cuMemHostGetDevicePointer_v2(&words_address, (void *)words, 0));
    others_prepare();
}

// Words of host memory by number; completion parameters go behind them.
static CUgraphNode add(CUgraph g, const char *name, uint32_t blocks, unsigned a, unsigned b,
                       unsigned c, struct completion_params *signal)
{
    uint64_t args[] = {words_address + 8 * a, words_address + 8 * b, words_address + 8 * c};
    void *params[] = {&args[0], &args[1], &args[2], signal};
    CUDA_KERNEL_NODE_PARAMS p = {.gridDimX = blocks,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 1,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = params};
    CUgraphNode node;

    OK(cu.cuModuleGetFunction(&p.func, module, name));
    OK(cu.cuGraphAddKernelNode_v2(&node, g, NULL, 0, &p));
    return node;
}

static void follow(CUgraph g, CUgraphNode before, CUgraphNode node)
{
    const CUgraphEdgeData edge = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                  .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};

    OK(cu.cuGraphAddDependencies_v2(g, &before, &node, &edge, 1));
}

static CUgraphExec start(CUgraph g, CUstream s)
{
    CUgraphExec e;

    OK(cu.cuGraphInstantiateWithFlags(&e, g, 0));
    OK(cu.cuGraphLaunch(e, s));
    return e;
}

// All that could begin has begun when work that came later has run.
static void others_run(void)
{
    for (uint32_t i = 1; i < 20; i++)
        launch(others, "step", others_count, 1, 1);
    OK(cu.cuStreamSynchronize(others));
    CHECK(device_word(others_count) == 20);
}

static void begins_early_and_awaits(void)
{
    CUstream s = stream_open();
    CUgraph g;

    open_module(source);
    OK(cu.cuGraphCreate(&g, 0));
    follow(g, add(g, "first", 4, 0, 1, 2, NULL), add(g, "second", 1, 0, 1, 2, NULL));
    OK(cu.cuGraphExecDestroy(start(g, s)));
    OK(cu.cuStreamSynchronize(s));
    CHECK(words[1] == 1, "the first has not seen the second");
    CHECK(words[2] == 1, "the second has not seen what the first wrote");
}

static void all_blocks_let_go(void)
{
    CUstream s = stream_open();
    CUgraph g;

    open_module(source);
    OK(cu.cuGraphCreate(&g, 0));
    follow(g, add(g, "uneven", 2, 0, 1, 2, NULL), add(g, "brief", 1, 3, 3, 3, NULL));
    OK(cu.cuGraphExecDestroy(start(g, s)));
    host_wait(&words[2], 1);
    others_run();
    CHECK(words[3] == 0);
    words[0] = 1;
    OK(cu.cuStreamSynchronize(s));
    CHECK(words[3] == 1);
}

// The first one of three takes its time; the others do their work and end, for all they know.
static void chain_signals_its_end_once(void)
{
    struct ptx_rewrite_report report = {0};
    struct completion_params none = {0}, signal = {.position = 7, .sequence = 1, .threads = 1};
    CUstream s = stream_open();
    char *text;
    size_t length;
    CUgraphNode first, second, third;
    CUgraph g;

    CHECK(ptx_rewrite(source, strlen(source), PTX_PASS_COMPLETION, &text, &length, &report) == 0);
    CHECK(ptx_rewrite_report_kernel(&report, "brief")->ends_after);
    open_module(text);
    free(text);
    ptx_rewrite_report_deinit(&report);
    signal.word = words_address + 8 * 4;
    signal.fence = words_address + 8 * 5;
    signal.counter = device_alloc(sizeof(uint32_t));
    OK(cu.cuGraphCreate(&g, 0));
    first = add(g, "first", 4, 0, 1, 1, &none);
    second = add(g, "brief", 1, 2, 2, 2, &none);
    third = add(g, "brief", 1, 3, 3, 3, &signal);
    follow(g, first, second);
    follow(g, second, third);
    OK(cu.cuGraphExecDestroy(start(g, s)));
    host_wait(&words[3], 1);
    others_run();
    CHECK(words[4] == 0, "the chain's end was signalled while its first kernel ran");
    words[0] = 1;
    host_wait(&words[4], 7);
    CHECK(words[1] == 1);
    OK(cu.cuStreamSynchronize(s));
}

// The second kernel does not wait for the first one. Its end alone is waited for.
static void what_waits_for_a_dependent_waits_for_the_first_too(void)
{
    const CUgraphEdgeData *ordinary = NULL;
    CUstream s = stream_open();
    CUgraphNode first, second, third;
    CUgraph g, next;
    CUgraphExec later;

    open_module(source);
    OK(cu.cuGraphCreate(&g, 0));
    OK(cu.cuGraphCreate(&next, 0));
    first = add(g, "first", 4, 0, 1, 1, NULL);
    second = add(g, "brief", 1, 2, 2, 2, NULL);
    third = add(g, "brief", 1, 3, 3, 3, NULL);
    add(next, "brief", 1, 4, 4, 4, NULL);
    follow(g, first, second);
    OK(cu.cuGraphAddDependencies_v2(g, &second, &third, ordinary, 1));
    OK(cu.cuGraphInstantiateWithFlags(&later, next, 0));
    OK(cu.cuGraphExecDestroy(start(g, s)));
    OK(cu.cuGraphLaunch(later, s));
    host_wait(&words[2], 1);
    others_run();
    CHECK(words[3] == 0 && words[4] == 0);
    words[0] = 1;
    OK(cu.cuStreamSynchronize(s));
    OK(cu.cuGraphExecDestroy(later));
    CHECK(words[1] == 1 && words[3] == 1 && words[4] == 1);
}

static void what_is_left_out_lets_go(void)
{
    CUstream s = stream_open();
    CUgraphNode first;
    CUgraphExec e;
    CUgraph g;

    open_module(source);
    OK(cu.cuGraphCreate(&g, 0));
    first = add(g, "first", 4, 0, 1, 2, NULL);
    follow(g, first, add(g, "second", 1, 3, 4, 5, NULL));
    OK(cu.cuGraphInstantiateWithFlags(&e, g, 0));
    OK(cu.cuGraphNodeSetEnabled(e, first, 0));
    words[4] = 9;
    OK(cu.cuGraphLaunch(e, s));
    OK(cu.cuStreamSynchronize(s));
    CHECK(words[5] == 9);
}

static void fault_ends_both(void)
{
    CUstream s = stream_open();
    CUgraph g;

    open_module(source);
    OK(cu.cuGraphCreate(&g, 0));
    follow(g, add(g, "traps", 1, 0, 1, 2, NULL), add(g, "second", 1, 0, 1, 2, NULL));
    start(g, s);
    EXPECT(CUDA_ERROR_LAUNCH_FAILED, cu.cuStreamSynchronize(s));
    CHECK(words[2] == 0);
}

static const struct test tests[] = {
    {"a dependent kernel begins early, and awaits the one before", begins_early_and_awaits, false},
    {"it begins once all blocks of that one have let it", all_blocks_let_go, false},
    {"the end of a chain of rewritten kernels is the end of all", chain_signals_its_end_once,
     false},
    {"what waits for a dependent kernel waits for the one before that too",
     what_waits_for_a_dependent_waits_for_the_first_too, false},
    {"a kernel that is left out holds no dependent back", what_is_left_out_lets_go, false},
    {"a fault ends the kernel that awaits the one with it", fault_ends_both, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
