/*
 * Dispatch lanes: threads that launch for others, each in a green context of all SMs of its own.
 * How many launches they make for tenants that wait; which calls of another thread delay a lane's
 * launches; what a lane costs. Each question_ function is run in a process of its own.
 */
#include "driver_facts_lane.h"

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* ------------------------------------------------- 21: lanes for tenants that wait */

#define TENANTS_MAX 16
#define SERVE_US    200e3
#define SAMPLES_MAX 200000
#define SPINS       4000 /* then the processor is offered to others: there may be too few */
#define FIRST_WORD  64   /* the tenants' completion words, a cache line each */

static struct tenant {
    _Alignas(64) _Atomic uint64_t posted; /* the number of the launch that the tenant asks for */
    _Alignas(64) struct told told;
    CUstream stream;
    uint64_t taken;
    pthread_t thread;
    int word, n;
    double *us;
} tenants[TENANTS_MAX];

static struct dispatcher {
    struct lane lane;
    pthread_t thread;
    unsigned index, step, tenant_count; /* serves each step-th tenant from its index on */
    enum tell how;
    CUresult result;
} dispatchers[LANES_MAX];

static _Atomic int dispatchers_ready, dispatchers_stop, tenants_go, tenants_stop;

static void pause_or_yield(unsigned *spins)
{
    if (++*spins % SPINS == 0)
        sched_yield();
}

static void *tenant_main(void *unused)
{
    struct tenant *t = unused;
    unsigned spins = 0;
    uint64_t number = 0;

    while (!atomic_load_explicit(&tenants_go, memory_order_acquire))
        sched_yield();
    while (!atomic_load_explicit(&tenants_stop, memory_order_relaxed)) {
        double start = now_us();

        atomic_store_explicit(&t->posted, ++number, memory_order_release);
        while (atomic_load_explicit(&words[t->word], memory_order_acquire) != number)
            pause_or_yield(&spins);
        if (t->n < SAMPLES_MAX)
            t->us[t->n++] = now_us() - start;
    }
    return NULL;
}

static CUresult dispatch(struct dispatcher *d)
{
    unsigned spins = 0;

    CK(cuCtxSetCurrent(d->lane.context));
    for (unsigned i = d->index; i < d->tenant_count; i += d->step) {
        CK(cuGreenCtxStreamCreate(&tenants[i].stream, d->lane.green, CU_STREAM_NON_BLOCKING, 0));
        CK(told_new(&tenants[i].told, d->how, 1, 1, tenants[i].word, tenants[i].stream));
        tenants[i].taken = 0;
    }
    dispatchers_ready++;
    while (!atomic_load_explicit(&dispatchers_stop, memory_order_acquire)) {
        for (unsigned i = d->index; i < d->tenant_count; i += d->step) {
            struct tenant *t = &tenants[i];
            uint64_t posted = atomic_load_explicit(&t->posted, memory_order_acquire);

            if (posted == t->taken)
                continue;
            t->taken = posted;
            CK(told_launch(&t->told, posted));
        }
        pause_or_yield(&spins);
    }
    for (unsigned i = d->index; i < d->tenant_count; i += d->step) {
        CK(told_free(&tenants[i].told));
        CK(cuStreamDestroy(tenants[i].stream));
    }
    return CUDA_SUCCESS;
}

static void *dispatcher_main(void *arg)
{
    struct dispatcher *d = arg;

    d->result = dispatch(d);
    if (d->result)
        exit(1); /* tenants would wait for it; the call that failed is in the output */
    return NULL;
}

/* The wait is for threads that make streams and graphs; the tenants run for SERVE_US. */
static CUresult serve(unsigned lane_count, unsigned tenant_count, enum tell how)
{
    static double us[TENANTS_MAX * (size_t)SAMPLES_MAX];
    double began, passed, p50, worst = 0;
    size_t n = 0;

    dispatchers_ready = dispatchers_stop = tenants_go = tenants_stop = 0;
    for (unsigned i = 0; i < tenant_count; i++) {
        tenants[i].posted = tenants[i].n = 0;
        tenants[i].word = FIRST_WORD + 8 * (int)i;
    }
    for (unsigned i = 0; i < lane_count; i++) {
        dispatchers[i].index = i;
        dispatchers[i].step = lane_count;
        dispatchers[i].tenant_count = tenant_count;
        dispatchers[i].how = how;
        pthread_create(&dispatchers[i].thread, NULL, dispatcher_main, &dispatchers[i]);
    }
    for (unsigned i = 0; i < tenant_count; i++)
        pthread_create(&tenants[i].thread, NULL, tenant_main, &tenants[i]);
    while (dispatchers_ready < (int)lane_count)
        sched_yield();
    began = now_us();
    atomic_store_explicit(&tenants_go, 1, memory_order_release);
    usleep((unsigned)SERVE_US);
    atomic_store(&tenants_stop, 1);
    for (unsigned i = 0; i < tenant_count; i++)
        pthread_join(tenants[i].thread, NULL);
    passed = now_us() - began;
    atomic_store_explicit(&dispatchers_stop, 1, memory_order_release);
    for (unsigned i = 0; i < lane_count; i++)
        pthread_join(dispatchers[i].thread, NULL);
    for (unsigned i = 0; i < tenant_count; i++) {
        memcpy(us + n, tenants[i].us, sizeof(*us) * tenants[i].n);
        n += tenants[i].n;
        p50 = quantile(tenants[i].us, tenants[i].n, 0.5);
        worst = p50 > worst ? p50 : worst;
    }
    p50 = quantile(us, (int)n, 0.5); /* sorts them */
    printf("  %7.1f k/s %6.2f %6.2f %6.2f", n / passed * 1e3, p50, worst,
           us[(size_t)(0.99 * (n - 1))]);
    return CUDA_SUCCESS;
}

