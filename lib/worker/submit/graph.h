/* graph.h - graphs that tenants record; see graph.c. */
#ifndef GS_WORKER_SUBMIT_GRAPH_H
#define GS_WORKER_SUBMIT_GRAPH_H

#include "worker/submit/record.h"

enum graph_outcome {
    GRAPH_LAUNCHED,
    GRAPH_WAITS,   /* it is being made anew for where the session's launches run now: ask again */
    GRAPH_INVALID, /* the record, or what it names: *text */
    GRAPH_FAILED   /* it could not be made anew: *status, *text */
};

/* Launches graph `number` into stream `index`; the driver's answer is *result. Dispatcher. */
enum graph_outcome graph_launch(struct session *session, uint32_t index, uint32_t number,
                                CUresult *result, gs_status *status, const char **text);
/* Destroys what recorded graphs have in a partition. Dispatcher. */
void graphs_evict(struct session *session, const struct partition *partition);
/* Destroys all graphs of a session. Service thread, session quiet. */
void graphs_deinit(struct session *session);

#endif
