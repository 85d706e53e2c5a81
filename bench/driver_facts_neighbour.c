/*
 * What a request of 20 small kernels notices of a neighbour that fills the device, in one context:
 * by the SMs that the neighbour leaves free, by which ones these are, and by how wide the small
 * kernels are; back to back, and at 100 requests a second. And what a partition costs. Each
 * question_ function is run in a process of its own.
 */
#include "driver_facts.h"

#include <malloc.h>

#define GROUPS_MAX   128
#define KERNELS      20
#define SMALL_ROUNDS 200
#define WIDE_ROUNDS  280
#define WIDE_THREADS 256
#define SM_BLOCKS    8  /* of a wide kernel at a time */
#define WIDE_WAVES   40 /* 15 us each */
#define REQUESTS     600
#define DONE_WORD    64
#define GREENS_MAX   30

static CUdevResource all_sms, groups[GROUPS_MAX];
static unsigned group_count, sm_count;
static double neighbour_alone;

/* ------------------------------------------------------------------ partitions */

enum choice { CHOICE_LAST, CHOICE_FIRST, CHOICE_SPREAD };

/* A green context of `free_sms` SMs chosen so, and one of all the others. */
static CUresult partitions_make(unsigned free_sms, enum choice choice, CUgreenCtx *free_part,
                                CUgreenCtx *rest)
{
    static CUdevResource a[GROUPS_MAX], b[GROUPS_MAX];
    unsigned want = free_sms / 2, na = 0, nb = 0;
    CUdevResourceDesc desc;

    for (unsigned i = 0; i < group_count; i++) {
        int in = choice == CHOICE_LAST    ? i >= group_count - want
                 : choice == CHOICE_FIRST ? i < want
                                          : (i + 1) * want / group_count > i * want / group_count;

        if (in)
            a[na++] = groups[i];
        else
            b[nb++] = groups[i];
    }
    *free_part = NULL;
    if (na) {
        CK(cuDevResourceGenerateDesc(&desc, a, na));
        CK(cuGreenCtxCreate(free_part, desc, device, CU_GREEN_CTX_DEFAULT_STREAM));
    }
    CK(cuDevResourceGenerateDesc(&desc, b, nb));
    return cuGreenCtxCreate(rest, desc, device, CU_GREEN_CTX_DEFAULT_STREAM);
}

static CUresult neighbours_open(void)
{
    CK(chains_open());
    CK(cuDeviceGetDevResource(device, &all_sms, CU_DEV_RESOURCE_TYPE_SM));
    sm_count = all_sms.sm.smCount;
    group_count = GROUPS_MAX;
    return cuDevSmResourceSplitByCount(groups, &group_count, &all_sms, NULL,
                                       CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2);
}

/* ------------------------------------------------------------------ the neighbour */

static struct neighbour {
    CUstream stream;
    pthread_t thread;
    _Atomic int stop;
    _Atomic uint64_t done;
    double since;
    CUresult result;
} nb;

static CUresult wide_launch(CUstream stream)
{
    struct {
        uint64_t a, b, c;
        uint32_t d;
    } v = {out + 256, 0, 0, WIDE_ROUNDS};
    void *p[] = {&v.a, &v.b, &v.c, &v.d};

    return cuLaunchKernel(chains, sm_count * SM_BLOCKS * WIDE_WAVES, 1, 1, WIDE_THREADS, 1, 1, 0,
                          stream, p, NULL);
}

/* Two kernels are always queued. */
static void *neighbour_run(void *unused)
{
    CUevent event[2];

    (void)unused;
    cuCtxSetCurrent(context);
    for (int i = 0; i < 2 && !nb.result; i++) {
        nb.result = cuEventCreate(&event[i], CU_EVENT_DISABLE_TIMING);
        if (!nb.result)
            nb.result = wide_launch(nb.stream);
        if (!nb.result)
            nb.result = cuEventRecord(event[i], nb.stream);
    }
    for (int i = 0; !nb.stop && !nb.result; i ^= 1) {
        while (cuEventQuery(event[i]) == CUDA_ERROR_NOT_READY)
            usleep(20);
        nb.done++;
        nb.result = wide_launch(nb.stream);
        if (!nb.result)
            nb.result = cuEventRecord(event[i], nb.stream);
    }
    cuStreamSynchronize(nb.stream);
    return NULL;
}

