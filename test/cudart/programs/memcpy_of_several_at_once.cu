// One call makes several copies, each with its own size and direction.
#include "show.h"

int main()
{
    cudaStream_t stream;
    cudaMemcpyAttributes attributes = {};
    int *a, *b, first[4] = {1, 2, 3, 4}, second[2] = {5, 6}, out[4] = {};
    size_t index = 0;
#if CUDART_VERSION >= 13000
    const void *srcs[] = {first, second};
#define NO_PLACE
#else
    void *srcs[] = {first, second};
#define NO_PLACE nullptr,
#endif

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&a, 16));
    MUST(cudaMalloc(&b, 8));
    void *dsts[] = {a, b};
    size_t sizes[] = {16, 8};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    MUST(cudaMemcpyBatchAsync(dsts, srcs, sizes, 2, &attributes, &index, 1, NO_PLACE stream));
    MUST(cudaMemcpyAsync(out, a, 8, cudaMemcpyDeviceToHost, stream));
    MUST(cudaMemcpyAsync(out + 2, b, 8, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]); //> 1 2 5 6
    HOLDS(cudaMemcpyBatchAsync(dsts, srcs, sizes, 0, &attributes, &index, 1, NO_PLACE stream) == cudaErrorInvalidValue); //> cudaMemcpyBatchAsync(dsts, srcs, sizes, 0, &attributes, &index, 1, NO_PLACE stream) == cudaErrorInvalidValue: yes
}
