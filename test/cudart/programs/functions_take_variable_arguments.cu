// A function of the device takes variable arguments (<cstdarg>), each call as many as it gives: none, several of
// different sizes, by its address, and handed on as a va_list.
#include "show.h"
#include <cstdarg>

/* Each argument as TYPES names it: i an int, l a long long, d a double. */
__device__ __noinline__ double sum_of(const char *types, va_list list)
{
    double sum = 0;

    for (; *types; types++)
        sum += *types == 'i' ? va_arg(list, int) : *types == 'l' ? (double)va_arg(list, long long) : va_arg(list, double);
    return sum;
}

__device__ __noinline__ double sum(const char *types, ...)
{
    va_list list;

    va_start(list, types);
    double all = sum_of(types, list);
    va_end(list);
    return all;
}

__device__ __noinline__ int largest(int count, ...)
{
    int most = -1;
    va_list list;

    va_start(list, count);
    for (int i = 0; i < count; i++)
        most = max(most, va_arg(list, int));
    va_end(list);
    return most;
}

__device__ __noinline__ int first(int count, ...)
{
    va_list list;

    va_start(list, count);
    int value = va_arg(list, int);
    va_end(list);
    return value;
}

__device__ int (*const choices[])(int, ...) = {largest, first};

__global__ void sums(double *out)
{
    int t = threadIdx.x;

    out[t] = sum("idlii", t, 0.5, (long long)t << 33, 3, -t) + sum("") + sum("d", 0.25);
}

__global__ void choose(int *out)
{
    int t = threadIdx.x;

    /* Threads of a warp call with numbers of arguments of their own. */
    if (t % 3 == 0)
        out[t] = largest(0);
    else if (t % 3 == 1)
        out[t] = choices[t / 3 % 2](2, t, 40);
    else
        out[t] = choices[t / 3 % 2](5, t, 1, 2, 100, 3);
}

int main()
{
    static double host[64];
    static int chosen[64];
    double *out;
    int wrong = 0, wrongly_chosen = 0;

    MUST(cudaMalloc(&out, sizeof(host)));
    sums<<<1, 64>>>(out);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    choose<<<1, 64>>>((int *)out);
    MUST(cudaMemcpy(chosen, out, sizeof(chosen), cudaMemcpyDeviceToHost));
    for (int t = 0; t < 64; t++) {
        int last = t % 3 == 1 ? 40 : 100;

        wrong += host[t] != 3.75 + (double)((long long)t << 33);
        wrongly_chosen += chosen[t] != (t % 3 == 0 ? -1 : t / 3 % 2 || t > last ? t : last);
    }
    HOLDS(wrong == 0);          //> wrong == 0: yes
    HOLDS(wrongly_chosen == 0); //> wrongly_chosen == 0: yes
}
