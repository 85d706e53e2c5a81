/*
 * product_graph.c - a stream's products as executable graphs, kept for records that come again.
 *
 * A captured product can be issued again by one launch of its graph, which returns after 2 us where
 * the library's call takes 6 (bench/results/h200-driver-facts-cublas.txt, 32). How the library lays
 * out its kernels' parameters is not documented, so a graph serves only records that are exactly
 * the same: matrices, sizes and scalars. Making a graph takes the lane 50 us, so it is made when
 * its record comes for the third time.
 *
 * In a partition, a product has its graph at once. The library's kernels run in the context of the
 * stream in which they are captured, whichever stream the graph is launched in (33). So they are
 * captured in the partition's own stream, where nothing runs, and the graph is launched in the
 * tenant's stream: tenants who share a partition do not wait for each other.
 *
 * A graph may name its stream's workspace, which keeps its address and is only used in the stream's
 * order, like the graph.
 *
 * A graph takes up to 110 KiB of GPU memory, so there are few, the least recently used one is
 * destroyed for a new one, and each is charged to the session's user (driver_memory.h). Freed
 * memory needs no care: a record is checked each time it comes, and its graph has only the record's
 * addresses.
 *
 * These graphs are not a third kind in graph_cache.c. That cache has the keys of launches, and
 * graphs whose nodes it has set itself and sets anew for each launch. A product's key is a whole
 * record, and its graph is launched as it was captured. What the two have in common, the eviction
 * of the least recently used and the count before a graph is made, is some twenty lines. A common
 * cache would need callbacks for keys, making, launching and destroying, and would be longer than
 * both.
 */
#include "worker/submit/product_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/memory/driver_memory.h"
#include "worker/partition/partition.h"
#include "worker/submit/pool.h"

#define GRAPHS      64u
#define GRAPH_AFTER 3u /* how often a record comes before it gets a graph */

struct product_graph {
    struct rec_gemm record;
    struct partition *partition; /* NULL: the whole device */
    uint32_t times;              /* how often the record has come, up to GRAPH_AFTER; 0: unused */
    uint64_t used;               /* graphs->clock when the record last came */
    CUgraphExec exec;            /* NULL: not made */
};

struct product_graphs {
    struct session *session;
    uint32_t last; /* index of the record that came last; that one or the next likely comes now */
    uint64_t clock;
    struct product_graph graph[GRAPHS];
};

/* ---- Keeping --------------------------------------------------------------------------------- */

static void exec_deinit(struct session *session, struct product_graph *graph)
{
    if (!graph->exec)
        return;
    DRV_MUST(cuGraphExecDestroy, graph->exec);
    graph->exec = NULL;
    driver_memory_discharge(session, DRIVER_GRAPH);
}

static void graph_init(struct product_graph *graph, const struct rec_gemm *record,
                       struct partition *partition)
{
    graph->record = *record;
    graph->partition = partition;
    partition_graph_add(partition);
}

static void graph_deinit(struct session *session, struct product_graph *graph)
{
    exec_deinit(session, graph);
    partition_graph_remove(graph->partition);
    *graph = (struct product_graph){0};
}

/* Returns the entry of this record. A new entry replaces the least recently used one. */
static struct product_graph *graph_find(struct product_graphs *graphs,
                                        const struct rec_gemm *record, struct partition *partition)
{
    uint32_t i = graphs->last, oldest = 0;

    for (uint32_t n = 0; n < GRAPHS; n++) {
        struct product_graph *graph = &graphs->graph[i];
        if (graph->times > 0 && graph->partition == partition &&
            !memcmp(&graph->record, record, sizeof(*record))) {
            graphs->last = i;
            return graph;
        }
        if (graph->used < graphs->graph[oldest].used)
            oldest = i;
        i = i + 1 < GRAPHS ? i + 1 : 0;
    }
    graphs->last = oldest;
    graph_deinit(graphs->session, &graphs->graph[oldest]);
    graph_init(&graphs->graph[oldest], record, partition);
    return &graphs->graph[oldest];
}

/* ---- Launching ------------------------------------------------------------------------------- */

static gs_status driver_trouble(CUresult result, char *text, size_t size)
{
    lost_check(result);
    driver_describe(text, size);
    return driver_status(result);
}

