/* occupancy.c - see occupancy.h. */
#include "client/control/occupancy.h"

#include <string.h>

#include "client/submit/sync_request.h"
#include "common/wire_record.h"

/* Takes object_lock, which keeps the kernel alive, and returns the kernel; NULL: there is none. */
static struct kernel *kernel_lock(struct session *session, struct handle h)
{
    pthread_mutex_lock(&session->object_lock);
    return handle_lookup(&session->kernels, h.slot, h.generation);
}

/* Asks the server about the kernel, whose number becomes the first argument. */
static gs_status kernel_ask(struct session *session, struct handle h, struct sync_request *request)
{
    const struct kernel *kernel = kernel_lock(session, h);
    const bool found = kernel;

    if (found)
        request->arg[0] = kernel->id;
    pthread_mutex_unlock(&session->object_lock);
    return found ? sync_request(session, request) : handle_unknown(h, "kernel");
}

gs_status occupancy_of(struct session *session, gs_kernel handle, unsigned threads,
                       unsigned dynamic_smem, unsigned *blocks)
{
    const struct handle h = handle_decode(handle);
    struct sync_request request = {.op = REQ_KERNEL_OCCUPANCY, .arg = {0, threads, dynamic_smem}};
    struct kernel *kernel = kernel_lock(session, h);
    unsigned known = 0;

    if (kernel && kernel->occupancy.threads == threads &&
        kernel->occupancy.dynamic_smem == dynamic_smem)
        known = kernel->occupancy.blocks;
    pthread_mutex_unlock(&session->object_lock);
    if (known) {
        *blocks = known;
        return GS_OK;
    }
    const gs_status status = kernel_ask(session, h, &request);
    if (status != GS_OK)
        return status;
    *blocks = (unsigned)request.ret[0];
    kernel = kernel_lock(session, h);
    if (kernel) {
        kernel->occupancy.threads = threads;
        kernel->occupancy.dynamic_smem = dynamic_smem;
        kernel->occupancy.blocks = *blocks;
    }
    pthread_mutex_unlock(&session->object_lock);
    return GS_OK;
}

gs_status clusters_of(struct session *session, gs_kernel handle, unsigned threads,
                      unsigned dynamic_smem, const gs_dim3 *cluster, unsigned *clusters)
{
    const struct wire_cluster size = cluster_of_sides(cluster->x, cluster->y, cluster->z);
    struct sync_request request = {.op = REQ_KERNEL_OCCUPANCY, .arg = {0, threads, dynamic_smem}};
    gs_status status;

    memcpy(&request.arg[3], &size, sizeof(size));
    status = kernel_ask(session, handle_decode(handle), &request);
    if (status == GS_OK)
        *clusters = (unsigned)request.ret[1];
    return status;
}
