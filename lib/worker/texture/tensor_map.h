/* tensor_map.h - which tensor maps a fenced session has made; see tensor_map.c. */
#ifndef GS_WORKER_TEXTURE_TENSOR_MAP_H
#define GS_WORKER_TEXTURE_TENSOR_MAP_H

#include "worker/session_parts.h"

struct job;

/* Whether the session has made the map of REQ_TENSOR_MAP_BYTES bytes, and has not made so many
 * others since that it is forgotten. The session's lane, or its job in progress. */
bool tensor_map_known(const struct session *session, const unsigned char *map);
/* Knows again what the session's journal names. On failure the job has failed. */
gs_status tensor_maps_resume(struct job *job);
void tensor_maps_deinit(struct session *session);

#endif
