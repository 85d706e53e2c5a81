// SM partitions: splits, green contexts, and where blocks run.
#include "conform.h"

enum { MAX_GROUPS = 256 };

static CUdevResource whole(void)
{
    CUdevResource r;

    OK(cu.cuDeviceGetDevResource(device, &r, CU_DEV_RESOURCE_TYPE_SM));
    return r;
}

static unsigned int split(CUdevResource *groups, unsigned int flags, unsigned int min,
                          CUdevResource *rest)
{
    CUdevResource all = whole();
    unsigned int count = MAX_GROUPS;

    OK(cu.cuDevSmResourceSplitByCount(NULL, &count, &all, NULL, flags, min));
    CHECK(count > 0 && count <= MAX_GROUPS);
    OK(cu.cuDevSmResourceSplitByCount(groups, &count, &all, rest, flags, min));
    return count;
}

static CUgreenCtx green_open(CUdevResource *groups, unsigned int count)
{
    CUdevResourceDesc desc;
    CUgreenCtx green;

    OK(cu.cuDevResourceGenerateDesc(&desc, groups, count));
    OK(cu.cuGreenCtxCreate(&green, desc, device, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

static CUstream green_stream(CUgreenCtx green)
{
    CUstream s;

    OK(cu.cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0));
    return s;
}

// The SMs that 4 blocks each of SMS SMs ran on, as a set; returns how many.
static unsigned int sms_used(CUstream s, unsigned int sms, bool *used)
{
    unsigned int blocks = 4 * sms, count = 0;
    CUdeviceptr p = device_alloc(4 * blocks);
    uint32_t *host = malloc(4 * blocks);

    CHECK(host);
    OK(cu.cuCtxSynchronize());
    launch_wide(s, "where", blocks, 512, p, 2000000, 0);
    OK(cu.cuStreamSynchronize(s));
    OK(cu.cuMemcpyDtoH_v2(host, p, 4 * blocks));
    for (unsigned int i = 0; i < blocks; i++) {
        CHECK(host[i] < MAX_GROUPS * 2);
        count += !used[host[i]];
        used[host[i]] = true;
    }
    free(host);
    OK(cu.cuMemFree_v2(p));
    return count;
}

static void whole_device(void)
{
    CUdevResource r = whole(), c;
    bool used[512] = {false};
    int sms;

    OK(cu.cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    CHECK(r.type == CU_DEV_RESOURCE_TYPE_SM && r.sm.smCount == (unsigned)sms);
    OK(cu.cuCtxGetDevResource(primary, &c, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(c.sm.smCount == (unsigned)sms);
    CHECK(sms_used(stream_open(), sms, used) == (unsigned)sms, "not every SM was used");
}

static void splits_in_pairs(void)
{
    static CUdevResource groups[MAX_GROUPS];
    CUdevResource rest;
    unsigned int count = split(groups, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2, &rest);

    CHECK(count == whole().sm.smCount / 2, "%u groups", count);
    for (unsigned int i = 0; i < count; i++)
        CHECK(groups[i].sm.smCount == 2);
}

static void splits_in_eights(void)
{
    static CUdevResource groups[MAX_GROUPS];
    CUdevResource rest;
    unsigned int count = split(groups, 0, 1, &rest), sum = 0;

    for (unsigned int i = 0; i < count; i++) {
        CHECK(groups[i].sm.smCount == 8, "%u", groups[i].sm.smCount);
        sum += groups[i].sm.smCount;
    }
    if (rest.type == CU_DEV_RESOURCE_TYPE_SM)
        sum += rest.sm.smCount;
    CHECK(sum == whole().sm.smCount);
}

static void partition_is_exact(void)
{
    static CUdevResource groups[MAX_GROUPS], some[MAX_GROUPS];
    CUdevResource got;
    unsigned int count = split(groups, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2, NULL);

    for (unsigned int pairs = 1; pairs < count; pairs = pairs * 2 + 1) {
        bool used[512] = {false};
        CUgreenCtx green;
        CUstream s;

        // Scattered ones: every second group first.
        for (unsigned int i = 0; i < pairs; i++)
            some[i] = groups[i * 2 < count ? i * 2 : i * 2 - count + (count % 2 == 0)];
        green = green_open(some, pairs);
        s = green_stream(green);
        OK(cu.cuGreenCtxGetDevResource(green, &got, CU_DEV_RESOURCE_TYPE_SM));
        CHECK(got.sm.smCount == 2 * pairs);
        CHECK(sms_used(s, 2 * pairs, used) == 2 * pairs, "%u pairs", pairs);
        OK(cu.cuStreamDestroy_v2(s));
        OK(cu.cuGreenCtxDestroy(green));
    }
}

static void disjoint_partitions(void)
{
    static CUdevResource groups[MAX_GROUPS];
    bool used[512] = {false};
    unsigned int count = split(groups, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2, NULL);
    CUgreenCtx a = green_open(groups, 2), b = green_open(groups + 2, 2);

    CHECK(count >= 4);
    CHECK(sms_used(green_stream(a), 4, used) == 4);
    CHECK(sms_used(green_stream(b), 4, used) == 4, "two partitions share an SM");
}

static void partitions_run_together(void)
{
    static CUdevResource groups[MAX_GROUPS];
    unsigned int count = split(groups, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2, NULL);
    CUgreenCtx small = green_open(groups, 1), overlapping = green_open(groups, count / 2);
    CUstream s[3] = {green_stream(small), green_stream(overlapping), stream_open()};
    CUdeviceptr p = device_alloc(4);

    // Each waits for the other two to have begun.
    for (size_t i = 0; i < ARRAY_SIZE(s); i++)
        launch(s[i], "meet", p, 0, 3);
    OK(cu.cuCtxSynchronize());
    CHECK(device_word(p) == 3);
}

static void groups_of_two_splits_join(void)
{
    static CUdevResource pairs[MAX_GROUPS], eights[MAX_GROUPS];
    CUdevResource joined[3], got;
    bool used[512] = {false};
    CUgreenCtx green;

    split(pairs, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2, NULL);
    split(eights, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 8, NULL);
    joined[0] = pairs[0];
    joined[1] = pairs[0];
    joined[2] = eights[1];
    green = green_open(joined, 3);
    OK(cu.cuGreenCtxGetDevResource(green, &got, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(sms_used(green_stream(green), 10, used) == 10);
}

static void memory_and_modules_are_the_primary_ones(void)
{
    static CUdevResource groups[MAX_GROUPS];
    CUdeviceptr p = device_alloc(4);
    CUgreenCtx green, found;
    CUcontext as_context, of_stream;
    CUstream s;

    split(groups, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2, NULL);
    green = green_open(groups, 1);
    s = green_stream(green);
    OK(cu.cuCtxFromGreenCtx(&as_context, green));
    OK(cu.cuStreamGetCtx(s, &of_stream));
    OK(cu.cuStreamGetGreenCtx(s, &found));
    CHECK(found == green);
    launch(s, "store", p, 5, 0);
    OK(cu.cuStreamSynchronize(s));
    CHECK(device_word(p) == 5);
    OK(cu.cuStreamGetGreenCtx(stream_open(), &found));
    CHECK(found == NULL);
}

// The SMs that a graph's kernel used, added while ADDING was current and launched in S.
static unsigned int graph_sms(CUcontext adding, CUcontext named, CUstream s)
{
    enum { BLOCKS = 64 };
    uint32_t host[BLOCKS];
    CUdeviceptr p = device_alloc(sizeof(host));
    uint64_t a = p, b = 1000000, c = 0;
    void *params[] = {&a, &b, &c};
    CUDA_KERNEL_NODE_PARAMS node = {.func = kernel("where"),
                                    .gridDimX = BLOCKS,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = 512,
                                    .blockDimY = 1,
                                    .blockDimZ = 1,
                                    .kernelParams = params,
                                    .ctx = named};
    bool used[512] = {false};
    unsigned int count = 0;
    CUgraphNode added;
    CUgraphExec exec;
    CUgraph g;

    OK(cu.cuCtxSetCurrent(adding));
    OK(cu.cuGraphCreate(&g, 0));
    OK(cu.cuGraphAddKernelNode_v2(&added, g, NULL, 0, &node));
    OK(cu.cuGraphInstantiateWithFlags(&exec, g, 0));
    OK(cu.cuGraphExecKernelNodeSetParams_v2(exec, added, &node));
    OK(cu.cuCtxSetCurrent(primary));
    if (adding != primary)
        EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuGraphExecKernelNodeSetParams_v2(exec, added, &node));
    OK(cu.cuGraphLaunch(exec, s));
    OK(cu.cuStreamSynchronize(s));
    OK(cu.cuMemcpyDtoH_v2(host, p, sizeof(host)));
    for (int i = 0; i < BLOCKS; i++) {
        count += !used[host[i]];
        used[host[i]] = true;
    }
    return count;
}

static void graph_node_runs_where_it_was_added(void)
{
    static CUdevResource groups[MAX_GROUPS];
    unsigned int all = whole().sm.smCount < 64 ? whole().sm.smCount : 64;
    CUgreenCtx green;
    CUcontext as_context;
    CUstream s;

    split(groups, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2, NULL);
    green = green_open(groups + 1, 1);
    s = green_stream(green);
    OK(cu.cuCtxFromGreenCtx(&as_context, green));
    CHECK(graph_sms(as_context, NULL, s) == 2);
    CHECK(graph_sms(as_context, as_context, stream_open()) == 2);
    CHECK(graph_sms(primary, NULL, s) == all, "the stream's partition counted");
    CHECK(graph_sms(primary, as_context, s) == all, "the named context counted");
}

static void fault_in_a_partition_ends_all(void)
{
    static CUdevResource groups[MAX_GROUPS];
    CUstream s;

    split(groups, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2, NULL);
    s = green_stream(green_open(groups, 1));
    launch(s, "store", 0x10, 1, 0);
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuStreamSynchronize(s));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuCtxSynchronize());
}

static void bad_requests_are_refused(void)
{
    CUdevResource all = whole(), none = {0}, groups[2];
    unsigned int count = 2;
    CUdevResourceDesc desc;

    CHECK(cu.cuDevSmResourceSplitByCount(groups, &count, &none, NULL, 0, 1) != CUDA_SUCCESS);
    count = 2;
    CHECK(cu.cuDevSmResourceSplitByCount(groups, &count, &all, NULL, 0, 1000) != CUDA_SUCCESS);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuDevResourceGenerateDesc(&desc, NULL, 0));
    CHECK(cu.cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_INVALID) != CUDA_SUCCESS);
}

static const struct test tests[] = {
    {"the device's SMs are counted and used", whole_device, false},
    {"the finest split is pairs", splits_in_pairs, false},
    {"without the flag groups have 8 SMs", splits_in_eights, false},
    {"a partition of any groups of a split is exact", partition_is_exact, false},
    {"disjoint partitions share no SM", disjoint_partitions, false},
    {"overlapping partitions and the whole device run together", partitions_run_together, false},
    {"groups of two splits may be joined, and twice the same", groups_of_two_splits_join, false},
    {"green contexts share the primary one's memory and modules",
     memory_and_modules_are_the_primary_ones, false},
    {"a graph's kernel runs in the partition that was current when it was added",
     graph_node_runs_where_it_was_added, false},
    {"a fault in a partition ends the primary context", fault_in_a_partition_ends_all, false},
    {"bad requests are refused", bad_requests_are_refused, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
