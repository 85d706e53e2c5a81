/*
 * request_graph.c - request graphs: a request that comes again is launched as one graph. Runs on
 * the session's lane.
 *
 * A tenant that answers requests sends the same kernels again and again, with other parameters: a
 * network's layers, one after the other. By the other exec graphs, single launches take a graph
 * each, and a run of one kernel takes two or three. Each boundary between graphs costs the device 1
 * us, more beside a neighbour, and each launch of a graph costs the lane some 2 us. So a stream
 * remembers its last few requests by what is the same on the device's side (kernels, shapes,
 * partitions, priorities), and a request that comes for the third time gets a graph of all its
 * kernels. arrival.c tells what a request is. A request that is never the same twice costs a
 * comparison and a copy of its keys, and no graph.
 */
#include "worker/submit/request_graph.h"

#include <stdlib.h>
#include <string.h>

#define REQUEST_GRAPHS      4u
#define REQUEST_GRAPH_AFTER 3u /* how often a request comes before it gets its graph */

struct request_graph {
    uint32_t length; /* number of launches; 0: unused */
    enum ending ending;
    uint32_t times; /* how often it came, up to REQUEST_GRAPH_AFTER */
    uint64_t used;  /* cache->clock at its last use */
    struct launch_key key[LAUNCHES_MAX];
    struct exec_graph exec_graph;
};

struct request_graphs {
    uint64_t clock;
    uint32_t last; /* index of the entry used last, which is likely the next one too */
    struct request_graph entry[REQUEST_GRAPHS];
};

static bool request_graph_is(const struct request_graph *entry, const struct launch *launches,
                             uint32_t count, enum ending ending)
{
    if (entry->length != count || entry->ending != ending)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!launch_key_is(&entry->key[i], &launches[i]))
            return false;
    }
    return true;
}

static void request_graph_deinit(struct request_graph *entry)
{
    exec_graph_deinit(&entry->exec_graph);
    for (uint32_t i = 0; i < entry->length; i++)
        launch_key_release(&entry->key[i]);
    entry->length = 0;
    entry->times = 0;
    entry->used = 0;
}

static void request_graph_init(struct request_graph *entry, const struct launch *launches,
                               uint32_t count, enum ending ending)
{
    request_graph_deinit(entry);
    entry->length = count;
    entry->ending = ending;
    for (uint32_t i = 0; i < count; i++) {
        entry->key[i] = launch_key(&launches[i]);
        launch_key_hold(&entry->key[i]);
    }
}

/* The entry of these launches. A new one takes the place of the least recently used one. */
static struct request_graph *request_graph_of(struct request_graphs *cache,
                                              const struct launch *launches, uint32_t count,
                                              enum ending ending)
{
    uint32_t oldest = 0;

    for (uint32_t n = 0; n < REQUEST_GRAPHS; n++) {
        uint32_t i = (cache->last + n) % REQUEST_GRAPHS;
        if (request_graph_is(&cache->entry[i], launches, count, ending)) {
            cache->last = i;
            return &cache->entry[i];
        }
        if (cache->entry[i].used < cache->entry[oldest].used)
            oldest = i;
    }
    request_graph_init(&cache->entry[oldest], launches, count, ending);
    cache->last = oldest;
    return &cache->entry[oldest];
}

CUresult request_graph_launch(struct request_graphs **cache, const struct stream *stream,
                              const struct launch *launches, uint32_t count, enum ending ending,
                              const struct completion_params *tell, bool *issued)
{
    *issued = false;
    if (!*cache)
        *cache = calloc(1, sizeof(**cache));
    if (!*cache)
        return CUDA_SUCCESS;
    struct request_graph *entry = request_graph_of(*cache, launches, count, ending);
    entry->used = ++(*cache)->clock;
    if (entry->times < REQUEST_GRAPH_AFTER)
        entry->times++;
    if (entry->times < REQUEST_GRAPH_AFTER)
        return CUDA_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    if (!entry->exec_graph.exec)
        result =
            exec_graph_init(&entry->exec_graph, launches, count, ending, tell, stream->cu_priority);
    if (result) { /* tenants have filled the device's memory: the entry starts to count anew */
        entry->times = 0;
        return driver_fatal(result) ? result : CUDA_SUCCESS;
    }
    result = exec_graph_launch(&entry->exec_graph, launches, tell, stream->cu);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) { /* a launch of a graph takes device memory, too */
        exec_graph_deinit(&entry->exec_graph);
        entry->times = 0;
        return CUDA_SUCCESS;
    }
    *issued = !result;
    return result;
}

void request_graphs_evict(struct request_graphs *cache, const struct partition *partition)
{
    for (uint32_t n = 0; cache && n < REQUEST_GRAPHS; n++) {
        struct request_graph *entry = &cache->entry[n];
        bool there = false;
        for (uint32_t i = 0; i < entry->length; i++)
            there = there || entry->key[i].partition == partition;
        if (there)
            request_graph_deinit(entry);
    }
}

void request_graphs_free(struct request_graphs *cache)
{
    for (uint32_t n = 0; cache && n < REQUEST_GRAPHS; n++)
        request_graph_deinit(&cache->entry[n]);
    free(cache);
}
