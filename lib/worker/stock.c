/*
 * stock.c - streams and room for graphs, made before there are tenants and while the device has
 * nothing to do.
 *
 * Now and then the driver makes a stream or an executable graph by making room for some forty of
 * them. That waits for every kernel on the device, and nobody's launches go through meanwhile
 * (measured beside a 30 ms kernel: the 35th, 78th, 121st ... stream; one graph in 43). So streams
 * are kept at hand, and those of tenants that go are kept too; any will do, for a launch has a
 * priority of its own. Graphs are each tenant's own: for these some empty ones hold the place, of
 * which one goes before another is made.
 *
 * The lock is held for some stores only, by the dispatcher and by service threads.
 */
#include "worker/stock.h"

#include <pthread.h>

#include "common/log.h"
#include "gshare.h"
#include "worker/completion.h"
#include "worker/stream.h"

#define STREAMS_AT_START 256u /* of half a MiB on an H200 */
#define STREAMS_LEAST    64u  /* fewer: more are made */
#define STREAMS_MOST     512u
#define GRAPHS_MOST      256u /* of 110 KiB each on an H200 */
#define REFILL           8u   /* at a time */

static struct {
    pthread_mutex_t lock;
    uint32_t stream_count, graph_count;
    struct {
        CUstream cu;
        int priority;
    } stream[STREAMS_MOST];
    CUgraphExec graph[GRAPHS_MOST];
} stock = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Streams --------------------------------------------------------------------------------- */

/* The latest of this priority, else the latest; there is one at least. With the lock held. */
static uint32_t stream_index(int priority)
{
    for (uint32_t i = stock.stream_count; i > 0; i--) {
        if (stock.stream[i - 1].priority == priority)
            return i - 1;
    }
    return stock.stream_count - 1;
}

CUresult stock_stream(CUstream *stream, int *priority)
{
    pthread_mutex_lock(&stock.lock);
    bool any = stock.stream_count > 0;
    if (any) {
        uint32_t i = stream_index(*priority);
        *stream = stock.stream[i].cu;
        *priority = stock.stream[i].priority;
        stock.stream[i] = stock.stream[--stock.stream_count];
    }
    pthread_mutex_unlock(&stock.lock);
    return any ? CUDA_SUCCESS
               : DRV(cuStreamCreateWithPriority, stream, CU_STREAM_NON_BLOCKING, *priority);
}

bool stock_stream_keep(CUstream stream, int priority)
{
    pthread_mutex_lock(&stock.lock);
    bool room = stock.stream_count < STREAMS_MOST;
    if (room) {
        stock.stream[stock.stream_count].cu = stream;
        stock.stream[stock.stream_count++].priority = priority;
    }
    pthread_mutex_unlock(&stock.lock);
    return room;
}

static CUresult streams_make(uint32_t count, int priority)
{
    CUresult result = CUDA_SUCCESS;
    CUstream stream;

    for (uint32_t i = 0; i < count && !result; i++) {
        result = DRV(cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, priority);
        if (!result && !stock_stream_keep(stream, priority)) {
            DRV_MUST(cuStreamDestroy_v2, stream);
            break;
        }
    }
    return result;
}

/* ---- Room for graphs ------------------------------------------------------------------------- */

static CUresult graph_make(CUgraphExec *exec)
{
    struct done done = {0};
    void *pointers[DONE_PARAMS];
    const CUDA_KERNEL_NODE_PARAMS params = done_params(&done, pointers);
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

/* Up to so many in all. */
static CUresult graphs_make(uint32_t count)
{
    CUresult result = CUDA_SUCCESS;

    for (uint32_t i = 0; i < count && !result; i++) {
        CUgraphExec exec;
        pthread_mutex_lock(&stock.lock);
        bool room = stock.graph_count < GRAPHS_MOST;
        pthread_mutex_unlock(&stock.lock);
        if (!room)
            break;
        result = graph_make(&exec);
        if (result)
            break;
        pthread_mutex_lock(&stock.lock);
        stock.graph[stock.graph_count++] = exec; /* nobody else adds any */
        pthread_mutex_unlock(&stock.lock);
    }
    return result;
}

void stock_graph_room(void)
{
    CUgraphExec exec = NULL;

    pthread_mutex_lock(&stock.lock);
    if (stock.graph_count > 0)
        exec = stock.graph[--stock.graph_count];
    pthread_mutex_unlock(&stock.lock);
    if (exec)
        DRV_MUST(cuGraphExecDestroy, exec);
}

/* ---- Both ------------------------------------------------------------------------------------ */

void stock_init(void)
{
    if (streams_make(STREAMS_AT_START / 8, stream_priority(GS_CLASS_BEST_EFFORT, 0)) ||
        streams_make(STREAMS_AT_START / 8, stream_priority(GS_CLASS_LATENCY, 0)) ||
        streams_make(STREAMS_AT_START / 4 * 3, stream_priority(GS_CLASS_NORMAL, 0)) ||
        graphs_make(GRAPHS_MOST))
        log_warning("no device memory for a stock of streams and graphs");
}

void stock_refill(void)
{
    pthread_mutex_lock(&stock.lock);
    bool streams = stock.stream_count < STREAMS_LEAST;
    pthread_mutex_unlock(&stock.lock);
    if ((streams && streams_make(REFILL, stream_priority(GS_CLASS_NORMAL, 0))) ||
        graphs_make(REFILL))
        log_debug("no device memory for more streams and graphs at hand");
}
