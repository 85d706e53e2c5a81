/*
 * occupancy.h - how many blocks of a kernel an SM runs at once: the server knows, and the client
 * keeps its last answer. Any thread.
 */
#ifndef GS_CLIENT_OCCUPANCY_H
#define GS_CLIENT_OCCUPANCY_H

#include "client/session/session.h"

/* May ask the server. Statuses as gs_kernel_occupancy. */
gs_status occupancy_of(struct session *session, gs_kernel handle, unsigned threads,
                       unsigned dynamic_smem, unsigned *blocks);
/* Asks the server. Statuses as gs_kernel_clusters; no side of the cluster is above UINT16_MAX. */
gs_status clusters_of(struct session *session, gs_kernel handle, unsigned threads,
                      unsigned dynamic_smem, const gs_dim3 *cluster, unsigned *clusters);

#endif
