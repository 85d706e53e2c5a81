// kernels.cu - the kernels of the end-to-end tests, compiled to kernels.ptx by `make ptx` (clang, no toolkit
// needed). harness.h lists their parameters.
#include <stdint.h>

#include "../../examples/cuda_words.h"

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

#define SQUARE(i)    (i) * (i)
#define SQUARES4(i)  SQUARE(i), SQUARE((i) + 1), SQUARE((i) + 2), SQUARE((i) + 3)
#define SQUARES16(i) SQUARES4(i), SQUARES4((i) + 4), SQUARES4((i) + 8), SQUARES4((i) + 12)
#define SQUARES64(i) SQUARES16(i), SQUARES16((i) + 16), SQUARES16((i) + 32), SQUARES16((i) + 48)

extern "C" {

__device__ uint32_t table[64] = {SQUARES64(0)};
__constant__ uint32_t bias = 1000;

__global__ void fill(uint32_t *out, uint32_t value, uint32_t n)
{
    if (INDEX < n)
        out[INDEX] = value + INDEX;
}

__global__ void add(const float *a, const float *b, float *out, uint32_t n)
{
    if (INDEX < n)
        out[INDEX] = a[INDEX] + b[INDEX];
}

__global__ void scale(float *data, float factor, uint32_t n)
{
    if (INDEX < n)
        data[INDEX] *= factor;
}

__global__ void increment(uint32_t *counter)
{
    *counter += 1;
}

__global__ void count(uint32_t *counter)
{
    atomicAdd(counter, 1u);
}

__global__ void sum(const uint32_t *in, unsigned long long *out, uint32_t n)
{
    __shared__ unsigned long long part[256];

    part[threadIdx.x] = INDEX < n ? in[INDEX] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, part[0]);
}

static __device__ uint64_t now_ns()
{
    uint64_t t;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

__global__ void spin(uint64_t nanoseconds)
{
    uint64_t start = now_ns();

    while (now_ns() - start < nanoseconds)
        ;
}

__global__ void spin_until(volatile uint32_t *flag)
{
    while (*flag == 0)
        ;
}

__global__ void chain(uint32_t *data, uint32_t n, uint32_t rounds, uint32_t seed)
{
    if (INDEX >= n)
        return;
    uint32_t x = data[INDEX] ^ seed;
    for (uint32_t i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x += i;
    }
    data[INDEX] = x;
}

__global__ void nothing()
{
}

struct five {
    uint32_t x[5];
};

__global__ void many_parameters(uint8_t a, uint16_t b, uint32_t c, uint64_t d, struct five e,
                                double f, uint64_t *out)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
    for (int i = 0; i < 5; i++)
        out[4 + i] = e.x[i];
    out[9] = (uint64_t)(f * 4.0);
}

__global__ void dynamic_shared(uint32_t *out, uint32_t words)
{
    extern __shared__ uint32_t buffer[];

    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
        buffer[i] = i;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
        out[i] = buffer[words - 1 - i];
}

__global__ void table_lookup(uint32_t *out, uint32_t n)
{
    if (INDEX < n)
        out[INDEX] = table[INDEX % 64] + bias;
}

__global__ void store(uint32_t *address, uint32_t value)
{
    *address = value;
}

__global__ void trap()
{
    asm volatile("trap;");
}

// Ends the context, fenced or not.
__global__ void misaligned()
{
    __shared__ uint32_t words[2];

    *(volatile uint32_t *)((char *)words + 1) = threadIdx.x;
}
}
