/*
 * occupancy.h - how many blocks of a kernel an SM runs at once. The server knows the answer, and
 * the client caches the last one of each kernel. Any thread.
 */
#ifndef GS_CLIENT_OCCUPANCY_H
#define GS_CLIENT_OCCUPANCY_H

#include "client/session/session.h"

/* Sets *blocks from the cached answer, or asks the server. Statuses as gs_kernel_occupancy. */
gs_status occupancy_of(struct session *session, gs_kernel handle, unsigned threads,
                       unsigned dynamic_smem, unsigned *blocks);
/* Asks the server for *clusters. No side of `cluster` is above UINT16_MAX. Statuses as
 * gs_kernel_clusters. */
gs_status clusters_of(struct session *session, gs_kernel handle, unsigned threads,
                      unsigned dynamic_smem, const gs_dim3 *cluster, unsigned *clusters);

#endif
