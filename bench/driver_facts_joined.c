/*
 * Dispatch lanes that launch for several tenants at once: one graph holds the launches of all
 * tenants of a lane that ask at the moment, each kernel telling its own end. Compared with a graph
 * for each launch. Each question_ function is run in a process of its own.
 */
#include "driver_facts_lane.h"

#include <immintrin.h>
#include <sched.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define TENANTS_MAX  16
#define GROUP_MAX    4 /* tenants of a lane */
#define SERVE_US     200e3
#define SAMPLES_MAX  200000
#define SPINS        4000 /* then the processor is offered to others */
#define FIRST_WORD   64   /* the tenants' completion words, a cache line each */

enum join {
    JOIN_NOT,      /* a graph and a stream for each tenant */
    JOIN_BRANCHES, /* a graph for each subset of the lane's tenants, its kernels side by side */
    JOIN_CHAIN     /* the same, its kernels one after the other */
};

static struct tenant {
    _Alignas(64) _Atomic uint64_t posted; /* the number of the launch that the tenant asks for */
    _Alignas(64) pthread_t thread;
    uint64_t taken;
    CUdeviceptr counter;
    int word, n;
    double *us;
} tenants[TENANTS_MAX];

/* A graph of the launches of some of a lane's tenants. */
struct joined {
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node[GROUP_MAX];
    uint64_t set[GROUP_MAX]; /* the number of the launch that the node will tell */
};

static struct dispatcher {
    struct lane lane;
    pthread_t thread;
    unsigned index, step, tenant_count; /* serves each step-th tenant from its index on */
    enum join join;
    int ahead; /* nodes are set to the next number once a graph is launched */
    CUresult result;
} dispatchers[LANES_MAX];

static _Atomic int dispatchers_ready, dispatchers_stop, tenants_go, tenants_stop;

static void pause_or_yield(unsigned *spins)
{
    _mm_pause();
    if (++*spins % SPINS == 0)
        sched_yield();
}

static void *tenant_main(void *arg)
{
    struct tenant *t = arg;
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

static CUresult node_set(struct joined *j, const struct tenant *t, unsigned i, uint64_t number,
                         int make, const CUgraphNode *after)
{
    uint64_t a = words_dev + 8 * (CUdeviceptr)t->word, b = number, c = t->counter;
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
        if (d->join == JOIN_CHAIN)
            after = &j->node[i];
    }
    return cuGraphInstantiate(&j->exec, j->graph, 0);
}

static CUresult joined_launch(const struct dispatcher *d, struct joined *j,
                              struct tenant *const *group, unsigned mask)
{
    for (unsigned i = 0; i < GROUP_MAX; i++) {
        if (mask >> i & 1 && j->set[i] != group[i]->taken)
            CK(node_set(j, group[i], i, group[i]->taken, 0, NULL));
    }
    CK(cuGraphLaunch(j->exec, j->stream));
    for (unsigned i = 0; d->ahead && i < GROUP_MAX; i++) {
        if (mask >> i & 1)
            CK(node_set(j, group[i], i, group[i]->taken + 1, 0, NULL));
    }
    return CUDA_SUCCESS;
}

static CUresult dispatch(const struct dispatcher *d)
{
    struct joined joined[1 << GROUP_MAX];
    struct tenant *group[GROUP_MAX];
    unsigned count = 0, spins = 0;

    CK(cuCtxSetCurrent(d->lane.context));
    for (unsigned i = d->index; i < d->tenant_count; i += d->step) {
        group[count] = &tenants[i];
        group[count]->taken = 0;
        CK(cuMemAlloc(&group[count]->counter, 64));
        CK(cuMemsetD8(group[count]->counter, 0, 64));
        atomic_store(&words[group[count]->word], 0);
        count++;
    }
    for (unsigned mask = 1; mask < 1u << count; mask++) {
        if (d->join != JOIN_NOT || (mask & (mask - 1)) == 0)
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
            if (d->join == JOIN_NOT)
                CK(joined_launch(d, &joined[1u << i], group, 1u << i));
            else
                mask |= 1u << i;
        }
        if (mask)
            CK(joined_launch(d, &joined[mask], group, mask));
        pause_or_yield(&spins);
    }
    CK(cuCtxSynchronize());
    for (unsigned mask = 1; mask < 1u << count; mask++) {
        if (d->join != JOIN_NOT || (mask & (mask - 1)) == 0) {
            CK(cuGraphExecDestroy(joined[mask].exec));
            CK(cuGraphDestroy(joined[mask].graph));
            CK(cuStreamDestroy(joined[mask].stream));
        }
    }
    for (unsigned i = 0; i < count; i++)
        CK(cuMemFree(group[i]->counter));
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

static CUresult serve(unsigned lane_count, unsigned tenant_count, enum join join, int ahead)
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
        struct dispatcher *d = &dispatchers[i];

        d->index = i;
        d->step = lane_count;
        d->tenant_count = tenant_count;
        d->join = join;
        d->ahead = ahead;
        pthread_create(&d->thread, NULL, dispatcher_main, d);
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
    printf("  %7.1f k/s %6.2f %6.2f %6.2f |", n / passed * 1e3, p50, worst,
           us[(size_t)(0.99 * (n - 1))]);
    return CUDA_SUCCESS;
}

CUresult question_lanes_joined(void)
{
    static const struct {
        unsigned tenants, lanes;
    } rows[] = {{1, 1}, {2, 1}, {2, 2}, {4, 1},  {4, 2}, {4, 4},
                {8, 2}, {8, 4}, {8, 8}, {16, 4}, {16, 8}};

    CK(own_open());
    for (int i = 0; i < LANES_MAX; i++)
        CK(lane_new(&dispatchers[i].lane));
    for (int i = 0; i < TENANTS_MAX; i++) {
        tenants[i].us = malloc(sizeof(double) * SAMPLES_MAX);
        if (!tenants[i].us)
            return failed("malloc", CUDA_ERROR_OUT_OF_MEMORY, __LINE__);
    }
    for (int ahead = 0; ahead <= 1; ahead++) {
        printf("  nodes are set %s; launches, p50, the worst tenant's p50 and p99 in us\n"
               "  tenants lanes  a graph for each launch              |  for all that ask, side by"
               " side       |  one after the other\n",
               ahead ? "ahead of the launch" : "when the launch comes");
        for (size_t r = 0; r < COUNT(rows); r++) {
            printf("  %7u %5u", rows[r].tenants, rows[r].lanes);
            for (enum join join = JOIN_NOT; join <= JOIN_CHAIN; join++)
                CK(serve(rows[r].lanes, rows[r].tenants, join, ahead));
            printf("\n");
        }
    }
    return CUDA_SUCCESS;
}
