// What cannot be an array or a texture is refused, and nothing of it lasts.
#include "show.h"

int main()
{
    cudaChannelFormatDesc three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
    cudaChannelFormatDesc mixed = cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned);
    cudaChannelFormatDesc good = cudaCreateChannelDesc<int>();
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    cudaArray_t array = NULL;
    char *memory, host[64];

    SHOW(cudaMallocArray(&array, &three, 8, 8)); //> cudaMallocArray(&array, &three, 8, 8): cudaErrorInvalidChannelDescriptor
    SHOW(cudaMallocArray(&array, &mixed, 8, 8)); //> cudaMallocArray(&array, &mixed, 8, 8): cudaErrorInvalidChannelDescriptor
    SHOW(cudaMallocArray(&array, &good, 0, 8)); //> cudaMallocArray(&array, &good, 0, 8): cudaErrorInvalidValue
    SHOW(cudaMallocArray(&array, &good, 1 << 20, 1)); //> cudaMallocArray(&array, &good, 1 << 20, 1): cudaErrorInvalidValue
    SHOW(cudaMallocArray(NULL, &good, 8, 8)); //> cudaMallocArray(NULL, &good, 8, 8): cudaErrorInvalidValue
    MUST(cudaMallocArray(&array, &good, 8, 8));
    SHOW(cudaMemcpy2DToArray(array, 0, 0, host, 8, 16, 1, cudaMemcpyHostToDevice)); //> cudaMemcpy2DToArray(array, 0, 0, host, 8, 16, 1, cudaMemcpyHostToDevice): cudaErrorInvalidValue
    SHOW(cudaMemcpy2DToArray(array, 0, 0, host, 36, 36, 1, cudaMemcpyHostToDevice)); //> cudaMemcpy2DToArray(array, 0, 0, host, 36, 36, 1, cudaMemcpyHostToDevice): cudaErrorInvalidValue
    SHOW(cudaMemcpy2DToArray(array, 0, 0, host, 32, 36, 1, cudaMemcpyHostToDevice)); //> cudaMemcpy2DToArray(array, 0, 0, host, 32, 36, 1, cudaMemcpyHostToDevice): cudaErrorInvalidValue
    SHOW(cudaMemcpy2DToArray(array, 28, 0, host, 32, 8, 1, cudaMemcpyHostToDevice)); //> cudaMemcpy2DToArray(array, 28, 0, host, 32, 8, 1, cudaMemcpyHostToDevice): cudaErrorInvalidValue
    SHOW(cudaMemcpy2DToArray(array, 0, 8, host, 32, 8, 1, cudaMemcpyHostToDevice)); //> cudaMemcpy2DToArray(array, 0, 8, host, 32, 8, 1, cudaMemcpyHostToDevice): cudaErrorInvalidValue
    MUST(cudaMalloc(&memory, 4096));
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory + 4;
    resource.res.linear.desc = good;
    resource.res.linear.sizeInBytes = 64;
    SHOW(cudaCreateTextureObject(&texture, &resource, &desc, NULL)); //> cudaCreateTextureObject(&texture, &resource, &desc, NULL): cudaErrorInvalidValue
    resource.res.linear.devPtr = memory;
    SHOW(cudaCreateTextureObject(NULL, &resource, &desc, NULL)); //> cudaCreateTextureObject(NULL, &resource, &desc, NULL): cudaErrorInvalidValue
    desc.filterMode = cudaFilterModeLinear;
    SHOW(cudaCreateTextureObject(&texture, &resource, &desc, NULL)); //> cudaCreateTextureObject(&texture, &resource, &desc, NULL): cudaErrorInvalidFilterSetting
    SHOW(cudaCreateSurfaceObject(&surface, &resource)); //> cudaCreateSurfaceObject(&surface, &resource): cudaErrorInvalidValue
    MUST(cudaFreeArray(array));
    MUST(cudaGetLastError() == cudaErrorInvalidValue ? cudaSuccess : cudaErrorUnknown);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
}
