// What a kernel writes through a surface, a later kernel reads through a texture of the same array, and a copy gives back.
#include "show.h"

__global__ void paint(cudaSurfaceObject_t s)
{
    surf2Dwrite<float>(threadIdx.x + 10.0f * blockIdx.x, s, threadIdx.x * 4, blockIdx.x);
}

__global__ void twice(cudaSurfaceObject_t s, cudaTextureObject_t t, float *out)
{
    float mine = surf2Dread<float>(s, threadIdx.x * 4, 2);

    out[threadIdx.x] = mine + tex2D<float>(t, threadIdx.x + 0.5f, 1.5f);
}

int main()
{
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {}, told;
    cudaTextureDesc desc = {};
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    cudaArray_t array;
    float host[4], rows[3][4], *out;

    MUST(cudaMallocArray(&array, &channels, 4, 3, cudaArraySurfaceLoadStore));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    MUST(cudaCreateSurfaceObject(&surface, &resource));
    MUST(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    MUST(cudaMalloc(&out, sizeof(host)));
    paint<<<3, 4>>>(surface);
    twice<<<1, 4>>>(surface, texture, out);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%g %g %g %g\n", host[0], host[1], host[2], host[3]); //> 30 32 34 36
    MUST(cudaMemcpy2DFromArray(rows, 16, array, 0, 0, 16, 3, cudaMemcpyDeviceToHost));
    printf("%g %g %g\n", rows[0][3], rows[1][0], rows[2][2]); //> 3 10 22
    MUST(cudaGetSurfaceObjectResourceDesc(&told, surface));
    HOLDS(told.res.array.array == array); //> told.res.array.array == array: yes
    SHOW(cudaDestroySurfaceObject(surface)); //> cudaDestroySurfaceObject(surface): cudaSuccess
    SHOW(cudaDestroyTextureObject(texture)); //> cudaDestroyTextureObject(texture): cudaSuccess
    SHOW(cudaFreeArray(array)); //> cudaFreeArray(array): cudaSuccess
}
