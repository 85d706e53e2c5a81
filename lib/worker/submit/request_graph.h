/*
 * request_graph.h - request graphs: a request that comes again is launched as one graph; see
 * request_graph.c. The session's lane.
 */
#ifndef GS_WORKER_SUBMIT_REQUEST_GRAPH_H
#define GS_WORKER_SUBMIT_REQUEST_GRAPH_H

#include "worker/submit/exec_graph.h"

/* A stream's latest requests. NULL: none yet. */
struct request_graphs;

/* Launches a request as one graph, if it has come before. *issued is false when it has not, or when
 * there was no memory for the graph; then the device has been given nothing, and the request is
 * remembered. */
CUresult request_graph_launch(struct request_graphs **cache, const struct stream *stream,
                              const struct launch *launches, uint32_t count, enum ending ending,
                              const struct completion_params *tell, bool *issued);

/* Destroys the request graphs that have kernels in a partition. NULL is fine. */
void request_graphs_evict(struct request_graphs *cache, const struct partition *partition);
/* Frees the cache of a stream that has nothing on the device. NULL is fine. */
void request_graphs_free(struct request_graphs *cache);

#endif
