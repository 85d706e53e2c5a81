// The pools of a device's location are those of the device: the default one, and the one that was set last.
#include "show.h"

int main()
{
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, nowhere = {cudaMemLocationTypeInvalid, 0};
    cudaMemPool_t pool, mine, usual;
    cudaMemPoolProps props = {};
    unsigned long long used = 0;
    void *p;

    MUST(cudaDeviceGetDefaultMemPool(&usual, 0));
    MUST(cudaMemGetDefaultMemPool(&pool, &here, cudaMemAllocationTypePinned));
    HOLDS(pool == usual); //> pool == usual: yes
    MUST(cudaMemGetMemPool(&pool, &here, cudaMemAllocationTypePinned));
    HOLDS(pool == usual); //> pool == usual: yes

    props.allocType = cudaMemAllocationTypePinned;
    props.location = here;
    MUST(cudaMemPoolCreate(&mine, &props));
    MUST(cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, mine));
    MUST(cudaMemGetMemPool(&pool, &here, cudaMemAllocationTypePinned));
    HOLDS(pool == mine); //> pool == mine: yes
    MUST(cudaDeviceGetMemPool(&pool, 0));
    HOLDS(pool == mine); //> pool == mine: yes
    MUST(cudaMallocAsync(&p, 1000, 0));
    MUST(cudaMemPoolGetAttribute(mine, cudaMemPoolAttrUsedMemCurrent, &used));
    HOLDS(used >= 1000); //> used >= 1000: yes
    MUST(cudaFreeAsync(p, 0));
    MUST(cudaDeviceSynchronize());

    SHOW(cudaMemGetMemPool(&pool, &nowhere, cudaMemAllocationTypePinned)); //> cudaMemGetMemPool(&pool, &nowhere, cudaMemAllocationTypePinned): cudaErrorInvalidValue
    SHOW(cudaMemGetMemPool(&pool, &here, cudaMemAllocationTypeInvalid)); //> cudaMemGetMemPool(&pool, &here, cudaMemAllocationTypeInvalid): cudaErrorInvalidValue
    return 0;
}
