/*
 * What the driver costs when it launches: launches a second, round trips, many streams, and the
 * time until a kernel starts. One thread; each question_ function is run in a process of its own.
 */
#include "driver_facts.h"

#define REPEATS 7
#define BURST   24576 /* launches in one timed run: many times what the driver queues */

/* ------------------------------------------------ 1: launches a second on one stream */

enum way { WAY_LAUNCH, WAY_GRAPH };

struct rate {
    const char *name;
    enum way way;
    int n;          /* kernels in the graph */
    int in_a_row;   /* or side by side */
    int nwrites;    /* 64-bit writes at the graph's end */
    int nfunctions; /* kernels from as many modules, by turns */
    int set;        /* 0: the graph is launched as it is; 2: parameters as one buffer */
};

static const struct rate rates[] = {
    {"cuLaunchKernel", WAY_LAUNCH, 1, 1, 0, 1, 1},
    {"cuLaunchKernel, 8 functions by turns", WAY_LAUNCH, 1, 1, 0, 8, 1},
    {"graph of 1", WAY_GRAPH, 1, 1, 0, 1, 1},
    {"cuLaunchKernel, packed parameters", WAY_LAUNCH, 1, 1, 0, 1, 2},
    {"graph of 1, packed parameters", WAY_GRAPH, 1, 1, 0, 1, 2},
    {"graph of 1, nothing set", WAY_GRAPH, 1, 1, 0, 1, 0},
    {"graph of 1, 2 functions by turns", WAY_GRAPH, 1, 1, 0, 2, 1},
    {"graph of 1, 8 functions by turns", WAY_GRAPH, 1, 1, 0, 8, 1},
    {"graph of 1 + write", WAY_GRAPH, 1, 1, 1, 1, 1},
    {"graph of 1 + 2 writes in one node", WAY_GRAPH, 1, 1, 2, 1, 1},
    {"chain of 2", WAY_GRAPH, 2, 1, 0, 1, 1},
    {"chain of 4", WAY_GRAPH, 4, 1, 0, 1, 1},
    {"chain of 8", WAY_GRAPH, 8, 1, 0, 1, 1},
    {"chain of 8, nothing set", WAY_GRAPH, 8, 1, 0, 1, 0},
    {"chain of 8, 8 functions, each node keeps its own", WAY_GRAPH, 8, 1, 0, 8, 1},
    {"chain of 8, every node's function changes each time", WAY_GRAPH, 8, 1, 0, 3, 1},
    {"chain of 16", WAY_GRAPH, 16, 1, 0, 1, 1},
    {"chain of 32", WAY_GRAPH, 32, 1, 0, 1, 1},
    {"chain of 32, nothing set", WAY_GRAPH, 32, 1, 0, 1, 0},
    {"chain of 64", WAY_GRAPH, 64, 1, 0, 1, 1},
    {"chain of 2 + write", WAY_GRAPH, 2, 1, 1, 1, 1},
    {"chain of 4 + write", WAY_GRAPH, 4, 1, 1, 1, 1},
    {"chain of 8 + write", WAY_GRAPH, 8, 1, 1, 1, 1},
    {"chain of 16 + write", WAY_GRAPH, 16, 1, 1, 1, 1},
    {"chain of 32 + write", WAY_GRAPH, 32, 1, 1, 1, 1},
    {"chain of 8 + 2 writes in one node", WAY_GRAPH, 8, 1, 2, 1, 1},
    {"side by side 2", WAY_GRAPH, 2, 0, 0, 1, 1},
    {"side by side 8", WAY_GRAPH, 8, 0, 0, 1, 1},
    {"side by side 32", WAY_GRAPH, 32, 0, 0, 1, 1},
    {"side by side 8 + write", WAY_GRAPH, 8, 0, 1, 1, 1},
};

static CUresult functions_load(CUfunction *functions, int n)
{
    for (int i = 0; i < n; i++) {
        CUmodule m;

        CK(cuModuleLoadData(&m, cubin_small));
        CK(cuModuleGetFunction(&functions[i], m, "nop"));
        CK(kernel_launch(functions[i], 0));
    }
    return cuCtxSynchronize();
}