static gs_status exec_instantiate(struct product_graph *graph, const struct algorithm *algorithm,
                                  const struct stream *stream, char *text, size_t size)
{
    CUgraph captured;
    gs_status status = algorithm_capture(
        algorithm, &graph->record, graph->partition != NULL, stream->workspace,
        graph->partition ? graph->partition->aside : stream->cu, &captured, text, size);

    if (status != GS_OK)
        return status;
    pool_give_graph();
    const CUresult result = DRV(cuGraphInstantiateWithFlags, &graph->exec, captured, 0);
    if (result) {
        graph->exec = NULL;
        status = driver_trouble(result, text, size);
    }
    DRV_MUST(cuGraphDestroy, captured);
    return status;
}

/* Makes the executable graph. must: even if the session's user may have no more graphs. */
static gs_status exec_make(struct product_graph *graph, const struct algorithm *algorithm,
                           const struct stream *stream, bool must, char *text, size_t size)
{
    struct session *session = stream->product_graphs->session;

    if (!driver_memory_charge_graph(session)) {
        if (!must) {
            snprintf(text, size, "the user's graphs have half of user-driver-mem");
            return GS_ERR_NO_DEVICE_MEMORY;
        }
        driver_memory_adopt(session, DRIVER_GRAPH);
    }
    const gs_status status = exec_instantiate(graph, algorithm, stream, text, size);
    if (status != GS_OK)
        driver_memory_discharge(session, DRIVER_GRAPH);
    return status;
}

/* Launches the graph, which may have to be made first. A launch takes device memory, too; if it
 * fails, the graph is destroyed. */
static gs_status graph_go(struct product_graph *graph, const struct algorithm *algorithm,
                          const struct stream *stream, bool must, char *text, size_t size)
{
    const gs_status status =
        graph->exec ? GS_OK : exec_make(graph, algorithm, stream, must, text, size);

    if (status != GS_OK)
        return status;
    const CUresult result = DRV(cuGraphLaunch, graph->exec, stream->cu);
    if (!result)
        return GS_OK;
    exec_deinit(stream->product_graphs->session, graph);
    return driver_trouble(result, text, size);
}

/* Launches the graph of a product in a partition. If device memory is lacking, destroys the
 * stream's other graphs, since in a partition a product can run only as a graph. */
static gs_status graph_go_confined(struct product_graph *graph, const struct algorithm *algorithm,
                                   const struct stream *stream, char *text, size_t size)
{
    struct product_graphs *graphs = stream->product_graphs;
    const gs_status status = graph_go(graph, algorithm, stream, false, text, size);

    if (status != GS_ERR_NO_DEVICE_MEMORY)
        return status;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        if (&graphs->graph[i] != graph)
            graph_deinit(graphs->session, &graphs->graph[i]);
    }
    return graph_go(graph, algorithm, stream, true, text, size);
}

gs_status product_graph_launch(struct session *session, struct stream *stream,
                               const struct rec_gemm *record, struct partition *partition,
                               const struct algorithm *algorithm, bool *issued, char *text,
                               size_t size)
{
    gs_status status;

    *issued = false;
    if (!stream->product_graphs)
        stream->product_graphs = calloc(1, sizeof(*stream->product_graphs));
    if (!stream->product_graphs) {
        snprintf(text, size, "no memory for a list of products");
        return partition ? GS_ERR_NO_MEMORY : GS_OK;
    }
    stream->product_graphs->session = session;
    struct product_graph *graph = graph_find(stream->product_graphs, record, partition);
    graph->used = ++stream->product_graphs->clock;
    if (graph->times < GRAPH_AFTER)
        graph->times++;
    if (partition) {
        status = graph_go_confined(graph, algorithm, stream, text, size);
        *issued = status == GS_OK;
        return status;
    }
    if (graph->times < GRAPH_AFTER)
        return GS_OK;
    *issued = graph_go(graph, algorithm, stream, false, text, size) == GS_OK;
    /* the library's call needs no device memory; the record counts from the beginning */
    if (!*issued)
        graph->times = 1;
    return GS_OK;
}

/* ---- The end --------------------------------------------------------------------------------- */

void product_graphs_evict(struct product_graphs *graphs, const struct partition *partition)
{
    for (uint32_t i = 0; graphs && i < GRAPHS; i++) {
        if (graphs->graph[i].times > 0 && graphs->graph[i].partition == partition)
            graph_deinit(graphs->session, &graphs->graph[i]);
    }
}

void product_graphs_free(struct product_graphs *graphs)
{
    for (uint32_t i = 0; graphs && i < GRAPHS; i++)
        graph_deinit(graphs->session, &graphs->graph[i]);
    free(graphs);
}
