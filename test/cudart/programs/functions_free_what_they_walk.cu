// A function that frees memory and counts in a variable of its caller, beside classes with virtual functions.
#include "show.h"

enum { NODES = 12, THREADS = 32 };

struct node {
    int key;
    node *left, *right;
};

struct counter {
    int start;
    __device__ counter(int s) : start(s)
    {
    }
    __device__ virtual int count(int n) const
    {
        return start + n;
    }
    __device__ virtual ~counter()
    {
    }
};

struct twice : counter {
    __device__ twice(int s) : counter(s)
    {
    }
    __device__ int count(int n) const override
    {
        return start + 2 * n;
    }
};

__device__ counter *counters[THREADS];

__device__ node *insert(node *at, int key)
{
    if (!at) {
        at = (node *)malloc(sizeof *at);
        *at = {key, nullptr, nullptr};
    } else if (key < at->key) {
        at->left = insert(at->left, key);
    } else {
        at->right = insert(at->right, key);
    }
    return at;
}

__device__ void take_down(node *at, int *out, int &n)
{
    if (!at)
        return;
    take_down(at->left, out, n);
    out[n++] = at->key;
    take_down(at->right, out, n);
    free(at);
}

__global__ void sort(int *out)
{
    node *root = nullptr;
    int n = 0;

    for (int i = 0; i < NODES; i++)
        root = insert(root, (i * 7 + threadIdx.x) % 13);
    take_down(root, out + threadIdx.x * NODES, n);
    counters[threadIdx.x] = threadIdx.x & 1 ? new twice(n) : new counter(n);
}

__global__ void count(int *out)
{
    counter *c = counters[threadIdx.x];

    out[threadIdx.x] = c->count(threadIdx.x);
    delete c;
}

int main()
{
    int *out, host[THREADS * NODES], wrong = 0;

    MUST(cudaMalloc(&out, sizeof host));
    sort<<<1, THREADS>>>(out);
    MUST(cudaGetLastError());
    MUST(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 1; i < THREADS * NODES; i++)
        wrong += i % NODES != 0 && host[i - 1] >= host[i];
    printf("%d are out of order\n", wrong); //> 0 are out of order
    count<<<1, THREADS>>>(out);
    MUST(cudaMemcpy(host, out, THREADS * sizeof *out, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[4], host[5]); //> 16 22
    return 0;
}
