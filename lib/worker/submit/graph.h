/* graph.h - graphs that tenants record; see graph.c. */
#ifndef GS_WORKER_SUBMIT_GRAPH_H
#define GS_WORKER_SUBMIT_GRAPH_H

#include "worker/submit/outcome.h"

/* Launches a graph into stream `index` as the record at its head says, which is the worker's copy
 * and has its size. The record stalls while the graph's records are being checked, or a variant of
 * it is being made. Main lane. */
enum outcome graph_launch(struct session *session, uint32_t index, const struct rec_graph *record);
/* What the launch that a record asks for takes of the lane's time at most, in nanoseconds; 0: the
 * record names no graph. */
uint64_t graph_lane_ns(const struct session *session, const struct rec_graph *record);
/* Makes the graphs that the session's journal names, without variants. On failure the job has
 * failed, and graphs_deinit undoes what was done. Service thread. */
gs_status graphs_resume(struct job *job);
/* Destroys the variants of recorded graphs in a partition. Main lane. */
void graphs_evict(struct session *session, const struct partition *partition);
/* Destroys all variants of recorded graphs of a session that has nothing on the device and gets no
 * new work; each is made anew when the graph is next launched. Service thread. */
void graphs_renew(struct session *session);
/* Destroys all graphs of a session that has nothing on the device. Service thread. */
void graphs_deinit(struct session *session);

#endif
