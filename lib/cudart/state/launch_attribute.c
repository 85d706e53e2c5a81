/* launch_attribute.c - see launch_attribute.h. */
#include "cudart/state/launch_attribute.h"

#include "cudart/base/error.h"

/* The index of a hint; -1: it is none. */
static int hint_index(cudaLaunchAttributeID id)
{
    switch ((int)id) {
    case cudaLaunchAttributeAccessPolicyWindow:
        return 0;
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        return 1;
    case cudaLaunchAttributeMemSyncDomainMap:
        return 2;
    case cudaLaunchAttributeMemSyncDomain:
        return 3;
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
        return 4;
#ifndef GS_CUDART_12
    case cudaLaunchAttributeNvlinkUtilCentricScheduling:
        return 5;
#endif
    default:
        return -1;
    }
}

cudaError_t launch_attribute_set(struct launch_attributes *attributes, cudaLaunchAttributeID id,
                                 const cudaLaunchAttributeValue *value)
{
    const int index = hint_index(id);

    switch ((int)id) {
    case cudaLaunchAttributeCooperative:
        attributes->cooperative = value->cooperative != 0;
        return cudaSuccess;
    case cudaLaunchAttributePriority:
        attributes->priority = value->priority;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        attributes->cluster = (dim3){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
        return cudaSuccess;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        return error_unsupported("a node that a kernel updates");
    default:
        if (index < 0)
            return cudaErrorInvalidValue;
        attributes->hint[index] = *value;
        return cudaSuccess;
    }
}

cudaError_t launch_attribute_get(const struct launch_attributes *attributes,
                                 cudaLaunchAttributeID id, cudaLaunchAttributeValue *value)
{
    const int index = hint_index(id);

    switch ((int)id) {
    case cudaLaunchAttributeCooperative:
        value->cooperative = attributes->cooperative;
        return cudaSuccess;
    case cudaLaunchAttributePriority:
        value->priority = attributes->priority;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        value->clusterDim.x = attributes->cluster.x ? attributes->cluster.x : 1;
        value->clusterDim.y = attributes->cluster.y ? attributes->cluster.y : 1;
        value->clusterDim.z = attributes->cluster.z ? attributes->cluster.z : 1;
        return cudaSuccess;
    default:
        if (index < 0)
            return cudaErrorInvalidValue;
        *value = attributes->hint[index];
        return cudaSuccess;
    }
}
