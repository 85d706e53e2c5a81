// The array of a level is not freed by itself: that is refused, and the level works on. It is gone with the whole.
#include "show.h"

int main()
{
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<int>(), told;
    cudaMipmappedArray_t mipmap;
    cudaArray_t level, again;
    int value = 5, back = 0;

    MUST(cudaMallocMipmappedArray(&mipmap, &channels, make_cudaExtent(4, 4, 0), 3));
    MUST(cudaGetMipmappedArrayLevel(&level, mipmap, 2));
    MUST(cudaMemcpy2DToArray(level, 0, 0, &value, 4, 4, 1, cudaMemcpyHostToDevice));
    SHOW(cudaFreeArray(level)); //> cudaFreeArray(level): cudaErrorInvalidValue
    MUST(cudaMemcpy2DFromArray(&back, 4, level, 0, 0, 4, 1, cudaMemcpyDeviceToHost));
    printf("%d\n", back); //> 5
    MUST(cudaGetMipmappedArrayLevel(&again, mipmap, 2));
    HOLDS(again == level); //> again == level: yes
    MUST(cudaFreeMipmappedArray(mipmap));
    SHOW(cudaGetChannelDesc(&told, level)); //> cudaGetChannelDesc(&told, level): cudaErrorInvalidResourceHandle
    SHOW(cudaGetMipmappedArrayLevel(&level, mipmap, 0)); //> cudaGetMipmappedArrayLevel(&level, mipmap, 0): cudaErrorInvalidResourceHandle
    SHOW(cudaFreeMipmappedArray(mipmap)); //> cudaFreeMipmappedArray(mipmap): cudaErrorInvalidValue
}
