// Copies go from one device to another: by cudaMemcpyPeer, by cudaMemcpy, in a stream behind its work, by
// rows and by boxes.
#include "devices.h"

enum { COUNT = 3 * 1000 * 1000 + 1 }; // of several slices

static int wrong(const int *words, int value, int count)
{
    int found = 0;

    for (int i = 0; i < count; i++)
        found += words[i] != value + i;
    return found;
}

int main()
{
    int *a, *b, *host = (int *)malloc(COUNT * sizeof(int));
    cudaStream_t stream;

    two_needed();
    MUST(cudaMalloc(&a, COUNT * sizeof(int)));
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc(&b, COUNT * sizeof(int)));
    MUST(cudaSetDevice(0));
    MUST(cudaStreamCreate(&stream));

    fill<<<(COUNT + 255) / 256, 256>>>(a, 5, COUNT);
    SHOW(cudaMemcpyPeer(b, 1, a, 0, COUNT * sizeof(int))); //> cudaMemcpyPeer(b, 1, a, 0, COUNT * sizeof(int)): cudaSuccess
    MUST(cudaMemcpy(host, b, COUNT * sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d wrong\n", wrong(host, 5, COUNT)); //> 0 wrong

    fill<<<(COUNT + 255) / 256, 256, 0, stream>>>(a, 6, COUNT);
    SHOW(cudaMemcpyPeerAsync(b, 1, a, 0, COUNT * sizeof(int), stream)); //> cudaMemcpyPeerAsync(b, 1, a, 0, COUNT * sizeof(int), stream): cudaSuccess
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(host, b, COUNT * sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d wrong\n", wrong(host, 6, COUNT)); //> 0 wrong

    MUST(cudaMemset(a, 0, COUNT * sizeof(int)));
    MUST(cudaMemcpy(a + 1, b, 1000 * sizeof(int), cudaMemcpyDefault));
    MUST(cudaMemcpy(host, a, 1002 * sizeof(int), cudaMemcpyDefault));
    printf("%d %d %d %d\n", host[0], host[1], host[1000], host[1001]); //> 0 6 1005 0

    // Rows: 10 of 4 words, 100 words apart on one device and 7 on the other.
    SHOW(cudaMemset(b, 0, 1000 * sizeof(int))); //> cudaMemset(b, 0, 1000 * sizeof(int)): cudaErrorInvalidValue
    MUST(cudaSetDevice(1));
    MUST(cudaMemset(b, 0, 1000 * sizeof(int)));
    MUST(cudaSetDevice(0));
    MUST(cudaGetLastError() == cudaErrorInvalidValue ? cudaSuccess : cudaErrorUnknown);
    MUST(cudaMemcpy2D(b, 7 * sizeof(int), a, 100 * sizeof(int), 4 * sizeof(int), 10, cudaMemcpyDeviceToDevice));
    MUST(cudaMemcpy(host, b, 70 * sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d %d %d %d %d\n", host[1], host[3], host[4], host[7], host[66]); //> 6 8 0 105 908

    // To and from the host, of the other device's memory.
    host[0] = 44;
    MUST(cudaMemcpy(b + 2, host, sizeof(int), cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(host, b + 1, 3 * sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d %d %d\n", host[0], host[1], host[2]); //> 6 44 8

    cudaMemcpy3DPeerParms box = {};
    cudaExtent extent = make_cudaExtent(16, 4, 3);
    cudaPitchedPtr from, to;
    char bytes[16 * 4 * 3];

    MUST(cudaMalloc3D(&from, extent));
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc3D(&to, extent));
    MUST(cudaMemset3D(to, 0, extent));
    MUST(cudaSetDevice(0));
    MUST(cudaMemset3D(from, 5, extent));
    box.srcPtr = from;
    box.dstPtr = to;
    box.dstDevice = 1;
    box.extent = make_cudaExtent(8, 2, 3);
    SHOW(cudaMemcpy3DPeer(&box)); //> cudaMemcpy3DPeer(&box): cudaSuccess
    for (int z = 0; z < 3; z++)
        MUST(cudaMemcpy2D(bytes + z * 64, 16, (char *)to.ptr + z * to.pitch * to.ysize, to.pitch, 16, 4, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", bytes[0], bytes[8], bytes[128 + 16 + 7], bytes[128 + 32]); //> 5 0 5 0
    SHOW(cudaMemcpyPeer(b, 1000, a, 0, 4)); //> cudaMemcpyPeer(b, 1000, a, 0, 4): cudaErrorInvalidDevice
    free(host);
}
