// A kernel whose name has thousands of characters, as those of C++ templates have, is one like any other: also where it
// indexes its parameters, keeps an array on its stack, and calls a function by its address.
#include <cstring>
#include <utility>

#include "show.h"

template <int... N> struct list {
    int values[8];
};

template <int... N> __device__ __noinline__ int add(int a)
{
    return a + (int)sizeof...(N);
}

template <int... N> __device__ __noinline__ int subtract(int a)
{
    return a - (int)sizeof...(N);
}

template <int... N> __device__ int calls;

template <int... N> __global__ void choose(list<N...> given, int which, int *out)
{
    int (*const functions[2])(int) = {add<N...>, subtract<N...>};
    int kept[8];

    for (int i = 0; i < 8; i++)
        kept[(i + which) & 7] = given.values[i] * 10;
    atomicAdd(&calls<N...>, 1);
    out[threadIdx.x] = functions[(threadIdx.x + which) & 1](kept[(threadIdx.x + which) & 7]) + given.values[which];
}

template <int... N> static void run(std::integer_sequence<int, N...>)
{
    list<N...> given = {{1, 2, 3, 4, 5, 6, 7, 8}};
    int *out, host[4], called;
    const char *name;

    MUST(cudaMalloc(&out, sizeof(host)));
    MUST(cudaFuncGetName(&name, (const void *)choose<N...>));
    printf("a name of thousands of characters: %d\n", strlen(name) > 2000); //> a name of thousands of characters: 1
    choose<N...><<<1, 4>>>(given, 2, out);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    MUST(cudaMemcpyFromSymbol(&called, calls<N...>, sizeof(called)));
    printf("%d %d %d %d, %d calls\n", host[0], host[1], host[2], host[3], called); //> 613 -577 633 -557, 4 calls
}

int main()
{
    run(std::make_integer_sequence<int, 600>());
}
