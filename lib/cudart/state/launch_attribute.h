/*
 * launch_attribute.h - the attributes of a launch, also of one that is a node of a graph. Only the
 * cooperative launch and clusters have an effect; the others are hints, which a node keeps so that
 * a program can ask for them. Any thread; the owner of the struct orders its use.
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

/* Clusters of one block are the same as none on a device that has no others. */
static inline gs_dim3 launch_cluster(const struct launch_attributes *attributes)
{
    const dim3 size = attributes->cluster;

    if (size.x == 1 && size.y == 1 && size.z == 1 && device_cluster_blocks() == 1)
        return (gs_dim3){0, 0, 0};
    return (gs_dim3){size.x, size.y, size.z};
}

/* cudaErrorInvalidValue: nodes have no such attribute. cudaErrorNotSupported: it is said once. */
cudaError_t launch_attribute_set(struct launch_attributes *attributes, cudaLaunchAttributeID id,
                                 const cudaLaunchAttributeValue *value);
/* cudaErrorInvalidValue: nodes have no such attribute. */
cudaError_t launch_attribute_get(const struct launch_attributes *attributes,
                                 cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);

#endif
