/*
 * What it takes to back all of a window that has no memory of its own by a sink, one piece of
 * memory that is mapped again and again, and how soon kernels see what is written to a constant of
 * their module. The question_ function is run in a process of its own.
 */
#include "driver_facts.h"

#define WINDOW (4 * GIB)
#define PIECE  (2 * MIB)

static const char ptx_constant[] = PTX_HEAD
    ".visible .const .align 8 .b32 fence[2];\n"
    ".visible .entry tell" PTX_PARAMS "{ .reg .u64 %t; .reg .b32 %m, %b;\n"
    "ld.param.u64 %t, [a]; ld.const.b32 %m, [fence]; ld.const.b32 %b, [fence+4];\n"
    "st.global.b32 [%t], %m; st.global.b32 [%t+4], %b; ret; }\n"
    ".visible .entry hold" PTX_PARAMS "{ .reg .u64 %t0, %t1, %t2; .reg .b32 %m, %n;\n"
    ".reg .pred %p; ld.param.u64 %t0, [a]; mov.u64 %t1, %globaltimer;\n"
    "again: ld.const.b32 %m, [fence]; ld.const.b32 %n, [fence+4]; add.u32 %m, %m, %n;\n"
    "mov.u64 %t2, %globaltimer; sub.u64 %t2, %t2, %t1; setp.lt.u64 %p, %t2, %t0; @%p bra again;\n"
    "ret; }\n";

static CUmemAccessDesc everybody(void)
{
    return (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                             .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
}

static CUresult memory_make(CUmemGenericAllocationHandle *handle, size_t size)
{
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                             .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};

    return cuMemCreate(handle, size, &p, 0);
}

/* Fills a window with one piece of memory, access given to all at once or piece by piece. */
static CUresult window_fill(size_t size, int one_by_one)
{
    const CUmemAccessDesc access = everybody();
    CUmemGenericAllocationHandle sink;
    CUdeviceptr base;
    double t0, mapped, allowed, unmapped;

    CK(memory_make(&sink, size));
    CK(cuMemAddressReserve(&base, WINDOW, WINDOW, 0, 0));
    t0 = now_us();
    for (uint64_t at = 0; at < WINDOW; at += size) {
        CK(cuMemMap(base + at, size, 0, sink, 0));
        if (one_by_one)
            CK(cuMemSetAccess(base + at, size, &access, 1));
    }
    mapped = now_us();
    if (!one_by_one)
        CK(cuMemSetAccess(base, WINDOW, &access, 1));
    allowed = now_us();
    CK(cuMemUnmap(base, WINDOW));
    unmapped = now_us();
    printf("  4 GiB of %4llu MiB pieces, access %s: cuMemMap %8.1f, cuMemSetAccess %8.1f, "
           "cuMemUnmap of all %8.1f us\n",
           (unsigned long long)(size / MIB), one_by_one ? "each  " : "at end", mapped - t0,
           allowed - mapped, unmapped - allowed);
    CK(cuMemAddressFree(base, WINDOW));
    return cuMemRelease(sink);
}

/* A mapping that is smaller than the memory, and an allocation put into a mapped sink. */
static CUresult window_split(size_t size)
{
    const CUmemAccessDesc access = everybody();
    CUmemGenericAllocationHandle sink, piece;
    CUdeviceptr base;
    CUresult result;
    double t0, opened, placed, closed;

    CK(memory_make(&sink, size));
    CK(memory_make(&piece, PIECE));
    CK(cuMemAddressReserve(&base, WINDOW, WINDOW, 0, 0));
    result = cuMemMap(base, PIECE, 0, sink, 0);
    printf("  a mapping of 2 of %llu MiB: %s", (unsigned long long)(size / MIB),
           result ? "refused\n" : "granted");
    if (result)
        return CUDA_SUCCESS;
    CK(cuMemUnmap(base, PIECE));
    result = cuMemMap(base, PIECE, PIECE, sink, 0);
    printf(", at an offset of 2 MiB: %s\n", result ? "refused" : "granted");
    if (!result)
        CK(cuMemUnmap(base, PIECE));
    for (int round = 0; round < 3; round++) {
        CK(cuMemMap(base, size, 0, sink, 0));
        CK(cuMemSetAccess(base, size, &access, 1));
        t0 = now_us();
        CK(cuMemUnmap(base, size));
        opened = now_us();
        CK(cuMemMap(base, PIECE, 0, piece, 0));
        CK(cuMemMap(base + PIECE, size - PIECE, 0, sink, 0));
        placed = now_us();
        CK(cuMemSetAccess(base, size, &access, 1));
        closed = now_us();
        CK(cuMemUnmap(base, size));
        printf("  2 MiB put into a sink of %llu: unmap %.1f, two maps %.1f, access for both %.1f "
               "us\n",
               (unsigned long long)(size / MIB), opened - t0, placed - opened, closed - placed);
    }
    CK(cuMemAddressFree(base, WINDOW));
    CK(cuMemRelease(piece));
    return cuMemRelease(sink);
}

