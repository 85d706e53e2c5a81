// Launches: shapes, cooperation, residence, priorities, threads.
#include <pthread.h>
#include <string.h>

#include "conform.h"

static void large_grids(void)
{
    enum { BLOCKS = 5000, THREADS = 96 };
    CUdeviceptr p = device_alloc(4 * BLOCKS * THREADS);
    uint32_t *host = malloc(4 * BLOCKS * THREADS);

    CHECK(host);
    launch_wide(NULL, "count", BLOCKS, THREADS, p, 3, 0);
    OK(cu.cuMemcpyDtoH_v2(host, p, 4 * BLOCKS * THREADS));
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        CHECK(host[i] == i + 3, "thread %u", i);
}

static void cooperative_blocks_meet(void)
{
    CUdeviceptr p = device_alloc(4);
    CUfunction f = kernel("meet");
    uint64_t a = p, b = 0, c;
    void *params[] = {&a, &b, &c};
    int each, sms;

    OK(cu.cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, f, 1024, 0));
    c = (uint64_t)each * sms * 1024;
    EXPECT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
           cu.cuLaunchCooperativeKernel(f, each * sms + 1, 1, 1, 1024, 1, 1, 0, NULL, params));
    OK(cu.cuLaunchCooperativeKernel(f, each * sms, 1, 1, 1024, 1, 1, 0, NULL, params));
    CHECK(device_word(p) == c, "%u", device_word(p));
}

// Cooperative groups' grid.sync() reads the address of its barrier there, and traps where there is
// none.
static void only_a_cooperative_grid_has_a_workspace(void)
{
    CUdeviceptr p = device_alloc(16);
    uint64_t a = p, b = 0, c = 0;
    void *params[] = {&a, &b, &c};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};

    for (int cooperative = 0; cooperative < 2; cooperative++) {
        attribute.value.cooperative = cooperative;
        OK(cu.cuLaunchKernelEx(&config, kernel("workspace"), params, NULL));
        CHECK((device_word(p) || device_word(p + 4)) == (cooperative == 1));
    }
    OK(cu.cuLaunchCooperativeKernel(kernel("workspace"), 1, 1, 1, 1, 1, 1, 0, NULL, params));
    CHECK(device_word(p) || device_word(p + 4));
}

static void two_cooperative_grids_do_not_lock(void)
{
    CUstream s[2] = {stream_open(), stream_open()};
    CUdeviceptr p[2] = {device_alloc(4), device_alloc(4)};
    CUfunction f = kernel("meet");
    int each, sms;

    OK(cu.cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, f, 1024, 0));
    for (int i = 0; i < 6; i++) {
        uint64_t a = p[i % 2], b = 0, c = (uint64_t)each * sms * 1024 * (i / 2 + 1);
        void *params[] = {&a, &b, &c};

        OK(cu.cuLaunchCooperativeKernel(f, each * sms, 1, 1, 1024, 1, 1, 0, s[i % 2], params));
    }
    OK(cu.cuCtxSynchronize());
    CHECK(device_word(p[0]) == 3u * each * sms * 1024);
}

static void launch_attributes(void)
{
    CUdeviceptr p = device_alloc(4);
    uint64_t a = p, b = 8, c = 0;
    void *params[] = {&a, &b, &c};
    CUlaunchAttribute attrs[2];
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = attrs,
                             .numAttrs = 2};

    memset(attrs, 0, sizeof(attrs));
    attrs[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attrs[0].value.cooperative = 1;
    attrs[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    attrs[1].value.priority = -1;
    OK(cu.cuLaunchKernelEx(&config, kernel("store"), params, NULL));
    CHECK(device_word(p) == 8);
}

// 128 grids are resident at once: this many kernels that wait for the last of them get through.
static void resident_grids(void)
{
    enum { GRIDS = 128 };
    CUdeviceptr p = device_alloc(4);
    CUstream s[GRIDS];

    for (int i = 0; i < GRIDS; i++)
        s[i] = stream_open();
    launch(NULL, "empty", 0, 0, 0);
    OK(cu.cuCtxSynchronize());
    for (int i = 0; i < GRIDS; i++)
        launch(s[i], "meet", p, 0, GRIDS);
    OK(cu.cuCtxSynchronize());
    CHECK(device_word(p) == GRIDS);
}

static void one_grid_too_many_waits(void)
{
    enum { GRIDS = 128 };
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words, p = device_alloc(4);
    CUstream s[GRIDS], last = stream_open();

    for (int i = 0; i < GRIDS; i++)
        s[i] = stream_open();
    launch(last, "empty", 0, 0, 0);
    OK(cu.cuCtxSynchronize());
    for (int i = 0; i < GRIDS; i++)
        launch_wide(s[i], "await", 1, 32, base, 1, base + 64);
    launch(last, "store", p, 1, 0);
    launch(last, "store64", base + 8, 1, 0);
    for (uint64_t end = now_ns() + 200000000; now_ns() < end;)
        CHECK(words[1] == 0, "the 129th grid ran beside 128 others");
    words[0] = 1;
    OK(cu.cuCtxSynchronize());
    CHECK(words[1] == 1);
}

static void priority_range(void)
{
    int least, greatest, priority;
    CUstream s;

    OK(cu.cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest < least);
    OK(cu.cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, greatest));
    OK(cu.cuStreamGetPriority(s, &priority));
    CHECK(priority == greatest);
    OK(cu.cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, greatest - 100));
    OK(cu.cuStreamGetPriority(s, &priority));
    CHECK(priority == greatest, "out of range is not clamped");
}

