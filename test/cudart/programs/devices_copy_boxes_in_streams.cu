// Boxes of several slices go from one device to another in a stream, behind its work; an array's box goes in
// its device's stream, also where another device is the current one.
#include "devices.h"

enum { WIDTH = 16, HEIGHT = 4, DEPTH = 3, COUNT = WIDTH * HEIGHT * DEPTH };

int main()
{
    const cudaExtent extent = make_cudaExtent(WIDTH * sizeof(int), HEIGHT, DEPTH);
    const cudaExtent texels = make_cudaExtent(WIDTH, HEIGHT, DEPTH);
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<int>();
    cudaMemcpy3DParms box = {};
    cudaStream_t stream[2];
    int *at[2], host[COUNT], found = 0;
    cudaArray_t array;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
        MUST(cudaMalloc(&at[d], sizeof(host)));
        MUST(cudaMemset(at[d], 0, sizeof(host)));
        MUST(cudaDeviceSynchronize());
    }
    MUST(cudaMalloc3DArray(&array, &channels, texels));
    MUST(cudaSetDevice(0));

    fill<<<1, COUNT, 0, stream[0]>>>(at[0], 7, COUNT);
    box.srcPtr = make_cudaPitchedPtr(at[0], WIDTH * sizeof(int), WIDTH * sizeof(int), HEIGHT);
    box.dstPtr = make_cudaPitchedPtr(at[1], WIDTH * sizeof(int), WIDTH * sizeof(int), HEIGHT);
    box.extent = extent;
    box.kind = cudaMemcpyDefault;
    SHOW(cudaMemcpy3DAsync(&box, stream[0])); //> cudaMemcpy3DAsync(&box, stream[0]): cudaSuccess
    SHOW(cudaStreamSynchronize(stream[0])); //> cudaStreamSynchronize(stream[0]): cudaSuccess
    MUST(cudaMemcpy(host, at[1], sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        found += host[i] != 7 + i;
    printf("%d wrong\n", found); //> 0 wrong

    // The array and the stream are of device 1.
    box = {};
    box.srcPtr = make_cudaPitchedPtr(at[1], WIDTH * sizeof(int), WIDTH, HEIGHT);
    box.dstArray = array;
    box.extent = texels;
    box.kind = cudaMemcpyDefault;
    SHOW(cudaMemcpy3DAsync(&box, stream[1])); //> cudaMemcpy3DAsync(&box, stream[1]): cudaSuccess
    memset(host, 0, sizeof(host));
    box = {};
    box.srcArray = array;
    box.dstPtr = make_cudaPitchedPtr(host, WIDTH * sizeof(int), WIDTH, HEIGHT);
    box.extent = texels;
    box.kind = cudaMemcpyDeviceToHost;
    SHOW(cudaMemcpy3DAsync(&box, stream[1])); //> cudaMemcpy3DAsync(&box, stream[1]): cudaSuccess
    SHOW(cudaStreamSynchronize(stream[1])); //> cudaStreamSynchronize(stream[1]): cudaSuccess
    printf("%d %d\n", host[0], host[COUNT - 1]); //> 7 198
}
