// A texture of pitched memory has two dimensions and filters.
#include "show.h"

__global__ void look(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 1.0f, 2.0f);
}

int main()
{
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    cudaTextureObject_t texture;
    float rows[4][6], host[5], *out;
    char *memory;
    size_t pitch;

    for (int i = 0; i < 24; i++)
        rows[i / 6][i % 6] = i;
    MUST(cudaMallocPitch(&memory, &pitch, sizeof(rows[0]), 4));
    MUST(cudaMalloc(&out, sizeof(host)));
    MUST(cudaMemcpy2D(memory, pitch, rows, sizeof(rows[0]), sizeof(rows[0]), 4, cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = 6;
    resource.res.pitch2D.height = 4;
    resource.res.pitch2D.pitchInBytes = pitch;
    desc.filterMode = cudaFilterModeLinear;
    desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
    MUST(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    look<<<1, 5>>>(texture, out);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 5; i++)
        printf("%g\n", host[i]);
    //> 9.5
    //> 10.5
    //> 11.5
    //> 12.5
    //> 13.5
}
