/* tensor_map.h - what the programs about tensor copies share: maps, and a barrier to wait at. */
#ifndef TENSOR_MAP_H
#define TENSOR_MAP_H

#include "show.h"
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>

typedef CUresult encode_fn(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                           const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                           const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

struct tensor {
    CUtensorMapDataType type;
    unsigned rank;
    void *at;
    cuuint64_t dims[5], strides[4]; /* elements, bytes */
    cuuint32_t box[5], steps[5];
    CUtensorMapSwizzle swizzle;
};

/* Ends the program as one that is skipped where there are no tensor maps: before Hopper. */
static CUtensorMap map_of(const tensor &t)
{
    cudaDriverEntryPointQueryResult found;
    CUtensorMap map;
    void *encode;
    int major;

    MUST(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major < 9)
        exit(77);
    MUST(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                          cudaEnableDefault, &found));
    const CUresult result =
        ((encode_fn *)encode)(&map, t.type, t.rank, t.at, t.dims, t.strides, t.box, t.steps,
                              CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle,
                              CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        printf("no tensor map: %d\n", result);
        exit(1);
    }
    return map;
}

/* A barrier of one thread, which copies of BYTES complete. */
__device__ static void expect(uint64_t *barrier, unsigned bytes)
{
    cuda::ptx::mbarrier_init(barrier, 1);
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                         cuda::ptx::space_shared, barrier, bytes);
}

/* Whether they have come: all of their bytes, and no more. */
__device__ static bool come(uint64_t *barrier)
{
    for (int i = 0; i < 1000; i++)
        if (cuda::ptx::mbarrier_try_wait_parity(barrier, 0))
            return true;
    return false;
}

/* The thread's copies out of shared memory have ended. */
__device__ static void finish()
{
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
}

#endif
