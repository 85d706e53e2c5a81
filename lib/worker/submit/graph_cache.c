/*
 * graph_cache.c - a stream's cache of exec graphs, for launches that come again.
 *
 * What comes again is a shape (launches with one key, in any number) or a request (the keys of all
 * its launches in order: a tenant that answers requests launches the same kernels again and again
 * with other parameters, such as a network's layers). A request gets one graph, because each
 * boundary between graphs costs the device 1 us, more beside a neighbour, and each launch of a
 * graph costs the lane some 2 us.
 *
 * Making a graph costs 25 us, so one is made when its launches come for the third time. In a
 * partition, where a launch without a graph is expensive (launch.c), a shape gets its graph at
 * once. Launches that never come again cost a comparison and a copy of their keys. A graph takes up
 * to 110 KiB of GPU memory, so there are few, and the least recently used shape or request is
 * evicted. One graph in two streams would serialise the streams, so each stream has a cache.
 */
#include "worker/submit/graph_cache.h"

#include <stdlib.h>
#include <string.h>

#include "worker/memory/driver_memory.h"
#include "worker/partition/partition.h"

#define GRAPH_AFTER 3u /* how often launches come before they get a graph */

/* The key of a node: a launch without its parameters. */
struct launch_key {
    const struct kernel *kernel;
    /* the kernel's serial number: the memory at `kernel` may belong to another kernel by now */
    uint64_t serial;
    uint32_t grid[3], block[3];
    uint32_t dynamic_smem;
    int priority;
    bool programmatic;
    struct partition *partition;
};

/* A launch pattern that comes again, and its graphs. */
struct pattern {
    uint32_t keys;             /* number of keys; 0: unused */
    uint32_t times;            /* how often the launches have come, up to GRAPH_AFTER */
    uint64_t used;             /* the part's clock at its last use */
    struct exec_graph *graphs; /* by graph_kind; NULL: none yet */
    struct launch_key *key;
};

/* How many shapes and requests a stream remembers, and the keys and kinds of graphs of each. */
static const struct sizes {
    uint32_t patterns, keys, kinds;
} sizes[] = {
    [GRAPH_OF_SHAPE] = {64, 1, 5 * ENDINGS}, /* 5: lengths 1, 2, 4, 8, 16 */
    [GRAPH_OF_REQUEST] = {4, LAUNCHES_MAX, ENDINGS},
};
static_assert(SHAPE_LONGEST == 16, "the lengths of a shape's graphs");
#define PARTS (sizeof(sizes) / sizeof(sizes[0]))

struct part {
    uint32_t last; /* index of the pattern used last, which is likely used next too */
    uint64_t clock;
    struct pattern pattern[];
};

struct graph_cache {
    struct session *session;
    struct part *part[PARTS]; /* by graph_of; NULL: never used */
};

/* ---- Keys ------------------------------------------------------------------------------------ */

static struct launch_key launch_key(const struct launch *launch)
{
    struct launch_key key = {.kernel = launch->kernel,
                             .serial = launch->kernel->serial,
                             .dynamic_smem = launch->dynamic_smem,
                             .priority = launch->priority,
                             .programmatic = launch->programmatic,
                             .partition = launch->partition};

    memcpy(key.grid, launch->grid, sizeof(key.grid));
    memcpy(key.block, launch->block, sizeof(key.block));
    return key;
}

static bool launch_key_is(const struct launch_key *key, const struct launch *launch)
{
    return key->kernel == launch->kernel && key->serial == launch->kernel->serial &&
           !memcmp(key->grid, launch->grid, sizeof(key->grid)) &&
           !memcmp(key->block, launch->block, sizeof(key->block)) &&
           key->dynamic_smem == launch->dynamic_smem && key->partition == launch->partition &&
           key->priority == launch->priority && key->programmatic == launch->programmatic;
}

uint32_t launches_alike(const struct launch *launches, uint32_t count)
{
    const struct launch_key key = launch_key(launches);
    uint32_t run = 1;

    while (run < count && launch_key_is(&key, &launches[run]) && !launches[run].deadline_ns)
        run++;
    return run;
}

