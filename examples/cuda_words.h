/*
 * cuda_words.h - the words of CUDA C++ that the kernels here use, for clang without a CUDA toolkit.
 * nvcc, and clang with a toolkit, bring their own: there this file is empty.
 */
#ifndef CUDA_WORDS_H
#define CUDA_WORDS_H

#if defined(__clang__) && defined(__CUDA__) && !defined(__CUDA_RUNTIME_H__) &&                     \
    !defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)

#define __global__   __attribute__((global))
#define __device__   __attribute__((device))
#define __host__     __attribute__((host))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))

#include <stddef.h>

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
        : x(x), y(y), z(z)
    {
    }
};
struct uint3 {
    unsigned x, y, z;
};
typedef enum cudaError { cudaSuccess = 0 } cudaError_t;
typedef struct CUstream_st *cudaStream_t;

/* What the compiler calls for kernel<<<grid, block>>>(...). */
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                void *stream = 0);
extern "C" cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args,
                                        size_t shared, cudaStream_t stream);

#include <__clang_cuda_builtin_vars.h>

/* __syncthreads() is built into clang. */
static inline __device__ unsigned atomicAdd(unsigned *address, unsigned value)
{
    return __nvvm_atom_add_gen_i((int *)address, (int)value);
}
static inline __device__ unsigned long long atomicAdd(unsigned long long *address,
                                                      unsigned long long value)
{
    return (unsigned long long)__nvvm_atom_add_gen_ll((long long *)address, (long long)value);
}

#endif
#endif
