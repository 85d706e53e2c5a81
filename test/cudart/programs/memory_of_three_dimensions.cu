// cudaMalloc3D, cudaMemset3D and cudaMemcpy3D work on boxes of bytes.
#include "show.h"

int main()
{
    char host[3][4][5], back[2][2][2];
    cudaExtent whole = make_cudaExtent(5, 4, 3), part = make_cudaExtent(2, 2, 2);
    cudaPitchedPtr device;
    cudaMemcpy3DParms in = {}, out = {};

    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 5; x++)
                host[z][y][x] = (char)(100 * z + 10 * y + x);
    MUST(cudaMalloc3D(&device, whole));
    HOLDS(device.pitch >= 5 && device.xsize == 5 && device.ysize == 4); //> device.pitch >= 5 && device.xsize == 5 && device.ysize == 4: yes
    SHOW(cudaMemset3D(device, 1, whole)); //> cudaMemset3D(device, 1, whole): cudaSuccess
    in.srcPtr = make_cudaPitchedPtr(host, 5, 5, 4);
    in.dstPtr = device;
    in.extent = make_cudaExtent(5, 4, 2);
    in.kind = cudaMemcpyHostToDevice;
    SHOW(cudaMemcpy3D(&in)); //> cudaMemcpy3D(&in): cudaSuccess
    out.srcPtr = device;
    out.srcPos = make_cudaPos(3, 2, 1);
    out.dstPtr = make_cudaPitchedPtr(back, 2, 2, 2);
    out.extent = part;
    out.kind = cudaMemcpyDeviceToHost;
    SHOW(cudaMemcpy3D(&out)); //> cudaMemcpy3D(&out): cudaSuccess
    printf("%d %d %d %d\n", back[0][0][0], back[0][0][1], back[0][1][0], back[0][1][1]); //> 123 124 -123 -122
    printf("%d %d\n", back[1][0][0], back[1][1][1]); //> 1 1
}
