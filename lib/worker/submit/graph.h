/* graph.h - graphs that tenants record; see graph.c. */
#ifndef GS_WORKER_SUBMIT_GRAPH_H
#define GS_WORKER_SUBMIT_GRAPH_H

#include "worker/submit/record.h"

enum graph_outcome {
    GRAPH_LAUNCHED,
    GRAPH_WAITS,   /* its records are being checked, or a variant of it is being made: ask again */
    GRAPH_INVALID, /* the record, or what it names, is invalid: *text */
    GRAPH_FAILED   /* the variant could not be made: *status, *text */
};

/* Launches a graph into stream `index` as the record says, which is the worker's copy and has its
 * size; *result is the driver's answer. Main lane. */
enum graph_outcome graph_launch(struct session *session, uint32_t index,
                                const struct rec_graph *record, CUresult *result, gs_status *status,
                                const char **text);
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