static CUresult neighbour_start(CUgreenCtx green)
{
    nb.stop = 0;
    nb.result = CUDA_SUCCESS;
    if (green)
        CK(cuGreenCtxStreamCreate(&nb.stream, green, CU_STREAM_NON_BLOCKING, 0));
    else
        CK(cuStreamCreateWithPriority(&nb.stream, CU_STREAM_NON_BLOCKING, 0));
    pthread_create(&nb.thread, NULL, neighbour_run, NULL);
    usleep(20000);
    nb.done = 0;
    nb.since = now_us();
    return CUDA_SUCCESS;
}

/* Kernels a second. */
static double neighbour_stop(void)
{
    double rate = nb.done / (now_us() - nb.since) * 1e6;

    nb.stop = 1;
    pthread_join(nb.thread, NULL);
    if (nb.result)
        failed("the neighbour", nb.result, __LINE__);
    cuStreamDestroy(nb.stream);
    return rate;
}

/* ------------------------------------------------------------------ requests */

#define PARTS_MAX 8

/* How a request's kernels are given to the device: in graphs of so many, some with one more small
 * kernel behind it, as a server does that signals the end of each. The last graph ends with a
 * write.
 */
struct split {
    const char *name;
    int parts, length[PARTS_MAX], told[PARTS_MAX];
};
static const struct split whole = {"", 1, {KERNELS}, {0}};

struct requests {
    int parts;
    CUgraphExec exec[PARTS_MAX];
    CUgraph graph[PARTS_MAX];
    CUstream stream;
};

