// ordinary.cu - ten kernels of the kinds that programs are made of, beside soft.cu's two of arithmetic: what the software
// device makes of short kernels, divergence, local arrays, atomics and f64. ordinary.ptx is made from it by `make ptx`.
#include "../../examples/cuda_words.h"

// Blocks of THREADS threads, one for each of n words; the words behind these are the result.
enum { THREADS = 256, BINS = 256, LOCALS = 16 };

static __device__ unsigned mixed(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

extern "C" {

// One element a thread, nothing else.
__global__ void axpy(unsigned *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        data[n + i] = data[i] * 3 + data[n + i];
}

// Each lane goes round as often as its own number says.
__global__ void collatz(unsigned *data, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i + 1, steps = 0;

    for (; x != 1 && steps < 200; steps++)
        x = x & 1 ? 3 * x + 1 : x / 2;
    data[n + i] = steps;
}

// Each lane takes a branch of its own.
__global__ void switched(unsigned *data, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = mixed(i);

    for (int k = 0; k < 16; k++)
        switch (x >> 28 & 7) {
        case 0:
            x = x * 5 + 1;
            break;
        case 1:
            x = mixed(x);
            break;
        case 2:
            x ^= x << 13;
            break;
        case 3:
            x = x / 7 + 0x10000000u;
            break;
        case 4:
            x = (x << 7 | x >> 25) + k;
            break;
        case 5:
            x += data[x & 255];
            break;
        default:
            x -= 0x12345677u;
        }
    data[n + i] = x;
}

// An array of each thread's own, by computed indices.
__global__ void insertion(unsigned *data, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, own[LOCALS], sum = 0;

    for (int k = 0; k < LOCALS; k++) {
        unsigned x = mixed(i * LOCALS + k);
        int at = k;

        for (; at > 0 && own[at - 1] > x; at--)
            own[at] = own[at - 1];
        own[at] = x;
    }
    for (int k = 0; k < LOCALS; k++)
        sum = sum * 31 + own[k];
    data[n + i] = sum;
}

__global__ void histogram(unsigned *data, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    for (int k = 0; k < 8; k++)
        __nvvm_atom_add_gen_i((int *)&data[n + (mixed(i * 8 + k) & (BINS - 1))], 1);
}

__global__ void histogram_shared(unsigned *data, int n)
{
    __shared__ unsigned bins[BINS];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 8; k++)
        __nvvm_atom_add_gen_i((int *)&bins[mixed(i * 8 + k) & (BINS - 1)], 1);
    __syncthreads();
    __nvvm_atom_add_gen_i((int *)&data[n + threadIdx.x], bins[threadIdx.x]);
}

__global__ void series(unsigned *data, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = (double)(mixed(i) >> 8) / 16777216, sum = 0, term = 1;

    for (int k = 1; k < 24; k++) {
        sum += term;
        term *= x / k;
    }
    data[n + i] = (unsigned)(sum * 1000000);
}

// A sum of the warp's, as reductions make it.
__global__ void reduce(unsigned *data, int n)
{
    __shared__ unsigned sums[THREADS / 32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = data[i];

    for (int k = 16; k; k /= 2)
        x += __nvvm_shfl_sync_bfly_i32(~0u, x, k, 31);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x < 32) {
        x = threadIdx.x < THREADS / 32 ? sums[threadIdx.x] : 0;
        for (int k = 4; k; k /= 2)
            x += __nvvm_shfl_sync_bfly_i32(~0u, x, k, 31);
        if (threadIdx.x == 0)
            data[n + blockIdx.x] = x;
    }
}

// Bytes from everywhere.
__global__ void gather(unsigned *data, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i, sum = 0;
    const unsigned char *bytes = (const unsigned char *)data;

    for (int k = 0; k < 16; k++) {
        x = x * 1664525u + 1013904223u;
        sum = sum * 31 + bytes[x >> 8 & (4 * n - 1)];
    }
    data[n + i] = sum;
}

// Rows of different lengths, as of a sparse matrix, in f32; all sums are exact.
__global__ void spmv(unsigned *data, int n)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x, at = mixed(row), length = at & 31;
    float sum = 0;

    for (unsigned k = 0; k < length; k++) {
        at = at * 1664525u + 1013904223u;
        sum += (float)(data[at >> 8 & (n - 1)] >> 24) * (float)(k + 1);
    }
    ((float *)data)[n + row] = sum;
}
}
