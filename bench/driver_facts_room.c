/*
 * What waits for a kernel that runs: first memsets and copies, other kernels, and the streams,
 * graphs and events for which the driver must make room. Each question_ function is run in a
 * process of its own.
 */
#include "driver_facts.h"

#include <sys/wait.h>

#define ROUNDS 200

static unsigned sm_count;

static CUresult room_open(void)
{
    int sms;

    CK(chains_open());
    CK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    sm_count = (unsigned)sms;
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

    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
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

/* ------------------------------------------------------------------ 13: room beside a kernel */

/* Kernels that wait for a word. */
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

/* One thread of each block looks at the word, or every thread does. */
static CUresult waits_open(CUfunction *one, CUfunction *all, CUdeviceptr *flag)
{
    CUmodule module;
    void *cubin;

    CK(room_open());
    CK(cubin_new(ptx_wait, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(one, module, "one"));
    CK(cuModuleGetFunction(all, module, "all"));
    return cuMemAlloc(flag, 256);
}

static CUresult room_ask(CUfunction f, const char *name, unsigned blocks, unsigned threads,
                         CUdeviceptr flag, CUstream held, CUstream other, CUstream third)
{
    struct {
        uint64_t a, b, c;
        uint32_t d;
    } v = {flag, 0, 0, 1}, w = {out, 0, 0, ROUNDS};
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
    CUdeviceptr flag;

    CK(waits_open(&one, &all, &flag));
    CK(stream_new(&held));
    CK(stream_new(&other));
    CK(stream_new(&third));
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

/* ------------------------------------------------------------------ 17: divisions of an SM */

#define DIVISION_US 3000.0 /* who has not run by then waits for the first kernel's end */

/* A block: its threads and KiB of dynamic shared memory; and the share of an SM that its kernel
 * asks for. */
struct division {
    unsigned threads, smem_kib;
    int percent;
};

/* Whether one block of the second runs beside the first kernel, which has a block on every SM. */
static CUresult division_ask(CUfunction wait, const struct division *first,
                             const struct division *second, CUdeviceptr flag,
                             const CUstream stream[3], int *beside)
{
    struct {
        uint64_t a, b, c;
        uint32_t d;
    } v = {flag, 0, 0, 1}, w = {out, 0, 0, 1};
    void *p[] = {&v.a, &v.b, &v.c, &v.d}, *q[] = {&w.a, &w.b, &w.c, &w.d};
    double start;

    CK(carve(wait, first->percent));
    CK(carve(chains, second->percent));
    CK(cuMemsetD32Async(flag, 0, 1, stream[2]));
    CK(cuStreamSynchronize(stream[2]));
    CK(cuLaunchKernel(wait, sm_count, 1, 1, first->threads, 1, 1, first->smem_kib << 10, stream[0],
                      p, NULL));
    usleep(200);
    start = now_us();
    CK(cuLaunchKernel(chains, 1, 1, 1, second->threads, 1, 1, second->smem_kib << 10, stream[1], q,
                      NULL));
    do
        *beside = cuStreamQuery(stream[1]) == CUDA_SUCCESS;
    while (!*beside && now_us() - start < DIVISION_US);
    CK(cuMemsetD8Async(flag, 1, 4, stream[2]));
    return cuCtxSynchronize();
}

CUresult question_divisions(void)
{
    static const struct division firsts[] = {
        {1, 0, -1},     {1, 0, 0},      {32, 0, 0},      {128, 0, -1},  {128, 0, 0},
        {128, 0, 100},  {256, 0, -1},   {256, 0, 0},     {512, 0, -1},  {512, 0, 0},
        {768, 0, -1},   {768, 0, 0},    {1024, 0, -1},   {1024, 0, 0},  {1024, 0, 4},
        {1024, 0, 8},   {1024, 0, 14},  {1024, 0, 28},   {1024, 0, 50}, {1024, 0, 100},
        {128, 8, -1},   {256, 16, -1},  {256, 48, -1},   {512, 48, -1}, {1024, 16, -1},
        {1024, 48, -1}, {256, 100, -1}, {1024, 100, -1}, {256, 200, -1}};
    static const struct division seconds[] = {
        {1, 0, -1},    {1, 0, 0},     {1, 0, 4},      {1, 0, 8},    {1, 0, 14},    {1, 0, 28},
        {1, 0, 50},    {1, 0, 100},   {128, 0, -1},   {128, 0, 0},  {128, 0, 8},   {128, 0, 14},
        {128, 0, 28},  {128, 0, 50},  {128, 0, 100},  {256, 0, -1}, {256, 0, 0},   {256, 0, 14},
        {256, 0, 100}, {512, 0, -1},  {512, 0, 0},    {512, 0, 14}, {512, 0, 100}, {1024, 0, -1},
        {1024, 0, 0},  {1024, 0, 14}, {1024, 0, 100}, {128, 8, -1}, {256, 16, -1}};
    CUstream stream[3];
    CUfunction wait, all;
    CUdeviceptr flag;

    CK(waits_open(&wait, &all, &flag));
    for (int i = 0; i < 3; i++)
        CK(stream_new(&stream[i]));
    CK(cuFuncSetAttribute(wait, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 208 << 10));
    CK(cuFuncSetAttribute(chains, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 208 << 10));
    printf(
        "  threads/KiB of shared memory/share of the SM asked for: down a kernel with a block on\n"
        "  every SM, across one block of another: + it runs beside, . it waits for the end\n%14s",
        "");
    for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++)
        printf(" %u/%u/%d", seconds[i].threads, seconds[i].smem_kib, seconds[i].percent);
    printf("\n");
    for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
        printf("  %4u/%3u/%3d ", firsts[i].threads, firsts[i].smem_kib, firsts[i].percent);
        for (size_t j = 0; j < sizeof(seconds) / sizeof(*seconds); j++) {
            int beside;

            CK(division_ask(wait, &firsts[i], &seconds[j], flag, stream, &beside));
            printf(" %c", beside ? '+' : '.');
        }
        printf("\n");
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 14: streams beside a kernel */

/* A kernel of 30 ms in the stream, after all that the device had; `turn`: another each time. */
static CUresult hold(CUstream held, uint32_t turn)
{
    CK(cuCtxSynchronize());
    arg.a = 30000000;
    arg.b = words_dev;
    arg.c = words_dev + 8;
    arg.d = turn;
    CK(kernel_launch(spin, held));
    word_wait(0, turn);
    return CUDA_SUCCESS;
}

CUresult question_stream_stalls(void)
{
    enum { STREAMS = 400 };
    static CUstream stream[STREAMS];
    CUstream held;

    CK(room_open());
    CK(stream_new(&held));
    CK(kernel_launch(nop, held));
    CK(cuCtxSynchronize());
    for (int i = 0; i < STREAMS; i++) {
        double start, took;

        if (i % 8 == 0)
            CK(hold(held, (uint32_t)i + 1));
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

        if (i % 64 == 0)
            CK(hold(held, (uint32_t)i + 1));
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
