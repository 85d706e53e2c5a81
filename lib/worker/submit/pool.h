/* pool.h - driver objects that are at hand when tenants need them; see pool.c. */
#ifndef GS_WORKER_SUBMIT_POOL_H
#define GS_WORKER_SUBMIT_POOL_H

#include "worker/driver/driver.h"

struct partition;

/* Fills it; at the start, with the context current, before there are tenants. Without device memory
 * for it, things are made when they are needed. */
void pool_init(void);
/* Replaces a few of those that are gone. When the device has nothing to do; dispatcher. */
void pool_refill(void);

/* A stream of *priority, or of the nearest that is at hand, which it then tells; in the context of
 * *home, a lane's, or where that has none at hand in the primary one, for which *home is then NULL.
 * A lane. */
CUresult pool_get_stream(CUstream *stream, int *priority, struct partition **home);
/* One that has nothing to do comes back. False: there are enough, it is the caller's still. Any
 * thread. */
bool pool_put_stream(CUstream stream, int priority, struct partition *home);
/* Makes so many in a lane's context, of the normal class's priority. Before there are tenants. */
CUresult pool_fill_lane(struct partition *home, uint32_t count);

/* Makes room for one executable graph, which is about to be made. Any thread. */
void pool_give_graph(void);

#endif
