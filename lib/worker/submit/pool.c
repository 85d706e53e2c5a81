/*
 * pool.c - a pool of streams and of room for graphs, filled before there are tenants and while the
 * device has nothing to do.
 *
 * From time to time, when it makes a stream or an executable graph, the driver makes room for some
 * forty more. That waits for every kernel on the device, and no launch goes through meanwhile
 * (measured beside a 30 ms kernel: the 35th, 78th, 121st ... stream; one graph in 43). So the pool
 * holds streams, and keeps the streams of tenants that leave. A launch has a priority of its own,
 * so for launches a stream of any priority would do. But the work of a copy or a memset on the SMs
 * runs at its stream's priority, and a graph with a single priority is faster to launch, so the
 * pool has streams for each class. Tenants cannot share graphs, so the pool holds room for graphs
 * in the form of empty graphs, one of which is destroyed before another graph is made.
 *
 * The lanes and the service threads take the lock, for a few stores only.
 */
#include "worker/submit/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/util.h"
#include "gshare.h"
#include "worker/partition/kernel_launch.h"
#include "worker/partition/partition.h"
#include "worker/sched/priority.h"
#include "worker/submit/completion.h"

#define STREAMS_MOST 1024u /* half a MiB each on an H200 */
#define GRAPHS_MOST  256u  /* 110 KiB each on an H200 */
#define REFILL       8u    /* streams and graphs made at a time */

/* Streams of each class's default priority: `at_start` are made at the start, more when there are
 * fewer than `least`. */
static const struct {
    uint32_t cls, at_start, least;
} streams_for[] = {
    {GS_CLASS_BEST_EFFORT, 32, 8}, {GS_CLASS_LATENCY, 32, 8}, {GS_CLASS_NORMAL, 192, 48}};

