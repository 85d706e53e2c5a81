/*
 * Programmatic dependent launches: a kernel that begins once all blocks of the one before have said
 * so (griddepcontrol.launch_dependents), and waits for that one's end itself (griddepcontrol.wait).
 * What they save as edges of a graph and as launches of a stream, and which ends a later kernel may
 * rely on. Each question_ function is run in a process of its own.
 */
#include "driver_facts_lane.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define WORK_CYCLES  3000u /* some 1.6 us */
#define LONG_CYCLES  20000000u
#define REPEATS      200
#define STAMPS       512 /* the words from there on: start and end of each kernel */

/* a: cycles to run for; b: where the times of start and end are stored, 0: nowhere. BEFORE and
 * AFTER are what a kernel does at its beginning and at its end. */
#define ENTRY(name, before, after)                                                                 \
    ".visible .entry " name PTX_PARAMS "{\n"                                                       \
    ".reg .u64 %t<6>; .reg .pred %p, %q;\n"                                                        \
    "ld.param.u64 %t0, [a]; ld.param.u64 %t1, [b]; setp.ne.u64 %q, %t1, 0;\n" before               \
    "mov.u64 %t2, %globaltimer; @%q st.volatile.global.u64 [%t1], %t2;\n"                          \
    "mov.u64 %t3, %clock64;\n"                                                                     \
    "again: mov.u64 %t4, %clock64; sub.u64 %t4, %t4, %t3;\n"                                       \
    "setp.lt.u64 %p, %t4, %t0; @%p bra again;\n"                                                   \
    "mov.u64 %t2, %globaltimer; @%q st.volatile.global.u64 [%t1+8], %t2;\n" after "ret; }\n"
#define LET  "griddepcontrol.launch_dependents;\n"
#define WAIT "griddepcontrol.wait;\n"

static const char ptx_dependents[] = ".version 7.8\n.target sm_90\n.address_size 64\n"
    /* plain: knows nothing of dependents. tail: as plain, with a wait at its end. both: lets
     * dependents go, then waits. bothtail: waits at its end once more. early: lets dependents go
     * and does not wait. earlytail: as early, with a wait at its end. */
    ENTRY("plain", "", "") ENTRY("tail", "", WAIT) ENTRY("both", LET WAIT, "")
        ENTRY("bothtail", LET WAIT, WAIT) ENTRY("early", LET, "") ENTRY("earlytail", LET, WAIT);

enum kernel { PLAIN, TAIL, BOTH, BOTH_TAIL, EARLY, EARLY_TAIL, KERNELS };

static const char *const kernel_names[KERNELS] = {"plain",    "tail",  "both",
                                                  "bothtail", "early", "earlytail"};
static CUfunction kernels[KERNELS];

static CUresult dependents_open(void)
{
    CUmodule module;
    void *cubin;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    CK(context_open(CU_CTX_SCHED_SPIN));
    CK(cubin_new(ptx_dependents, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    for (int i = 0; i < KERNELS; i++)
        CK(cuModuleGetFunction(&kernels[i], module, kernel_names[i]));
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ graphs */

struct line {
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node[CHAIN_MAX];
    int n;
    unsigned blocks;
};

static CUDA_KERNEL_NODE_PARAMS line_params(CUfunction f, unsigned blocks)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = f,
                                     .gridDimX = blocks,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 128,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = args};
}

static CUresult edge_add(CUgraph graph, CUgraphNode from, CUgraphNode to, int programmatic)
{
    const CUgraphEdgeData data = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                  .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};

    return cuGraphAddDependencies_v2(graph, &from, &to, programmatic ? &data : NULL, 1);
}