static CUresult rate_measure(const struct rate *r, CUfunction *functions, CUstream s)
{
    double rate[REPEATS], set[REPEATS], launch[REPEATS];
    struct chain c = {0};
    uint64_t value = 0;

    packed = r->set == 2;
    if (r->way == WAY_GRAPH)
        CK(chain_new(&c, r->n, r->in_a_row, r->nwrites));
    for (int k = -1; k < REPEATS; k++) {
        int rounds = BURST / r->n;
        double t0 = now_us(), t1;

        for (int i = 0; i < rounds; i++) {
            if (r->way == WAY_LAUNCH) {
                arg.d++;
                CK(kernel_launch(functions[i % r->nfunctions], s));
                continue;
            }
            if (r->set)
                CK(chain_set(&c, functions, r->nfunctions, i, ++value));
            CK(cuGraphLaunch(c.exec, s));
        }
        CK(cuStreamSynchronize(s));
        t1 = now_us();
        if (k >= 0)
            rate[k] = (double)rounds * r->n / (t1 - t0) * 1e3;
        if (k < 0 || r->way == WAY_LAUNCH || !r->set)
            continue;
        /* The two calls apart, with the queue never full: what the processor pays. */
        set[k] = launch[k] = 0;
        for (int i = 0; i < 256; i++) {
            double a = now_us(), b;

            CK(chain_set(&c, functions, r->nfunctions, i, ++value));
            b = now_us();
            CK(cuGraphLaunch(c.exec, s));
            launch[k] += (now_us() - b) / 256;
            set[k] += (b - a) / 256;
            if (i % 16 == 15)
                CK(cuStreamSynchronize(s));
        }
    }
    printf("  %-52s %7.0f k/s", r->name, quantile(rate, REPEATS, 0.5));
    if (r->way == WAY_GRAPH && r->set)
        printf("  set %6.2f us  launch %6.2f us", quantile(set, REPEATS, 0.5),
               quantile(launch, REPEATS, 0.5));
    printf("\n");
    chain_free(&c);
    return CUDA_SUCCESS;
}

/* One graph of 8 serves fewer kernels by switching nodes off; what a node that is off costs. */
static CUresult rate_disabled(CUstream s)
{
    struct chain c;
    double rate[REPEATS], toggle[REPEATS];

    CK(chain_new(&c, 8, 1, 0));
    for (int i = 1; i < 8; i++)
        CK(cuGraphNodeSetEnabled(c.exec, c.kernel[i], 0));
    for (int k = 0; k < REPEATS; k++) {
        double t0 = now_us();

        for (int i = 0; i < BURST / 4; i++)
            CK(cuGraphLaunch(c.exec, s));
        CK(cuStreamSynchronize(s));
        rate[k] = BURST / 4 / (now_us() - t0) * 1e3;
        t0 = now_us();
        for (int i = 0; i < 1024; i++)
            CK(cuGraphNodeSetEnabled(c.exec, c.kernel[7], i & 1));
        toggle[k] = (now_us() - t0) / 1024;
        CK(cuGraphNodeSetEnabled(c.exec, c.kernel[7], 0));
    }
    printf("  %-52s %7.0f k/s  switching a node %.2f us\n",
           "chain of 8 with 7 switched off, nothing set", quantile(rate, REPEATS, 0.5),
           quantile(toggle, REPEATS, 0.5));
    chain_free(&c);
    return CUDA_SUCCESS;
}

/* A graph of its own for each kernel, by turns; or one graph whose kernels share a module; or one
 * whose grid changes. */
static CUresult rate_by_turns(CUfunction *functions, CUstream s)
{
    static const char *const names[] = {"8 graphs of 1 by turns, each keeps its function",
                                        "graph of 1, 2 functions of one module by turns",
                                        "graph of 1, the grid 1 or 2 blocks by turns"};
    struct chain c[8];
    CUfunction pair[2];
    CUmodule m;

    CK(cuModuleLoadData(&m, cubin_bare));
    CK(cuModuleGetFunction(&pair[0], m, "nop"));
    CK(cuModuleGetFunction(&pair[1], m, "also"));
    for (int i = 0; i < 8; i++) {
        CK(chain_new(&c[i], 1, 1, 0));
        CK(chain_set(&c[i], &functions[i], 1, 0, 0));
    }
    for (int what = 0; what < 3; what++) {
        double rate[REPEATS];

        for (int k = -1; k < REPEATS; k++) {
            double t0 = now_us();

            for (int i = 0; i < BURST; i++) {
                struct chain *use = &c[what ? 0 : i % 8];
                CUDA_KERNEL_NODE_PARAMS p = node_params(what ? pair[0] : functions[i % 8]);

                if (what == 1)
                    p.func = pair[i & 1];
                if (what == 2)
                    p.gridDimX = 1 + (i & 1);
                arg.d++;
                CK(cuGraphExecKernelNodeSetParams(use->exec, use->kernel[0], &p));
                CK(cuGraphLaunch(use->exec, s));
            }
            CK(cuStreamSynchronize(s));
            if (k >= 0)
                rate[k] = BURST / (now_us() - t0) * 1e3;
        }
        printf("  %-52s %7.0f k/s\n", names[what], quantile(rate, REPEATS, 0.5));
    }
    for (int i = 0; i < 8; i++)
        chain_free(&c[i]);
    return CUDA_SUCCESS;
}

