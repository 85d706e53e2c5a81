// Between devices with peer access copies go in their stream's order, and a reset takes the access away.
#include "devices.h"

enum { COUNT = 3 * 1000 * 1000 + 1 };

static int wrong(const int *at, int value)
{
    int *words = (int *)malloc(COUNT * sizeof(int)), found = 0;

    MUST(cudaMemcpy(words, at, COUNT * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        found += words[i] != value + i;
    free(words);
    return found;
}

int main()
{
    const size_t size = COUNT * sizeof(int);
    int *here, *there, *other, can = 0;
    cudaStream_t stream;

    two_needed();
    MUST(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (!can) {
        printf("no peer access\n");
        exit(77);
    }
    MUST(cudaMalloc(&here, size));
    MUST(cudaMalloc(&other, size));
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc(&there, size));
    MUST(cudaSetDevice(0));
    SHOW(cudaDeviceEnablePeerAccess(1, 0)); //> cudaDeviceEnablePeerAccess(1, 0): cudaSuccess

    // In a stream of the device that has the access, behind its work and before what follows.
    fill<<<(COUNT + 255) / 256, 256, 0, stream>>>(here, 5, COUNT);
    MUST(cudaMemcpyPeerAsync(there, 1, here, 0, size, stream));
    fill<<<(COUNT + 255) / 256, 256, 0, stream>>>(here, 6, COUNT);
    MUST(cudaMemcpyAsync(other, there, size, cudaMemcpyDefault, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("%d, %d, %d wrong\n", wrong(here, 6), wrong(there, 5), wrong(other, 5)); //> 0, 0, 0 wrong

    // A copy that waits comes behind the work of both devices.
    MUST(cudaSetDevice(1));
    fill<<<(COUNT + 255) / 256, 256>>>(there, 8, COUNT);
    MUST(cudaSetDevice(0));
    MUST(cudaMemcpyPeer(here, 0, there, 1, size));
    printf("%d wrong\n", wrong(here, 8)); //> 0 wrong
    fill<<<(COUNT + 255) / 256, 256>>>(here, 9, COUNT);
    MUST(cudaMemcpy(there, here, size, cudaMemcpyDefault));
    printf("%d wrong\n", wrong(there, 9)); //> 0 wrong
    MUST(cudaMemcpy2D(there, 4000, here, 4000, 2000, 100, cudaMemcpyDefault));
    printf("%d wrong\n", wrong(there, 9)); //> 0 wrong

    // And by a stream of the other one, which has no access itself.
    MUST(cudaSetDevice(1));
    MUST(cudaMemcpyPeer(there, 1, other, 0, size));
    printf("%d wrong\n", wrong(there, 5)); //> 0 wrong

    // A graph has such a copy as any other.
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaSetDevice(0));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    fill<<<(COUNT + 255) / 256, 256, 0, stream>>>(here, 11, COUNT);
    MUST(cudaMemcpyAsync(there, here, size, cudaMemcpyDefault, stream));
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("%d wrong\n", wrong(there, 11)); //> 0 wrong
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));

    MUST(cudaSetDevice(1));
    MUST(cudaDeviceReset());
    MUST(cudaMalloc(&there, size));
    MUST(cudaSetDevice(0));
    MUST(cudaMemcpyPeer(there, 1, here, 0, size));
    printf("%d wrong\n", wrong(there, 11)); //> 0 wrong
    MUST(cudaDeviceReset());
    printf("done\n"); //> done
}
