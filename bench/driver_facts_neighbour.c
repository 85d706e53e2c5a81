/*
 * What a request of 20 small kernels notices of a neighbour that fills the device, in one context:
 * by the SMs that the neighbour leaves free, by which ones these are, and by how wide the small
 * kernels are; back to back, and at 100 requests a second. And which first memsets and copies wait
 * for a kernel that runs. Each question_ function is run in a process of its own.
 */
#include "driver_facts.h"

#include <sys/wait.h>

#define GROUPS_MAX   128
#define KERNELS      20
#define SMALL_ROUNDS 200
#define WIDE_ROUNDS  280
#define WIDE_THREADS 256
#define SM_BLOCKS    8  /* of a wide kernel at a time */
#define WIDE_WAVES   40 /* 15 us each */
#define REQUESTS     600
#define DONE_WORD    64

/* As bench/lib/kernels.c has it. */
static const char ptx_chains[] =
    PTX_HEAD ".visible .entry chains" PTX_PARAMS "{\n"
             ".reg .u64 %t; .reg .u32 %n; .reg .pred %p; .reg .f32 %x<4>; .reg .f32 %m, %k;\n"
             "ld.param.u64 %t, [a]; ld.param.u32 %n, [d];\n"
             "mov.f32 %x0, 0f3F800000; mov.f32 %x1, 0f40000000; mov.f32 %x2, 0f40400000;\n"
             "mov.f32 %x3, 0f40800000; mov.f32 %m, 0f3F7FBE77; mov.f32 %k, 0f3A83126F;\n"
             "again:\n"
             "fma.rn.f32 %x0, %x0, %m, %k; fma.rn.f32 %x1, %x1, %m, %k;\n"
             "fma.rn.f32 %x2, %x2, %m, %k; fma.rn.f32 %x3, %x3, %m, %k;\n"
             "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra again;\n"
             "add.f32 %x0, %x0, %x1; add.f32 %x2, %x2, %x3; add.f32 %x0, %x0, %x2;\n"
             "st.global.f32 [%t], %x0; ret; }\n";

static CUfunction chains;
static CUdeviceptr out;
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
    CUmodule module;
    void *cubin;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    CK(context_open(CU_CTX_SCHED_SPIN));
    CK(cubin_new(ptx_chains, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&chains, module, "chains"));
    CK(cuMemAlloc(&out, 4096));
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
 * kernel behind it, as a server does that tells the end of each. The last graph ends with a write.
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

/* ------------------------------------------------------------------ 12: first memsets and copies
 */

static const struct first {
    const char *name;
    unsigned offset, bytes;
    int copy;
} firsts[] = {
    {"cuMemsetD8Async of 4 bytes, aligned", 0, 4, 0},
    {"cuMemsetD8Async of 1 byte", 0, 1, 0},
    {"cuMemsetD8Async of 2 bytes", 0, 2, 0},
    {"cuMemsetD8Async of 100 bytes from an odd address", 1, 100, 0},
    {"cuMemsetD8Async of 65,536 bytes", 0, 65536, 0},
    {"cuMemsetD8Async of 65,537 bytes from an odd address", 1, 65537, 0},
    {"cuMemcpyDtoDAsync of 4 bytes", 0, 4, 1},
    {"cuMemcpyDtoDAsync of 101 bytes from an odd address", 1, 101, 1},
    {"cuMemcpyDtoDAsync of 1 MiB", 0, 1 << 20, 1},
};

/* In a process of its own: `warm` others have been called before, on an idle device. */
static CUresult first_call(const struct first *what, int warm)
{
    CUstream held, other;
    CUdeviceptr memory;
    CUevent event;
    double t0, called, done;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    CK(context_open(CU_CTX_SCHED_SPIN));
    CK(stream_new(&held));
    CK(stream_new(&other));
    CK(cuMemAlloc(&memory, 4 << 20));
    CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    if (warm)
        CK(cuMemsetD8Async(memory, 0, 4, other));
    CK(kernel_launch(nop, other));
    CK(cuCtxSynchronize());
    arg.a = 300000000;
    arg.b = words_dev;
    arg.c = words_dev + 8;
    arg.d = 1;
    CK(kernel_launch(spin, held));
    word_wait(0, 1);
    t0 = now_us();
    if (what->copy)
        CK(cuMemcpyDtoDAsync(memory + what->offset, memory + (2 << 20), what->bytes, other));
    else
        CK(cuMemsetD8Async(memory + what->offset, 1, what->bytes, other));
    called = now_us() - t0;
    CK(cuEventRecord(event, other));
    while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
        ;
    done = now_us() - t0;
    printf("  %-52s %-18s returned after %9.1f us, done after %9.1f us\n", what->name,
           warm ? "(after 4 bytes)" : "", called, done);
    return cuCtxSynchronize();
}