CUresult question_rates(void)
{
    CUfunction functions[8];
    CUstream s;

    CK(context_open(0));
    CK(stream_new(&s));
    CK(functions_load(functions, 8));
    for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
        rate_measure(&rates[i], functions, s);
    packed = 0;
    rate_disabled(s);
    rate_by_turns(functions, s);
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 2: round trips */

#define TRIPS 10000

enum trip {
    TRIP_LAUNCH_SYNC,
    TRIP_LAUNCH_EVENT_SYNC,
    TRIP_LAUNCH_EVENT_POLL,
    TRIP_LAUNCH_WRITE,
    TRIP_GRAPH_SYNC,
    TRIP_GRAPH_EVENT_POLL,
    TRIP_GRAPH_THEN_WRITE,
    TRIP_GRAPH_OF_BOTH,
    TRIP_GRAPH_TWO_WRITES,
    TRIP_GRAPH_TWO_WRITES_LAST,
    TRIP_GRAPH_CHAIN_8,
    TRIP_KERNEL_WRITES,
    TRIPS_COUNT
};

static const char *const trip_names[] = {
    "cuLaunchKernel + cuStreamSynchronize (native)",
    "cuLaunchKernel + event record + cuEventSynchronize",
    "cuLaunchKernel + event record + cuEventQuery polled",
    "cuLaunchKernel + cuStreamWriteValue64, polled",
    "graph of 1 + cuStreamSynchronize",
    "graph of 1 + event record + cuEventQuery polled",
    "graph of 1, then cuStreamWriteValue64, polled",
    "graph of kernel + write, polled",
    "graph of kernel + 2 writes in one node, first polled",
    "graph of kernel + 2 writes in one node, second polled",
    "graph of 8 kernels in a row + write, polled",
    "kernel that writes the word itself, graph, polled",
};

static CUresult event_poll(CUevent e)
{
    CUresult r;

    while ((r = cuEventQuery(e)) == CUDA_ERROR_NOT_READY)
        ;
    return r;
}

static CUresult trip_once(enum trip t, CUstream s, CUevent e, struct chain *c, uint64_t value)
{
    switch (t) {
    case TRIP_LAUNCH_SYNC:
        CK(kernel_launch(nop, s));
        return cuStreamSynchronize(s);
    case TRIP_LAUNCH_EVENT_SYNC:
        CK(kernel_launch(nop, s));
        CK(cuEventRecord(e, s));
        return cuEventSynchronize(e);
    case TRIP_LAUNCH_EVENT_POLL:
        CK(kernel_launch(nop, s));
        CK(cuEventRecord(e, s));
        return event_poll(e);
    case TRIP_LAUNCH_WRITE:
        CK(kernel_launch(nop, s));
        CK(cuStreamWriteValue64(s, words_dev, value, 0));
        word_wait(0, value);
        return CUDA_SUCCESS;
    case TRIP_KERNEL_WRITES:
        arg.a = 0;
        arg.b = words_dev;
        arg.c = words_dev + 512;
        arg.d = value - 1;
        CK(chain_set(c, &spin, 1, 0, value));
        CK(cuGraphLaunch(c->exec, s));
        word_wait(0, value);
        return CUDA_SUCCESS;
    default:
        break;
    }
    CK(chain_set(c, &nop, 1, 0, value));
    CK(cuGraphLaunch(c->exec, s));
    switch (t) {
    case TRIP_GRAPH_SYNC:
        return cuStreamSynchronize(s);
    case TRIP_GRAPH_EVENT_POLL:
        CK(cuEventRecord(e, s));
        return event_poll(e);
    case TRIP_GRAPH_THEN_WRITE:
        CK(cuStreamWriteValue64(s, words_dev, value, 0));
        break;
    default:
        break;
    }
    word_wait(t == TRIP_GRAPH_TWO_WRITES_LAST ? 8 : 0, value);
    return CUDA_SUCCESS;
}

static CUresult trip_measure(enum trip t, CUstream s, CUevent e)
{
    static uint64_t value = 1;
    static double us[TRIPS];
    int nwrites = t == TRIP_GRAPH_OF_BOTH || t == TRIP_GRAPH_CHAIN_8              ? 1
                  : t == TRIP_GRAPH_TWO_WRITES || t == TRIP_GRAPH_TWO_WRITES_LAST ? 2
                                                                                  : 0;
    struct chain c;

    CK(chain_new(&c, t == TRIP_GRAPH_CHAIN_8 ? 8 : 1, 1, nwrites));
    for (int i = -500; i < TRIPS; i++) {
        double t0 = now_us();

        CK(trip_once(t, s, e, &c, ++value));
        if (i >= 0)
            us[i] = now_us() - t0;
    }
    print_times(trip_names[t], us, TRIPS);
    CK(cuStreamSynchronize(s));
    chain_free(&c);
    return CUDA_SUCCESS;
}

/* What one write adds that closes a batch of graph launches. */
static CUresult write_every(CUstream s, int every, int by_graph)
{
    double rate[REPEATS];
    struct chain c, last;
    uint64_t value = 0;

    CK(chain_new(&c, 1, 1, 0));
    CK(chain_new(&last, 1, 1, 1));
    for (int k = -1; k < REPEATS; k++) {
        double t0 = now_us();

        for (int i = 0; i < BURST; i++) {
            struct chain *use = by_graph && every && i % every == every - 1 ? &last : &c;

            CK(chain_set(use, &nop, 1, 0, ++value));
            CK(cuGraphLaunch(use->exec, s));
            if (!by_graph && every && i % every == every - 1)
                CK(cuStreamWriteValue64(s, words_dev, value, 0));
        }
        CK(cuStreamSynchronize(s));
        if (k >= 0)
            rate[k] = BURST / (now_us() - t0) * 1e3;
    }
    printf("  graphs of 1, %s every %2d launches: %5.0f k/s\n",
           by_graph ? "the last with a write node," : "then cuStreamWriteValue64,", every,
           quantile(rate, REPEATS, 0.5));
    chain_free(&c);
    chain_free(&last);
    return CUDA_SUCCESS;
}

static CUresult trips_all(unsigned flags)
{
    CUstream s;
    CUevent e;

    CK(context_open(flags));
    CK(stream_new(&s));
    CK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    for (int t = 0; t < TRIPS_COUNT; t++)
        trip_measure(t, s, e);
    for (int every = 0; every <= 64; every = every ? every * 4 : 1) {
        write_every(s, every, 0);
        if (every)
            write_every(s, every, 1);
    }
    return CUDA_SUCCESS;
}

CUresult question_trips(void)
{
    return trips_all(CU_CTX_SCHED_AUTO);
}

CUresult question_trips_spinning(void)
{
    return trips_all(CU_CTX_SCHED_SPIN);
}

/* ------------------------------------------------------------- 7: sixteen streams */

#define STREAMS 16

enum spread { SPREAD_LAUNCH, SPREAD_ONE_GRAPH, SPREAD_PER_STREAM };

static CUresult spread_measure(const char *name, enum spread how, int n, int nwrites, int nstreams,
                               CUstream *s)
{
    struct chain c[STREAMS];
    double rate[REPEATS];
    uint64_t value = 0;

    for (int i = 0; i < STREAMS; i++)
        CK(chain_new(&c[i], n, 1, nwrites));
    for (int k = -1; k < REPEATS; k++) {
        double t0 = now_us();

        for (int i = 0; i < BURST / n; i++) {
            struct chain *use = &c[how == SPREAD_PER_STREAM ? i % nstreams : 0];

            if (how == SPREAD_LAUNCH) {
                arg.d++;
                CK(kernel_launch(nop, s[i % nstreams]));
                continue;
            }
            CK(chain_set(use, &nop, 1, 0, ++value));
            CK(cuGraphLaunch(use->exec, s[i % nstreams]));
        }
        CK(cuCtxSynchronize());
        if (k >= 0)
            rate[k] = (double)(BURST / n) * n / (now_us() - t0) * 1e3;
    }
    printf("  %-56s %2d streams %6.0f k/s\n", name, nstreams, quantile(rate, REPEATS, 0.5));
    for (int i = 0; i < STREAMS; i++)
        chain_free(&c[i]);
    return CUDA_SUCCESS;
}

CUresult question_many_streams(void)
{
    CUstream s[STREAMS];

    CK(context_open(0));
    for (int i = 0; i < STREAMS; i++)
        CK(stream_new(&s[i]));
    for (int n = 1; n <= STREAMS; n *= 4) {
        spread_measure("cuLaunchKernel", SPREAD_LAUNCH, 1, 0, n, s);
        spread_measure("graph of 1 per stream", SPREAD_PER_STREAM, 1, 0, n, s);
        spread_measure("graph of 1 + write per stream", SPREAD_PER_STREAM, 1, 1, n, s);
        spread_measure("chain of 4 per stream", SPREAD_PER_STREAM, 4, 0, n, s);
        spread_measure("chain of 8 per stream", SPREAD_PER_STREAM, 8, 0, n, s);
        spread_measure("chain of 8 + write per stream", SPREAD_PER_STREAM, 8, 1, n, s);
        spread_measure("chain of 32 + write per stream", SPREAD_PER_STREAM, 32, 1, n, s);
        spread_measure("graph of 1, one for all streams", SPREAD_ONE_GRAPH, 1, 0, n, s);
        spread_measure("chain of 8, one for all streams", SPREAD_ONE_GRAPH, 8, 0, n, s);
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------- 8: how soon a kernel starts */

#define STARTS 5000

static CUresult start_measure(int by_graph)
{
    static double call[STARTS], after[STARTS];
    static uint32_t turn;
    struct chain c;
    CUstream s;

    CK(stream_new(&s));
    CK(chain_new(&c, 1, 1, 0));
    arg.a = 0;
    arg.b = words_dev;
    arg.c = words_dev + 512;
    for (int i = -200; i < STARTS; i++) {
        double t0, t1, t2;

        if (by_graph)
            CK(chain_set(&c, &spin, 1, 0, 0));
        else
            arg.d++;
        turn = arg.d;
        t0 = now_us();
        if (by_graph)
            CK(cuGraphLaunch(c.exec, s));
        else
            CK(kernel_launch(spin, s));
        t1 = now_us();
        word_wait(0, turn);
        t2 = now_us();
        CK(cuStreamSynchronize(s));
        if (i >= 0) {
            call[i] = t1 - t0;
            after[i] = t2 - t1;
        }
    }
    print_times(by_graph ? "cuGraphLaunch, the call" : "cuLaunchKernel, the call", call, STARTS);
    print_times("  from its return to the kernel's first word seen", after, STARTS);
    chain_free(&c);
    return CUDA_SUCCESS;
}

/* Whether one executable graph launched into two streams runs in both at once. */
static CUresult start_shared_graph(void)
{
    struct chain c, other;
    CUstream s[2];
    double t0, same, apart;

    CK(stream_new(&s[0]));
    CK(stream_new(&s[1]));
    CK(chain_new(&c, 1, 1, 0));
    CK(chain_new(&other, 1, 1, 0));
    arg.a = 20000000;
    arg.c = words_dev + 1024; /* never set: both run their whole 20 ms */
    for (int k = 0; k < 2; k++) {
        t0 = now_us();
        CK(chain_set(&c, &spin, 1, 0, 0));
        CK(cuGraphLaunch(c.exec, s[0]));
        CK(chain_set(k ? &other : &c, &spin, 1, 0, 0));
        CK(cuGraphLaunch((k ? &other : &c)->exec, s[1]));
        CK(cuCtxSynchronize());
        *(k ? &apart : &same) = now_us() - t0;
    }
    printf("  two 20 ms kernels in two streams: one graph for both %.1f ms, a graph each %.1f ms\n",
           same / 1e3, apart / 1e3);
    chain_free(&c);
    chain_free(&other);
    return CUDA_SUCCESS;
}

/* Whether the second setting of a graph in flight changes the launch before it. */
static CUresult start_reset_in_flight(void)
{
    CUstream s;
    struct chain c;
    int wrong = 0;

    CK(stream_new(&s));
    CK(chain_new(&c, 1, 1, 0));
    for (int i = 0; i < 2000; i++) {
        CUDA_KERNEL_NODE_PARAMS k = node_params(spin);

        arg.a = i ? 0 : 20000000; /* the first holds the stream, so that the others queue up */
        arg.b = words_dev + 4096 + 8 * (i % 4096);
        arg.c = words_dev + 1024;
        arg.d = i + 1;
        CK(cuGraphExecKernelNodeSetParams(c.exec, c.kernel[0], &k));
        CK(cuGraphLaunch(c.exec, s));
    }
    CK(cuStreamSynchronize(s));
    for (int i = 0; i < 2000; i++)
        wrong += atomic_load_explicit(&words[512 + i], memory_order_relaxed) != (uint64_t)i + 1;
    printf("  one graph set anew and launched 2000 times behind a 20 ms kernel: %d wrong\n", wrong);
    chain_free(&c);
    return CUDA_SUCCESS;
}

CUresult question_start(void)
{
    CK(context_open(0));
    start_measure(0);
    start_measure(1);
    start_shared_graph();
    start_reset_in_flight();
    return CUDA_SUCCESS;
}
