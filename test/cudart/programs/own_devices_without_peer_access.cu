// No device reaches another's memory, and the calls say so. Managed memory is of one device, the host's of all.
#include "devices.h"
#include "said.h"

int main()
{
    int can = -1, value = -1, *managed, *pinned, *there;
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<int>();
    cudaMemLocation other = {};
    cudaArray_t array;

    two_needed();
    SHOW(cudaDeviceCanAccessPeer(&can, 0, 1));   //> cudaDeviceCanAccessPeer(&can, 0, 1): cudaSuccess
    printf("%d\n", can);                         //> 0
    SHOW(cudaDeviceEnablePeerAccess(1, 0));      //> cudaDeviceEnablePeerAccess(1, 0): cudaErrorPeerAccessUnsupported
    SHOW(cudaDeviceDisablePeerAccess(1));        //> cudaDeviceDisablePeerAccess(1): cudaErrorPeerAccessNotEnabled
    SHOW(cudaDeviceEnablePeerAccess(1000, 0));   //> cudaDeviceEnablePeerAccess(1000, 0): cudaErrorInvalidDevice
    SHOW(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1)); //> cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1): cudaSuccess
    printf("%d\n", value);                       //> 0

    MUST(cudaSetDevice(1));
    MUST(cudaMallocManaged(&managed, 4096));
    managed[5] = 1;
    fill<<<1, 32>>>(managed, 60, 32);
    MUST(cudaDeviceSynchronize());
    printf("%d\n", managed[5]); //> 65
    MUST(cudaSetDevice(0)); // a copy of managed memory goes by its device, whichever is current
    MUST(cudaMemcpy(&value, managed + 6, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", value); //> 66
    other.type = cudaMemLocationTypeDevice;
    SHOW(cudaMemPrefetchAsync(managed, 4096, other, 0, 0)); //> cudaMemPrefetchAsync(managed, 4096, other, 0, 0): cudaErrorNotSupported
    other.id = 1;
    SHOW(cudaMemPrefetchAsync(managed, 4096, other, 0, 0)); //> cudaMemPrefetchAsync(managed, 4096, other, 0, 0): cudaSuccess
    SHOW(cudaFree(managed)); //> cudaFree(managed): cudaSuccess

    MUST(cudaHostAlloc(&pinned, 4096, cudaHostAllocMapped));
    SHOW(cudaHostGetDevicePointer(&there, pinned, 0)); //> cudaHostGetDevicePointer(&there, pinned, 0): cudaSuccess
    MUST(cudaSetDevice(1));
    SHOW(cudaHostGetDevicePointer(&there, pinned, 0)); //> cudaHostGetDevicePointer(&there, pinned, 0): cudaSuccess
    SHOW(cudaFreeHost(pinned)); //> cudaFreeHost(pinned): cudaSuccess

    // A copy with an array takes memory of the array's device, or the host's.
    MUST(cudaMallocArray(&array, &channels, 16, 16));
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc(&there, 1024));
    MUST(cudaSetDevice(1));
    SHOW(cudaMemcpy2DToArray(array, 0, 0, there, 64, 64, 16, cudaMemcpyDefault)); //> cudaMemcpy2DToArray(array, 0, 0, there, 64, 64, 16, cudaMemcpyDefault): cudaErrorInvalidValue
    MUST(cudaSetDevice(0));
    SHOW(cudaMemcpy2DFromArray(there, 64, array, 0, 0, 64, 16, cudaMemcpyDefault)); //> cudaMemcpy2DFromArray(there, 64, array, 0, 0, 64, 16, cudaMemcpyDefault): cudaErrorInvalidResourceHandle
    MUST(cudaSetDevice(1));

    pinned = (int *)malloc(1 << 20);
    MUST(cudaHostRegister(pinned, 1 << 20, 0));
    SHOW(cudaHostGetDevicePointer(&there, pinned, 0)); //> cudaHostGetDevicePointer(&there, pinned, 0): cudaSuccess
    MUST(cudaSetDevice(0));
    SHOW(cudaHostGetDevicePointer(&there, pinned, 0)); //> cudaHostGetDevicePointer(&there, pinned, 0): cudaSuccess
    MUST(cudaHostUnregister(pinned));
}
