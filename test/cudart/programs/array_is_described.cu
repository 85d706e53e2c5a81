// cudaArrayGetInfo and cudaGetChannelDesc tell how an array was made.
#include "show.h"

static void tell(cudaArray_t array)
{
    cudaChannelFormatDesc desc, same;
    cudaExtent extent;
    unsigned flags;

    MUST(cudaArrayGetInfo(&desc, &extent, &flags, array));
    MUST(cudaGetChannelDesc(&same, array));
    printf("%d %d %d %d kind %d, %d x %d x %d, flags %u, %s\n", desc.x, desc.y, desc.z, desc.w, desc.f, (int)extent.width,
           (int)extent.height, (int)extent.depth, flags, memcmp(&desc, &same, sizeof(desc)) ? "other" : "same");
}

int main()
{
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float4>(), bytes = cudaCreateChannelDesc<signed char>();
    cudaChannelFormatDesc halves = cudaCreateChannelDescHalf2();
    cudaArray_t array;

    MUST(cudaMallocArray(&array, &floats, 10));
    tell(array); //> 32 32 32 32 kind 2, 10 x 0 x 0, flags 0, same
    MUST(cudaFreeArray(array));
    MUST(cudaMallocArray(&array, &bytes, 10, 20, cudaArraySurfaceLoadStore));
    tell(array); //> 8 0 0 0 kind 0, 10 x 20 x 0, flags 2, same
    MUST(cudaFreeArray(array));
    MUST(cudaMalloc3DArray(&array, &halves, make_cudaExtent(3, 4, 5), cudaArrayLayered));
    tell(array); //> 16 16 0 0 kind 2, 3 x 4 x 5, flags 1, same
}
