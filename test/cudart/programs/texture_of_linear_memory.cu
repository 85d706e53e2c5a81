// A texture of linear memory gives texels by number, and sees what the memory holds when the kernel starts.
#include "show.h"

__global__ void fetch(cudaTextureObject_t t, int *out)
{
    int2 texel = tex1Dfetch<int2>(t, 7 - threadIdx.x);

    out[threadIdx.x] = texel.x * 100 + texel.y;
}

static void tell(cudaTextureObject_t texture, int *out)
{
    int host[8];

    fetch<<<1, 8>>>(texture, out);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        printf("%d%c", host[i], i < 7 ? ' ' : '\n');
}

int main()
{
    cudaResourceDesc resource = {}, told;
    cudaTextureDesc desc = {}, told_desc;
    cudaTextureObject_t texture;
    int2 texels[8], *memory;
    int *out;

    for (int i = 0; i < 8; i++)
        texels[i] = make_int2(i, i + 10);
    MUST(cudaMalloc(&memory, sizeof(texels)));
    MUST(cudaMalloc(&out, 8 * sizeof(int)));
    MUST(cudaMemcpy(memory, texels, sizeof(texels), cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<int2>();
    resource.res.linear.sizeInBytes = sizeof(texels);
    MUST(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    tell(texture, out); //> 717 616 515 414 313 212 111 10
    MUST(cudaMemset(memory, 0, 2 * sizeof(int2)));
    tell(texture, out); //> 717 616 515 414 313 212 0 0
    MUST(cudaGetTextureObjectResourceDesc(&told, texture));
    MUST(cudaGetTextureObjectTextureDesc(&told_desc, texture));
    HOLDS(told.resType == cudaResourceTypeLinear && told.res.linear.devPtr == memory); //> told.resType == cudaResourceTypeLinear && told.res.linear.devPtr == memory: yes
    HOLDS(told_desc.filterMode == cudaFilterModePoint); //> told_desc.filterMode == cudaFilterModePoint: yes
    SHOW(cudaDestroyTextureObject(texture)); //> cudaDestroyTextureObject(texture): cudaSuccess
}
