/*
 * launch_attribute.h - the attributes of a launch, also of a launch that is a node of a graph. Only
 * the cooperative launch and clusters have an effect. The others are hints, which a node keeps so
 * that the program can read them. Any thread; the owner of the struct synchronises.
 */
#ifndef GS_CUDART_LAUNCH_ATTRIBUTE_H
#define GS_CUDART_LAUNCH_ATTRIBUTE_H

#include "cudart/abi.h"
#include "cudart/state/device.h"
#include "gshare.h"

#define LAUNCH_HINTS 6

struct launch_attributes {
    bool cooperative;
    dim3 cluster; /* zeros: none */
    int priority;
    cudaLaunchAttributeValue hint[LAUNCH_HINTS];
};

/* On a device without clusters, a cluster of one block is the same as no cluster. */
static inline gs_dim3 launch_cluster(const struct launch_attributes *attributes)
{
    const dim3 size = attributes->cluster;

    if (size.x == 1 && size.y == 1 && size.z == 1 && device_cluster_blocks() == 1)
        return (gs_dim3){0, 0, 0};
    return (gs_dim3){size.x, size.y, size.z};
}

/* cudaErrorInvalidValue: nodes have no such attribute. cudaErrorNotSupported: gshare does not have
 * it, which is reported once. */
cudaError_t launch_attribute_set(struct launch_attributes *attributes, cudaLaunchAttributeID id,
                                 const cudaLaunchAttributeValue *value);
/* cudaErrorInvalidValue: nodes have no such attribute. */
cudaError_t launch_attribute_get(const struct launch_attributes *attributes,
                                 cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);

#endif
