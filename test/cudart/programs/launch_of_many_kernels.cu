// A program may have any number of kernels.
#include "show.h"
#include <utility>

template <int N> __global__ void add(int *sum)
{
    *sum += N;
}

template <int... N> void launch_all(int *sum, std::integer_sequence<int, N...>)
{
    (add<N><<<1, 1>>>(sum), ...);
}

int main()
{
    int *sum, host;

    MUST(cudaMalloc(&sum, 4));
    MUST(cudaMemset(sum, 0, 4));
    launch_all(sum, std::make_integer_sequence<int, 300>());
    MUST(cudaMemcpy(&host, sum, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 44850
}
