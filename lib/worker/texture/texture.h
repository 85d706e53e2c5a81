/* texture.h - a session's textures and surfaces; see texture.c. */
#ifndef GS_WORKER_TEXTURE_TEXTURE_H
#define GS_WORKER_TEXTURE_TEXTURE_H

#include "worker/session_parts.h"

struct job;

/* Makes the textures that the session's journal names, whose memory has been restored. On failure
 * the job has failed, and textures_deinit undoes what was done. Service thread, at a quiet moment.
 */
gs_status textures_resume(struct job *job);
/* Destroys all textures, surfaces and arrays of a session, and forgets its tensor maps. Service
 * thread, after the device has finished with them. */
void textures_deinit(struct session *session);

#endif
