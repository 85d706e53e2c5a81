/*
 * A context that a fault has ended: whether another stream's kernel still runs when the error is
 * seen, and how long its process takes to end. The question_ function is run in a process of its
 * own, which makes no context: its children do.
 */
#include "driver_facts.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define NOWHERE   256 /* an address at which nothing is mapped */
#define RUN_NS    1000000000ull
#define SETTLE_US 50000

/* count: adds to the word at b for a ns. stray: stores at a. */
static const char ptx_fault[] = PTX_HEAD
    ".visible .entry count" PTX_PARAMS "{ .reg .u64 %t<6>; .reg .pred %p;\n"
    "ld.param.u64 %t0, [a]; ld.param.u64 %t1, [b]; mov.u64 %t2, %globaltimer; mov.u64 %t4, 0;\n"
    "again: add.u64 %t4, %t4, 1; st.volatile.global.u64 [%t1], %t4; membar.sys;\n"
    "mov.u64 %t3, %globaltimer; sub.u64 %t3, %t3, %t2; setp.lt.u64 %p, %t3, %t0; @%p bra again;\n"
    "ret; }\n"
    ".visible .entry stray" PTX_PARAMS "{ .reg .u64 %t; ld.param.u64 %t, [a];\n"
    "st.global.u64 [%t], %t; ret; }\n";

static CUfunction count_kernel, stray;

static CUresult fault_open(void)
{
    CUmodule module;

    CK(context_open(CU_CTX_SCHED_SPIN));
    CK(cuModuleLoadData(&module, ptx_fault));
    CK(cuModuleGetFunction(&count_kernel, module, "count"));
    return cuModuleGetFunction(&stray, module, "stray");
}

static CUresult count_start(CUstream stream)
{
    arg.a = RUN_NS;
    arg.b = words_dev;
    CK(kernel_launch(count_kernel, stream));
    while (!atomic_load(&words[0]))
        ;
    return CUDA_SUCCESS;
}

/* Faults beside a kernel that counts, or alone. */
static CUresult fault_seen(int beside)
{
    CUstream counting, faulting;
    uint64_t first, second;
    CUresult result;
    double t0, t1;

    CK(fault_open());
    CK(stream_new(&counting));
    CK(stream_new(&faulting));
    if (beside)
        CK(count_start(counting));
    t0 = now_us();
    arg.a = NOWHERE;
    CK(kernel_launch(stray, faulting));
    while ((result = cuStreamQuery(faulting)) == CUDA_ERROR_NOT_READY)
        ;
    t1 = now_us();
    first = atomic_load(&words[0]);
    usleep(SETTLE_US);
    second = atomic_load(&words[0]);
    printf("  fault %s: error %d after %8.1f ms; the other kernel counted to %llu then, "
           "and %llu further in 50 ms\n",
           beside ? "beside a kernel of 1 s" : "alone                 ", result, (t1 - t0) * 1e-3,
           (unsigned long long)first, (unsigned long long)(second - first));
    return CUDA_SUCCESS;
}

#define COPY    (2 * GIB)
#define COPIES  8 /* 300 ms and more */
#define SAMPLES 4096

static void samples_take(const unsigned char *host, unsigned char *samples)
{
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = *(const volatile unsigned char *)(host + i * (COPY / SAMPLES));
}

/* Faults beside copies in a row, each of other bytes. */
static CUresult fault_beside_copies(int unused)
{
    static unsigned char first[SAMPLES], second[SAMPLES], third[SAMPLES];
    CUstream copying, faulting;
    CUdeviceptr memory;
    CUresult result;
    int later = 0, more = 0;
    void *host;
    double t0, t1;

    (void)unused;
    CK(fault_open());
    CK(stream_new(&copying));
    CK(stream_new(&faulting));
    CK(cuMemAlloc(&memory, COPY));
    CK(cuMemAllocHost(&host, COPY));
    memset(host, 0xff, COPY);
    for (int i = 0; i < COPIES; i++) {
        CK(cuMemsetD8Async(memory, (unsigned char)i, COPY, copying));
        CK(cuMemcpyDtoHAsync(host, memory, COPY, copying));
    }
    while (*(volatile unsigned char *)host == 0xff) /* until the first copy is under way */
        ;
    t0 = now_us();
    arg.a = NOWHERE;
    CK(kernel_launch(stray, faulting));
    while ((result = cuStreamQuery(faulting)) == CUDA_ERROR_NOT_READY)
        ;
    t1 = now_us();
    samples_take(host, first);
    usleep(SETTLE_US);
    samples_take(host, second);
    usleep(10 * SETTLE_US);
    samples_take(host, third);
    for (int i = 0; i < SAMPLES; i++) {
        later += first[i] != second[i];
        more += second[i] != third[i];
    }
    printf(
        "  fault beside %d copies of 2 GiB: error %d after %8.1f ms; the first place has copy %d "
        "then;\n"
        "    of 4096 places %d changed within 50 ms after it, and %d within 500 ms more\n",
        COPIES, result, (t1 - t0) * 1e-3, first[0], later, more);
    return CUDA_SUCCESS;
}

enum state { AT_REST, FAULTED, RUNNING };

/* Comes into that state with so much memory, says so, and waits for the end. */
static void dying(enum state state, uint64_t memory, int told)
{
    CUstream stream;
    CUdeviceptr at;

    if (fault_open() || stream_new(&stream) || (memory && cuMemAlloc(&at, memory)))
        _exit(1);
    if (state == RUNNING && count_start(stream))
        _exit(1);
    if (state == FAULTED) {
        arg.a = NOWHERE;
        if (kernel_launch(stray, stream))
            _exit(1);
        while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
            ;
    }
    if (write(told, "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static void reap(enum state state, const char *what, uint64_t memory)
{
    int ends[2];
    char byte;
    double t0;
    pid_t pid;

    if (pipe(ends))
        return;
    fflush(stdout);
    pid = fork();
    if (!pid)
        dying(state, memory, ends[1]);
    close(ends[1]);
    if (pid > 0 && read(ends[0], &byte, 1) == 1) {
        t0 = now_us();
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        printf("  SIGKILL of a process %-32s with %2llu GiB: reaped after %7.1f ms\n", what,
               (unsigned long long)(memory / GIB), (now_us() - t0) * 1e-3);
    } else {
        printf("  FAILED: a process %s\n", what);
    }
    close(ends[0]);
}

static void in_child(CUresult (*ask)(int), int how)
{
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (!pid) {
        ask(how);
        fflush(stdout);
        _exit(0);
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

CUresult question_fault(void)
{
    in_child(fault_seen, 0);
    in_child(fault_seen, 1);
    in_child(fault_beside_copies, 0);
    for (uint64_t memory = 0; memory <= 16 * GIB; memory += 16 * GIB) {
        reap(AT_REST, "at rest", memory);
        reap(FAULTED, "whose context a fault has ended", memory);
        reap(RUNNING, "within a kernel of 1 s", memory);
    }
    return CUDA_SUCCESS;
}