CUresult question_firsts(void)
{
    for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
        for (int warm = 0; warm < 2; warm++) {
            int status;
            pid_t child;

            fflush(stdout);
            child = fork();
            if (!child) {
                CUresult result = first_call(&firsts[i], warm);

                fflush(stdout);
                _exit(result != CUDA_SUCCESS);
            }
            waitpid(child, &status, 0);
        }
    }
    return CUDA_SUCCESS;
}

/* A kernel's shared memory carve-out, in percent; -1: as the driver likes. */
static CUresult carve(CUfunction f, int percent)
{
    return percent < 0
               ? CUDA_SUCCESS
               : cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent);
}

/* ------------------------------------------------------------------ 13: room beside a kernel */

/* Every thread looks at the word, or one of each block does and the others wait for it. */
static const char ptx_wait[] =
    PTX_HEAD ".visible .entry all" PTX_PARAMS "{\n"
             ".reg .u64 %t; .reg .u32 %n; .reg .pred %p;\n"
             "ld.param.u64 %t, [a];\n"
             "again: ld.volatile.global.u32 %n, [%t]; setp.eq.u32 %p, %n, 0; @%p bra again;\n"
             "ret; }\n"
             ".visible .entry one" PTX_PARAMS "{\n"
             ".reg .u64 %t; .reg .u32 %n; .reg .pred %p;\n"
             "ld.param.u64 %t, [a]; mov.u32 %n, %tid.x; setp.ne.u32 %p, %n, 0; @%p bra out;\n"
             "again: ld.volatile.global.u32 %n, [%t]; setp.eq.u32 %p, %n, 0; @%p bra again;\n"
             "out: bar.sync 0; ret; }\n";

static CUresult room_ask(CUfunction f, const char *name, unsigned blocks, unsigned threads,
                         CUdeviceptr flag, CUstream held, CUstream other, CUstream third)
{
    struct {
        uint64_t a, b, c;
        uint32_t d;
    } v = {flag, 0, 0, 1}, w = {out, 0, 0, SMALL_ROUNDS};
    void *p[] = {&v.a, &v.b, &v.c, &v.d}, *q[] = {&w.a, &w.b, &w.c, &w.d};
    double start, ran = 0, set;
    CUevent event;

    CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CK(cuMemsetD32Async(flag, 0, 1, third));
    CK(cuStreamSynchronize(third));
    CK(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, held, p, NULL));
    usleep(2000);
    start = now_us();
    CK(cuLaunchKernel(chains, sm_count / 2, 1, 1, 128, 1, 1, 0, other, q, NULL));
    CK(cuEventRecord(event, other));
    while (cuEventQuery(event) == CUDA_ERROR_NOT_READY && now_us() - start < 200000)
        ;
    ran = now_us() - start;
    start = now_us();
    CK(cuMemsetD8Async(flag, 1, 4, third));
    CK(cuEventRecord(event, third));
    while (cuEventQuery(event) == CUDA_ERROR_NOT_READY && now_us() - start < 200000)
        ;
    set = now_us() - start;
    printf("  %-36s %5u blocks of %4u: another kernel took %9.1f us%s, a memset %9.1f us%s\n", name,
           blocks, threads, ran, ran > 199999 ? " (GAVE UP)" : "", set,
           set > 199999 ? " (GAVE UP)" : "");
    if (set > 199999) { /* by the copy engine */
        uint32_t one = 1;

        start = now_us();
        CK(cuStreamCreateWithPriority(&third, CU_STREAM_NON_BLOCKING, 0));
        CK(cuMemcpyHtoDAsync(flag, &one, 4, third));
        CK(cuStreamSynchronize(third));
        printf("    a copy to the word took %9.1f us\n", now_us() - start);
    }
    CK(cuCtxSynchronize());
    return cuEventDestroy(event);
}

