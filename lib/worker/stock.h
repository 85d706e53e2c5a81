/* stock.h - driver objects that are at hand when tenants need them; see stock.c. */
#ifndef GS_WORKER_STOCK_H
#define GS_WORKER_STOCK_H

#include "worker/driver.h"

struct partition;

/* Fills it; at the start, with the context current, before there are tenants. Without device memory
 * for it, things are made when they are needed. */
void stock_init(void);
/* Replaces a few of those that are gone. When the device has nothing to do; dispatcher. */
void stock_refill(void);

/* A stream of *priority, or of the nearest that is at hand, which it then tells; in the context of
 * *home, a lane's, or where that has none at hand in the primary one, for which *home is then NULL.
 * A lane. */
CUresult stock_stream(CUstream *stream, int *priority, struct partition **home);
/* One that has nothing to do comes back. False: there are enough, it is the caller's still. Any
 * thread. */
bool stock_stream_keep(CUstream stream, int priority, struct partition *home);
/* Makes so many in a lane's context, of the normal class's priority. Before there are tenants. */
CUresult stock_lane(struct partition *home, uint32_t count);

/* Makes room for one executable graph, which is about to be made. Any thread. */
void stock_graph_room(void);

#endif
