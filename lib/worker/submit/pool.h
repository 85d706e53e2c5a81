/*
 * pool.h - a pool of CUDA streams, and of room for executable graphs, for future tenants; see
 * pool.c.
 */
#ifndef GS_WORKER_SUBMIT_POOL_H
#define GS_WORKER_SUBMIT_POOL_H

#include "worker/driver/driver.h"

struct partition;

/* Fills the pool. Called at the start, with the context current, before there are tenants. Streams
 * and graphs for which the device has no memory are made when they are needed. */
void pool_init(void);
/* Makes a few streams and graphs if some are missing. Called by the main lane when the device has
 * nothing to do. */
void pool_refill(void);

/* Takes a stream of *priority, or of the nearest priority in the pool, which is then stored in
 * *priority. The stream is in *context, a lane's. If the pool has none there, the stream is in the
 * primary context, and *context becomes NULL. If there is none either, one is made, and the primary
 * context becomes the calling thread's own. Called by any lane. */
CUresult pool_get_stream(CUstream *stream, int *priority, struct partition **context);
/* Returns an idle stream to the pool. Returns false if the pool is full; the stream then stays the
 * caller's. Called by any thread. */
bool pool_put_stream(CUstream stream, int priority, struct partition *context);
/* Adds `count` streams in a lane's context, with the normal class's priority. Called before there
 * are tenants. */
CUresult pool_fill_lane(struct partition *context, uint32_t count);

/* Makes room for one executable graph that is about to be made. Called by any thread. */
void pool_give_graph(void);

#endif
