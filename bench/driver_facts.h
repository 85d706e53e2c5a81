/*
 * The kit behind the driver_facts_*.c: clock, statistics, a context, the kernels as PTX, registered
 * System V memory, and graphs of kernels. Each file that includes it has state of its own, which is
 * right because each question opens its own context in its own process. It shares no code with the
 * library, so that its figures stay those of the bare driver.
 */
#ifndef DRIVER_FACTS_H
#define DRIVER_FACTS_H

#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define KIB       (1ull << 10)
#define MIB       (1ull << 20)
#define GIB       (1ull << 30)
#define CHAIN_MAX 64
#define KIT       __attribute__((unused)) static /* not every question needs every tool */

/* Ends the measurement in which a driver call fails, after naming the call; the others go on. */
#define CK(call)                                                                                   \
    do {                                                                                           \
        CUresult ck_ = (call);                                                                     \
        if (ck_ != CUDA_SUCCESS)                                                                   \
            return failed(#call, ck_, __LINE__);                                                   \
    } while (0)

KIT CUresult failed(const char *call, CUresult result, int line)
{
    const char *name = "?";

    cuGetErrorName(result, &name);
    printf("  FAILED line %d: %s: %s\n", line, call, name);
    return result;
}

KIT double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

KIT int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the samples in place. */
KIT double quantile(double *samples, int n, double q)
{
    qsort(samples, n, sizeof(*samples), compare_doubles);
    return samples[(int)(q * (n - 1) + 0.5)];
}

KIT void print_times(const char *name, double *samples, int n)
{
    double p50 = quantile(samples, n, 0.5), p99 = samples[(int)(0.99 * (n - 1))];

    printf("  %-58s p50 %9.2f  p99 %9.2f  max %9.2f us\n", name, p50, p99, samples[n - 1]);
}

/* ------------------------------------------------------------------ kernels */

/* Every kernel takes the same 28 bytes, so that any may stand in any graph node. */
#define PTX_HEAD   ".version 7.0\n.target sm_75\n.address_size 64\n"
#define PTX_PARAMS "(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 d)\n"

/* nop: empty. spin: says d at b, then runs for a ns or until the word at c is d. */
KIT const char ptx_small[] =
    PTX_HEAD ".visible .global .align 8 .b8 cell[4096];\n"
             ".visible .entry nop" PTX_PARAMS "{ ret; }\n"
             ".visible .entry spin" PTX_PARAMS "{\n"
             ".reg .u64 %t<8>; .reg .pred %p<2>; .reg .u32 %r;\n"
             "ld.param.u64 %t0, [a]; ld.param.u64 %t1, [b]; ld.param.u64 %t2, [c];\n"
             "ld.param.u32 %r, [d]; cvt.u64.u32 %t6, %r; mov.u64 %t3, %globaltimer;\n"
             "st.volatile.global.u64 [%t1], %t6; membar.sys;\n"
             "again: ld.volatile.global.u64 %t5, [%t2];\n"
             "setp.eq.u64 %p0, %t5, %t6; @%p0 bra done;\n"
             "mov.u64 %t4, %globaltimer; sub.u64 %t4, %t4, %t3;\n"
             "setp.lt.u64 %p1, %t4, %t0; @%p1 bra again;\n"
             "done: ret; }\n";

/* chains: d rounds of four multiply-adds, as bench/lib/kernels.c has it. */
KIT const char ptx_chains[] =
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

/* Nothing but code, so that loading it has no variable to place; two kernels in one module. */
KIT const char ptx_bare[] = PTX_HEAD ".visible .entry nop" PTX_PARAMS "{ ret; }\n"
                                     ".visible .entry also" PTX_PARAMS "{ ret; }\n";

/* Kernels whose first launch may need more than their code: a print buffer, a heap, local memory.
 */
KIT const char ptx_greedy[] =
    PTX_HEAD ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n"
             ".extern .func (.param .b64 r) malloc (.param .b64 n);\n"
             ".extern .func free (.param .b64 p);\n"
             ".global .align 1 .b8 text[2] = {32, 0};\n"
             ".visible .entry say" PTX_PARAMS "{\n"
             ".reg .b64 %t<3>; .reg .b32 %r;\n"
             "mov.u64 %t0, text; cvta.global.u64 %t1, %t0; mov.u64 %t2, 0;\n"
             "{ .param .b64 p0; st.param.b64 [p0], %t1; .param .b64 p1; st.param.b64 [p1], %t2;\n"
             ".param .b32 q; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r, [q]; } ret; }\n"
             ".visible .entry heap" PTX_PARAMS "{\n"
             ".reg .b64 %t<2>;\n"
             "mov.u64 %t0, 64; { .param .b64 p0; st.param.b64 [p0], %t0; .param .b64 q;\n"
             "call.uni (q), malloc, (p0); ld.param.b64 %t1, [q]; }\n"
             "{ .param .b64 p0; st.param.b64 [p0], %t1; call.uni free, (p0); } ret; }\n"
             ".visible .entry local" PTX_PARAMS "{\n"
             ".local .align 8 .b8 frame[8192]; .reg .u64 %t<5>; .reg .u32 %r;\n"
             "ld.param.u32 %r, [d]; and.b32 %r, %r, 1023; cvt.u64.u32 %t0, %r;\n"
             "shl.b64 %t0, %t0, 3; mov.u64 %t1, frame; add.u64 %t1, %t1, %t0;\n"
             "st.local.u64 [%t1], %t0; xor.b64 %t3, %t1, 64; ld.local.u64 %t2, [%t3];\n"
             ".reg .pred %p; setp.ne.u64 %p, %t2, 99; @%p bra out; ld.param.u64 %t4, [a];\n"
             "st.global.u64 [%t4], %t2; out: ret; }\n";

/* A module that takes the compiler some time, different for every seed so that no cache serves it.
 */
KIT char *ptx_large(int lines, int seed)
{
    size_t room = 4096 + (size_t)lines * 48;
    char *text = malloc(room);
    size_t at = 0;

    if (!text)
        return NULL;
    at += snprintf(text, room,
                   PTX_HEAD ".visible .entry large" PTX_PARAMS
                            "{ .reg .f32 %%f<32>; .reg .u64 %%t; ld.param.u64 %%t, [a];\n");
    for (int i = 0; i < 32; i++)
        at += snprintf(text + at, room - at, "ld.global.f32 %%f%d, [%%t+%d];\n", i, 4 * i);
    for (int i = 0; i < lines; i++)
        at += snprintf(text + at, room - at, "fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f3F%06x;\n", i % 32,
                       (i + 7) % 32, (i * 5 + 11) % 32, (seed * 977 + i) & 0xffffff);
    for (int i = 0; i < 32; i++)
        at += snprintf(text + at, room - at, "st.global.f32 [%%t+%d], %%f%d;\n", 4 * i, i);
    snprintf(text + at, room - at, "ret; }\n");
    return text;
}

/* ---------------------------------------------------------- context and host memory */

KIT CUdevice device;
KIT CUcontext context;
KIT CUfunction nop, spin;
KIT void *cubin_small, *cubin_greedy, *cubin_bare;

struct hostmem {
    unsigned char *host;
    CUdeviceptr dev;
};

KIT _Atomic uint64_t *words; /* one registered page of words that the GPU writes */
KIT CUdeviceptr words_dev;

/* What every kernel is given. */
KIT struct {
    uint64_t a, b, c;
    uint32_t d;
} arg;
KIT void *args[] = {&arg.a, &arg.b, &arg.c, &arg.d};
KIT size_t arg_size = 28;
KIT void *args_packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arg, CU_LAUNCH_PARAM_BUFFER_SIZE,
                           &arg_size, CU_LAUNCH_PARAM_END};
