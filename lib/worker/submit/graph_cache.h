/*
 * graph_cache.h - a stream's exec graphs, kept for launches that come again; see graph_cache.c. The
 * session's lane.
 */
#ifndef GS_WORKER_SUBMIT_GRAPH_CACHE_H
#define GS_WORKER_SUBMIT_GRAPH_CACHE_H

#include "worker/submit/exec_graph.h"

#define SHAPE_LONGEST 16u /* the most launches of a shape that go as one graph */

/* How many launches, from the first on, have one shape and, except for the first, no deadline. */
uint32_t launches_alike(const struct launch *launches, uint32_t count);

/* What graphs are kept by: how launches that come again are recognised. */
enum graph_of {
    GRAPH_OF_SHAPE, /* the one key of them all; their count is a power of two up to SHAPE_LONGEST */
    GRAPH_OF_REQUEST /* the sequence of their keys */
};

/* Launches `count` kernels as one graph, if they have come often enough. *issued is the graph,
 * until the cache's next call; NULL when they have not come often enough, or when there was no
 * memory for the graph, or the session's user may have no more: then the device has been given
 * nothing. */
CUresult graph_cache_launch(struct session *session, struct stream *stream, enum graph_of of,
                            const struct launch *launches, uint32_t count, enum ending ending,
                            const struct completion_params *signal, struct exec_graph **issued);

/* Destroys the graphs with kernels in a partition. The cache may be NULL, here and below. */
void graph_cache_evict(struct graph_cache *cache, const struct partition *partition);
/* Destroys all graphs of a stream that has nothing on the device; the cache stays, empty. */
void graph_cache_clear(struct graph_cache *cache);
void graph_cache_free(struct graph_cache *cache);
/* Destroys the graphs of all streams of a session that has nothing on the device and gets no new
 * work. Service thread. */
void graph_caches_clear(struct session *session);

#endif
