/*
 * record.c - checks the records that a tenant has written.
 *
 * The worker believes nothing in a ring: it copies a whole record out, and checks every field of
 * the copy against the session's objects. The client library makes the same checks first, so a
 * record that fails a check comes from a damaged client; it ends only that session.
 *
 * The checks read the session's tables, so they run on the session's lane or in the session's job
 * in progress.
 */
#include "worker/submit/record.h"

#include <string.h>

#include "common/ring.h"
#include "worker/memory/host_block.h"
#include "worker/memory/window.h"
#include "worker/partition/carveout.h"
#include "worker/texture/array.h"
#include "worker/texture/tensor_map.h"

/* Checks the clusters of a launch, and stores those that the launch names in `cluster`; zeros if it
 * names none. */
static record_refusal clusters_check(const struct kernel *kernel, const struct rec_launch *r,
                                     const unsigned char *record, uint16_t cluster[3])
{
    struct wire_cluster own = {0}, named = {0};
    const struct wire_cluster *size = &own;

    memcpy(own.dim, kernel->cluster, sizeof(own.dim));
    if (r->h.flags & REC_LAUNCH_CLUSTER) {
        memcpy(&named, record + launch_record_cluster(r->h.flags, r->param_bytes), sizeof(named));
        if (own.dim[0] && memcmp(own.dim, named.dim, sizeof(named.dim)) != 0)
            return "clusters of another size than the kernel's";
        size = &named;
    }
    memcpy(cluster, named.dim, sizeof(named.dim));
    if (!own.dim[0] && !(r->h.flags & REC_LAUNCH_CLUSTER))
        return kernel->in_clusters ? "a launch without clusters of a kernel that runs in them"
                                   : NULL;
    return cluster_blocks(size, r->grid) == 0
               ? "clusters that do not divide the grid, or of too many blocks"
               : NULL;
}

/* Replaces each tensor map that the session has not made by zeros, which lead nowhere. Such a map
 * is no error: a program may leave a map unset that its kernel does not use. */
static void maps_check(const struct session *session, const struct kernel *kernel,
                       unsigned char *params)
{
    for (unsigned i = 0; i < kernel->map_count; i++) {
        unsigned char *map = params + kernel->map_offset[i];

        if (!tensor_map_known(session, map))
            memset(map, 0, FENCE_MAP_BYTES);
    }
}

/* Checks grid and block against the device and the kernel. *threads: the number of threads of the
 * block. */
static record_refusal extents_check(const struct kernel *kernel, const struct rec_launch *r,
                                    uint64_t *threads)
{
    *threads = 1;
    for (int i = 0; i < 3; i++) {
        if (r->grid[i] == 0 || r->grid[i] > worker->info.max_grid_dim[i])
            return "a grid beyond the device's limits";
        if (r->block[i] == 0 || r->block[i] > worker->info.max_block_dim[i])
            return "a block beyond the device's limits";
        *threads *= r->block[i];
    }
    return *threads > kernel->max_threads ? "a block of more threads than the kernel can have"
                                          : NULL;
}

record_refusal record_check_launch(const struct session *session, unsigned char *record,
                                   uint32_t size, struct launch *launch)
{
    struct rec_launch r;
    record_refusal refusal;
    uint64_t threads;

    memcpy(&r, record, sizeof(r));
    struct kernel *kernel = kernel_find(&session->kernels, r.kernel);
    if (!kernel)
        return "a launch of a kernel that does not exist";
    if (r.param_bytes != kernel->param_bytes)
        return "a launch whose parameters have not the kernel's size";
    if (r.h.flags & ~(REC_LAUNCH_TIME | REC_LAUNCH_QOS | REC_LAUNCH_COOPERATIVE |
                      REC_LAUNCH_PROGRAMMATIC | REC_LAUNCH_CLUSTER))
        return "a launch with flags of no known meaning";
    if (kernel->syncs_grid && !(r.h.flags & REC_LAUNCH_COOPERATIVE))
        return "a launch that is not cooperative of a kernel that synchronises its grid";
    if (size != launch_record_size(r.h.flags, r.param_bytes))
        return "a launch of a wrong size";
    if (r.report && !(r.h.flags & REC_LAUNCH_TIME))
        return "a launch with a report and without the time of its submission";
    if ((refusal = extents_check(kernel, &r, &threads)))
        return refusal;
    if (r.dynamic_smem > kernel->max_dynamic_smem)
        return "more dynamic shared memory than the kernel can have";
    if ((refusal = clusters_check(kernel, &r, record, launch->cluster)))
        return refusal;
    carveout_fit(kernel, (uint32_t)threads, r.dynamic_smem);
    launch->kernel = kernel;
    memcpy(launch->grid, r.grid, sizeof(r.grid));
    memcpy(launch->block, r.block, sizeof(r.block));
    launch->dynamic_smem = r.dynamic_smem;
    launch->cooperative = r.h.flags & REC_LAUNCH_COOPERATIVE;
    launch->programmatic = r.h.flags & REC_LAUNCH_PROGRAMMATIC;
    launch->params = record + sizeof(r);
    maps_check(session, kernel, launch->params);
    if (kernel->windowed)
        launch->window = window_of(session, kernel->variables);
    return NULL;
}