KIT int packed; /* give parameters as one buffer, as they lie in a submission ring */

KIT void *segment_new(size_t size, int touch)
{
    int id = shmget(IPC_PRIVATE, size, 0600 | IPC_CREAT);
    void *at;

    if (id < 0)
        return NULL;
    at = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    if (at == (void *)-1)
        return NULL;
    if (touch)
        memset(at, 1, size);
    return at;
}

KIT CUresult hostmem_new(struct hostmem *m, size_t size)
{
    m->host = segment_new(size, 1);
    if (!m->host)
        return failed("shmget/shmat", CUDA_ERROR_OUT_OF_MEMORY, __LINE__);
    CK(cuMemHostRegister(m->host, size,
                         CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
    CK(cuMemHostGetDevicePointer(&m->dev, m->host, 0));
    return CUDA_SUCCESS;
}

KIT void hostmem_free(struct hostmem *m)
{
    cuMemHostUnregister(m->host);
    shmdt(m->host);
}

/* A descriptor to, and from, another process. */
KIT int descriptor_send(int socket, int fd)
{
    char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
    struct iovec text = {&byte, 1};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &fd, sizeof(int));
    return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

KIT int descriptor_receive(int socket)
{
    char control[CMSG_SPACE(sizeof(int))], byte;
    struct iovec text = {&byte, 1};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    int fd = -1;

    if (recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
    return fd;
}

KIT CUresult cubin_new(const char *ptx, void **cubin)
{
    CUlinkState link;
    size_t size;
    void *image;

    CK(cuLinkCreate(0, NULL, NULL, &link));
    CK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)ptx, strlen(ptx) + 1, "kernels", 0, NULL,
                     NULL));
    CK(cuLinkComplete(link, &image, &size));
    *cubin = malloc(size);
    memcpy(*cubin, image, size);
    return cuLinkDestroy(link);
}

