// heap.cu - kernels that allocate, compiled to heap.ptx by `make ptx` (clang, no toolkit needed).
#include <stdint.h>

#include "../../../examples/cuda_words.h"

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" {

__device__ void *malloc(unsigned long size);
__device__ void free(void *memory);
__device__ void *__cuda_syscall_aligned_malloc(unsigned long size, unsigned long align);

static __device__ uint32_t scramble(uint32_t x)
{
    x = (x ^ 61) ^ (x >> 16);
    x *= 9;
    x ^= x >> 4;
    x *= 0x27d4eb2d;
    return x ^ (x >> 15);
}

static __device__ void fill(unsigned char *to, uint32_t bytes, uint32_t seed)
{
    for (uint32_t k = 0; k < bytes; k++)
        to[k] = (unsigned char)(scramble(seed) + k * 7 + 1);
}

static __device__ bool is_filled(const unsigned char *at, uint32_t bytes, uint32_t seed)
{
    bool same = true;

    for (uint32_t k = 0; k < bytes; k++)
        same = same && at[k] == (unsigned char)(scramble(seed) + k * 7 + 1);
    return same;
}

static __device__ uint32_t size_of(uint32_t thread, uint32_t bytes, uint32_t spread)
{
    return bytes + (spread ? scramble(thread) % spread : 0);
}

// out[i] = malloc(bytes to bytes + spread - 1), filled where it is not NULL.
__global__ void take(unsigned char **out, uint32_t bytes, uint32_t spread, uint32_t n)
{
    if (INDEX >= n)
        return;
    uint32_t size = size_of(INDEX, bytes, spread);
    unsigned char *memory = (unsigned char *)malloc(size);

    if (memory)
        fill(memory, size, INDEX);
    out[INDEX] = memory;
}

// Counts those of take's whose content is another.
__global__ void check(unsigned char **at, uint32_t bytes, uint32_t spread, uint32_t n,
                      uint32_t *wrong)
{
    if (INDEX < n && at[INDEX] && !is_filled(at[INDEX], size_of(INDEX, bytes, spread), INDEX))
        atomicAdd(wrong, 1u);
}

__global__ void give(void **at, uint32_t n)
{
    if (INDEX < n)
        free(at[INDEX]);
}

// Takes, fills, checks and gives back, four at a time; counts what was another's, and NULLs.
__global__ void churn(uint32_t rounds, uint32_t most, uint32_t seed, uint32_t *wrong,
                      uint32_t *nulls)
{
    unsigned char *held[4] = {0, 0, 0, 0};
    uint32_t size[4] = {0, 0, 0, 0}, x = scramble(seed + INDEX);

#pragma unroll 1
    for (uint32_t i = 0; i < rounds * 4; i++) {
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            if (k != i % 4)
                continue;
            if (held[k] && !is_filled(held[k], size[k], INDEX + k))
                atomicAdd(wrong, 1u);
            free(held[k]);
            held[k] = 0;
            x = scramble(x + i);
            size[k] = 1 + x % most;
            held[k] = i / 4 + 1 < rounds ? (unsigned char *)malloc(size[k]) : 0;
            if (held[k])
                fill(held[k], size[k], INDEX + k);
            else if (i / 4 + 1 < rounds)
                atomicAdd(nulls, 1u);
        }
    }
}

// Takes memory and counts its words that are not 0; out[1] counts what it took.
__global__ void look(uint32_t bytes, uint32_t *out)
{
    volatile uint32_t *memory = (uint32_t *)malloc(bytes); // volatile: undefined to the compiler
    uint32_t found = 0;

    for (uint32_t k = 0; memory && k < bytes / 4; k++)
        found += memory[k] != 0;
    if (found)
        atomicAdd(&out[0], found);
    if (memory)
        atomicAdd(&out[1], 1u);
}

// One thread, and whatever a program may ask.
__global__ void edges(unsigned long long *out)
{
    out[0] = (unsigned long long)malloc(0);
    out[1] = (unsigned long long)malloc(~0ul);
    out[2] = (unsigned long long)__cuda_syscall_aligned_malloc(100, 64);
    out[3] = (unsigned long long)__cuda_syscall_aligned_malloc(5000, 16384);
    out[4] = (unsigned long long)__cuda_syscall_aligned_malloc(16, 48);
    free(0);
    free((void *)out[0]);
    free((void *)out[0]);      // twice
    free((char *)out[2] + 16); // none that malloc gave
    free((void *)0x123456789);
    free((char *)out[3] + 4096);
    out[5] = (unsigned long long)malloc(128);
}
}