static struct {
    pthread_mutex_t lock;
    uint32_t stream_count, graph_count;
    struct {
        CUstream cu;
        struct partition *context;
        int priority;
    } stream[STREAMS_MOST];
    CUgraphExec graph[GRAPHS_MOST];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Streams --------------------------------------------------------------------------------- */

#define NONE UINT32_MAX

/* Returns the latest stream of the nearest priority in a context; NONE: there is none. The caller
 * holds the lock. */
static uint32_t stream_index(int priority, const struct partition *context)
{
    uint32_t best = NONE;

    for (uint32_t i = pool.stream_count; i > 0; i--) {
        if (pool.stream[i - 1].context == context &&
            (best == NONE || abs(pool.stream[i - 1].priority - priority) <
                                 abs(pool.stream[best].priority - priority)))
            best = i - 1;
    }
    return best;
}

static uint32_t streams_at_hand(int priority)
{
    uint32_t count = 0;

    pthread_mutex_lock(&pool.lock);
    for (uint32_t i = 0; i < pool.stream_count; i++)
        count += !pool.stream[i].context && pool.stream[i].priority == priority;
    pthread_mutex_unlock(&pool.lock);
    return count;
}

CUresult pool_get_stream(CUstream *stream, int *priority, struct partition **context)
{
    pthread_mutex_lock(&pool.lock);
    uint32_t i = stream_index(*priority, *context);
    if (i == NONE && *context) {
        *context = NULL;
        i = stream_index(*priority, NULL);
    }
    if (i != NONE) {
        *stream = pool.stream[i].cu;
        *priority = pool.stream[i].priority;
        pool.stream[i] = pool.stream[--pool.stream_count];
    }
    pthread_mutex_unlock(&pool.lock);
    if (i != NONE)
        return CUDA_SUCCESS;
    thread_context_set(NULL); /* the driver makes a stream in the current context */
    return DRV(cuStreamCreateWithPriority, stream, CU_STREAM_NON_BLOCKING, *priority);
}

bool pool_put_stream(CUstream stream, int priority, struct partition *context)
{
    pthread_mutex_lock(&pool.lock);
    bool fits = pool.stream_count < STREAMS_MOST;
    if (fits) {
        pool.stream[pool.stream_count].cu = stream;
        pool.stream[pool.stream_count].context = context;
        pool.stream[pool.stream_count++].priority = priority;
    }
    pthread_mutex_unlock(&pool.lock);
    return fits;
}

static bool stream_fits(void)
{
    pthread_mutex_lock(&pool.lock);
    bool fits = pool.stream_count < STREAMS_MOST;
    pthread_mutex_unlock(&pool.lock);
    return fits;
}

/* Makes streams in a context (NULL: the primary one), as many as the pool has room for. */
static CUresult streams_make(struct partition *context, uint32_t count, int priority)
{
    CUresult result = CUDA_SUCCESS;
    CUstream stream;

    for (uint32_t i = 0; i < count && stream_fits() && !result; i++) {
        result = context
                     ? DRV(cuGreenCtxStreamCreate, &stream, context->green, CU_STREAM_NON_BLOCKING,
                           priority)
                     : DRV(cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, priority);
        if (!result && !pool_put_stream(stream, priority, context))
            /* A tenant's stream took the last slot. */
            DRV_MUST(cuStreamDestroy_v2, stream);
    }
    return result;
}

CUresult pool_fill_lane(struct partition *context, uint32_t count)
{
    return streams_make(context, count, stream_priority(GS_CLASS_NORMAL, 0));
}

/* ---- Room for graphs ------------------------------------------------------------------------- */

static CUresult graph_make(CUgraphExec *exec)
{
    const struct completion_params signal = {0};
    void *pointers[COMPLETING_PARAMS];
    const CUDA_KERNEL_NODE_PARAMS params = completing_params(&signal, pointers);
    CUgraph graph;
    CUgraphNode node;
    CUresult result = DRV(cuGraphCreate, &graph, 0);

    if (result)
        return result;
    result = DRV(cuGraphAddKernelNode_v2, &node, graph, NULL, 0, &params);
    if (!result)
        result = DRV(cuGraphInstantiateWithFlags, exec, graph, 0);
    DRV_MUST(cuGraphDestroy, graph);
    return result;
}

/* Makes empty graphs, as many as the pool has room for. */
static CUresult graphs_make(uint32_t count)
{
    CUresult result = CUDA_SUCCESS;

    for (uint32_t i = 0; i < count && !result; i++) {
        CUgraphExec exec;
        pthread_mutex_lock(&pool.lock);
        bool fits = pool.graph_count < GRAPHS_MOST;
        pthread_mutex_unlock(&pool.lock);
        if (!fits)
            break;
        result = graph_make(&exec);
        if (result)
            break;
        pthread_mutex_lock(&pool.lock);
        pool.graph[pool.graph_count++] = exec; /* only this thread adds graphs */
        pthread_mutex_unlock(&pool.lock);
    }
    return result;
}

void pool_give_graph(void)
{
    CUgraphExec exec = NULL;

    pthread_mutex_lock(&pool.lock);
    if (pool.graph_count > 0)
        exec = pool.graph[--pool.graph_count];
    pthread_mutex_unlock(&pool.lock);
    if (exec)
        DRV_MUST(cuGraphExecDestroy, exec);
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* Makes streams for each class that has fewer than `least`. */
static CUresult streams_refill(void)
{
    CUresult result = CUDA_SUCCESS;

    for (uint32_t i = 0; i < ARRAY_SIZE(streams_for) && !result; i++) {
        int priority = stream_priority(streams_for[i].cls, 0);
        if (streams_at_hand(priority) < streams_for[i].least)
            result = streams_make(NULL, REFILL, priority);
    }
    return result;
}

void pool_init(void)
{
    CUresult result = CUDA_SUCCESS;

    for (uint32_t i = 0; i < ARRAY_SIZE(streams_for) && !result; i++)
        result =
            streams_make(NULL, streams_for[i].at_start, stream_priority(streams_for[i].cls, 0));
    if (result || graphs_make(GRAPHS_MOST))
        log_warning("event=no-pool reason=\"no device memory for a pool of streams and graphs\"");
}

void pool_refill(void)
{
    if (streams_refill() || graphs_make(REFILL))
        log_debug("no device memory for more streams and graphs at hand");
}