KIT CUresult context_open(unsigned flags)
{
    CUmodule m;
    struct hostmem page;

    CK(cuInit(0));
    CK(cuDeviceGet(&device, 0));
    CK(cuDevicePrimaryCtxSetFlags(device, flags));
    CK(cuDevicePrimaryCtxRetain(&context, device));
    CK(cuCtxSetCurrent(context));
    CK(cubin_new(ptx_small, &cubin_small));
    CK(cubin_new(ptx_greedy, &cubin_greedy));
    CK(cubin_new(ptx_bare, &cubin_bare));
    CK(cuModuleLoadData(&m, cubin_small));
    CK(cuModuleGetFunction(&nop, m, "nop"));
    CK(cuModuleGetFunction(&spin, m, "spin"));
    CK(hostmem_new(&page, 64 * KIB));
    memset(page.host, 0, 64 * KIB);
    words = (_Atomic uint64_t *)page.host;
    words_dev = page.dev;
    return CUDA_SUCCESS;
}

/* As context_open, with all kernels loaded at once, and those of ptx_chains too. */
KIT CUfunction chains;
KIT CUdeviceptr out;
KIT CUresult chains_open(void)
{
    CUmodule module;
    void *cubin;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    CK(context_open(CU_CTX_SCHED_SPIN));
    CK(cubin_new(ptx_chains, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&chains, module, "chains"));
    return cuMemAlloc(&out, 4096);
}

KIT long long memory_used(void)
{
    size_t free_bytes = 0, total = 0;

    cuMemGetInfo(&free_bytes, &total);
    return (long long)(total - free_bytes);
}

KIT CUresult kernel_launch(CUfunction f, CUstream s)
{
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, packed ? NULL : args,
                          packed ? args_packed : NULL);
}

KIT CUresult stream_new(CUstream *s)
{
    return cuStreamCreateWithPriority(s, CU_STREAM_NON_BLOCKING, 0);
}

/* The words are written by the GPU over the bus: acquire, so that what came before them is seen. */
KIT void word_wait(int index, uint64_t value)
{
    while (atomic_load_explicit(&words[index], memory_order_acquire) != value)
        ;
}

/* A kernel's shared memory carve-out, in percent; -1: as the driver likes. */
KIT CUresult carve(CUfunction f, int percent)
{
    return cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent);
}

/* ------------------------------------------------------------------------ graphs */

/* n kernel nodes, in a row or side by side, then one node with nwrites 64-bit writes, or none. */
struct chain {
    CUgraph graph;
    CUgraphExec exec;
    int n, nwrites;
    CUgraphNode kernel[CHAIN_MAX], write;
    CUstreamBatchMemOpParams op[2];
};

KIT CUDA_KERNEL_NODE_PARAMS node_params(CUfunction f)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = f,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = packed ? NULL : args,
                                     .extra = packed ? args_packed : NULL};
}

KIT CUDA_BATCH_MEM_OP_NODE_PARAMS write_params(struct chain *c)
{
    return (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        .ctx = context, .count = c->nwrites, .paramArray = c->op};
}

