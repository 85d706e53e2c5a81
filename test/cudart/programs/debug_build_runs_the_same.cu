// A program that is compiled for the debugger (-G) computes the same: nothing is inlined, and all variables lie in
// memory.
#include <cuda_runtime.h>

#include "show.h"

template <typename T, int N> struct stack {
    T all[N];
    int used = 0;

    __device__ void push(const T &value) { all[used++] = value; }
    __device__ T &top() { return all[used - 1]; }
    __device__ void pop() { used--; }
    __device__ bool empty() const { return !used; }
};

struct interval {
    int low, high;
};

__device__ void swap(int &a, int &b)
{
    int t = a;

    a = b;
    b = t;
}

__device__ int partition(int *v, interval part)
{
    int end = part.low;

    for (int i = part.low; i < part.high; i++)
        if (v[i] < v[part.high])
            swap(v[i], v[end++]);
    swap(v[end], v[part.high]);
    return end;
}

/* Quicksort, of global memory and of a local array, by a stack of its own. */
__device__ void sort(int *v, int n)
{
    stack<interval, 32> parts;

    parts.push({0, n - 1});
    while (!parts.empty()) {
        interval part = parts.top();

        parts.pop();
        if (part.low >= part.high)
            continue;
        int middle = partition(v, part);
        parts.push({part.low, middle - 1});
        parts.push({middle + 1, part.high});
    }
}

__global__ void sorted(int *v, int n, int *twice)
{
    int own[16];

    for (int i = 0; i < n; i++)
        own[i] = 2 * v[i];
    sort(own, n);
    sort(v, n);
    for (int i = 0; i < n; i++)
        twice[i] = own[i];
}

__device__ int power(int base, int exponent)
{
    return exponent ? base * power(base, exponent - 1) : 1;
}

__global__ void shared_sum(int *out)
{
    __shared__ int v[64];
    const int t = threadIdx.x;

    v[t] = power(3, t % 5);
    __syncthreads();
    for (int half = 32; half; half /= 2) {
        if (t < half)
            v[t] += v[t + half];
        __syncthreads();
    }
    if (!t) {
        *out = v[0];
        printf("sum %d\n", v[0]);
    }
}

int main()
{
    const int n = 16;
    int *v, *twice, host[n], host_twice[n];

    for (int i = 0; i < n; i++)
        host[i] = i * 7 % n;
    MUST(cudaMalloc(&v, sizeof(host)));
    MUST(cudaMalloc(&twice, sizeof(host)));
    MUST(cudaMemcpy(v, host, sizeof(host), cudaMemcpyHostToDevice));
    sorted<<<1, 1>>>(v, n, twice);
    MUST(cudaMemcpy(host, v, sizeof(host), cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(host_twice, twice, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        printf(" %d:%d", host[i], host_twice[i]);
    printf("\n"); //>  0:0 1:2 2:4 3:6 4:8 5:10 6:12 7:14 8:16 9:18 10:20 11:22 12:24 13:26 14:28 15:30
    shared_sum<<<1, 64>>>(v);
    MUST(cudaDeviceSynchronize()); //> sum 1492
    return 0;
}
