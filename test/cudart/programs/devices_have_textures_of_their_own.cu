// A texture object is the current device's, as its array is; one of each device may have the same number.
#include "devices.h"

__global__ void fetch(cudaTextureObject_t texture, int *at)
{
    *at = tex1Dfetch<int>(texture, 3);
}

int main()
{
    cudaTextureObject_t texture[2];
    int *words[2], *at[2], got;

    two_needed();
    for (int d = 0; d < 2; d++) {
        cudaResourceDesc resource = {};
        cudaTextureDesc desc = {};
        int host[8];

        MUST(cudaSetDevice(d));
        MUST(cudaMalloc(&words[d], sizeof(host)));
        MUST(cudaMalloc(&at[d], sizeof(int)));
        for (int i = 0; i < 8; i++)
            host[i] = 100 * d + i;
        MUST(cudaMemcpy(words[d], host, sizeof(host), cudaMemcpyHostToDevice));
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = words[d];
        resource.res.linear.desc = cudaCreateChannelDesc<int>();
        resource.res.linear.sizeInBytes = sizeof(host);
        MUST(cudaCreateTextureObject(&texture[d], &resource, &desc, nullptr));
    }
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        fetch<<<1, 1>>>(texture[d], at[d]);
        MUST(cudaMemcpy(&got, at[d], sizeof(got), cudaMemcpyDeviceToHost));
        MUST(cudaDestroyTextureObject(texture[d]));
        printf("%d\n", got); //> 3
                             //> 103
    }
}