KIT CUresult chain_new(struct chain *c, int n, int in_a_row, int nwrites)
{
    CUDA_KERNEL_NODE_PARAMS k = node_params(nop);

    memset(c, 0, sizeof(*c));
    c->n = n;
    c->nwrites = nwrites;
    CK(cuGraphCreate(&c->graph, 0));
    for (int i = 0; i < n; i++)
        CK(cuGraphAddKernelNode(&c->kernel[i], c->graph, i && in_a_row ? &c->kernel[i - 1] : NULL,
                                i && in_a_row, &k));
    for (int i = 0; i < nwrites; i++) {
        c->op[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
        c->op[i].writeValue.address = words_dev + 64 * i; /* word 8 * i */
        c->op[i].writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
    }
    if (nwrites) {
        CUDA_BATCH_MEM_OP_NODE_PARAMS w = write_params(c);

        CK(cuGraphAddBatchMemOpNode(&c->write, c->graph, in_a_row ? &c->kernel[n - 1] : c->kernel,
                                    in_a_row ? 1 : n, &w));
    }
    CK(cuGraphInstantiate(&c->exec, c->graph, 0));
    return CUDA_SUCCESS;
}

KIT CUresult chain_set(struct chain *c, CUfunction *functions, int nfunctions, unsigned turn,
                       uint64_t value)
{
    for (int i = 0; i < c->n; i++) {
        CUDA_KERNEL_NODE_PARAMS k = node_params(functions[(turn * c->n + i) % nfunctions]);

        arg.d++;
        CK(cuGraphExecKernelNodeSetParams(c->exec, c->kernel[i], &k));
    }
    if (c->nwrites) {
        CUDA_BATCH_MEM_OP_NODE_PARAMS w = write_params(c);

        for (int i = 0; i < c->nwrites; i++)
            c->op[i].writeValue.value64 = value;
        CK(cuGraphExecBatchMemOpNodeSetParams(c->exec, c->write, &w));
    }
    return CUDA_SUCCESS;
}

KIT void chain_free(struct chain *c)
{
    if (c->exec)
        cuGraphExecDestroy(c->exec);
    if (c->graph)
        cuGraphDestroy(c->graph);
    memset(c, 0, sizeof(*c));
}

CUresult question_rates(void);
CUresult question_trips(void);
CUresult question_trips_spinning(void);
CUresult question_costs(void);
CUresult question_blocking(void);
CUresult question_blocking_green(void);
CUresult question_bystanders(void);
CUresult question_stalls(void);
CUresult question_streams(void);
CUresult question_copies(void);
CUresult question_many_streams(void);
CUresult question_start(void);
CUresult question_request(void);
CUresult question_request_paced(void);
CUresult question_firsts(void);
CUresult question_room(void);
CUresult question_stream_stalls(void);
CUresult question_partition(void);
CUresult question_carve(void);
CUresult question_green(void);
CUresult question_confined(void);
CUresult question_divisions(void);
CUresult question_store(void);
CUresult question_store_lane(void);
CUresult question_lanes(void);
CUresult question_lanes_relax(void);
CUresult question_lanes_joined(void);
CUresult question_lane_stalls(void);
CUresult question_lane_cost(void);
CUresult question_sink(void);
CUresult question_fault(void);
CUresult question_heir(void);
CUresult question_left(void);
CUresult question_arrays(void);
CUresult question_blas_open(void);
CUresult question_blas_stalls(void);
CUresult question_blas_captured(void);
CUresult question_blas_instantiated(void);
CUresult question_blas_warm(void);
CUresult question_blas_green(void);
CUresult question_func_load(void);
CUresult question_blas_few(void);
CUresult question_compile(void);
CUresult question_stack(void);
CUresult question_stack_green(void);
CUresult question_stack_graph(void);
CUresult question_stack_graph_green(void);
CUresult question_stack_lowered(void);
CUresult question_stack_waits(void);
CUresult question_stack_over(void);
CUresult question_stack_full(void);
CUresult question_host(void);
CUresult question_host_inside(void);
CUresult question_peer(void);
CUresult question_cluster(void);
CUresult question_cluster_ranks(void);
CUresult question_dependents(void);
CUresult question_dependents_green(void);
CUresult question_dependents_order(void);
CUresult question_dependents_order_green(void);

#endif