CUresult question_room(void)
{
    static const unsigned threads[] = {32, 128, 256, 512, 768, 1024};
    CUstream held, other, third;
    CUfunction all, one;
    CUmodule module;
    CUdeviceptr flag;
    void *cubin;

    CK(neighbours_open());
    CK(cubin_new(ptx_wait, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&all, module, "all"));
    CK(cuModuleGetFunction(&one, module, "one"));
    CK(stream_new(&held));
    CK(stream_new(&other));
    CK(stream_new(&third));
    CK(cuMemAlloc(&flag, 256));
    for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
        CK(room_ask(one, "waiting, one thread of each looks,", sm_count, threads[i], flag, held,
                    other, third));
        CK(room_ask(all, "waiting, every thread looks,", sm_count, threads[i], flag, held, other,
                    third));
    }
    CK(room_ask(all, "waiting, every thread looks,", sm_count / 2, 1024, flag, held, other, third));
    CK(room_ask(all, "waiting, every thread looks,", 1, 1024, flag, held, other, third));
    CK(room_ask(all, "waiting, two an SM,", 2 * sm_count, 512, flag, held, other, third));
    CK(room_ask(all, "waiting, four an SM,", 4 * sm_count, 256, flag, held, other, third));
    for (int percent = 0; percent <= 100; percent += 25) {
        char name[64];

        CK(carve(all, percent));
        CK(carve(chains, percent));
        snprintf(name, sizeof(name), "both with %d %% shared memory,", percent);
        CK(room_ask(all, name, sm_count, 1024, flag, held, other, third));
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 14: streams beside a kernel */

CUresult question_stream_stalls(void)
{
    enum { STREAMS = 400 };
    static CUstream stream[STREAMS];
    CUstream held;

    CK(neighbours_open());
    CK(stream_new(&held));
    CK(kernel_launch(nop, held));
    CK(cuCtxSynchronize());
    for (int i = 0; i < STREAMS; i++) {
        double start, took;

        if (i % 8 == 0) { /* a kernel of 30 ms */
            CK(cuCtxSynchronize());
            arg.a = 30000000;
            arg.b = words_dev;
            arg.c = words_dev + 8;
            arg.d = (uint32_t)i + 1;
            CK(kernel_launch(spin, held));
            word_wait(0, (uint64_t)i + 1);
        }
        start = now_us();
        CK(stream_new(&stream[i]));
        took = now_us() - start;
        if (took > 1000)
            printf("  stream %3d of them took %9.1f us: it waited for the kernel\n", i + 1, took);
    }
    CK(cuCtxSynchronize());
    for (int i = 0; i < STREAMS; i++)
        CK(cuStreamDestroy(stream[i]));
    for (int i = 0; i < 3 * STREAMS; i++) {
        static struct chain chain[3 * STREAMS];
        static CUevent event[3 * STREAMS];
        double start, made, launched, noted;

        if (i % 64 == 0) { /* a kernel of 30 ms */
            CK(cuCtxSynchronize());
            arg.a = 30000000;
            arg.b = words_dev;
            arg.c = words_dev + 8;
            arg.d = (uint32_t)i + 1;
            CK(kernel_launch(spin, held));
            word_wait(0, (uint64_t)i + 1);
        }
        start = now_us();
        CK(chain_new(&chain[i], 8, 1, 1));
        made = now_us();
        CK(cuGraphLaunch(chain[i].exec, NULL));
        launched = now_us();
        CK(cuEventCreate(&event[i], CU_EVENT_DEFAULT));
        noted = now_us();
        if (noted - start > 1000)
            printf("  graph %3d took %9.1f us to make, %9.1f us to launch, an event %9.1f us\n",
                   i + 1, made - start, launched - made, noted - launched);
    }
    return cuCtxSynchronize();
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