/* ---- Patterns -------------------------------------------------------------------------------- */

/* Makes a part of the cache. Its patterns and their keys are one allocation, so that remembering
 * new launches allocates nothing. */
static struct part *part_new(const struct sizes *size)
{
    const size_t patterns = sizeof(struct part) + size->patterns * sizeof(struct pattern);
    struct part *part =
        calloc(1, patterns + (size_t)size->patterns * size->keys * sizeof(struct launch_key));

    for (uint32_t i = 0; part && i < size->patterns; i++)
        part->pattern[i].key =
            (struct launch_key *)(void *)((char *)part + patterns) + (size_t)i * size->keys;
    return part;
}

/* Returns a part of the stream's cache, made at the first call; NULL: no memory. */
static struct part *part_of(struct session *session, struct stream *stream, enum graph_of of)
{
    if (!stream->graph_cache)
        stream->graph_cache = calloc(1, sizeof(*stream->graph_cache));
    if (!stream->graph_cache)
        return NULL;
    stream->graph_cache->session = session;
    struct part **part = &stream->graph_cache->part[of];
    if (!*part)
        *part = part_new(&sizes[of]);
    return *part;
}

static bool pattern_is(const struct pattern *pattern, const struct launch *launches, uint32_t keys)
{
    if (pattern->keys != keys)
        return false;
    for (uint32_t i = 0; i < keys; i++) {
        if (!launch_key_is(&pattern->key[i], &launches[i]))
            return false;
    }
    return true;
}

/* Sets up a pattern. While it is kept, the partitions of its keys are not destroyed, because graphs
 * have nodes there. */
static void pattern_init(struct pattern *pattern, const struct launch *launches, uint32_t keys)
{
    pattern->keys = keys;
    for (uint32_t i = 0; i < keys; i++) {
        pattern->key[i] = launch_key(&launches[i]);
        partition_graph_add(launches[i].partition);
    }
}

static void graph_deinit(struct session *session, struct exec_graph *graph)
{
    if (!graph->exec)
        return;
    exec_graph_deinit(graph);
    driver_memory_discharge(session, DRIVER_GRAPH);
}

static void pattern_deinit(struct session *session, struct pattern *pattern, uint32_t kinds)
{
    for (uint32_t kind = 0; pattern->graphs && kind < kinds; kind++)
        graph_deinit(session, &pattern->graphs[kind]);
    free(pattern->graphs);
    for (uint32_t i = 0; i < pattern->keys; i++)
        partition_graph_remove(pattern->key[i].partition);
    *pattern = (struct pattern){.key = pattern->key};
}

/* Returns the pattern of these launches. A new pattern replaces the least recently used one. */
static struct pattern *pattern_find(struct session *session, struct part *part,
                                    const struct sizes *size, const struct launch *launches,
                                    uint32_t keys)
{
    uint32_t i = part->last, oldest = 0;

    for (uint32_t n = 0; n < size->patterns; n++) {
        if (pattern_is(&part->pattern[i], launches, keys)) {
            part->last = i;
            return &part->pattern[i];
        }
        if (part->pattern[i].used < part->pattern[oldest].used)
            oldest = i;
        i = i + 1 < size->patterns ? i + 1 : 0;
    }
    part->last = oldest;
    pattern_deinit(session, &part->pattern[oldest], size->kinds);
    pattern_init(&part->pattern[oldest], launches, keys);
    return &part->pattern[oldest];
}

/* ---- Launching ------------------------------------------------------------------------------- */

static uint32_t graph_kind(enum graph_of of, uint32_t count, enum ending ending)
{
    return ending + (of == GRAPH_OF_SHAPE ? (uint32_t)__builtin_ctz(count) * ENDINGS : 0);
}

/* Returns the graph for these launches, which may not be made yet; NULL: the launches have come too
 * few times, or memory is lacking. */