/* The nodes are added without edges first, and these then, each with its data. */
static CUresult line_new(struct line *line, enum kernel kernel, int n, unsigned blocks,
                         int programmatic)
{
    CUDA_KERNEL_NODE_PARAMS params = line_params(kernels[kernel], blocks);

    *line = (struct line){.n = n, .blocks = blocks};
    arg.a = WORK_CYCLES;
    arg.b = 0;
    CK(cuGraphCreate(&line->graph, 0));
    for (int i = 0; i < n; i++) {
        CK(cuGraphAddKernelNode(&line->node[i], line->graph, NULL, 0, &params));
        if (i)
            CK(edge_add(line->graph, line->node[i - 1], line->node[i], programmatic));
    }
    return cuGraphInstantiate(&line->exec, line->graph, 0);
}

static CUresult line_free(struct line *line)
{
    CK(cuGraphExecDestroy(line->exec));
    return cuGraphDestroy(line->graph);
}

/* The median of launches that are waited for; SET: every node's parameters are set before. */
static CUresult line_time(struct line *line, enum kernel kernel, int set, CUstream stream,
                          double *us)
{
    static double sample[REPEATS];

    for (int r = 0; r < REPEATS; r++) {
        for (int i = 0; set && i < line->n; i++) {
            CUDA_KERNEL_NODE_PARAMS params = line_params(kernels[kernel], line->blocks);

            arg.d++;
            CK(cuGraphExecKernelNodeSetParams(line->exec, line->node[i], &params));
        }
        double t0 = now_us();
        CK(cuGraphLaunch(line->exec, stream));
        CK(cuStreamSynchronize(stream));
        sample[r] = now_us() - t0;
    }
    *us = quantile(sample, REPEATS, 0.5);
    return CUDA_SUCCESS;
}

static CUresult stream_time(enum kernel kernel, int n, unsigned blocks, int programmatic,
                            CUstream stream, double *us)
{
    static double sample[REPEATS];
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                   .value.programmaticStreamSerializationAllowed = programmatic};
    CUlaunchConfig config = {.gridDimX = blocks,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 128,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .attrs = &attribute,
                             .numAttrs = 1};

    arg.a = WORK_CYCLES;
    arg.b = 0;
    for (int r = 0; r < REPEATS; r++) {
        double t0 = now_us();

        for (int i = 0; i < n; i++)
            CK(cuLaunchKernelEx(&config, kernels[kernel], args, NULL));
        CK(cuStreamSynchronize(stream));
        sample[r] = now_us() - t0;
    }
    *us = quantile(sample, REPEATS, 0.5);
    return CUDA_SUCCESS;
}

/* In the calling thread's context. */
static CUresult times(void)
{
    static const struct {
        enum kernel kernel;
        int programmatic;
    } rows[] = {{PLAIN, 0}, {TAIL, 0}, {BOTH, 0},      {BOTH_TAIL, 0},
                {PLAIN, 1}, {BOTH, 1}, {BOTH_TAIL, 1}, {EARLY_TAIL, 1}};
    static const int lengths[] = {20, 50};
    static const unsigned blocks[] = {1, 132, 1056};
    CUstream stream;

    CK(stream_new(&stream));
    printf(
        "  us for each kernel of %u cycles, 128 threads a block; the wait is included\n"
        "  kernel    edges          blocks | graph of 20, set |  graph of 50, set | stream of 20,"
        " 50\n",
        WORK_CYCLES);
    for (size_t b = 0; b < COUNT(blocks); b++) {
        for (size_t r = 0; r < COUNT(rows); r++) {
            printf("  %-9s %-12s %8u |", kernel_names[rows[r].kernel],
                   rows[r].programmatic ? "programmatic" : "full", blocks[b]);
            for (size_t l = 0; l < COUNT(lengths); l++) {
                struct line line;
                double kept, set;

                CK(line_new(&line, rows[r].kernel, lengths[l], blocks[b], rows[r].programmatic));
                CK(line_time(&line, rows[r].kernel, 0, stream, &kept));
                CK(line_time(&line, rows[r].kernel, 1, stream, &set));
                CK(line_free(&line));
                printf(" %7.3f %7.3f |", kept / lengths[l], set / lengths[l]);
            }
            for (size_t l = 0; l < COUNT(lengths); l++) {
                double us;

                CK(stream_time(rows[r].kernel, lengths[l], blocks[b], rows[r].programmatic, stream,
                               &us));
                printf(" %7.3f", us / lengths[l]);
            }
            printf("\n");
        }
    }
    return cuStreamDestroy(stream);
}

