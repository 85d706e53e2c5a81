// Pools give memory in a stream's order, and tell how much is out.
#include "show.h"

int main()
{
    cudaStream_t stream;
    cudaMemPool_t first, own, current;
    cudaMemPoolProps props = {};
    unsigned long long value;
    int reuse = 7;
    unsigned char *p, host[4];

    MUST(cudaStreamCreate(&stream));
    SHOW(cudaDeviceGetDefaultMemPool(&first, 0)); //> cudaDeviceGetDefaultMemPool(&first, 0): cudaSuccess
    MUST(cudaDeviceGetMemPool(&current, 0));
    HOLDS(current == first); //> current == first: yes
    MUST(cudaMemPoolGetAttribute(first, cudaMemPoolAttrReleaseThreshold, &value));
    printf("%llu\n", value); //> 0
    MUST(cudaMemPoolGetAttribute(first, cudaMemPoolReuseAllowOpportunistic, &reuse));
    printf("%d\n", reuse); //> 1
    value = 1 << 20;
    SHOW(cudaMemPoolSetAttribute(first, cudaMemPoolAttrReleaseThreshold, &value)); //> cudaMemPoolSetAttribute(first, cudaMemPoolAttrReleaseThreshold, &value): cudaSuccess
    value = 0;
    MUST(cudaMemPoolGetAttribute(first, cudaMemPoolAttrReleaseThreshold, &value));
    printf("%llu\n", value); //> 1048576

    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = 0;
    SHOW(cudaMemPoolCreate(&own, &props)); //> cudaMemPoolCreate(&own, &props): cudaSuccess
    SHOW(cudaMallocFromPoolAsync(&p, 1 << 20, own, stream)); //> cudaMallocFromPoolAsync(&p, 1 << 20, own, stream): cudaSuccess
    MUST(cudaMemsetAsync(p, 5, 4, stream));
    MUST(cudaMemcpyAsync(host, p, 4, cudaMemcpyDeviceToHost, stream));
    MUST(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &value));
    printf("%llu\n", value); //> 1048576
    SHOW(cudaFreeAsync(p, stream)); //> cudaFreeAsync(p, stream): cudaSuccess
    MUST(cudaStreamSynchronize(stream));
    printf("%d\n", host[3]); //> 5
    MUST(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &value));
    printf("%llu\n", value); //> 0
    MUST(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemHigh, &value));
    printf("%llu\n", value); //> 1048576
    SHOW(cudaDeviceSetMemPool(0, own)); //> cudaDeviceSetMemPool(0, own): cudaSuccess
    MUST(cudaDeviceGetMemPool(&current, 0));
    HOLDS(current == own); //> current == own: yes
    MUST(cudaMallocAsync(&p, 4096, stream));
    MUST(cudaFreeAsync(p, stream));
    MUST(cudaStreamSynchronize(stream));
    SHOW(cudaMemPoolTrimTo(own, 0));    //> cudaMemPoolTrimTo(own, 0): cudaSuccess
    SHOW(cudaMemPoolDestroy(own));      //> cudaMemPoolDestroy(own): cudaSuccess
    MUST(cudaDeviceGetMemPool(&current, 0));
    HOLDS(current == first); //> current == first: yes
}
