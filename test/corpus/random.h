/* random.h - what random kernels (make_random) are written in: one text that nvcc compiles for the
 * device and the C compiler for the host, which is the judge. Everything here has one result on
 * both sides: what C leaves open (division by 0, wide shifts, conversions of floats out of range,
 * the bits of a NaN) is decided. Bits: random_bits.h; threads that meet: random_threads.h. */
#ifndef GS_TEST_CORPUS_RANDOM_H
#define GS_TEST_CORPUS_RANDOM_H
/* Nobody wrote what compilers would warn of. */
#ifdef __CUDACC__
#pragma nv_diag_suppress 111, 128, 177, 186, 550
#else
#pragma GCC system_header
#endif

#include "corpus.h"

typedef uint8_t u8;
typedef int8_t i8;
typedef uint16_t u16;
typedef int16_t i16;
typedef uint32_t u32;
typedef int32_t i32;
typedef unsigned long long u64;
typedef long long i64;
typedef float f32;
typedef double f64;
typedef unsigned __int128 u128;

struct given { /* by value, to each kernel */
    u64 words[16];
    u8 bytes[32];
};

#ifdef DEVICE_CODE
#include <cuda_fp16.h>
#define INLINE   static __device__ __forceinline__
#define PLAIN    static __device__
#define NOINLINE static __device__ __noinline__
#define RANDOM   extern "C" __global__ void __launch_bounds__(256)
#define TABLE    static __device__
#define TABLE_TYPE
#define GLOBAL              __device__
#define CONSTANT            static __constant__
#define SHARED              __shared__ __align__(16)
#define SIDES(device, host) device
#define TID                 (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))
#define BLOCK               blockIdx.x
#define THREADS             (blockDim.x * blockDim.y * blockDim.z)
#else
#define INLINE     static inline
#define PLAIN      static inline
#define NOINLINE   static
#define RANDOM     static void
#define TABLE      static const
#define TABLE_TYPE const
#define GLOBAL
#define CONSTANT            static const
#define SHARED              static
#define SIDES(device, host) host
#define TID                 (threads.now->id)
#define BLOCK               (threads.block)
#define THREADS             (threads.count)
#endif

/* ---- Numbers ---- */

#define BITS(T) ((u32)sizeof(T) * 8)
#define INTEGER(T, U)                                                                              \
    INLINE T add_##T(T a, T b)                                                                     \
    {                                                                                              \
        return (T)((U)a + (U)b);                                                                   \
    }                                                                                              \
    INLINE T sub_##T(T a, T b)                                                                     \
    {                                                                                              \
        return (T)((U)a - (U)b);                                                                   \
    }                                                                                              \
    INLINE T mul_##T(T a, T b)                                                                     \
    {                                                                                              \
        return (T)((U)a * (U)b);                                                                   \
    }                                                                                              \
    INLINE T div_##T(T a, T b)                                                                     \
    {                                                                                              \
        return b == 0 || ((T)-1 < 0 && b == (T)-1) ? sub_##T(0, a) : (T)(a / b);                   \
    }                                                                                              \
    INLINE T rem_##T(T a, T b)                                                                     \
    {                                                                                              \
        return b == 0 || ((T)-1 < 0 && b == (T)-1) ? a : (T)(a % b);                               \
    }                                                                                              \
    INLINE T shl_##T(T a, u32 n)                                                                   \
    {                                                                                              \
        return (T)((U)a << (n & (BITS(T) - 1)));                                                   \
    }                                                                                              \
    INLINE T shr_##T(T a, u32 n)                                                                   \
    {                                                                                              \
        return (T)(a >> (n & (BITS(T) - 1)));                                                      \
    }                                                                                              \
    INLINE T rot_##T(T a, u32 n)                                                                   \
    {                                                                                              \
        n &= BITS(T) - 1;                                                                          \
        return n ? (T)(((U)a << n) | ((U)a & (U) ~(U)0 >> (BITS(U) - BITS(T))) >> (BITS(T) - n))   \
                 : a;                                                                              \
    }                                                                                              \
    INLINE T min_##T(T a, T b)                                                                     \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    INLINE T max_##T(T a, T b)                                                                     \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }                                                                                              \
    INLINE T load_##T(const u8 *p)                                                                 \
    {                                                                                              \
        T v;                                                                                       \
        memcpy(&v, __builtin_assume_aligned(p, sizeof v), sizeof v);                               \
        return v;                                                                                  \
    }                                                                                              \
    INLINE void store_##T(u8 *p, T v)                                                              \
    {                                                                                              \
        memcpy(__builtin_assume_aligned(p, sizeof v), &v, sizeof v);                               \
    }
