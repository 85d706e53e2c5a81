// A memset of three dimensions sets a box of an allocation and leaves the rest; peer copies of one device copy it.
#include "show.h"

#define WIDTH  20
#define HEIGHT 5
#define DEPTH  4

static const cudaExtent whole = {WIDTH, HEIGHT, DEPTH};

static void tell(cudaPitchedPtr box)
{
    static unsigned char host[DEPTH * HEIGHT * WIDTH];
    const unsigned char *row = host + (1 * HEIGHT + 2) * WIDTH;
    cudaMemcpy3DParms copy = {};
    int set = 0;

    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(host, WIDTH, WIDTH, HEIGHT);
    copy.extent = whole;
    copy.kind = cudaMemcpyDeviceToHost;
    MUST(cudaMemcpy3DAsync(&copy, 0));
    MUST(cudaStreamSynchronize(0));
    for (int i = 0; i < DEPTH * HEIGHT * WIDTH; i++)
        set += host[i] == 0xee;
    printf("%d, %d %d %d %d\n", set, host[3], host[4], row[11], row[12]);
}

int main()
{
    cudaPitchedPtr box, part, copy;
    cudaMemcpy3DPeerParms peer = {};

    MUST(cudaMalloc3D(&box, whole));
    MUST(cudaMalloc3D(&copy, whole));
    MUST(cudaMemset3DAsync(box, 0, whole, 0));
    MUST(cudaMemset3DAsync(copy, 1, whole, 0));
    part = box;
    part.ptr = (char *)box.ptr + 4;
    MUST(cudaMemset3DAsync(part, 0xee, make_cudaExtent(8, 3, 2), 0));
    tell(box); //> 48, 0 238 238 0

    peer.srcPtr = box;
    peer.dstPtr = copy;
    peer.extent = whole;
    MUST(cudaMemcpy3DPeerAsync(&peer, 0));
    tell(copy); //> 48, 0 238 238 0
    peer.extent = make_cudaExtent(4, 2, 1);
    peer.srcPos = make_cudaPos(4, 0, 0);
    peer.dstPos = make_cudaPos(0, 3, 3);
    MUST(cudaMemcpy3DPeer(&peer));
    tell(copy); //> 56, 0 238 238 0
    peer.dstDevice = 1000;
    SHOW(cudaMemcpy3DPeer(&peer)); //> cudaMemcpy3DPeer(&peer): cudaErrorInvalidDevice
}
