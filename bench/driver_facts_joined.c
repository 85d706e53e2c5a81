/*
 * Dispatch lanes that launch for several tenants at once: one graph holds the launches of all
 * tenants of a lane that ask at the moment, each kernel signalling its own end. Compared with a
 * graph for each launch. Each question_ function is run in a process of its own.
 */
#include "driver_facts_serve.h"

#define GROUP_MAX 4 /* tenants of a lane */

enum join {
    JOIN_NOT,      /* a graph and a stream for each tenant */
    JOIN_BRANCHES, /* a graph for each subset of the lane's tenants, its kernels side by side */
    JOIN_CHAIN     /* the same, its kernels one after the other */
};

static CUdeviceptr counters[TENANTS_MAX];
static int ahead; /* nodes are set to the next number once a graph is launched */

/* A graph of the launches of some of a lane's tenants. */
struct joined {
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node[GROUP_MAX];
    uint64_t set[GROUP_MAX]; /* the number of the launch that the node will signal */
};

static CUresult node_set(struct joined *j, const struct tenant *t, unsigned i, uint64_t number,
                         int make, const CUgraphNode *after)
{
    uint64_t a = words_dev + 8 * (CUdeviceptr)t->word, b = number, c = counters[t - tenants];
    uint32_t d = 1;
    void *args[] = {&a, &b, &c, &d};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = own,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = args};

    j->set[i] = number;
    if (make)
        return cuGraphAddKernelNode(&j->node[i], j->graph, after, after ? 1 : 0, &kernel);
    return cuGraphExecKernelNodeSetParams(j->exec, j->node[i], &kernel);
}

static CUresult joined_new(const struct dispatcher *d, struct joined *j,
                           struct tenant *const *group, unsigned mask)
{
    const CUgraphNode *after = NULL;

    CK(cuGreenCtxStreamCreate(&j->stream, d->lane.green, CU_STREAM_NON_BLOCKING, 0));
    CK(cuGraphCreate(&j->graph, 0));
    for (unsigned i = 0; i < GROUP_MAX; i++) {
        if (!(mask >> i & 1))
            continue;
        CK(node_set(j, group[i], i, 0, 1, after));
        if (d->how == JOIN_CHAIN)
            after = &j->node[i];
    }
    return cuGraphInstantiate(&j->exec, j->graph, 0);
}

static CUresult joined_launch(struct joined *j, struct tenant *const *group, unsigned mask)
{
    for (unsigned i = 0; i < GROUP_MAX; i++) {
        if (mask >> i & 1 && j->set[i] != group[i]->taken)
            CK(node_set(j, group[i], i, group[i]->taken, 0, NULL));
    }
    CK(cuGraphLaunch(j->exec, j->stream));
    for (unsigned i = 0; ahead && i < GROUP_MAX; i++) {
        if (mask >> i & 1)
            CK(node_set(j, group[i], i, group[i]->taken + 1, 0, NULL));
    }
    return CUDA_SUCCESS;
}

/* how: an enum join. */
static CUresult joined_dispatch(const struct dispatcher *d)
{
    struct joined joined[1 << GROUP_MAX];
    struct tenant *group[GROUP_MAX];
    unsigned count = 0, spins = 0;

    CK(cuCtxSetCurrent(d->lane.context));
    for (unsigned i = d->index; i < d->tenant_count; i += d->step) {
        group[count] = &tenants[i];
        group[count]->taken = 0;
        CK(cuMemAlloc(&counters[i], 64));
        CK(cuMemsetD8(counters[i], 0, 64));
        atomic_store(&words[group[count]->word], 0);
        count++;
    }
    for (unsigned mask = 1; mask < 1u << count; mask++) {
        if (d->how != JOIN_NOT || (mask & (mask - 1)) == 0)
            CK(joined_new(d, &joined[mask], group, mask));
    }
    dispatchers_ready++;
    while (!atomic_load_explicit(&dispatchers_stop, memory_order_acquire)) {
        unsigned mask = 0;

        for (unsigned i = 0; i < count; i++) {
            uint64_t posted = atomic_load_explicit(&group[i]->posted, memory_order_acquire);

            if (posted == group[i]->taken)
                continue;
            group[i]->taken = posted;
            if (d->how == JOIN_NOT)
                CK(joined_launch(&joined[1u << i], group, 1u << i));
            else
                mask |= 1u << i;
        }
        if (mask)
            CK(joined_launch(&joined[mask], group, mask));
        pause_or_yield(&spins);
    }
    CK(cuCtxSynchronize());
    for (unsigned mask = 1; mask < 1u << count; mask++) {
        if (d->how != JOIN_NOT || (mask & (mask - 1)) == 0) {
            CK(cuGraphExecDestroy(joined[mask].exec));
            CK(cuGraphDestroy(joined[mask].graph));
            CK(cuStreamDestroy(joined[mask].stream));
        }
    }
    for (unsigned i = d->index; i < d->tenant_count; i += d->step)
        CK(cuMemFree(counters[i]));
    return CUDA_SUCCESS;
}

CUresult question_lanes_joined(void)
{
    static const struct {
        unsigned tenants, lanes;
    } rows[] = {{1, 1}, {2, 1}, {2, 2}, {4, 1},  {4, 2}, {4, 4},
                {8, 2}, {8, 4}, {8, 8}, {16, 4}, {16, 8}};

    CK(lanes_open());
    relax = RELAX_PAUSE;
    for (ahead = 0; ahead <= 1; ahead++) {
        printf("  nodes are set %s; launches, p50, the worst tenant's p50 and p99 in us\n"
               "  tenants lanes  a graph for each launch              |  for all that ask, side by"
               " side       |  one after the other\n",
               ahead ? "ahead of the launch" : "when the launch comes");
        for (size_t r = 0; r < COUNT(rows); r++) {
            printf("  %7u %5u", rows[r].tenants, rows[r].lanes);
            for (enum join join = JOIN_NOT; join <= JOIN_CHAIN; join++) {
                serve(rows[r].lanes, rows[r].tenants, joined_dispatch, (int)join);
                printf(" |");
            }
            printf("\n");
        }
    }
    return CUDA_SUCCESS;
}