static bool device_range(const struct session *session, uint64_t address, uint64_t bytes)
{
    return allocations_containing(&session->memory.allocations, address, bytes) != NULL;
}

/* Returns the block's memory at `offset`, if the block has `bytes` bytes there and the device can
 * reach them; otherwise NULL. */
static unsigned char *host_range(const struct session *session, uint32_t block, uint64_t offset,
                                 uint64_t bytes)
{
    const struct host_block *host = host_block_find(session, block);

    if (!host || !host->pinned || offset > host->size || bytes > host->size - offset)
        return NULL;
    return host->memory + offset;
}

record_refusal record_check_copy(const struct session *session, const struct rec_copy *copy,
                                 struct transfer *transfer)
{
    *transfer = (struct transfer){
        .bytes = copy->bytes, .dst = copy->dst, .src = copy->src, .block = SEG_HOSTS};
    if (copy->bytes == 0)
        return "a copy of 0 bytes";
    switch (copy->kind) {
    case REC_HTOD:
        transfer->kind = TRANSFER_HTOD;
        transfer->block = copy->host;
        transfer->host = host_range(session, copy->host, copy->src, copy->bytes);
        return !transfer->host                                  ? "a copy from outside a host block"
               : !device_range(session, copy->dst, copy->bytes) ? "a copy to outside an allocation"
                                                                : NULL;
    case REC_DTOH:
        transfer->kind = TRANSFER_DTOH;
        transfer->block = copy->host;
        transfer->host = host_range(session, copy->host, copy->dst, copy->bytes);
        return !transfer->host ? "a copy to outside a host block"
               : !device_range(session, copy->src, copy->bytes)
                   ? "a copy from outside an allocation"
                   : NULL;
    case REC_DTOD:
        transfer->kind = TRANSFER_DTOD;
        return device_range(session, copy->src, copy->bytes) &&
                       device_range(session, copy->dst, copy->bytes)
                   ? NULL
                   : "a copy outside an allocation";
    default:
        return "a copy of no known kind";
    }
}

record_refusal record_check_memset(const struct session *session, const struct rec_memset *set,
                                   struct transfer *transfer)
{
    *transfer = (struct transfer){.kind = TRANSFER_SET,
                                  .dst = set->dst,
                                  .bytes = set->bytes,
                                  .value = set->value,
                                  .element = set->element,
                                  .block = SEG_HOSTS};
    if (set->element != 1 && set->element != 2 && set->element != 4)
        return "a memset of elements of an impossible size";
    if (set->dst % set->element || set->bytes % set->element)
        return "a memset of parts of elements";
    return set->bytes > 0 && device_range(session, set->dst, set->bytes)
               ? NULL
               : "a memset outside an allocation";
}

/* ---- 3D copies ------------------------------------------------------------------------------- */

#define PITCH_MAX UINT64_C(0x7fffffff) /* cuMemcpy3D accepts no longer rows */

/* Computes the number of bytes from a box's first to its last. Returns false if it overflows. */
static bool box_bytes(const struct rec_box *box, const struct rec_box_side *side, uint64_t *bytes)
{
    uint64_t rows;

    return !__builtin_mul_overflow(side->rows, box->depth - 1, &rows) &&
           !__builtin_add_overflow(rows, box->height - 1, &rows) &&
           !__builtin_mul_overflow(rows, side->pitch, bytes) &&
           !__builtin_add_overflow(*bytes, box->width, bytes);
}

/* A side of a box, as the driver describes it. */
struct box_side {
    CUmemorytype type;
    void *host;
    CUdeviceptr device;
    CUarray array;
    uint64_t x, y, z, pitch, rows;
};

static record_refusal box_array(const struct session *session, const struct rec_box *box,
                                const struct rec_box_side *side, struct box_side *to)
{
    const struct array *array = array_find(session, side->object);

    if (!array)
        return "a box of an array that does not exist";
    if (array->levels)
        return "a box of a mipmapped array, not of one of its levels";
    if (side->at > array->row || box->width > array->row - side->at ||
        side->pitch > array->height || box->height > array->height - side->pitch ||
        side->rows > array->depth || box->depth > array->depth - side->rows)
        return "a box beyond an array";
    if (side->at % array->texel || box->width % array->texel)
        return "a box of parts of an array's texels";
    *to = (struct box_side){.type = CU_MEMORYTYPE_ARRAY,
                            .array = array->cu,
                            .x = side->at,
                            .y = side->pitch,
                            .z = side->rows};
    return NULL;
}

