// A device reaches the managed memory of one that has no other memory left.
#include "devices.h"
#include "gshare_cuda.h"
#include "said.h"

enum { SIZE = 1 << 20 };

int main()
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    int *last, *made;
    int can;

    params.mem_limit = 64 << 20;
    if (gs_cuda_attach(&params) != GS_OK) // device 0
        return 1;
    two_needed();
    MUST(cudaDeviceCanAccessPeer(&can, 0, 1)); // the other way is not asked
    if (!can) {
        printf("no peer access\n");
        return 77;
    }
    MUST(cudaMallocManaged(&last, SIZE));
    while (cudaMallocManaged(&made, SIZE) == cudaSuccess)
        last = made;
    last[3] = -1;
    MUST(cudaSetDevice(1));
    fill<<<SIZE / 4 / 256, 256>>>(last, 100, SIZE / 4);
    MUST(cudaDeviceSynchronize());
    printf("%d %d\n", last[3], last[SIZE / 4 - 1]); //> 103 262243
    printf("%d\n", said_times("do not reach managed memory")); //> 0
}
