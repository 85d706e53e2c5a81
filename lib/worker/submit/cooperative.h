/*
 * cooperative.h - cooperative launches, all of whose blocks run at once; see cooperative.c. Called
 * by the main lane.
 */
#ifndef GS_WORKER_SUBMIT_COOPERATIVE_H
#define GS_WORKER_SUBMIT_COOPERATIVE_H

#include "worker/partition/kernel_launch.h"

/* Returns whether the launch's SMs can hold all its blocks at once. Writes the reason into `text`
 * if not. */
bool cooperative_fits(const struct launch *launch, char *text, size_t size);

/* Returns whether a cooperative launch may be issued now: the device has finished the stream's
 * work, and has few cooperative grids of the user. Until then the launch waits in the ring. */
bool cooperative_ready(const struct session *session, const struct stream *stream,
                       const struct launch *launch);
/* cooperative_begin has the stream wait for the cooperative grids that must end before this one
 * begins. The caller then launches the grid and calls cooperative_end, which notes its end. */
CUresult cooperative_begin(const struct session *session, const struct launch *launch,
                           CUstream stream);
CUresult cooperative_end(const struct session *session, const struct launch *launch,
                         CUstream stream);

#endif