/* Nodes that get their edges when they are added, and edges that are read back. */
static CUresult edges(void)
{
    CUgraphEdgeData data = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                            .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CUgraphNodeParams node = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    CUgraphNode first, second, from, to;
    CUgraphEdgeData seen = {0};
    size_t count = 1;
    CUgraph graph;
    CUgraphExec exec;

    arg.a = WORK_CYCLES;
    arg.b = 0;
    node.kernel.func = kernels[BOTH];
    node.kernel.gridDimX = node.kernel.gridDimY = node.kernel.gridDimZ = 1;
    node.kernel.blockDimX = node.kernel.blockDimY = node.kernel.blockDimZ = 1;
    node.kernel.kernelParams = args;
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddNode_v2(&first, graph, NULL, NULL, 0, &node));
    CK(cuGraphAddNode_v2(&second, graph, &first, &data, 1, &node));
    CK(cuGraphGetEdges_v2(graph, &from, &to, &seen, &count));
    printf("  cuGraphAddNode_v2: %zu edge, type %u, from port %u, to port %u\n", count, seen.type,
           seen.from_port, seen.to_port);
    CK(cuGraphInstantiate(&exec, graph, 0));
    CK(cuGraphLaunch(exec, NULL));
    CK(cuCtxSynchronize());
    CK(cuGraphExecDestroy(exec));
    return cuGraphDestroy(graph);
}

CUresult question_dependents(void)
{
    CK(dependents_open());
    CK(edges());
    return times();
}

CUresult question_dependents_green(void)
{
    struct lane lane;

    CK(dependents_open());
    CK(lane_new(&lane));
    CK(cuCtxSetCurrent(lane.context));
    CK(edges());
    return times();
}

/* ------------------------------------------------------------------ order */

#define LINKS_MAX 4

/* A kernel of a chain, and what it depends on. */
struct link {
    enum kernel kernel;
    unsigned cycles;
    int programmatic; /* its edge from the kernel before */
    int first;        /* it has a full edge from the first kernel too; in graphs */
};

static uint64_t stamp(int link, int end)
{
    return atomic_load_explicit(&words[STAMPS + 2 * link + end], memory_order_acquire);
}

static void stamps_print(const char *how, const struct link *link, int n)
{
    printf("  %-14s", how);
    for (int i = 0; i < n; i++)
        printf(" %s%s%s %+.1f..%+.1f", i ? link[i].programmatic ? "-p> " : "-> " : "",
               kernel_names[link[i].kernel], link[i].first ? " (and first ->)" : "",
               ((double)stamp(i, 0) - (double)stamp(0, 1)) / 1e3,
               ((double)stamp(i, 1) - (double)stamp(0, 1)) / 1e3);
    printf("\n");
    for (int i = 0; i < 2 * LINKS_MAX + 2; i++)
        atomic_store(&words[STAMPS + i], 0);
}

static void link_arg(const struct link *link, int i)
{
    arg.a = link->cycles;
    arg.b = words_dev + 8 * (STAMPS + 2 * i);
}

