// Pointer attributes of managed memory, advice on it, and what of that can be asked for.
#include "show.h"

int main()
{
    cudaPointerAttributes attributes;
    int *p, value, by[2];

    MUST(cudaMallocManaged(&p, 8192));
    MUST(cudaPointerGetAttributes(&attributes, p + 4));
    HOLDS(attributes.type == cudaMemoryTypeManaged); //> attributes.type == cudaMemoryTypeManaged: yes
    HOLDS(attributes.devicePointer == p + 4 && attributes.hostPointer == p + 4); //> attributes.devicePointer == p + 4 && attributes.hostPointer == p + 4: yes
    MUST(cudaMemRangeGetAttribute(&value, sizeof(value), cudaMemRangeAttributeReadMostly, p, 8192));
    printf("%d\n", value); //> 0
    MUST(cudaMemRangeGetAttribute(&value, sizeof(value), cudaMemRangeAttributePreferredLocation, p, 8192));
    HOLDS(value == cudaInvalidDeviceId); //> value == cudaInvalidDeviceId: yes
#if CUDART_VERSION >= 13000
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
#define NO_FLAGS 0,
#else
    int device = 0, host = cudaCpuDeviceId;
#define NO_FLAGS
#endif
    MUST(cudaMemAdvise(p, 8192, cudaMemAdviseSetReadMostly, device));
    MUST(cudaMemAdvise(p, 8192, cudaMemAdviseSetPreferredLocation, host));
    MUST(cudaMemAdvise(p, 8192, cudaMemAdviseSetAccessedBy, device));
    MUST(cudaMemRangeGetAttribute(&value, sizeof(value), cudaMemRangeAttributeReadMostly, p, 8192));
    printf("%d\n", value); //> 1
    MUST(cudaMemRangeGetAttribute(&value, sizeof(value), cudaMemRangeAttributePreferredLocation, p, 8192));
    HOLDS(value == cudaCpuDeviceId); //> value == cudaCpuDeviceId: yes
    MUST(cudaMemRangeGetAttribute(&value, sizeof(value), cudaMemRangeAttributePreferredLocationType, p, 8192));
    HOLDS(value == cudaMemLocationTypeHost); //> value == cudaMemLocationTypeHost: yes
    MUST(cudaMemRangeGetAttribute(by, sizeof(by), cudaMemRangeAttributeAccessedBy, p, 8192));
    printf("%d %d\n", by[0], by[1]); //> 0 -2
    MUST(cudaMemAdvise(p, 8192, cudaMemAdviseUnsetReadMostly, device));
    SHOW(cudaMemPrefetchAsync(p, 8192, device, NO_FLAGS 0) == cudaSuccess ? cudaSuccess : cudaErrorUnknown); //> cudaMemPrefetchAsync(p, 8192, device, NO_FLAGS 0) == cudaSuccess ? cudaSuccess : cudaErrorUnknown: cudaSuccess
    MUST(cudaMemRangeGetAttribute(&value, sizeof(value), cudaMemRangeAttributeLastPrefetchLocation, p, 8192));
    printf("%d\n", value); //> 0
    MUST(cudaMemPrefetchAsync(p, 8192, host, NO_FLAGS 0));
    MUST(cudaDeviceSynchronize());
    printf("%d\n", p[100]); //> 0
}
