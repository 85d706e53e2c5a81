/*
 * graph_cache.h - a stream's cache of exec graphs, for launches that come again; see graph_cache.c.
 * The key of a launch is the launch without its parameters. Called by the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_GRAPH_CACHE_H
#define GS_WORKER_SUBMIT_GRAPH_CACHE_H

#include "worker/submit/exec_graph.h"

#define SHAPE_LONGEST 16u /* the most launches of a shape that go as one graph */

/* Returns how many launches, from the first on, have one shape and, except for the first, no
 * deadline. */
uint32_t launches_alike(const struct launch *launches, uint32_t count);

/* The keys of the cache: how it recognises launches that come again. */
enum graph_of {
    /* by the one key of all launches; their count is a power of two up to SHAPE_LONGEST */
    GRAPH_OF_SHAPE,
    GRAPH_OF_REQUEST /* by the sequence of the launches' keys */
};

/* Launches `count` kernels as one graph, if they have come often enough. *issued: the graph, valid
 * until the next call on the cache; NULL: nothing was issued, because the launches have not come
 * often enough, memory for the graph is lacking, or the session's user may have no more graphs. */
CUresult graph_cache_launch(struct session *session, struct stream *stream, enum graph_of of,
                            const struct launch *launches, uint32_t count, enum ending ending,
                            const struct completion_params *signal, struct exec_graph **issued);

/* Destroys the graphs that have kernels in a partition. `cache` may be NULL, here and below. */
void graph_cache_evict(struct graph_cache *cache, const struct partition *partition);
/* Destroys all graphs of a stream that has nothing on the device. The cache stays, empty. */
void graph_cache_clear(struct graph_cache *cache);
void graph_cache_free(struct graph_cache *cache);
/* Destroys the cached graphs of all streams of a session that has nothing on the device and gets no
 * new work. Called by a service thread. */
void graph_caches_clear(struct session *session);

#endif
