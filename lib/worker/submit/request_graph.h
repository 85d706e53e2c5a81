/* request_graph.h - requests that come again, each as one graph; see request_graph.c. Dispatcher.
 */
#ifndef GS_WORKER_SUBMIT_REQUEST_GRAPH_H
#define GS_WORKER_SUBMIT_REQUEST_GRAPH_H

#include "worker/submit/exec_graph.h"

/* What a stream's requests were lately. NULL: nothing yet. */
struct request_graphs;

/* Launches them as one graph, where they are known as a request that has come before. *issued:
 * false: they are not, or there was no memory for it; the device has been given nothing, and they
 * are remembered. */
CUresult request_graph_launch(struct request_graphs **cache, const struct stream *stream,
                              const struct launch *launches, uint32_t count, enum ending ending,
                              const struct completion_params *tell, bool *issued);

/* Destroys the graphs that have kernels in a partition. NULL is fine. */
void request_graphs_evict(struct request_graphs *cache, const struct partition *partition);
/* NULL is fine. The stream has nothing on the device. */
void request_graphs_free(struct request_graphs *cache);

#endif
