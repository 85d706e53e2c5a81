/*
 * tensor_map.c - tensor maps, by which kernels copy tensors in bulk (cp.async.bulk.tensor).
 *
 * A map is 128 bytes in a format of the driver's. Encoding one only computes, but the driver does
 * it in a process with a context alone, which tenants do not have. A map holds an address that no
 * pass over a kernel can see, so fenced sessions have none.
 */
#include <string.h>

#include "worker/driver/driver.h"
#include "worker/jobs/job.h"

static_assert(sizeof(CUtensorMap) == REQ_TENSOR_MAP_BYTES &&
                  REQ_TENSOR_RANK == CU_TENSOR_MAP_RANK_MAX,
              "tensor maps of the wire and of the driver");

/* The newest of each enumeration that a driver has (CUDA 13.0). */
enum { TYPE_LAST = 15, SWIZZLE_LAST = 6 };

/* A driver is asked for what its documentation has alone. */
static bool known(const struct req_tensor_map *map)
{
    return map->rank > 0 && map->rank <= REQ_TENSOR_RANK && map->type <= TYPE_LAST &&
           map->interleave <= CU_TENSOR_MAP_INTERLEAVE_32B && map->swizzle <= SWIZZLE_LAST &&
           map->promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
           map->fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
}

static void tensor_map_work(struct job *job)
{
    const struct req_tensor_map map = job->tensor_map;
    CUtensorMap made;

    if (!known(&map)) {
        job_fail(job, GS_ERR_INVALID_VALUE, "a tensor map of a rank or kind that there is not");
        return;
    }
    if (job->session->fenced) {
        job_fail(job, GS_ERR_NOT_SUPPORTED,
                 "a fenced session has no tensor maps, whose addresses cannot be fenced");
        return;
    }
    CUresult result = DRV(cuTensorMapEncodeTiled, &made, (CUtensorMapDataType)map.type, map.rank,
                          (void *)(uintptr_t)map.address, map.dim, map.stride, map.box, map.step,
                          (CUtensorMapInterleave)map.interleave, (CUtensorMapSwizzle)map.swizzle,
                          (CUtensorMapL2promotion)map.promotion, (CUtensorMapFloatOOBfill)map.fill);
    if (result == CUDA_ERROR_INVALID_VALUE) {
        job_fail(job, GS_ERR_INVALID_VALUE, "the driver makes no tensor map of these values");
        return;
    }
    if (result) {
        job_fail_driver(job, result);
        return;
    }
    memcpy(job->payload, &made, sizeof(made));
    job->reply_bytes = sizeof(made);
}

const struct job_kind job_tensor_map = {"tensor_map", JOB_QUICK, NULL, tensor_map_work, NULL, NULL};
