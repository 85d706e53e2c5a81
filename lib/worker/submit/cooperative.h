/*
 * cooperative.h - cooperative launches, all of whose blocks run at once; see cooperative.c. The
 * main lane.
 */
#ifndef GS_WORKER_SUBMIT_COOPERATIVE_H
#define GS_WORKER_SUBMIT_COOPERATIVE_H

#include "worker/partition/kernel_launch.h"

/* Whether the launch's SMs hold all its blocks at once. False: `text` says why not. */
bool cooperative_fits(const struct launch *launch, char *text, size_t size);

/* Whether the device has finished the stream's work, and has few cooperative grids of the user; a
 * cooperative launch waits for that in the ring. */
bool cooperative_ready(const struct session *session, const struct stream *stream,
                       const struct launch *launch);
/* Has the stream wait for the cooperative grids that must have ended before this one begins. The
 * caller then launches it, and calls cooperative_end. */
CUresult cooperative_begin(const struct session *session, const struct launch *launch,
                           CUstream stream);
CUresult cooperative_end(CUstream stream);

#endif
