/*
 * words.h - common definitions of the kernels of this folder: the keywords of CUDA C++ for clang
 * without a toolkit, numbers of 16 bits, operands by batch, and scalars. Memory is reached in
 * .global space, which costs the fence less than generic addresses.
 */
#ifndef GS_CUBLAS_WORDS_H
#define GS_CUBLAS_WORDS_H

#include "cublas/kernels/params.h"

#define __device__  __attribute__((device))
#define __shared__  __attribute__((shared))
#define GLOBAL      __attribute__((address_space(1)))
#define INLINE      inline __device__ __attribute__((always_inline))
// By threads of a block and, if need be, how many blocks an SM has to have room for.
#define KERNEL(...) extern "C" __attribute__((global)) __attribute__((launch_bounds(__VA_ARGS__)))

#include <__clang_cuda_builtin_vars.h>

typedef unsigned long long u64;
enum class f16 : unsigned short {};
enum class bf16 : unsigned short {};

/* ---- Conversions: through f32, but for f64 ---- */

template <class To> struct convert {
    template <class From> static INLINE To from(From x) { return (To)x; }
    static INLINE To from(f16 x)
    {
        float y;
        asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"((unsigned short)x));
        return (To)y;
    }
    static INLINE To from(bf16 x)
    {
        return (To) __builtin_bit_cast(float, (unsigned)(unsigned short)x << 16);
    }
};
template <> struct convert<f16> {
    template <class From> static INLINE f16 from(From x)
    {
        unsigned short y;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"((float)x));
        return f16(y);
    }
    static INLINE f16 from(f16 x) { return x; }
};
template <> struct convert<bf16> {
    template <class From> static INLINE bf16 from(From x)
    {
        unsigned short y;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"((float)x));
        return bf16(y);
    }
    static INLINE bf16 from(bf16 x) { return x; }
};

template <class T> INLINE T scalar_read(const struct scalar *s)
{
    u64 bits = s->bits[0];
    u64 at = s->address;

    switch (s->type) {
    case SCALAR_F16:
        return convert<T>::from(
            f16(at ? *(const GLOBAL unsigned short *)at : (unsigned short)bits));
    case SCALAR_BF16:
        return convert<T>::from(
            bf16(at ? *(const GLOBAL unsigned short *)at : (unsigned short)bits));
    case SCALAR_F32:
        return convert<T>::from(
            __builtin_bit_cast(float, at ? *(const GLOBAL unsigned *)at : (unsigned)bits));
    case SCALAR_S32:
        return convert<T>::from(at ? *(const GLOBAL int *)at : (int)bits);
    default:
        return convert<T>::from(__builtin_bit_cast(double, at ? *(const GLOBAL u64 *)at : bits));
    }
}

/* Returns the operand's address for a batch. */
template <class T> INLINE GLOBAL T *operand(const struct matrix *m, int batch)
{
    if (m->array)
        return (GLOBAL T *)((const GLOBAL u64 *)m->address)[batch];
    return (GLOBAL T *)m->address + batch * m->stride;
}

INLINE bool filled(unsigned fill, int i, int j)
{
    return fill == FILL_ALL || (fill == FILL_LOWER ? i >= j : i <= j);
}

#endif