/* One graph of the request; its kernels in `green`, or anywhere. */
static CUresult part_make(struct requests *r, const struct split *split, int part, unsigned blocks,
                          CUgreenCtx green, int priority)
{
    struct {
        uint64_t a, b, c;
        uint32_t d;
    } v = {out, 0, 0, SMALL_ROUNDS};
    void *p[] = {&v.a, &v.b, &v.c, &v.d};
    CUDA_KERNEL_NODE_PARAMS k = {.func = chains,
                                 .gridDimX = blocks,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 128,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = p};
    CUlaunchAttributeValue value = {.priority = priority};
    CUstreamBatchMemOpParams op = {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64,
                                                  .address = words_dev + 8 * DONE_WORD,
                                                  .value64 = 1,
                                                  .flags = CU_STREAM_WRITE_VALUE_DEFAULT}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS w = {.ctx = context, .count = 1, .paramArray = &op};
    CUgraphNode node[KERNELS + 1], write;
    CUcontext current = context;
    int nodes = split->length[part] + split->told[part];

    CK(cuGraphCreate(&r->graph[part], 0));
    if (green)
        CK(cuCtxFromGreenCtx(&current, green));
    CK(cuCtxSetCurrent(current));
    for (int i = 0; i < nodes; i++) {
        if (i == split->length[part]) {
            k.gridDimX = k.blockDimX = 1;
            v.d = 1;
        }
        CK(cuGraphAddKernelNode(&node[i], r->graph[part], i ? &node[i - 1] : NULL, i > 0, &k));
        CK(cuGraphKernelNodeSetAttribute(node[i], CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    }
    CK(cuCtxSetCurrent(context));
    if (part == split->parts - 1)
        CK(cuGraphAddBatchMemOpNode(&write, r->graph[part], &node[nodes - 1], 1, &w));
    return cuGraphInstantiate(&r->exec[part], r->graph[part], 0);
}

static CUresult requests_make(struct requests *r, const struct split *split, unsigned blocks,
                              CUgreenCtx green)
{
    int low, high;

    CK(cuCtxGetStreamPriorityRange(&low, &high));
    r->parts = split->parts;
    for (int i = 0; i < split->parts; i++)
        CK(part_make(r, split, i, blocks, green, high));
    return cuStreamCreateWithPriority(&r->stream, CU_STREAM_NON_BLOCKING, high);
}

static void requests_free(struct requests *r)
{
    for (int i = 0; i < r->parts; i++) {
        cuGraphExecDestroy(r->exec[i]);
        cuGraphDestroy(r->graph[i]);
    }
    cuStreamDestroy(r->stream);
}

enum pace { PACE_NONE, PACE_SLEEP, PACE_SPIN };

static CUresult request_time(struct requests *r, double *us)
{
    double start = now_us();

    words[DONE_WORD] = 0;
    for (int i = 0; i < r->parts; i++)
        CK(cuGraphLaunch(r->exec[i], r->stream));
    word_wait(DONE_WORD, 1);
    *us = now_us() - start;
    return CUDA_SUCCESS;
}

static CUresult requests_run(struct requests *r, int n, enum pace pace, unsigned gap_us,
                             double *samples)
{
    for (int i = 0; i < n; i++) {
        if (pace == PACE_SLEEP)
            usleep(gap_us);
        for (double until = now_us() + gap_us; pace == PACE_SPIN && now_us() < until;)
            ;
        CK(request_time(r, &samples[i]));
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 10: back to back */

/* `own`: requests in a partition of the free SMs too, else anywhere. */
static CUresult beside(const struct split *split, unsigned blocks, unsigned free_sms,
                       enum choice choice, int own, enum pace pace, unsigned gap_us, int n)
{
    static const char *const choices[] = {"last", "first", "spread"};
    double samples[REQUESTS];
    CUgreenCtx free_part = NULL, rest = NULL;
    struct requests r;
    char name[96];
    double rate;

    if (free_sms)
        CK(partitions_make(free_sms, choice, &free_part, &rest));
    CK(requests_make(&r, split, blocks, own ? free_part : NULL));
    CK(neighbour_start(rest));
    CK(requests_run(&r, n, pace, gap_us, samples));
    rate = neighbour_stop();
    snprintf(name, sizeof(name), "%2u blocks, %2u SMs free (%s)%s, neighbour %5.1f%% %s", blocks,
             free_sms, choices[choice], own ? ", in these" : "", 100 * rate / neighbour_alone,
             split->name);
    print_times(name, samples, n);
    requests_free(&r);
    if (free_part)
        CK(cuGreenCtxDestroy(free_part));
    if (rest)
        CK(cuGreenCtxDestroy(rest));
    return CUDA_SUCCESS;
}

static CUresult alone(const struct split *split, unsigned blocks, enum pace pace, unsigned gap_us,
                      int n)
{
    double samples[REQUESTS];
    struct requests r;
    char name[96];

    CK(requests_make(&r, split, blocks, NULL));
    CK(requests_run(&r, n, pace, gap_us, samples));
    snprintf(name, sizeof(name), "%2u blocks, alone%s %s", blocks,
             pace == PACE_SLEEP  ? ", after sleeping"
             : pace == PACE_SPIN ? ", after spinning"
                                 : "",
             split->name);
    print_times(name, samples, n);
    requests_free(&r);
    return CUDA_SUCCESS;
}

static CUresult neighbour_measure(void)
{
    CK(neighbour_start(NULL));
    usleep(300000);
    neighbour_alone = neighbour_stop();
    printf("  the neighbour alone: %.1f us a kernel\n", 1e6 / neighbour_alone);
    return CUDA_SUCCESS;
}

CUresult question_request(void)
{
    static const unsigned widths[] = {1, 8, 16, 24, 32, 64};
    static const unsigned sms[] = {0, 2, 4, 8, 12, 24, 32};
    static const struct split splits[] = {
        {"(1+19)", 2, {1, 19}, {0}},
        {"(1+16+2+1)", 4, {1, 16, 2, 1}, {0, 0, 0, 1}},
        {"(1+16+2+1, each told)", 4, {1, 16, 2, 1}, {1, 1, 1, 1}},
        {"(1+8+8+1+1+1, some told)", 6, {1, 8, 8, 1, 1, 1}, {0, 1, 1, 0, 0, 1}},
    };

    CK(neighbours_open());
    CK(neighbour_measure());
    for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
        CK(alone(&whole, widths[i], PACE_NONE, 0, 50));
        CK(alone(&whole, widths[i], PACE_NONE, 0, REQUESTS));
        CK(beside(&whole, widths[i], 16, CHOICE_LAST, 0, PACE_NONE, 0, REQUESTS));
        CK(beside(&whole, widths[i], 16, CHOICE_FIRST, 0, PACE_NONE, 0, REQUESTS));
        CK(beside(&whole, widths[i], 16, CHOICE_SPREAD, 0, PACE_NONE, 0, REQUESTS));
        CK(beside(&whole, widths[i], 16, CHOICE_SPREAD, 1, PACE_NONE, 0, REQUESTS));
    }
    for (size_t i = 0; i < sizeof(splits) / sizeof(*splits); i++) {
        for (unsigned blocks = 16; blocks <= 32; blocks += 16) {
            CK(alone(&splits[i], blocks, PACE_NONE, 0, REQUESTS));
            CK(beside(&splits[i], blocks, 16, CHOICE_SPREAD, 0, PACE_NONE, 0, REQUESTS));
        }
    }
    for (size_t i = 0; i < sizeof(sms) / sizeof(*sms); i++) {
        CK(beside(&whole, 16, sms[i], CHOICE_SPREAD, 0, PACE_NONE, 0, REQUESTS));
        if (sms[i])
            CK(beside(&whole, 16, sms[i], CHOICE_SPREAD, 1, PACE_NONE, 0, REQUESTS));
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 11: now and then */

CUresult question_request_paced(void)
{
    static const unsigned sms[] = {0, 2, 4, 8, 16};
    static const unsigned gaps[] = {300, 1000, 3000, 10000, 30000};

    CK(neighbours_open());
    CK(neighbour_measure());
    for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
        printf("  every %u us\n", gaps[i]);
        CK(alone(&whole, 16, PACE_SLEEP, gaps[i], 60));
        CK(alone(&whole, 16, PACE_SPIN, gaps[i], 60));
    }
    for (size_t i = 0; i < sizeof(sms) / sizeof(*sms); i++) {
        CK(beside(&whole, 16, sms[i], CHOICE_SPREAD, 0, PACE_SLEEP, 10000, 60));
        if (sms[i])
            CK(beside(&whole, 16, sms[i], CHOICE_SPREAD, 1, PACE_SLEEP, 10000, 60));
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 15: what a partition costs */

CUresult question_partition(void)
{
    CUdevResourceDesc desc;
    CUgreenCtx green;
    CUcontext from;
    CUstream aside;
    CUevent event;
    struct requests r;
    double t[8];

    CK(neighbours_open());
    for (int i = 0; i < 12; i++) {
        t[0] = now_us();
        CK(cuDevResourceGenerateDesc(&desc, groups + i, 4));
        CK(cuGreenCtxCreate(&green, desc, device, CU_GREEN_CTX_DEFAULT_STREAM));
        t[1] = now_us();
        CK(cuCtxFromGreenCtx(&from, green));
        t[2] = now_us();
        CK(requests_make(&r, &whole, 8, green));
        t[3] = now_us();
        CK(request_time(&r, &t[4]));
        CK(cuGreenCtxStreamCreate(&aside, green, CU_STREAM_NON_BLOCKING, 0));
        t[5] = now_us();
        CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        t[6] = now_us();
        printf(
            "  green context %7.1f us, its context %5.1f, a graph %6.1f, first run %6.1f, a stream "
            "%6.1f, an event %4.1f\n",
            t[1] - t[0], t[2] - t[1], t[3] - t[2], t[4], t[5] - t[3] - t[4], t[6] - t[5]);
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 16: carve-outs by turns */

/* A small kernel and one of a single thread by turns, on 16 SMs, with the neighbour on the rest. */
CUresult question_carve(void)
{
    static const int percents[] = {-1, 0, 8, 14, 28};
    static const struct split told = {"(1+16+2+1, each told)", 4, {1, 16, 2, 1}, {1, 1, 1, 1}};

    CK(neighbours_open());
    CK(neighbour_measure());
    for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++) {
        CK(carve(chains, percents[i]));
        printf("  carve-out %d %%\n", percents[i]);
        for (unsigned blocks = 16; blocks <= 32; blocks += 16) {
            CK(alone(&told, blocks, PACE_NONE, 0, REQUESTS));
            CK(beside(&told, blocks, 16, CHOICE_LAST, 0, PACE_NONE, 0, REQUESTS));
            CK(beside(&told, blocks, 32, CHOICE_LAST, 0, PACE_NONE, 0, REQUESTS));
        }
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 18: green contexts by number
 */

static size_t heap_used(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* `n` green contexts of `wide` groups each, made one after the other and then destroyed. */
static CUresult greens_make(const char *what, unsigned n, unsigned wide, int rounds)
{
    CUgreenCtx green[GREENS_MAX];
    CUdevResourceDesc desc;

    for (int round = 0; round < rounds; round++) {
        double described[GREENS_MAX], made[GREENS_MAX], start;
        size_t had, left, total, heap = heap_used();

        CK(cuMemGetInfo(&had, &total));

        for (unsigned i = 0; i < n; i++) {
            start = now_us();
            CK(cuDevResourceGenerateDesc(&desc, groups + i % (group_count - wide + 1), wide));
            described[i] = now_us() - start;
            start = now_us();
            CK(cuGreenCtxCreate(&green[i], desc, device, CU_GREEN_CTX_DEFAULT_STREAM));
            made[i] = now_us() - start;
        }
        double first = made[0], destroyed;
        start = now_us();
        for (unsigned i = 0; i < n; i++)
            CK(cuGreenCtxDestroy(green[i]));
        destroyed = (now_us() - start) / n;
        double median = quantile(made, (int)n, 0.5);
        printf(
            "  %-6s %2u of %2u groups: described in %5.1f us, the first made in %6.1f, the median "
            "%6.1f, the slowest %6.1f; destroyed in %4.1f each\n",
            what, n, wide, quantile(described, (int)n, 0.5), first, median, made[n - 1], destroyed);
        CK(cuMemGetInfo(&left, &total));
        printf("         then missing, of each: %.2f MiB of the device, %.2f MiB of the heap\n",
               ((double)had - (double)left) / n / (1 << 20),
               ((double)heap_used() - (double)heap) / n / (1 << 20));
    }
    return CUDA_SUCCESS;
}

CUresult question_green(void)
{
    CK(neighbours_open());
    CK(greens_make("fresh", 30, 4, 1));
    CK(greens_make("again", 30, 4, 2));
    CK(greens_make("narrow", 15, 1, 1));
    CK(greens_make("wide", 15, 33, 1));
    CK(greens_make("wider", 15, 60, 1));
    return greens_make("single", 1, 4, 4);
}

/* ---------------------------------------- 19: requests within the SMs that are kept free, or not
 */

CUresult question_confined(void)
{
    static const unsigned sms[] = {8, 10, 12, 14, 16};

    CK(neighbours_open());
    CK(neighbour_measure());
    for (unsigned blocks = 16; blocks <= 32; blocks += 16) {
        CK(alone(&whole, blocks, PACE_NONE, 0, REQUESTS));
        for (size_t i = 0; i < sizeof(sms) / sizeof(*sms); i++) {
            CK(beside(&whole, blocks, sms[i], CHOICE_LAST, 0, PACE_NONE, 0, REQUESTS));
            CK(beside(&whole, blocks, sms[i], CHOICE_LAST, 1, PACE_NONE, 0, REQUESTS));
        }
        CK(alone(&whole, blocks, PACE_NONE, 0, REQUESTS));
    }
    return CUDA_SUCCESS;
}
