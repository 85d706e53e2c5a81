// What separate_files_share_functions_and_variables.cu and its other file share.
#pragma once

typedef int (*operation)(int);

extern __device__ int counter;
extern __constant__ int table[2];
extern __device__ operation operations[2];

__device__ int other_twice(int x);
void other_count(int *p, int from);

// In both, as a weak symbol.
template <typename T> __device__ __noinline__ T larger(T a, T b)
{
    return a > b ? a : b;
}
