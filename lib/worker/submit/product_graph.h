/*
 * product_graph.h - a stream's products as executable graphs; see product_graph.c. Called by the
 * session's lane, which is the main one.
 */
#ifndef GS_WORKER_SUBMIT_PRODUCT_GRAPH_H
#define GS_WORKER_SUBMIT_PRODUCT_GRAPH_H

#include "worker/blas/algorithm.h"
#include "worker/session_parts.h"

struct partition;

/* Issues a product as an executable graph, which runs in the partition (NULL: on the whole device),
 * if its record has come often enough or there is a partition. *issued: false if nothing was
 * issued, as also on failure. GS_ERR_DRIVER, GS_ERR_NO_DEVICE_MEMORY and GS_ERR_NO_MEMORY occur
 * only in a partition; `text` says why. */
gs_status product_graph_launch(struct session *session, struct stream *stream,
                               const struct rec_gemm *record, struct partition *partition,
                               const struct algorithm *algorithm, bool *issued, char *text,
                               size_t size);

/* Destroys the graphs that run in a partition. `graphs` may be NULL, here and below. */
void product_graphs_evict(struct product_graphs *graphs, const struct partition *partition);
void product_graphs_free(struct product_graphs *graphs);

#endif