static struct exec_graph *graph_find(struct session *session, struct stream *stream,
                                     enum graph_of of, const struct launch *launches,
                                     uint32_t count, enum ending ending, struct pattern **pattern)
{
    const struct sizes *size = &sizes[of];
    struct part *part = part_of(session, stream, of);

    if (!part)
        return NULL;
    struct pattern *found =
        pattern_find(session, part, size, launches, of == GRAPH_OF_SHAPE ? 1 : count);
    found->used = ++part->clock;
    if (found->times < GRAPH_AFTER)
        found->times++;
    if (found->times < GRAPH_AFTER && !(of == GRAPH_OF_SHAPE && launches->partition))
        return NULL;
    if (!found->graphs)
        found->graphs = calloc(size->kinds, sizeof(*found->graphs));
    *pattern = found;
    return found->graphs ? &found->graphs[graph_kind(of, count, ending)] : NULL;
}

/* Makes the graph, if the session's user may have one more. Otherwise launches go without a
 * graph. */
static CUresult graph_make(struct session *session, struct exec_graph *graph,
                           const struct launch *launches, uint32_t count, enum ending ending,
                           const struct completion_params *signal, int stream_priority)
{
    if (!driver_memory_charge_graph(session))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result =
        exec_graph_init(graph, launches, count, ending, signal, stream_priority);
    if (result)
        driver_memory_discharge(session, DRIVER_GRAPH);
    return result;
}

CUresult graph_cache_launch(struct session *session, struct stream *stream, enum graph_of of,
                            const struct launch *launches, uint32_t count, enum ending ending,
                            const struct completion_params *signal, struct exec_graph **issued)
{
    struct pattern *pattern = NULL;
    struct exec_graph *graph = graph_find(session, stream, of, launches, count, ending, &pattern);
    CUresult result = CUDA_SUCCESS;

    *issued = NULL;
    if (!graph)
        return CUDA_SUCCESS;
    if (!graph->exec)
        result = graph_make(session, graph, launches, count, ending, signal, stream->cu_priority);
    if (result) { /* device memory is lacking: the pattern counts from the beginning */
        pattern->times = 0;
        return driver_fatal(result) ? result : CUDA_SUCCESS;
    }
    result = exec_graph_launch(graph, launches, signal, stream->cu);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) { /* a graph takes device memory at its launch, too */
        graph_deinit(session, graph);
        pattern->times = 0;
        return CUDA_SUCCESS;
    }
    *issued = result ? NULL : graph;
    return result;
}

/* ---- The end --------------------------------------------------------------------------------- */

static bool pattern_uses(const struct pattern *pattern, const struct partition *partition)
{
    for (uint32_t i = 0; i < pattern->keys; i++) {
        if (pattern->key[i].partition == partition)
            return true;
    }
    return false;
}

/* Destroys the patterns with kernels in the partition, or all patterns. */
static void patterns_deinit(struct graph_cache *cache, const struct partition *partition, bool all)
{
    for (uint32_t of = 0; cache && of < PARTS; of++) {
        for (uint32_t i = 0; cache->part[of] && i < sizes[of].patterns; i++) {
            struct pattern *pattern = &cache->part[of]->pattern[i];
            if (all || pattern_uses(pattern, partition))
                pattern_deinit(cache->session, pattern, sizes[of].kinds);
        }
    }
}

void graph_cache_evict(struct graph_cache *cache, const struct partition *partition)
{
    patterns_deinit(cache, partition, false);
}

void graph_cache_clear(struct graph_cache *cache)
{
    patterns_deinit(cache, NULL, true);
}

void graph_caches_clear(struct session *session)
{
    for (uint32_t i = 0; i < SEG_STREAMS; i++)
        graph_cache_clear(session->submit.streams[i].graph_cache);
}

void graph_cache_free(struct graph_cache *cache)
{
    graph_cache_clear(cache);
    for (uint32_t of = 0; cache && of < PARTS; of++)
        free(cache->part[of]);
    free(cache);
}
