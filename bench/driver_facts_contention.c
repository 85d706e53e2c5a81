/*
 * Which driver calls wait for a running kernel, or make others wait: each is made beside a 300 ms
 * kernel, and beside a thread that launches at full rate. The worker must keep off the ones that
 * do while a tenant's kernels run. Each question_ function is run in a process of its own.
 */
#include "driver_facts.h"

/* ----------------------------------------------------- 4: calls beside a long kernel */

#define LONG_NS    300000000ull
#define STOP_WORD  32 /* the long kernel ends early when it holds the kernel's number */
#define START_WORD 40
#define PROBE_WORD 48

/* What the calls under test work on; each prepares its own. */
static struct {
    CUdeviceptr at, at2;
    CUmemGenericAllocationHandle handle;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUevent event;
    struct chain chain;
    CUgraphExec exec;
    CUgreenCtx green;
    CUlinkState link;
    CUlibrary library;
    CUkernel kernel;
    CUdevResourceDesc partition;
    void *segment, *copy;
    char *ptx;
    int seed;
} x;

/* One driver call as a function; the declaration takes the semicolon. */
#define ACT(name, call)                                                                            \
    static CUresult name(void)                                                                     \
    {                                                                                              \
        return call;                                                                               \
    }                                                                                              \
    static CUresult name(void)

ACT(none, CUDA_SUCCESS);

static CUmemAllocationProp on_device(void)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
}

ACT(reserve, cuMemAddressReserve(&x.at, 64 * MIB, 0, 0, 0));
ACT(unreserve, cuMemAddressFree(x.at, 64 * MIB));

static CUresult create(void)
{
    CUmemAllocationProp p = on_device();

    return cuMemCreate(&x.handle, 64 * MIB, &p, 0);
}

ACT(release, cuMemRelease(x.handle));
ACT(map, cuMemMap(x.at, 64 * MIB, 0, x.handle, 0));
ACT(unmap, cuMemUnmap(x.at, 64 * MIB));

static CUresult allow(void)
{
    CUmemAccessDesc all = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                           .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

    return cuMemSetAccess(x.at, 64 * MIB, &all, 1);
}

static CUresult before_map(void)
{
    CK(reserve());
    return create();
}

static CUresult before_allow(void)
{
    CK(before_map());
    return map();
}

static CUresult before_unmap(void)
{
    CK(before_allow());
    return allow();
}

static CUresult after_create(void)
{
    CK(release());
    return CUDA_SUCCESS;
}

static CUresult after_unmap(void)
{
    CK(release());
    return unreserve();
}

static CUresult after_map(void)
{
    CK(unmap());
    return after_unmap();
}

static CUresult before_release(void)
{
    CK(before_unmap());
    return unmap();
}

