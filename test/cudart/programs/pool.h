/* pool.h - a memory pool of the device, and its attributes, for programs about pools. */
#ifndef POOL_H
#define POOL_H

#include "show.h"

static cudaMemPool_t pool_make(unsigned long long threshold)
{
    cudaMemPoolProps props = {};
    cudaMemPool_t pool;

    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    MUST(cudaMemPoolCreate(&pool, &props));
    MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    return pool;
}

static unsigned long long pool_tells(cudaMemPool_t pool, cudaMemPoolAttr what)
{
    unsigned long long value = 0;

    MUST(cudaMemPoolGetAttribute(pool, what, &value));
    return value;
}

#define RESERVED      cudaMemPoolAttrReservedMemCurrent
#define RESERVED_HIGH cudaMemPoolAttrReservedMemHigh
#define USED          cudaMemPoolAttrUsedMemCurrent
#define USED_HIGH     cudaMemPoolAttrUsedMemHigh

#endif
