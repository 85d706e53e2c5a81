// Local variables are reached by their own addresses and by generic ones, which may mean global memory too.
#include <cmath>

#include "show.h"

struct node {
    int value;
    node *next;
};

/* Compilers put the slow way of a sine's large arguments into local memory. */
__global__ void sines(float *out, float x)
{
    float v = x * (float)(threadIdx.x + 1);

    out[threadIdx.x] = sinf(v) * cosf(v + 1.0f) + cosf(v) - tanf(v * 0.5f);
}

__device__ int *choose(int *a, int *b, bool first)
{
    return first ? a : b;
}

__global__ void chosen(int *global, int n)
{
    int a[8] = {0}, b[16] = {0};

    for (int i = 0; i < n; i++) {
        int *at = i % 3 == 2 ? global + threadIdx.x : choose(a + (i & 7), b + (i & 15), i % 3);

        *at += i;
    }
    for (int i = 0; i < 8; i++)
        global[threadIdx.x] += 100 * (a[i] + b[i] + b[i + 8]);
}

__device__ __noinline__ int total(const int *values, int n)
{
    int all = 0;

    for (int i = 0; i < n; i++)
        all += values[i];
    return all;
}

__device__ __noinline__ void add(node *at, int value)
{
    at->value += value;
}

__global__ void walk(node *list, int n)
{
    int order[32] = {0};
    node *at = list;

    for (int i = 0; i < n; i++, at = at->next)
        order[(at->value * 7) & 31] = i;
    for (at = list; at; at = at->next)
        add(at, 1000 * order[(at->value * 7) & 31]);
    printf("walked %d %d\n", n, total(order, 32));
}

int main()
{
    const int n = 20;
    float *sine, sines_host[32], worst = 0;
    int *sums, sums_host[4];
    node *nodes, host[n];

    MUST(cudaMalloc(&sine, sizeof(sines_host)));
    sines<<<1, 32>>>(sine, 123456.0f);
    MUST(cudaMemcpy(sines_host, sine, sizeof(sines_host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        float v = 123456.0f * (float)(i + 1);
        double want = sin((double)v) * cos((double)(v + 1.0f)) + cos((double)v) - tan((double)(v * 0.5f));

        worst = fmaxf(worst, fabsf(sines_host[i] - (float)want) / fmaxf(1, fabsf((float)want)));
    }
    printf("sines %s\n", worst < 1e-5f ? "right" : "wrong"); //> sines right

    MUST(cudaMalloc(&sums, sizeof(sums_host)));
    MUST(cudaMemset(sums, 0, sizeof(sums_host)));
    chosen<<<1, 4>>>(sums, 30);
    MUST(cudaMemcpy(sums_host, sums, sizeof(sums_host), cudaMemcpyDeviceToHost));
    printf("%d %d\n", sums_host[0], sums_host[3]); //> 28155 28155

    MUST(cudaMalloc(&nodes, sizeof(host)));
    for (int i = 0; i < n; i++)
        host[i] = node{i, i + 1 < n ? nodes + i + 1 : nullptr};
    MUST(cudaMemcpy(nodes, host, sizeof(host), cudaMemcpyHostToDevice));
    walk<<<1, 1>>>(nodes, n); //> walked 20 190
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(host, nodes, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[3].value, host[n - 1].value); //> 3003 19019
    return 0;
}