static record_refusal box_side(const struct session *session, const struct rec_box *box,
                               const struct rec_box_side *side, struct box_side *to)
{
    uint64_t bytes;

    if (side->memory == REC_BOX_ARRAY)
        return box_array(session, box, side, to);
    if (side->pitch < box->width || side->pitch > PITCH_MAX || side->rows < box->height)
        return "a box with rows or slices that overlap, or longer than a copy can have";
    if (!box_bytes(box, side, &bytes))
        return "a box of more bytes than there are";
    *to =
        (struct box_side){.pitch = side->pitch, .rows = box->depth > 1 ? side->rows : box->height};
    if (side->memory == REC_BOX_HOST) {
        to->type = CU_MEMORYTYPE_HOST;
        to->host = host_range(session, side->object, side->at, bytes);
        return to->host ? NULL : "a box outside a host block";
    }
    if (side->memory != REC_BOX_DEVICE)
        return "a box of no known place";
    to->type = CU_MEMORYTYPE_DEVICE;
    to->device = side->at;
    return device_range(session, side->at, bytes) ? NULL : "a box outside an allocation";
}

record_refusal record_check_box(const struct session *session, const struct rec_box *box,
                                CUDA_MEMCPY3D *copy)
{
    struct box_side dst, src;
    record_refusal refusal;

    if (box->width == 0 || box->height == 0 || box->depth == 0)
        return "a box of 0 bytes";
    if (box->dst.memory == REC_BOX_HOST && box->src.memory == REC_BOX_HOST)
        return "a box from host to host";
    refusal = box_side(session, box, &box->dst, &dst);
    if (!refusal)
        refusal = box_side(session, box, &box->src, &src);
    if (refusal)
        return refusal;
    if (!cu->cuMemcpy3DAsync_v2)
        return "a box, for which the driver has no call";
    *copy = (CUDA_MEMCPY3D){.srcXInBytes = src.x,
                            .srcY = src.y,
                            .srcZ = src.z,
                            .srcMemoryType = src.type,
                            .srcHost = src.host,
                            .srcDevice = src.device,
                            .srcArray = src.array,
                            .srcPitch = src.pitch,
                            .srcHeight = src.rows,
                            .dstXInBytes = dst.x,
                            .dstY = dst.y,
                            .dstZ = dst.z,
                            .dstMemoryType = dst.type,
                            .dstHost = dst.host,
                            .dstDevice = dst.device,
                            .dstArray = dst.array,
                            .dstPitch = dst.pitch,
                            .dstHeight = dst.rows,
                            .WidthInBytes = box->width,
                            .Height = box->height,
                            .Depth = box->depth};
    return NULL;
}

record_refusal record_check_gemm(const struct session *session, const struct rec_gemm *gemm,
                                 struct problem *problem)
{
    struct extents extents;
    record_refusal refusal = problem_of(gemm, problem, &extents);

    if (refusal)
        return refusal;
    if (!device_range(session, gemm->a.at, extents.a) ||
        !device_range(session, gemm->b.at, extents.b) ||
        !device_range(session, gemm->c.at, extents.c))
        return "a product of a matrix outside an allocation";
    if (gemm->h.flags & REC_GEMM_DEVICE_SCALARS &&
        (!device_range(session, gemm->alpha, extents.scalar) ||
         !device_range(session, gemm->beta, extents.scalar)))
        return "a product whose scalars are outside an allocation";
    return NULL;
}

static CUresult set_issue(const struct transfer *set, CUstream stream)
{
    switch (set->element) {
    case 2:
        return DRV(cuMemsetD16Async, set->dst, (unsigned short)set->value, set->bytes / 2, stream);
    case 4:
        return DRV(cuMemsetD32Async, set->dst, set->value, set->bytes / 4, stream);
    default:
        return DRV(cuMemsetD8Async, set->dst, (unsigned char)set->value, set->bytes, stream);
    }
}

CUresult transfer_issue(const struct transfer *transfer, CUstream stream)
{
    switch (transfer->kind) {
    case TRANSFER_HTOD:
        return DRV(cuMemcpyHtoDAsync_v2, transfer->dst, transfer->host, transfer->bytes, stream);
    case TRANSFER_DTOH:
        return DRV(cuMemcpyDtoHAsync_v2, transfer->host, transfer->src, transfer->bytes, stream);
    case TRANSFER_DTOD:
        return DRV(cuMemcpyDtoDAsync_v2, transfer->dst, transfer->src, transfer->bytes, stream);
    default:
        return set_issue(transfer, stream);
    }
}