/* Whether mapping waits for a kernel that runs: the kernel takes 200 ms. */
static CUresult beside_kernel(void)
{
    const CUmemAccessDesc access = everybody();
    CUmemGenericAllocationHandle sink;
    CUdeviceptr base;
    CUstream stream;
    double t0, t1, t2, t3, t4;

    CK(memory_make(&sink, 64 * MIB));
    CK(cuMemAddressReserve(&base, WINDOW, WINDOW, 0, 0));
    CK(stream_new(&stream));
    arg.a = 200000000;
    arg.b = words_dev;
    arg.c = words_dev + 8;
    arg.d = 1;
    CK(kernel_launch(spin, stream));
    word_wait(0, 1);
    t0 = now_us();
    CK(cuMemMap(base, 64 * MIB, 0, sink, 0));
    t1 = now_us();
    CK(cuMemSetAccess(base, 64 * MIB, &access, 1));
    t2 = now_us();
    CK(cuMemUnmap(base, 64 * MIB));
    t3 = now_us();
    CK(cuStreamSynchronize(stream));
    t4 = now_us();
    printf("  beside a 200 ms kernel: map %.1f, access %.1f, unmap %.1f us; the kernel ended %.0f "
           "us later\n",
           t1 - t0, t2 - t1, t3 - t2, t4 - t3);
    CK(cuMemAddressFree(base, WINDOW));
    return cuMemRelease(sink);
}

/* A constant is written while another kernel of the module reads it, then a graph that was made
 * before is launched. Whether its kernel reads the new value. */
static CUresult constant_seen(int rounds, int busy)
{
    CUmodule module;
    CUfunction tell, hold;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUdeviceptr constant, told;
    CUstream writes, runs, holds;
    uint32_t value[2], read[2];
    int stale = 0;
    double t0 = 0, took = 0;
    void *cubin;

    CK(cubin_new(ptx_constant, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&tell, module, "tell"));
    CK(cuModuleGetFunction(&hold, module, "hold"));
    CK(cuModuleGetGlobal(&constant, NULL, module, "fence"));
    CK(cuMemAlloc(&told, 4096));
    CK(stream_new(&writes));
    CK(stream_new(&runs));
    CK(stream_new(&holds));
    arg.a = told;
    CUDA_KERNEL_NODE_PARAMS k = node_params(tell);
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddKernelNode(&node, graph, NULL, 0, &k));
    CK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 1; i <= rounds; i++) {
        if (busy && i % 100 == 1) {
            CK(cuStreamSynchronize(holds));
            arg.a = 20000000;
            CK(cuLaunchKernel(hold, 132, 1, 1, 32, 1, 1, 0, holds, args, NULL));
        }
        value[0] = (uint32_t)i;
        value[1] = ~(uint32_t)i;
        t0 = now_us();
        CK(cuMemcpyHtoDAsync(constant, value, sizeof(value), writes));
        CK(cuStreamSynchronize(writes));
        took += now_us() - t0;
        CK(cuGraphLaunch(exec, runs));
        CK(cuStreamSynchronize(runs));
        CK(cuMemcpyDtoH(read, told, sizeof(read)));
        stale += read[0] != value[0] || read[1] != value[1];
    }
    CK(cuStreamSynchronize(holds));
    printf("  a constant written %d times%s, %.1f us each: the next kernel read another value %d "
           "times\n",
           rounds, busy ? " beside kernels that read it" : "", took / rounds, stale);
    return CUDA_SUCCESS;
}

CUresult question_sink(void)
{
    CK(context_open(CU_CTX_SCHED_SPIN));
    for (size_t size = 2 * MIB; size <= 1 * GIB; size *= 8) {
        CK(window_fill(size, 0));
        CK(window_fill(size, 1));
    }
    CK(window_split(64 * MIB));
    CK(window_split(512 * MIB));
    CK(beside_kernel());
    CK(constant_seen(2000, 0));
    return constant_seen(2000, 1);
}
