/*
 * pool.h - a pool of CUDA streams, and of room for executable graphs, for tenants to come; see
 * pool.c.
 */
#ifndef GS_WORKER_SUBMIT_POOL_H
#define GS_WORKER_SUBMIT_POOL_H

#include "worker/driver/driver.h"

struct partition;

/* Fills the pool. Called at the start, with the context current, before there are tenants. What the
 * device has no memory for is made when it is needed. */
void pool_init(void);
/* Makes a few streams and graphs where some are missing. Called when the device has nothing to do.
 * Main lane. */
void pool_refill(void);

/* Takes a stream of *priority, or of the nearest priority in the pool, which *priority then tells.
 * The stream is in *context, a lane's; where the pool has none there, it is in the primary context
 * and *context becomes NULL. Where there is none either, one is made, for which the primary context
 * becomes the calling thread's own. Any lane. */
CUresult pool_get_stream(CUstream *stream, int *priority, struct partition **context);
/* Gives back a stream that has nothing to do. Returns false when the pool is full; the stream then
 * stays the caller's. Any thread. */
bool pool_put_stream(CUstream stream, int priority, struct partition *context);
/* Makes `count` streams in a lane's context, of the normal class's priority. Called before there
 * are tenants. */
CUresult pool_fill_lane(struct partition *context, uint32_t count);

/* Makes room for one executable graph that is about to be made. Any thread. */
void pool_give_graph(void);

#endif
