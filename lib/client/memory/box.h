/*
 * box.h - 3D copies of boxes: a box is a number of slices of rows in an array, device memory or
 * host memory. Any thread.
 */
#ifndef GS_CLIENT_BOX_H
#define GS_CLIENT_BOX_H

#include <stdbool.h>

#include "client/session/session.h"

/* Queues the copy on the stream, and waits for it if `wait` is true. A copy to ordinary memory
 * always waits. */
gs_status box_copy(struct session *session, gs_stream stream, const gs_memcpy_3d_params *params,
                   bool wait);

#endif
