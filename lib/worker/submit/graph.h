/* graph.h - the graphs that tenants record (gs_graph_begin); see graph.c. */
#ifndef GS_WORKER_SUBMIT_GRAPH_H
#define GS_WORKER_SUBMIT_GRAPH_H

#include "worker/submit/outcome.h"

/* Launches a graph into stream `index`. record: the worker's copy of the record at the stream's
 * head, with its full size. The record stalls while the graph's records are being checked or a
 * variant is being made. Called by the main lane. */
enum outcome graph_launch(struct session *session, uint32_t index, const struct rec_graph *record);
/* Returns the most of the lane's time, in nanoseconds, that the launch of this record takes; 0: the
 * record names no graph. */
uint64_t graph_lane_ns(const struct session *session, const struct rec_graph *record);
/* Makes the graphs that the session's journal lists, without variants. On failure the job has
 * failed, and graphs_deinit undoes what was done. Called by a service thread. */
gs_status graphs_resume(struct job *job);
/* Destroys the variants of the session's recorded graphs in a partition. Called by the main
 * lane. */
void graphs_evict(struct session *session, const struct partition *partition);
/* Destroys all variants of the recorded graphs of a session that has nothing on the device and gets
 * no new work. A variant is made again when its graph is next launched. Called by a service
 * thread. */
void graphs_renew(struct session *session);
/* Destroys all recorded graphs of a session that has nothing on the device. Called by a service
 * thread. */
void graphs_deinit(struct session *session);

#endif
