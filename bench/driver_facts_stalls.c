/*
 * Which calls of another thread delay the launches of a dispatch lane. Each question_ function is
 * run in a process of its own.
 *
 * What the worker does when a tenant attaches, works and detaches, in this order:
 *   attach: shmat of the session's segment; cuMemHostRegister of its page of completion words (4
 *       KiB) and cuMemHostGetDevicePointer; cuMemAddressReserve of the window, 4 GiB or more,
 *       aligned to its size.
 *   first launch: cuStreamCreateWithPriority where no stream is left over, cuGraphInstantiate.
 *   first allocation: cuMemCreate, cuMemMap, cuMemSetAccess, cuMemsetD8Async, cuStreamSynchronize,
 *       cuMemExportToShareableHandle.
 *   detach: cuStreamQuery until its streams are idle; cuEventDestroy, cuGraphExecDestroy;
 *       cuMemUnmap, cuMemRelease, cuMemAddressFree; in a moment without kernels cuMemHostUnregister
 *       and shmdt of all segments that have gathered, while the worker itself holds everybody's
 *       launches back; cuModuleUnload.
 */
#include "driver_facts_lane.h"

#include <sys/eventfd.h>
#include <sys/mman.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define STALL_US    150e3
#define STALL_ROOM  100000
#define MANY        16 /* of a thing are made, then all are dropped */
#define SEGMENT     (512 * KIB)
#define WINDOW      (4 * GIB)
#define WINDOW_WIDE (256 * GIB)
#define PIECE       (2 * MIB)
#define STALL_WORD  64
#define OTHER_WORD  72

static struct {
    void *segment[MANY];
    CUdeviceptr at[MANY], copy_from, copy_to;
    CUmemGenericAllocationHandle handle[MANY];
    CUstream stream[MANY], own_stream;
    CUevent event[MANY];
    CUgraphExec exec[MANY];
    CUmodule module[MANY];
    char *ptx[MANY];
    int segment_id[MANY], file[MANY];
    struct lane lane;
    struct signaller signaller;
    uint64_t number;
    int bell, answer;
    pthread_t sleeper;
} other;

static CUresult system_call(const char *name, int good)
{
    return good ? CUDA_SUCCESS : failed(name, CUDA_ERROR_OPERATING_SYSTEM, __LINE__);
}

static CUresult segments_make(void)
{
    for (int i = 0; i < MANY; i++) {
        other.segment[i] = segment_new(SEGMENT, 1);
        CK(system_call("shmget/shmat", other.segment[i] != NULL));
    }
    return CUDA_SUCCESS;
}

static CUresult segments_drop(void)
{
    for (int i = 0; i < MANY; i++)
        shmdt(other.segment[i]);
    return CUDA_SUCCESS;
}

static CUresult enroll_bytes(int i, size_t size)
{
    return cuMemHostRegister(other.segment[i], size, CU_MEMHOSTREGISTER_DEVICEMAP);
}

/* One driver call for the i-th thing. */
#define STEP(name, call)                                                                           \
    static CUresult name(int i)                                                                    \
    {                                                                                              \
        (void)i;                                                                                   \
        return call;                                                                               \
    }                                                                                              \
    static CUresult name(int i)

STEP(enroll, enroll_bytes(i, SEGMENT));
STEP(enroll_page, enroll_bytes(i, 4 * KIB));
STEP(unroll, cuMemHostUnregister(other.segment[i]));
STEP(stream_make, cuStreamCreateWithPriority(&other.stream[i], CU_STREAM_NON_BLOCKING, 0));
STEP(green_stream_make,
     cuGreenCtxStreamCreate(&other.stream[i], other.lane.green, CU_STREAM_NON_BLOCKING, 0));
STEP(stream_drop, cuStreamDestroy(other.stream[i]));
STEP(stream_ask, cuStreamQuery(other.own_stream));
STEP(exec_make, cuGraphInstantiate(&other.exec[i], other.signaller.graph, 0));
STEP(exec_drop, cuGraphExecDestroy(other.exec[i]));
STEP(event_make, cuEventCreate(&other.event[i], CU_EVENT_DISABLE_TIMING));
STEP(event_drop, cuEventDestroy(other.event[i]));
STEP(window_make, cuMemAddressReserve(&other.at[i], WINDOW, WINDOW, 0, 0));
STEP(window_drop, cuMemAddressFree(other.at[i], WINDOW));
STEP(wide_make, cuMemAddressReserve(&other.at[i], WINDOW_WIDE, WINDOW_WIDE, 0, 0));
STEP(wide_drop, cuMemAddressFree(other.at[i], WINDOW_WIDE));
STEP(cubin_load, cuModuleLoadData(&other.module[i], cubin_bare));
STEP(ptx_load, cuModuleLoadData(&other.module[i], other.ptx[i]));
STEP(module_drop, cuModuleUnload(other.module[i]));
STEP(copy_across, cuMemcpyDtoD(other.copy_to, other.copy_from, PIECE));

