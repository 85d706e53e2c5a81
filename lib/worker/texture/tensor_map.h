/* tensor_map.h - remembers which tensor maps a fenced session has made; see tensor_map.c. */
#ifndef GS_WORKER_TEXTURE_TENSOR_MAP_H
#define GS_WORKER_TEXTURE_TENSOR_MAP_H

#include "worker/session_parts.h"

struct job;

/* Returns whether the session has made the map of REQ_TENSOR_MAP_BYTES bytes, and has not made so
 * many others since that this one is forgotten. The session's lane, or its job in progress. */
bool tensor_map_known(const struct session *session, const unsigned char *map);
/* Restores the session's tensor maps from its journal. On failure the job has failed. */
gs_status tensor_maps_resume(struct job *job);
void tensor_maps_deinit(struct session *session);

#endif