// With the device full of a low-priority grid's blocks, a high-priority grid's blocks come next.
static void high_priority_is_placed_first(void)
{
    CUdeviceptr low_done = device_alloc(4);
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words;
    CUstream low, high;
    uint64_t a, b, c = 0;
    void *params[] = {&a, &b, &c};
    int least, greatest, sms;
    CUdeviceptr ids;

    OK(cu.cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    OK(cu.cuCtxGetStreamPriorityRange(&least, &greatest));
    OK(cu.cuStreamCreateWithPriority(&low, CU_STREAM_NON_BLOCKING, least));
    OK(cu.cuStreamCreateWithPriority(&high, CU_STREAM_NON_BLOCKING, greatest));
    ids = device_alloc(4u * sms * 40);
    // Twenty rounds of blocks of 2 ms each.
    a = ids;
    b = 2000000;
    OK(cu.cuLaunchKernel(kernel("where"), 40 * sms, 1, 1, 1024, 1, 1, 0, low, params, NULL));
    launch(low, "store64", base, 1, 0);
    launch(high, "store64", base + 8, 1, 0);
    OK(cu.cuStreamSynchronize(high));
    CHECK(words[0] == 0, "the high-priority kernel came last");
    OK(cu.cuStreamSynchronize(low));
    OK(cu.cuMemFree_v2(low_done));
}

// ---- Host threads

struct worker {
    CUdeviceptr address;
    int rounds;
    int wrong;
};

static void *worker_run(void *argument)
{
    struct worker *w = argument;
    CUstream s;

    if (cu.cuCtxSetCurrent(primary) || cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING)) {
        w->wrong++;
        return NULL;
    }
    for (int i = 1; i <= w->rounds; i++) {
        uint64_t a = w->address, b = i, c = 0;
        void *params[] = {&a, &b, &c};
        uint32_t got = 0;
        CUdeviceptr scratch;

        w->wrong += cu.cuMemAlloc_v2(&scratch, 1000 * i) != CUDA_SUCCESS;
        w->wrong += cu.cuLaunchKernel(kernel("store"), 1, 1, 1, 1, 1, 1, 0, s, params, NULL) !=
                    CUDA_SUCCESS;
        w->wrong += cu.cuMemcpyDtoDAsync_v2(scratch, w->address, 4, s) != CUDA_SUCCESS;
        w->wrong += cu.cuStreamSynchronize(s) != CUDA_SUCCESS;
        w->wrong += cu.cuMemcpyDtoH_v2(&got, scratch, 4) != CUDA_SUCCESS || got != (uint32_t)i;
        w->wrong += cu.cuMemFree_v2(scratch) != CUDA_SUCCESS;
    }
    return NULL;
}

static void threads_share_a_context(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    struct worker workers[THREADS];

    module_open();
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){device_alloc(4), 100, 0};
        CHECK(pthread_create(&threads[i], NULL, worker_run, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(workers[i].wrong == 0, "thread %d: %d wrong", i, workers[i].wrong);
    }
}

static void current_context_is_the_threads_own(void)
{
    CUcontext c;

    OK(cu.cuCtxPushCurrent_v2(primary));
    OK(cu.cuCtxPopCurrent_v2(&c));
    CHECK(c == primary);
    OK(cu.cuCtxGetCurrent(&c));
    CHECK(c == primary);
    OK(cu.cuCtxSetCurrent(NULL));
    OK(cu.cuCtxGetCurrent(&c));
    CHECK(c == NULL);
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cu.cuCtxSynchronize());
}

static const struct test tests[] = {
    {"every block of a large grid runs once", large_grids, false},
    {"a cooperative grid's blocks are resident together", cooperative_blocks_meet, false},
    {"only a cooperative grid has a workspace", only_a_cooperative_grid_has_a_workspace, false},
    {"cooperative grids do not lock one another out", two_cooperative_grids_do_not_lock, false},
    {"launch attributes are taken", launch_attributes, false},
    {"128 grids are resident at once", resident_grids, false},
    {"the 129th grid waits", one_grid_too_many_waits, false},
    {"priorities have a range and are clamped to it", priority_range, false},
    {"blocks of high priority are placed first", high_priority_is_placed_first, false},
    {"eight threads work in one context", threads_share_a_context, false},
    {"the current context is the thread's own", current_context_is_the_threads_own, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