CUresult question_lanes(void)
{
    static const unsigned lane_counts[] = {1, 2, 3, 4, 6, 8}, tenant_counts[] = {1, 2, 4, 8, 16};

    CK(own_open());
    for (int i = 0; i < LANES_MAX; i++)
        CK(lane_new(&dispatchers[i].lane));
    for (int i = 0; i < TENANTS_MAX; i++) {
        tenants[i].us = malloc(sizeof(double) * SAMPLES_MAX);
        if (!tenants[i].us)
            return failed("malloc", CUDA_ERROR_OUT_OF_MEMORY, __LINE__);
    }
    printf("  %ld processors; launches, p50, the worst tenant's p50 and p99 in us\n"
           "  tenants lanes       own store                          completing kernel\n",
           sysconf(_SC_NPROCESSORS_ONLN));
    for (size_t t = 0; t < COUNT(tenant_counts); t++) {
        for (size_t l = 0; l < COUNT(lane_counts) && lane_counts[l] <= tenant_counts[t]; l++) {
            printf("  %7u %5u", tenant_counts[t], lane_counts[l]);
            CK(serve(lane_counts[l], tenant_counts[t], TELL_OWN));
            CK(serve(lane_counts[l], tenant_counts[t], TELL_AFTER));
            printf("\n");
        }
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------- 22: what delays a lane's launches
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
    struct told told;
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
STEP(exec_make, cuGraphInstantiate(&other.exec[i], other.told.graph, 0));
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
    CK(told_launch(&other.told, ++other.number));
    return told_wait(&other.told, other.number);
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
static CUresult act_beside(const struct act *a, struct told *t)
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

        CK(told_launch(t, ++number));
        CK(told_wait(t, number));
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
    struct told victim;
    struct lane lane;
    CUstream s;

    CK(own_open());
    CK(lane_new(&lane));
    CK(lane_new(&other.lane));
    CK(cuMemAlloc(&other.copy_from, 64 * MIB));
    CK(cuMemAlloc(&other.copy_to, 64 * MIB));
    CK(cuCtxSetCurrent(other.lane.context));
    CK(cuGreenCtxStreamCreate(&other.own_stream, other.lane.green, CU_STREAM_NON_BLOCKING, 0));
    CK(told_new(&other.told, TELL_OWN, 1, 1, OTHER_WORD, other.own_stream));
    CK(cuCtxSetCurrent(lane.context));
    CK(cuGreenCtxStreamCreate(&s, lane.green, CU_STREAM_NON_BLOCKING, 0));
    CK(told_new(&victim, TELL_OWN, 1, 1, STALL_WORD, s));
    for (int i = 0; i < 500; i++) {
        CK(told_launch(&victim, ~0ull));
        CK(told_wait(&victim, ~0ull));
        atomic_store(&words[STALL_WORD], 0);
    }
    printf("  another thread does, all the time; a lane's launch + wait meanwhile\n");
    for (size_t i = 0; i < COUNT(acts); i++)
        act_beside(&acts[i], &victim); /* what fails is in the output; the others go on */
    return act_beside(&acts[0], &victim);
}

/* ------------------------------------------------- 23: what a lane costs */

/* Bytes of this process that are in memory. */
static double resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static CUresult lanes_make(int split)
{
    struct lane lane[LANES_MAX];
    struct told told;
    CUdevResourceDesc desc;
    CUstream s[LANES_MAX];
    double start, described, made, first, host = resident();
    long long began = memory_used();
    CUresult result;

    printf("  from %s\n", split ? "all groups of the finest split" : "all SMs, not split");
    for (int i = 0; i < LANES_MAX; i++) {
        long long used = memory_used();
        double had = resident();

        start = now_us();
        result = lane_describe(&desc, split);
        described = now_us() - start;
        start = now_us();
        if (!result)
            result = cuGreenCtxCreate(&lane[i].green, desc, device, CU_GREEN_CTX_DEFAULT_STREAM);
        made = now_us() - start;
        if (result) {
            failed("describing or creating it", result, __LINE__);
            return CUDA_SUCCESS; /* that it cannot be made is an answer too */
        }
        start = now_us();
        CK(cuCtxFromGreenCtx(&lane[i].context, lane[i].green));
        CK(cuCtxSetCurrent(lane[i].context));
        CK(cuGreenCtxStreamCreate(&s[i], lane[i].green, CU_STREAM_NON_BLOCKING, 0));
        CK(told_new(&told, TELL_OWN, 1, 1, STALL_WORD, s[i]));
        CK(told_launch(&told, 1));
        CK(told_wait(&told, 1));
        first = now_us() - start;
        CK(told_free(&told));
        CK(cuCtxSetCurrent(context));
        printf("  lane %d: described in %6.1f us, made in %7.1f; stream, graph and first launch "
               "%7.1f; device %5.2f MiB, host %5.2f MiB\n",
               i + 1, described, made, first, (double)(memory_used() - used) / MIB,
               (resident() - had) / MIB);
    }
    for (int i = 0; i < LANES_MAX; i++) {
        CK(cuStreamDestroy(s[i]));
        CK(cuGreenCtxDestroy(lane[i].green));
    }
    printf("  all destroyed, still missing: device %5.2f MiB, host %5.2f MiB\n",
           (double)(memory_used() - began) / MIB, (resident() - host) / MIB);
    return CUDA_SUCCESS;
}

CUresult question_lane_cost(void)
{
    CK(own_open());
    CK(lanes_make(0));
    CK(lanes_make(0));
    return lanes_make(1);
}
