// cudaMemcpyPeer and cudaMemcpy3DPeer take the same device on both sides.
#include "show.h"

int main()
{
    int *a, *b, host = 77, back = 0;

    MUST(cudaMalloc(&a, 4));
    MUST(cudaMalloc(&b, 4));
    MUST(cudaMemcpy(a, &host, 4, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpyPeer(b, 0, a, 0, 4)); //> cudaMemcpyPeer(b, 0, a, 0, 4): cudaSuccess
    MUST(cudaMemcpy(&back, b, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", back); //> 77

    cudaMemcpy3DPeerParms box = {};
    cudaPitchedPtr from, to;
    cudaExtent extent = make_cudaExtent(8, 4, 3);
    char got[8 * 4 * 3];

    MUST(cudaMalloc3D(&from, extent));
    MUST(cudaMalloc3D(&to, extent));
    MUST(cudaMemset3D(from, 5, extent));
    MUST(cudaMemset3D(to, 0, extent));
    box.srcPtr = from;
    box.dstPtr = to;
    box.extent = make_cudaExtent(8, 2, 3);
    SHOW(cudaMemcpy3DPeer(&box)); //> cudaMemcpy3DPeer(&box): cudaSuccess
    for (int z = 0; z < 3; z++)
        MUST(cudaMemcpy2D(got + z * 32, 8, (char *)to.ptr + z * to.pitch * to.ysize, to.pitch, 8, 4, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", got[0], got[15], got[16], got[64 + 15]); //> 5 5 0 5
    box.dstDevice = 1000;
    SHOW(cudaMemcpy3DPeer(&box)); //> cudaMemcpy3DPeer(&box): cudaErrorInvalidDevice
}