/* The chain as a graph; NEXT: its last kernel is another graph of the same stream. */
static CUresult order_graph(const struct link *link, int n, int next, CUstream stream)
{
    CUgraph graph[2];
    CUgraphExec exec[2];
    CUgraphNode node[LINKS_MAX];

    CK(cuGraphCreate(&graph[0], 0));
    CK(cuGraphCreate(&graph[1], 0));
    for (int i = 0; i < n; i++) {
        CUDA_KERNEL_NODE_PARAMS params = line_params(kernels[link[i].kernel], 1);
        int apart = next && i == n - 1;

        params.blockDimX = 1;
        link_arg(&link[i], i);
        CK(cuGraphAddKernelNode(&node[i], graph[apart], NULL, 0, &params));
        if (i && !apart)
            CK(edge_add(graph[0], node[i - 1], node[i], link[i].programmatic));
        if (link[i].first && !apart)
            CK(edge_add(graph[0], node[0], node[i], 0));
    }
    CK(cuGraphInstantiate(&exec[0], graph[0], 0));
    CK(cuGraphInstantiate(&exec[1], graph[1], 0));
    CK(cuGraphLaunch(exec[0], stream));
    if (next)
        CK(cuGraphLaunch(exec[1], stream));
    CK(cuStreamSynchronize(stream));
    stamps_print(next ? "graph, graph" : "graph", link, n);
    for (int i = 0; i < 2; i++) {
        CK(cuGraphExecDestroy(exec[i]));
        CK(cuGraphDestroy(graph[i]));
    }
    return CUDA_SUCCESS;
}

static CUresult order_stream(const struct link *link, int n, CUstream stream)
{
    for (int i = 0; i < n; i++) {
        CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                       .value.programmaticStreamSerializationAllowed =
                                           link[i].programmatic};
        CUlaunchConfig config = {.gridDimX = 1,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 1,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .hStream = stream,
                                 .attrs = &attribute,
                                 .numAttrs = 1};

        link_arg(&link[i], i);
        CK(cuLaunchKernelEx(&config, kernels[link[i].kernel], args, NULL));
    }
    CK(cuStreamSynchronize(stream));
    stamps_print("stream", link, n);
    return CUDA_SUCCESS;
}

/* Chains whose first kernel is long and lets its dependent go at once. In the calling thread's
 * context. */
static CUresult orders(void)
{
    static const struct link ends_early[] = {
        {EARLY, LONG_CYCLES, 0, 0}, {EARLY, 0, 1, 0}, {PLAIN, 0, 0, 0}};
    static const struct link both_edges[] = {
        {EARLY, LONG_CYCLES, 0, 0}, {EARLY, 0, 1, 0}, {PLAIN, 0, 0, 1}};
    static const struct link waits_last[] = {
        {EARLY, LONG_CYCLES, 0, 0}, {EARLY_TAIL, 0, 1, 0}, {PLAIN, 0, 0, 0}};
    static const struct link third_waits[] = {
        {EARLY, LONG_CYCLES, 0, 0}, {EARLY, 0, 1, 0}, {BOTH, 0, 1, 0}, {PLAIN, 0, 0, 0}};
    static const struct link all_wait_last[] = {
        {EARLY, LONG_CYCLES, 0, 0}, {EARLY_TAIL, 0, 1, 0}, {EARLY_TAIL, 0, 1, 0}, {PLAIN, 0, 0, 0}};
    static const struct {
        const struct link *link;
        int n;
    } chains_of[] = {
        {ends_early, 3}, {both_edges, 3}, {waits_last, 3}, {third_waits, 4}, {all_wait_last, 4}};
    CUstream stream;

    CK(stream_new(&stream));
    printf("  start and end of each kernel in us, from the end of the first, which takes 10 ms;"
           " -p>: programmatic\n");
    for (size_t c = 0; c < COUNT(chains_of); c++) {
        CK(order_graph(chains_of[c].link, chains_of[c].n, 0, stream));
        CK(order_graph(chains_of[c].link, chains_of[c].n, 1, stream));
        CK(order_stream(chains_of[c].link, chains_of[c].n, stream));
    }
    return cuStreamDestroy(stream);
}

CUresult question_dependents_order(void)
{
    CK(dependents_open());
    return orders();
}

CUresult question_dependents_order_green(void)
{
    struct lane lane;

    CK(dependents_open());
    CK(lane_new(&lane));
    CK(cuCtxSetCurrent(lane.context));
    return orders();
}
