// A mipmapped array has levels of half the size each, down to one texel at most; each is an array, which copies fill and
// read, and which goes with the whole.
#include "show.h"

static void tell(cudaMipmappedArray_t mipmap, unsigned levels)
{
    for (unsigned l = 0; l < levels; l++) {
        cudaChannelFormatDesc channels;
        cudaExtent extent;
        unsigned flags;
        cudaArray_t level;

        MUST(cudaGetMipmappedArrayLevel(&level, mipmap, l));
        MUST(cudaArrayGetInfo(&channels, &extent, &flags, level));
        printf("%s%zux%zux%zu", l ? " " : "", extent.width, extent.height, extent.depth);
    }
    printf("\n");
}

int main()
{
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t mipmap, volume, layers;
    cudaArray_t level, again;
    float texels[6 * 4], back[6];

    /* The number of levels is kept within those that the sizes have. */
    MUST(cudaMallocMipmappedArray(&mipmap, &channels, make_cudaExtent(12, 4, 0), 100));
    tell(mipmap, 4); //> 12x4x0 6x2x0 3x1x0 1x1x0
    SHOW(cudaGetMipmappedArrayLevel(&level, mipmap, 4)); //> cudaGetMipmappedArrayLevel(&level, mipmap, 4): cudaErrorInvalidValue
    MUST(cudaMallocMipmappedArray(&volume, &channels, make_cudaExtent(4, 2, 8), 3));
    tell(volume, 3); //> 4x2x8 2x1x4 1x1x2
    SHOW(cudaGetMipmappedArrayLevel(&level, volume, 3)); //> cudaGetMipmappedArrayLevel(&level, volume, 3): cudaErrorInvalidValue
    MUST(cudaMallocMipmappedArray(&layers, &channels, make_cudaExtent(4, 2, 3), 3, cudaArrayLayered));
    tell(layers, 3); //> 4x2x3 2x1x3 1x1x3
    SHOW(cudaFreeMipmappedArray(volume)); //> cudaFreeMipmappedArray(volume): cudaSuccess
    SHOW(cudaFreeMipmappedArray(layers)); //> cudaFreeMipmappedArray(layers): cudaSuccess

    for (int i = 0; i < 24; i++)
        texels[i] = i;
    MUST(cudaGetMipmappedArrayLevel(&level, mipmap, 1));
    MUST(cudaMemcpy2DToArray(level, 0, 0, texels, 24, 24, 2, cudaMemcpyHostToDevice));
    MUST(cudaGetMipmappedArrayLevel(&again, mipmap, 2));
    MUST(cudaMemcpy2DToArray(again, 0, 0, texels + 20, 12, 12, 1, cudaMemcpyHostToDevice));
    MUST(cudaGetMipmappedArrayLevel(&again, mipmap, 1));
    MUST(cudaMemcpy2DFromArray(back, 24, again, 0, 1, 24, 1, cudaMemcpyDeviceToHost));
    printf("%g %g %g\n", back[0], back[1], back[5]); //> 6 7 11
    SHOW(cudaMemcpy2DToArray(level, 0, 0, texels, 24, 24, 3, cudaMemcpyHostToDevice)); //> cudaMemcpy2DToArray(level, 0, 0, texels, 24, 24, 3, cudaMemcpyHostToDevice): cudaErrorInvalidValue
    SHOW(cudaGetMipmappedArrayLevel(&level, NULL, 0)); //> cudaGetMipmappedArrayLevel(&level, NULL, 0): cudaErrorInvalidResourceHandle
    SHOW(cudaFreeMipmappedArray(mipmap)); //> cudaFreeMipmappedArray(mipmap): cudaSuccess
    SHOW(cudaFreeMipmappedArray(NULL));   //> cudaFreeMipmappedArray(NULL): cudaSuccess
    SHOW(cudaDeviceSynchronize());        //> cudaDeviceSynchronize(): cudaSuccess
}
