// A thread has a current device, to which allocations, launches and streams of its go. An address and
// a stream tell theirs.
#include "devices.h"

int main()
{
    enum { N = 1000 };
    int *at[2], got[2][N], current = -1;
    cudaPointerAttributes about;
    cudaStream_t stream[2];

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaGetDevice(&current));
        printf("current %d\n", current); //> current 0
                                         //> current 1
        MUST(cudaMalloc(&at[d], sizeof(got[d])));
        MUST(cudaStreamCreate(&stream[d]));
        fill<<<(N + 127) / 128, 128, 0, stream[d]>>>(at[d], 100 * d, N);
    }
    HOLDS(at[0] != at[1]); //> at[0] != at[1]: yes
    for (int d = 0; d < 2; d++) { // device 1 stays current: the stream and the addresses tell
        int of_stream = -1;

        MUST(cudaStreamSynchronize(stream[d]));
        MUST(cudaMemcpy(got[d], at[d], sizeof(got[d]), cudaMemcpyDeviceToHost));
        MUST(cudaPointerGetAttributes(&about, at[d]));
        MUST(cudaStreamGetDevice(stream[d], &of_stream));
        printf("%d %d, address %d, stream %d\n", got[d][0], got[d][N - 1], about.device, of_stream);
        //> 0 999, address 0, stream 0
        //> 100 1099, address 1, stream 1
    }
    for (int d = 0; d < 2; d++) {
        SHOW(cudaFree(at[d]));                  //> cudaFree(at[d]): cudaSuccess
        SHOW(cudaStreamDestroy(stream[d]));     //> cudaStreamDestroy(stream[d]): cudaSuccess
                                                //> cudaFree(at[d]): cudaSuccess
                                                //> cudaStreamDestroy(stream[d]): cudaSuccess
    }
}