static CUresult segment(void)
{
    x.segment = segment_new(MIB, 1);
    return x.segment ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

ACT(enroll,
    cuMemHostRegister(x.segment, MIB, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
ACT(unroll, cuMemHostUnregister(x.segment));

static CUresult before_unroll(void)
{
    CK(segment());
    return enroll();
}

static CUresult segment_drop(void)
{
    shmdt(x.segment);
    return CUDA_SUCCESS;
}

static CUresult after_enroll(void)
{
    CK(unroll());
    return segment_drop();
}

ACT(alloc, cuMemAlloc(&x.at2, 64 * MIB));
ACT(dealloc, cuMemFree(x.at2));
ACT(alloc_async, cuMemAllocAsync(&x.at2, MIB, x.stream));
ACT(dealloc_async, cuMemFreeAsync(x.at2, x.stream));

static CUresult before_dealloc_async(void)
{
    CK(stream_new(&x.stream));
    CK(alloc_async());
    return cuStreamSynchronize(x.stream);
}

ACT(load, cuModuleLoadData(&x.module, cubin_small));
ACT(load_greedy, cuModuleLoadData(&x.module, cubin_greedy));
ACT(unload, cuModuleUnload(x.module));
ACT(load_bare, cuModuleLoadData(&x.module, cubin_bare));
ACT(load_library, cuLibraryLoadData(&x.library, cubin_bare, NULL, NULL, 0, NULL, NULL, 0));
ACT(unload_library, cuLibraryUnload(x.library));

static CUresult ptx_make(void)
{
    x.ptx = ptx_large(500, ++x.seed);
    return CUDA_SUCCESS;
}

ACT(load_ptx, cuModuleLoadData(&x.module, x.ptx));

static CUresult after_load_ptx(void)
{
    free(x.ptx);
    return unload();
}

static CUresult compile(void)
{
    void *image;
    size_t size;

    CK(cuLinkCreate(0, NULL, NULL, &x.link));
    CK(cuLinkAddData(x.link, CU_JIT_INPUT_PTX, x.ptx, strlen(x.ptx) + 1, "x", 0, NULL, NULL));
    return cuLinkComplete(x.link, &image, &size);
}

static CUresult after_compile(void)
{
    free(x.ptx);
    return cuLinkDestroy(x.link);
}

ACT(get_function, cuModuleGetFunction(&x.function, x.module, "nop"));

static CUresult get_global(void)
{
    size_t size;

    return cuModuleGetGlobal(&x.at2, &size, x.module, "cell");
}

ACT(new_stream, stream_new(&x.stream));
ACT(drop_stream, cuStreamDestroy(x.stream));

static CUresult used_stream(void)
{
    CK(new_stream());
    CK(kernel_launch(nop, x.stream));
    return cuStreamSynchronize(x.stream);
}

ACT(first_launch, kernel_launch(x.function, x.stream));

static CUresult before_first(void)
{
    CK(used_stream());
    CK(load());
    return get_function();
}

static CUresult before_library_launch(void)
{
    CK(used_stream());
    CK(load_library());
    return cuLibraryGetKernel(&x.kernel, x.library, "nop");
}

ACT(library_launch, kernel_launch((CUfunction)x.kernel, x.stream));

static CUresult after_library_launch(void)
{
    CK(cuStreamSynchronize(x.stream));
    CK(drop_stream());
    return unload_library();
}

static CUresult before_unload(void)
{
    CK(before_first());
    CK(first_launch());
    return cuStreamSynchronize(x.stream);
}

static CUresult greedy_function(const char *name)
{
    CK(used_stream());
    CK(load_greedy());
    return cuModuleGetFunction(&x.function, x.module, name);
}

ACT(before_say, greedy_function("say"));
ACT(before_heap, greedy_function("heap"));
ACT(before_local, greedy_function("local"));

static CUresult after_first(void)
{
    CK(cuStreamSynchronize(x.stream));
    CK(drop_stream());
    return unload();
}

ACT(instantiate, cuGraphInstantiate(&x.exec, x.chain.graph, 0));
ACT(chain_make, chain_new(&x.chain, 8, 1, 1));

static CUresult before_exec_drop(void)
{
    CK(chain_make());
    CK(instantiate());
    CK(used_stream());
    CK(cuGraphLaunch(x.exec, x.stream));
    return cuStreamSynchronize(x.stream);
}

ACT(exec_drop, cuGraphExecDestroy(x.exec));

static CUresult after_exec_drop(void)
{
    chain_free(&x.chain);
    return drop_stream();
}

static CUresult after_instantiate(void)
{
    CK(exec_drop());
    chain_free(&x.chain);
    return CUDA_SUCCESS;
}

ACT(first_graph_launch, cuGraphLaunch(x.exec, x.stream));

static CUresult before_graph_launch(void)
{
    CK(chain_make());
    CK(instantiate());
    return used_stream();
}

static CUresult after_graph_launch(void)
{
    CK(cuStreamSynchronize(x.stream));
    CK(exec_drop());
    return after_exec_drop();
}

ACT(new_event, cuEventCreate(&x.event, CU_EVENT_DISABLE_TIMING));
ACT(drop_event, cuEventDestroy(x.event));

/* A partition of 16 SMs, as the worker cuts them. */
static CUresult partition(void)
{
    static CUdevResource all, groups[64];
    unsigned n = 64;

    CK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
    CK(cuDevSmResourceSplitByCount(groups, &n, &all, NULL,
                                   CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2));
    return cuDevResourceGenerateDesc(&x.partition, groups, 8);
}

ACT(green_new, cuGreenCtxCreate(&x.green, x.partition, device, CU_GREEN_CTX_DEFAULT_STREAM));
ACT(green_drop, cuGreenCtxDestroy(x.green));

static CUresult before_green_drop(void)
{
    CK(partition());
    return green_new();
}

static CUresult before_copy(void)
{
    CK(used_stream());
    CK(alloc());
    x.copy = malloc(MIB);
    memset(x.copy, 1, MIB);
    return CUDA_SUCCESS;
}

ACT(copy_sync, cuMemcpyHtoD(x.at2, x.copy, MIB));
ACT(copy_async, cuMemcpyHtoDAsync(x.at2, x.copy, MIB, x.stream));
ACT(copy_back, cuMemcpyDtoHAsync(x.copy, x.at2, MIB, x.stream));
ACT(clear, cuMemsetD8Async(x.at2, 0, MIB, x.stream));

static CUresult after_copy(void)
{
    CK(cuStreamSynchronize(x.stream));
    free(x.copy);
    CK(dealloc());
    return drop_stream();
}

static CUresult get_info(void)
{
    memory_used();
    return CUDA_SUCCESS;
}

ACT(set_attribute,
    cuFuncSetAttribute(x.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));

static const struct call {
    const char *name;
    CUresult (*before)(void), (*act)(void), (*after)(void);
} calls[] = {
    {"nothing (the probe alone)", none, none, none},
    {"cuMemCreate 64 MiB", none, create, after_create},
    {"cuMemAddressReserve", none, reserve, unreserve},
    {"cuMemMap", before_map, map, after_map},
    {"cuMemSetAccess", before_allow, allow, after_map},
    {"cuMemUnmap", before_unmap, unmap, after_unmap},
    {"cuMemRelease", before_release, release, unreserve},
    {"cuMemAddressFree", reserve, unreserve, none},
    {"cuMemAlloc 64 MiB", none, alloc, dealloc},
    {"cuMemFree 64 MiB", alloc, dealloc, none},
    {"cuMemAllocAsync 1 MiB", new_stream, alloc_async, drop_stream},
    {"cuMemFreeAsync 1 MiB", before_dealloc_async, dealloc_async, drop_stream},
    {"cuMemGetInfo", none, get_info, none},
    {"cuMemHostRegister 1 MiB", segment, enroll, after_enroll},
    {"cuMemHostUnregister 1 MiB", before_unroll, unroll, segment_drop},
    {"cuModuleLoadData, cubin", none, load, unload},
    {"cuModuleLoadData, cubin without variables", none, load_bare, unload},
    {"cuLibraryLoadData, cubin without variables", none, load_library, unload_library},
    {"first launch of a library's kernel", before_library_launch, library_launch,
     after_library_launch},
    {"cuLibraryUnload, never launched", load_library, unload_library, none},
    {"cuModuleUnload, no function ever got", load, unload, none},
    {"cuModuleGetFunction, first, no variables", load_bare, get_function, unload},
    {"cuModuleLoadData, PTX of 500 lines", ptx_make, load_ptx, after_load_ptx},
    {"cuLinkComplete, PTX of 500 lines", ptx_make, compile, after_compile},
    {"cuModuleGetFunction, first", load, get_function, unload},
    {"cuModuleGetGlobal, first", load, get_global, unload},
    {"first launch of a loaded kernel", before_first, first_launch, after_first},
    {"first launch of a kernel that prints", before_say, first_launch, after_first},
    {"first launch of a kernel that calls malloc", before_heap, first_launch, after_first},
    {"first launch of a kernel with 8 KiB of local memory", before_local, first_launch,
     after_first},
    {"cuFuncSetAttribute", before_first, set_attribute, after_first},
    {"cuModuleUnload of a kernel that has run", before_unload, unload, drop_stream},
    {"cuStreamCreateWithPriority", none, new_stream, drop_stream},
    {"cuStreamDestroy, idle", used_stream, drop_stream, none},
    {"cuGraphInstantiate, 8 + write", chain_make, instantiate, after_instantiate},
    {"first cuGraphLaunch, 8 + write", before_graph_launch, first_graph_launch, after_graph_launch},
    {"cuGraphExecDestroy", before_exec_drop, exec_drop, after_exec_drop},
    {"cuEventCreate", none, new_event, drop_event},
    {"cuEventDestroy", new_event, drop_event, none},
    {"cuGreenCtxCreate of 16 SMs", partition, green_new, green_drop},
    {"cuGreenCtxDestroy", before_green_drop, green_drop, none},
    {"cuMemcpyHtoD 1 MiB, pageable", before_copy, copy_sync, after_copy},
    {"cuMemcpyHtoDAsync 1 MiB, pageable", before_copy, copy_async, after_copy},
    {"cuMemcpyDtoHAsync 1 MiB, pageable", before_copy, copy_back, after_copy},
    {"cuMemsetD8Async 1 MiB", before_copy, clear, after_copy},
};

#define CALL_REPEATS 3

/* Makes the call beside the long kernel, or on an idle device, and sees how soon a kernel launched
 * after it on a third stream is done. */
static CUresult call_once(const struct call *c, int busy, CUstream stream_long, CUstream other,
                          double *call_us, double *probe_us, int *still)
{
    static uint32_t turn;
    double t0, t1;

    CK(c->before());
    turn++;
    if (busy) {
        arg.a = LONG_NS;
        arg.b = words_dev + 8 * START_WORD;
        arg.c = words_dev + 8 * STOP_WORD;
        arg.d = turn;
        CK(kernel_launch(spin, stream_long));
        word_wait(START_WORD, turn);
        arg.a = arg.b = arg.c = 0;
    }
    t0 = now_us();
    CK(c->act());
    t1 = now_us();
    CK(kernel_launch(nop, other));
    CK(cuStreamWriteValue64(other, words_dev + 8 * PROBE_WORD, turn, 0));
    word_wait(PROBE_WORD, turn);
    *probe_us = now_us() - t1;
    *call_us = t1 - t0;
    *still = cuStreamQuery(stream_long) == CUDA_ERROR_NOT_READY;
    atomic_store_explicit(&words[STOP_WORD], turn, memory_order_release);
    CK(cuCtxSynchronize());
    return c->after();
}

static CUresult call_measure(const struct call *c, CUstream stream_long, CUstream other)
{
    double us[2][CALL_REPEATS], probe[2][CALL_REPEATS];
    int ran_on = 0;

    for (int busy = 0; busy < 2; busy++)
        for (int i = 0; i < CALL_REPEATS; i++) {
            int still;

            CK(call_once(c, busy, stream_long, other, &us[busy][i], &probe[busy][i], &still));
            ran_on += busy && still;
        }
    printf("  %-52s idle %9.1f us  beside %9.1f (worst %9.1f) us  next kernel %8.1f us%s\n",
           c->name, quantile(us[0], CALL_REPEATS, 0.5), quantile(us[1], CALL_REPEATS, 0.5),
           us[1][CALL_REPEATS - 1], quantile(probe[1], CALL_REPEATS, 1),
           us[1][CALL_REPEATS - 1] > 1e5      ? "  WAITS for the kernel"
           : probe[1][CALL_REPEATS - 1] > 1e5 ? "  MAKES OTHERS WAIT"
           : ran_on < CALL_REPEATS            ? "  (kernel over by then)"
                                              : "");
    return CUDA_SUCCESS;
}

static CUresult blocking_all(int green)
{
    CUstream stream_long, other;

    CK(context_open(0));
    if (green) {
        CK(partition());
        CK(green_new());
        CK(cuGreenCtxStreamCreate(&stream_long, x.green, CU_STREAM_NON_BLOCKING, 0));
    } else {
        CK(stream_new(&stream_long));
    }
    CK(stream_new(&other));
    CK(kernel_launch(nop, other));
    CK(cuStreamWriteValue64(other, words_dev + 8 * PROBE_WORD, 0, 0));
    CK(cuCtxSynchronize());
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        call_measure(&calls[i], stream_long, other);
    return CUDA_SUCCESS;
}

CUresult question_blocking(void)
{
    return blocking_all(0);
}
CUresult question_blocking_green(void)
{
    return blocking_all(1);
}

/* ----------------------------------- 9: who else waits while one call waits for a kernel */

#define TRIPS_MOST 200000

static void *call_main(void *arg)
{
    static double us;
    const struct call *c = arg;
    double t0 = now_us();

    us = -1;
    if (cuCtxSetCurrent(context) == CUDA_SUCCESS && c->act() == CUDA_SUCCESS)
        us = now_us() - t0;
    return &us;
}

/* One thread makes the call beside the long kernel; this one meanwhile makes round trips. */
static CUresult bystander_measure(const struct call *c, CUstream stream_long, CUstream other)
{
    static double us[TRIPS_MOST];
    static uint32_t turn = 1000000;
    struct chain trip;
    pthread_t thread;
    void *call_us;
    double t0, t;
    int n = 0;

    CK(chain_new(&trip, 1, 1, 1));
    CK(chain_set(&trip, &nop, 1, 0, ++turn));
    CK(cuGraphLaunch(trip.exec, other));
    CK(cuCtxSynchronize());
    CK(c->before());
    arg.a = LONG_NS;
    arg.b = words_dev + 8 * START_WORD;
    arg.c = words_dev + 8 * STOP_WORD;
    arg.d = ++turn;
    CK(kernel_launch(spin, stream_long));
    word_wait(START_WORD, turn);
    arg.a = arg.b = arg.c = 0;
    if (pthread_create(&thread, NULL, call_main, (void *)c))
        return failed("pthread_create", CUDA_ERROR_UNKNOWN, __LINE__);
    t0 = t = now_us();
    while (n < TRIPS_MOST && t - t0 < 250e3) {
        double end;

        CK(chain_set(&trip, &nop, 1, 0, ++turn));
        CK(cuGraphLaunch(trip.exec, other));
        word_wait(0, turn);
        end = now_us();
        us[n++] = end - t;
        t = end;
    }
    pthread_join(thread, &call_us);
    CK(cuCtxSynchronize());
    quantile(us, n, 0.5);
    printf(
        "  %-46s took %8.1f ms; another thread's %6d trips: p50 %6.2f p99 %7.2f max %10.1f us%s\n",
        c->name, *(double *)call_us / 1e3, n, us[n / 2], us[(int)(n * 0.99)], us[n - 1],
        us[n - 1] > 1e5 ? "  HELD UP" : "");
    chain_free(&trip);
    return c->after();
}

CUresult question_bystanders(void)
{
    CUstream stream_long, other;

    CK(context_open(0));
    CK(stream_new(&stream_long));
    CK(stream_new(&other));
    CK(kernel_launch(nop, other));
    CK(cuStreamWriteValue64(other, words_dev + 8 * PROBE_WORD, 0, 0));
    CK(cuCtxSynchronize());
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        double call_us, probe_us;
        int still;

        if (call_once(&calls[i], 1, stream_long, other, &call_us, &probe_us, &still))
            continue;
        if (i == 0 || call_us > 1e5 || probe_us > 1e5)
            bystander_measure(&calls[i], stream_long, other);
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------- 5: launches while another thread is busy */

#define STALL_S    0.8
#define STALL_ROOM 2000000

struct busy {
    const char *name;
    CUresult (*before)(void), (*act)(void), (*after)(void);
};

static const struct busy busies[] = {
    {"nothing", none, NULL, none},
    {"cuModuleLoadData of PTX, 3000 lines", NULL, load_ptx, after_load_ptx},
    {"cuLinkCreate/AddData/Complete, 3000 lines", NULL, compile, after_compile},
    {"cuModuleLoadData of a cubin, and unload", none, load, unload},
    {"cuMemCreate, release, 64 MiB", none, create, release},
    {"cuMemMap + SetAccess + Unmap, 64 MiB, made before", before_map, NULL, after_unmap},
    {"cuMemHostRegister and unregister, 1 MiB", segment, enroll, after_enroll},
    {"stream created, destroyed", none, new_stream, drop_stream},
    {"chain of 8 + write made, instantiated, destroyed", chain_make, instantiate,
     after_instantiate},
    {"green context made, destroyed", partition, green_new, green_drop},
    {"cuMemcpyHtoDAsync 1 MiB, pageable, own stream", before_copy, copy_async, after_copy},
    {"cuStreamQuery of an idle stream", used_stream, NULL, drop_stream},
};

static _Atomic int busy_stop;

static CUresult busy_cycle(const struct busy *b)
{
    if (b->before) {
        CK(b->before());
    } else {
        x.ptx = ptx_large(3000, ++x.seed);
    }
    if (b->act) {
        CK(b->act());
    } else if (b->before == before_map) {
        CK(map());
        CK(allow());
        CK(unmap());
    } else {
        for (int i = 0; i < 1000; i++)
            CK(cuStreamQuery(x.stream));
    }
    return b->after();
}

static void *busy_main(void *arg)
{
    const struct busy *b = arg;
    long cycles = 0;

    if (cuCtxSetCurrent(context) != CUDA_SUCCESS)
        return NULL;
    while (b->before != none || b->act) {
        if (atomic_load_explicit(&busy_stop, memory_order_relaxed) || busy_cycle(b))
            break;
        cycles++;
    }
    return (void *)cycles;
}

static CUresult stall_measure(const struct busy *b, CUstream s)
{
    static double us[STALL_ROOM];
    static uint32_t number;
    CUDA_KERNEL_NODE_PARAMS k;
    struct chain c;
    pthread_t thread;
    void *cycles;
    double t0, t;
    int n = 0, over = 0;

    CK(chain_new(&c, 1, 1, 0));
    atomic_store_explicit(&busy_stop, 0, memory_order_relaxed);
    if (pthread_create(&thread, NULL, busy_main, (void *)b))
        return failed("pthread_create", CUDA_ERROR_UNKNOWN, __LINE__);
    /* Parameters of its own: the other thread launches too. */
    k = node_params(nop);
    k.kernelParams = (void *[]){&arg.a, &arg.b, &arg.c, &number};
    t0 = t = now_us();
    while (n < STALL_ROOM && t - t0 < STALL_S * 1e6) {
        double end;

        number++;
        CK(cuGraphExecKernelNodeSetParams(c.exec, c.kernel[0], &k));
        CK(cuGraphLaunch(c.exec, s));
        end = now_us();
        us[n++] = end - t;
        over += end - t > 100;
        t = end;
    }
    atomic_store_explicit(&busy_stop, 1, memory_order_relaxed);
    pthread_join(thread, &cycles);
    CK(cuCtxSynchronize());
    quantile(us, n, 0.5);
    printf(
        "  %-52s %4.0f k/s  set+launch p50 %5.2f p99 %7.2f p99.9 %8.2f max %9.1f us, %d over 100 us"
        " (%ld cycles)\n",
        b->name, n / (t - t0) * 1e3, us[n / 2], us[(int)(n * 0.99)], us[(int)(n * 0.999)],
        us[n - 1], over, (long)cycles);
    chain_free(&c);
    return CUDA_SUCCESS;
}

CUresult question_stalls(void)
{
    CUstream s;

    CK(context_open(0));
    CK(stream_new(&s));
    for (size_t i = 0; i < sizeof(busies) / sizeof(*busies); i++)
        stall_measure(&busies[i], s);
    return CUDA_SUCCESS;
}
