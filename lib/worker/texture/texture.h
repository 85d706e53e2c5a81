/* texture.h - a session's textures and surfaces; see texture.c. */
#ifndef GS_WORKER_TEXTURE_TEXTURE_H
#define GS_WORKER_TEXTURE_TEXTURE_H

#include "worker/session_parts.h"

/* Destroys all textures, surfaces and arrays of a session. Service thread, after the device has
 * finished with them. */
void textures_deinit(struct session *session);

#endif
