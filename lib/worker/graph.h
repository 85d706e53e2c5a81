/* graph.h - graphs that tenants record; see graph.c. */
#ifndef GS_WORKER_GRAPH_H
#define GS_WORKER_GRAPH_H

#include "worker/record.h"

/* Launches graph `number` into stream `index`. The fault, if there is one, is the record's; else
 * *result is the driver's. Dispatcher. */
record_fault graph_launch(struct session *session, uint32_t index, uint32_t number,
                          CUresult *result);
/* Destroys all graphs of a session. Service thread, session quiet. */
void graphs_close(struct session *session);

#endif