static CUresult launch_other(int i)
{
    (void)i;
    CK(signaller_launch(&other.signaller, ++other.number));
    return signaller_wait(&other.signaller, other.number);
}

static CUmemAllocationProp on_device(void)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
}

static CUresult piece_create(int i)
{
    CUmemAllocationProp p = on_device();

    return cuMemCreate(&other.handle[i], PIECE, &p, 0);
}

STEP(piece_release, cuMemRelease(other.handle[i]));

static CUresult piece_map(int i)
{
    CUmemAccessDesc all = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                           .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

    CK(cuMemMap(other.at[0] + PIECE * i, PIECE, 0, other.handle[i], 0));
    return cuMemSetAccess(other.at[0] + PIECE * i, PIECE, &all, 1);
}

STEP(piece_unmap, cuMemUnmap(other.at[0] + PIECE * i, PIECE));

static CUresult piece_export(int i)
{
    return cuMemExportToShareableHandle(&other.file[i], other.handle[i],
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

STEP(file_close, system_call("close", close(other.file[i]) == 0));

static CUresult clear_bytes(size_t size)
{
    CK(cuMemsetD8Async(other.copy_to, 0, size, other.own_stream));
    return cuStreamSynchronize(other.own_stream);
}

STEP(clear, clear_bytes(PIECE));
STEP(clear_more, clear_bytes(64 * MIB));

/* What a page fault each takes, and the process's lock of its mappings. */
static CUresult map_touch(int i)
{
    other.segment[i] =
        mmap(NULL, SEGMENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CK(system_call("mmap", other.segment[i] != MAP_FAILED));
    memset(other.segment[i], 1, SEGMENT);
    return CUDA_SUCCESS;
}

STEP(map_drop, system_call("munmap", munmap(other.segment[i], SEGMENT) == 0));

static CUresult shm_make(void)
{
    for (int i = 0; i < MANY; i++) {
        other.segment_id[i] = shmget(IPC_PRIVATE, SEGMENT, 0600 | IPC_CREAT);
        CK(system_call("shmget", other.segment_id[i] >= 0));
    }
    return CUDA_SUCCESS;
}

static CUresult shm_drop(void)
{
    for (int i = 0; i < MANY; i++)
        shmctl(other.segment_id[i], IPC_RMID, NULL);
    return CUDA_SUCCESS;
}

static CUresult shm_map(int i)
{
    other.segment[i] = shmat(other.segment_id[i], NULL, 0);
    return system_call("shmat", other.segment[i] != (void *)-1);
}

STEP(shm_unmap, system_call("shmdt", shmdt(other.segment[i]) == 0));

/* A thread sleeps in read and answers: two wake-ups. */
static void *sleeper_main(void *unused)
{
    uint64_t count = 0;

    (void)unused;
    while (read(other.bell, &count, sizeof(count)) == sizeof(count) && count == 1)
        if (write(other.answer, &count, sizeof(count)) < 0)
            break;
    return NULL;
}

static CUresult sleeper_start(void)
{
    other.bell = eventfd(0, EFD_CLOEXEC);
    other.answer = eventfd(0, EFD_CLOEXEC);
    CK(system_call("eventfd", other.bell >= 0 && other.answer >= 0));
    return system_call("pthread_create", !pthread_create(&other.sleeper, NULL, sleeper_main, NULL));
}

static CUresult sleeper_end(void)
{
    uint64_t end = 2;

    CK(system_call("write", write(other.bell, &end, sizeof(end)) > 0));
    pthread_join(other.sleeper, NULL);
    close(other.bell);
    close(other.answer);
    return CUDA_SUCCESS;
}

static CUresult sleeper_wake(int i)
{
    uint64_t count = 1;

    (void)i;
    return system_call("write, read", write(other.bell, &count, sizeof(count)) > 0 &&
                                          read(other.answer, &count, sizeof(count)) > 0);
}

/* All of an attach that the tenant does nothing after, then its detach. */
static CUresult attach(int i)
{
    CUdeviceptr page;

    CK(shm_map(i));
    CK(enroll_page(i));
    CK(cuMemHostGetDevicePointer(&page, other.segment[i], 0));
    return window_make(i);
}

static CUresult detach(int i)
{
    CK(window_drop(i));
    CK(unroll(i));
    return shm_unmap(i);
}

static CUresult pieces_create(void)
{
    for (int i = 0; i < MANY; i++)
        CK(piece_create(i));
    return CUDA_SUCCESS;
}

static CUresult pieces_release(void)
{
    for (int i = 0; i < MANY; i++)
        CK(piece_release(i));
    return CUDA_SUCCESS;
}

static CUresult pieces_prepare(void)
{
    CK(pieces_create());
    return window_make(0);
}

static CUresult pieces_end(void)
{
    CK(pieces_release());
    return window_drop(0);
}

static CUresult ptx_make(void)
{
    for (int i = 0; i < MANY; i++) {
        other.ptx[i] = ptx_large(30, i + 1);
        CK(system_call("malloc", other.ptx[i] != NULL));
    }
    return CUDA_SUCCESS;
}

static CUresult ptx_drop(void)
{
    for (int i = 0; i < MANY; i++)
        free(other.ptx[i]);
    return CUDA_SUCCESS;
}

static const struct act {
    const char *name[2];
    CUresult (*step[2])(int i); /* MANY times the first, then the second where there is one */
    CUresult (*before)(void), (*after)(void);
    int in_lane; /* called with another lane's context current, else with the primary one */
} acts[] = {
    {{"nothing"}, {NULL}, NULL, NULL, 0},
    {{"launch and wait in another lane"}, {launch_other}, NULL, NULL, 1},
    {{"cuMemHostRegister 512 KiB", "cuMemHostUnregister"},
     {enroll, unroll},
     segments_make,
     segments_drop,
     0},
    {{"cuMemHostRegister 4 KiB", "cuMemHostUnregister"},
     {enroll_page, unroll},
     segments_make,
     segments_drop,
     0},
    {{"cuStreamCreateWithPriority, another lane", "cuStreamDestroy"},
     {stream_make, stream_drop},
     NULL,
     NULL,
     1},
    {{"cuStreamCreateWithPriority, primary", "cuStreamDestroy"},
     {stream_make, stream_drop},
     NULL,
     NULL,
     0},
    {{"cuGreenCtxStreamCreate, another lane", "cuStreamDestroy"},
     {green_stream_make, stream_drop},
     NULL,
     NULL,
     1},
    {{"cuStreamQuery, another lane"}, {stream_ask}, NULL, NULL, 1},
    {{"cuGraphInstantiate, another lane", "cuGraphExecDestroy"},
     {exec_make, exec_drop},
     NULL,
     NULL,
     1},
    {{"cuEventCreate", "cuEventDestroy"}, {event_make, event_drop}, NULL, NULL, 1},
    {{"cuMemAddressReserve 4 GiB", "cuMemAddressFree"}, {window_make, window_drop}, NULL, NULL, 0},
    {{"cuMemAddressReserve 256 GiB", "cuMemAddressFree"}, {wide_make, wide_drop}, NULL, NULL, 0},
    {{"cuMemCreate 2 MiB", "cuMemRelease"}, {piece_create, piece_release}, NULL, NULL, 0},
    {{"cuMemMap + cuMemSetAccess 2 MiB", "cuMemUnmap"},
     {piece_map, piece_unmap},
     pieces_prepare,
     pieces_end,
     0},
    {{"cuMemExportToShareableHandle", "close"},
     {piece_export, file_close},
     pieces_create,
     pieces_release,
     0},
    {{"cuModuleLoadData, cubin", "cuModuleUnload"}, {cubin_load, module_drop}, NULL, NULL, 0},
    {{"cuModuleLoadData, PTX of 30 lines", "cuModuleUnload"},
     {ptx_load, module_drop},
     ptx_make,
     ptx_drop,
     0},
    {{"cuMemsetD8Async + sync, 2 MiB"}, {clear}, NULL, NULL, 0},
    {{"cuMemsetD8Async + sync, 64 MiB"}, {clear_more}, NULL, NULL, 0},
    {{"cuMemcpyDtoD 2 MiB"}, {copy_across}, NULL, NULL, 0},
    {{"mmap 512 KiB, touched", "munmap"}, {map_touch, map_drop}, NULL, NULL, 0},
    {{"shmat 512 KiB", "shmdt"}, {shm_map, shm_unmap}, shm_make, shm_drop, 0},
    {{"a thread woken, and this one by it"}, {sleeper_wake}, sleeper_start, sleeper_end, 0},
    {{"an attach", "a detach"}, {attach, detach}, shm_make, shm_drop, 0},
};

#define PHASES 2

static _Atomic int phase, others_stop;

/* What the other thread did: calls and their time. */
static struct {
    double us[PHASES];
    long calls[PHASES];
    CUresult result;
} did;

static CUresult act_cycle(const struct act *a)
{
    for (int p = 0; p < PHASES && a->step[p]; p++) {
        double start;

        atomic_store_explicit(&phase, p, memory_order_relaxed);
        start = now_us();
        for (int i = 0; i < MANY; i++)
            CK(a->step[p](i));
        did.us[p] += now_us() - start;
        did.calls[p] += MANY;
    }
    return CUDA_SUCCESS;
}

static CUresult act_loop(const struct act *a)
{
    CK(cuCtxSetCurrent(a->in_lane ? other.lane.context : context));
    do
        CK(act_cycle(a));
    while (!atomic_load_explicit(&others_stop, memory_order_relaxed));
    return CUDA_SUCCESS;
}

static void *act_main(void *arg)
{
    did.result = act_loop(arg);
    return NULL;
}

/* Round trips of this thread beside them, told apart by what the other was at when they began:
 * where MANY calls take less than a trip, the two lines are one. */
static CUresult act_beside(const struct act *a, struct signaller *t)
{
    static double us[PHASES][STALL_ROOM];
    static uint64_t number;
    int n[PHASES] = {0};
    double began, start;
    pthread_t thread;

    if (a->before)
        CK(a->before());
    memset(&did, 0, sizeof(did));
    atomic_store(&others_stop, 0);
    atomic_store(&phase, 0);
    if (a->step[0])
        CK(system_call("pthread_create", !pthread_create(&thread, NULL, act_main, (void *)a)));
    for (began = start = now_us(); start - began < STALL_US; start = now_us()) {
        int p = atomic_load_explicit(&phase, memory_order_relaxed);

        CK(signaller_launch(t, ++number));
        CK(signaller_wait(t, number));
        if (n[p] < STALL_ROOM)
            us[p][n[p]++] = now_us() - start;
    }
    atomic_store(&others_stop, 1);
    if (a->step[0])
        pthread_join(thread, NULL);
    for (int p = 0; p < PHASES && a->name[p]; p++) {
        double p50 = n[p] ? quantile(us[p], n[p], 0.5) : 0; /* sorts them */

        printf("  %-42s %9.2f us each, %7ld of them; ", a->name[p],
               did.calls[p] ? did.us[p] / did.calls[p] : 0, did.calls[p]);
        if (n[p])
            printf("p50 %7.2f p99 %8.2f max %9.2f us (%d trips)\n", p50,
                   us[p][(int)(0.99 * (n[p] - 1))], us[p][n[p] - 1], n[p]);
        else
            printf("no trip began beside it\n");
    }
    if (a->after)
        CK(a->after());
    return did.result;
}

CUresult question_lane_stalls(void)
{
    struct signaller victim;
    struct lane lane;
    CUstream s;

    CK(own_open());
    CK(lane_new(&lane));
    CK(lane_new(&other.lane));
    CK(cuMemAlloc(&other.copy_from, 64 * MIB));
    CK(cuMemAlloc(&other.copy_to, 64 * MIB));
    CK(cuCtxSetCurrent(other.lane.context));
    CK(cuGreenCtxStreamCreate(&other.own_stream, other.lane.green, CU_STREAM_NON_BLOCKING, 0));
    CK(signaller_new(&other.signaller, SIGNAL_OWN, 1, 1, OTHER_WORD, other.own_stream));
    CK(cuCtxSetCurrent(lane.context));
    CK(cuGreenCtxStreamCreate(&s, lane.green, CU_STREAM_NON_BLOCKING, 0));
    CK(signaller_new(&victim, SIGNAL_OWN, 1, 1, STALL_WORD, s));
    for (int i = 0; i < 500; i++) {
        CK(signaller_launch(&victim, ~0ull));
        CK(signaller_wait(&victim, ~0ull));
        atomic_store(&words[STALL_WORD], 0);
    }
    printf("  another thread does, all the time; a lane's launch + wait meanwhile\n");
    for (size_t i = 0; i < COUNT(acts); i++)
        act_beside(&acts[i], &victim); /* what fails is in the output; the others go on */
    return act_beside(&acts[0], &victim);
}