INTEGER(u8, u32)
INTEGER(i8, u32)
INTEGER(u16, u32)
INTEGER(i16, u32)
INTEGER(u32, u32)
INTEGER(i32, u32)
INTEGER(u64, u64)
INTEGER(i64, u64)
INTEGER(u128, u128)

struct quad {
    u64 a, b;
} __attribute__((aligned(16)));
INLINE void copy_quad(u8 *to, const u8 *from)
{
    struct quad q;
    memcpy(&q, __builtin_assume_aligned(from, 16), sizeof q);
    q.a += q.b;
    memcpy(__builtin_assume_aligned(to, 16), &q, sizeof q);
}
INLINE u32 bits_f32(f32 v)
{
    u32 b;
    memcpy(&b, &v, 4);
    return v == v ? b : 0x7fffffffu;
}
INLINE u64 bits_f64(f64 v)
{
    u64 b;
    memcpy(&b, &v, 8);
    return v == v ? b : 0x7fffffffffffffffu;
}
INLINE f32 float_of(u32 b)
{
    f32 v;
    memcpy(&v, &b, 4);
    return v;
}
INLINE f64 double_of(u64 b)
{
    f64 v;
    memcpy(&v, &b, 8);
    return v;
}
/* clang-format off: a line for each */
/* Not to be contracted with what is added. */
INLINE f32 mul_f32(f32 a, f32 b)
{
    return SIDES(__fmul_rn(a, b), a * b);
}
INLINE f64 mul_f64(f64 a, f64 b)
{
    return SIDES(__dmul_rn(a, b), a * b);
}
INLINE f32 add_f32(f32 a, f32 b)
{
    return a + b;
}
INLINE f64 add_f64(f64 a, f64 b)
{
    return a + b;
}
INLINE f32 sub_f32(f32 a, f32 b)
{
    return a - b;
}
INLINE f64 sub_f64(f64 a, f64 b)
{
    return a - b;
}
INLINE f32 div_f32(f32 a, f32 b)
{
    return a / b;
}
INLINE f64 div_f64(f64 a, f64 b)
{
    return a / b;
}
INLINE f32 fma_f32(f32 a, f32 b, f32 c)
{
    return fmaf(a, b, c);
}
INLINE f64 fma_f64(f64 a, f64 b, f64 c)
{
    return fma(a, b, c);
}
INLINE f32 root_f32(f32 a)
{
    return sqrtf(fabsf(a));
}
INLINE f64 root_f64(f64 a)
{
    return sqrt(fabs(a));
}
/* Which zero is smaller is left open. */
INLINE f32 min_f32(f32 a, f32 b)
{
    return fminf(a, b) + 0.0f;
}
INLINE f64 min_f64(f64 a, f64 b)
{
    return fmin(a, b) + 0.0;
}
INLINE f32 max_f32(f32 a, f32 b)
{
    return fmaxf(a, b) + 0.0f;
}
INLINE f64 max_f64(f64 a, f64 b)
{
    return fmax(a, b) + 0.0;
}
INLINE f32 floor_f32(f32 a)
{
    return floorf(a);
}
INLINE f64 floor_f64(f64 a)
{
    return floor(a);
}
INLINE f32 trunc_f32(f32 a)
{
    return truncf(a);
}
INLINE f64 trunc_f64(f64 a)
{
    return trunc(a);
}
INLINE f32 round_f32(f32 a)
{
    return rintf(a);
}
INLINE f64 round_f64(f64 a)
{
    return rint(a);
}
/* clang-format on */
#define TO_INTEGER(T, F, low, high)                                                                \
    INLINE T T##_of_##F(F v)                                                                       \
    {                                                                                              \
        return v >= (F)low && v < (F)high ? (T)v : (T)(v > 0 ? 7 : 3);                             \
    }
