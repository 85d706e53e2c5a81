// Copies to and from arrays have their place in their stream, beside pinned memory too.
#include "show.h"

__global__ void add(cudaTextureObject_t t, float *out, float value)
{
    out[threadIdx.x] = tex1D<float>(t, threadIdx.x + 0.5f) + value;
}

int main()
{
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    cudaTextureObject_t texture;
    cudaStream_t stream;
    cudaArray_t array;
    float *pinned, *out;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaMallocHost(&pinned, 64 * sizeof(float)));
    MUST(cudaMalloc(&out, 64 * sizeof(float)));
    MUST(cudaMallocArray(&array, &channels, 64));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    MUST(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    for (int i = 0; i < 64; i++)
        pinned[i] = i;
    MUST(cudaMemcpy2DToArrayAsync(array, 0, 0, pinned, 256, 256, 1, cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < 100; i++) {
        add<<<1, 64, 0, stream>>>(texture, out, 1);
        MUST(cudaMemcpy2DToArrayAsync(array, 0, 0, out, 256, 256, 1, cudaMemcpyDeviceToDevice, stream));
    }
    MUST(cudaMemcpy2DFromArrayAsync(pinned, 256, array, 0, 0, 256, 1, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("%g %g %g\n", pinned[0], pinned[31], pinned[63]); //> 100 131 163
}