TO_INTEGER(u32, f32, 0, 4294967296.0)
TO_INTEGER(u32, f64, 0, 4294967296.0)
TO_INTEGER(i32, f32, -2147483648.0, 2147483648.0)
TO_INTEGER(i32, f64, -2147483648.0, 2147483648.0)
TO_INTEGER(u64, f32, 0, 18446744073709551616.0)
TO_INTEGER(u64, f64, 0, 18446744073709551616.0)
TO_INTEGER(i64, f32, -9223372036854775808.0, 9223372036854775808.0)
TO_INTEGER(i64, f64, -9223372036854775808.0, 9223372036854775808.0)
TO_INTEGER(u16, f32, 0, 65536.0)
TO_INTEGER(i8, f32, -128.0, 128.0)

/* ---- Halves, by their bits. A double holds each product and sum of two exactly. ---- */
#ifndef DEVICE_CODE
static inline f64 half_value(u16 h)
{
    f64 v = (h >> 10 & 31) == 31 ? (h & 1023 ? NAN : INFINITY)
            : h >> 10 & 31       ? ldexp(1024 + (h & 1023), (h >> 10 & 31) - 25)
                                 : ldexp(h & 1023, -24);
    return h >> 15 ? -v : v;
}
static inline u16 half_of(f64 v)
{
    u16 sign = signbit(v) ? 0x8000 : 0;
    int e;

    if (v != v)
        return 0x7fff;
    v = fabs(v);
    if (v == 0)
        return sign;
    if (v >= 65520)
        return sign | 0x7c00;
    frexp(v, &e);
    e = e < -13 ? -13 : e;               /* 2^-14, the smallest normal number, has e -13 */
    u16 m = (u16)rint(ldexp(v, 11 - e)); /* 1024 to 2048, less of a subnormal one */
    return sign | (u16)(m + ((e + 13) << 10));
}
#endif
#define HALF2(name, device, host)                                                                  \
    INLINE u16 name(u16 a, u16 b)                                                                  \
    {                                                                                              \
        SIDES(__half x = __ushort_as_half(a); __half y = __ushort_as_half(b);                      \
              u16 r = __half_as_ushort(device), f64 x = half_value(a); f64 y = half_value(b);      \
              u16 r = half_of(host));                                                              \
        return (r & 0x7fff) > 0x7c00 ? 0x7fff : r;                                                 \
    }
HALF2(hadd, __hadd_rn(x, y), x + y)
HALF2(hsub, __hsub_rn(x, y), x - y)
HALF2(hmul, __hmul_rn(x, y), x *y)
HALF2(hfma, __hfma(x, y, x), x == 0 || isinf(x) ? x * y + x : x * (y + 1) + 0.0)
INLINE u32 hless(u16 a, u16 b)
{
    return SIDES(__hlt(__ushort_as_half(a), __ushort_as_half(b)), half_value(a) < half_value(b));
}
INLINE u16 half_of_f32(f32 v)
{
    u16 r = SIDES(__half_as_ushort(__float2half_rn(v)), half_of(v));
    return (r & 0x7fff) > 0x7c00 ? 0x7fff : r;
}
INLINE f32 f32_of_half(u16 h)
{
    return SIDES(__half2float(__ushort_as_half(h)), (f32)half_value(h));
}

INLINE u64 mix(u64 h, u64 v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

#include "random_bits.h"
#include "random_threads.h"

#endif
