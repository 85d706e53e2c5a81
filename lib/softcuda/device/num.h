/* Numbers as the device computes them: binary16 and bfloat16, flushing of subnormals, canonical
 * NaNs, saturating conversions. Pure functions of their arguments, written without branches where a
 * lane loop calls them, so that the loop vectorizes. */
#ifndef GS_SOFTCUDA_DEVICE_NUM_H
#define GS_SOFTCUDA_DEVICE_NUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Register slots are read as whichever of these an instruction says. */
typedef uint16_t __attribute__((may_alias)) u16;
typedef int16_t __attribute__((may_alias)) i16;
typedef uint32_t __attribute__((may_alias)) u32;
typedef int32_t __attribute__((may_alias)) i32;
typedef uint64_t __attribute__((may_alias)) u64;
typedef int64_t __attribute__((may_alias)) i64;
typedef float __attribute__((may_alias)) f32;
typedef double __attribute__((may_alias)) f64;

#define F32_NAN  0x7fffffffu /* what an f32 instruction returns for any NaN */
#define F16_NAN  0x7fffu
#define BF16_NAN 0x7fffu

static inline uint32_t f32_bits(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline float f32_from(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static inline uint64_t f64_bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline double f64_from(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* The value without its sign. The bits pass through an empty asm, because a compiler that knows the
 * value for an unsigned integer's drops fabs as superfluous, and converts such integers by a
 * subtraction, whose 0 is -0 when it rounds down (clang without AVX-512). */
static inline float f32_unsigned(float x)
{
    uint32_t b = f32_bits(x);
    __asm__("" : "+r"(b));
    return f32_from(b & 0x7fffffffu);
}

static inline double f64_unsigned(double x)
{
    uint64_t b = f64_bits(x);
    __asm__("" : "+r"(b));
    return f64_from(b & 0x7fffffffffffffffu);
}

/* The result of an f32 instruction. */
static inline uint32_t f32_out(float x)
{
    return x != x ? F32_NAN : f32_bits(x);
}

/* Subnormals become zeros of their sign. */
static inline float f32_flush(float x)
{
    uint32_t b = f32_bits(x);
    return f32_from((b & 0x7f800000u) ? b : b & 0x80000000u);
}

static inline float f32_saturate(float x) /* NaN becomes +0 */
{
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

static inline double f64_saturate(double x)
{
    return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0;
}

/* A NaN loses against a number; -0 is below +0. */
static inline float f32_min(float a, float b)
{
    float least = a < b || (a == b && (f32_bits(a) >> 31)) ? a : b;
    return a != a ? b : b != b ? a : least;
}

static inline float f32_max(float a, float b)
{
    float most = a > b || (a == b && (f32_bits(b) >> 31)) ? a : b;
    return a != a ? b : b != b ? a : most;
}

static inline bool f64_is_nan(uint64_t bits)
{
    return (bits & ~(1ull << 63)) > 0x7ff0000000000000ull;
}

/* Of several NaN operands an H200 hands on the second factor or summand, then a sum's third, then
 * the first, with the quiet bit set; hosts choose otherwise. */
static inline double f64_or_nan(double b, double r)
{
    return b != b ? b + b : r;
}

static inline double f64_fma(double a, double b, double c)
{
    return f64_or_nan(b, f64_or_nan(c, fma(a, b, c)));
}

static inline double f64_min(double a, double b)
{
    double least = a < b || (a == b && (f64_bits(a) >> 63)) ? a : b;
    return a != a ? f64_or_nan(b, b) : b != b ? a : least;
}

static inline double f64_max(double a, double b)
{
    double most = a > b || (a == b && (f64_bits(b) >> 63)) ? a : b;
    return a != a ? f64_or_nan(b, b) : b != b ? a : most;
}

/* ---- binary16 and bfloat16 ------------------------------------------------------------------- */

static inline float f16_to_f32(uint32_t h)
{
    uint32_t sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
    /* the multiplication moves the exponent's bias, for subnormals too */
    uint32_t finite = f32_bits(f32_from(rest << 13) * 0x1p112f);
    uint32_t special = (rest << 13) | 0x7f800000u;
    return f32_from(sign | (rest >= 0x7c00u ? special : finite));
}

static inline float f16_to_f32_flushed(uint32_t h)
{
    return f16_to_f32((h & 0x7c00u) ? h : h & 0x8000u);
}

static inline uint32_t f16_from_f32(float x) /* to nearest, ties to even */
{
    uint32_t b = f32_bits(x), sign = (b >> 16) & 0x8000u, rest = b & 0x7fffffffu;
    /* at 0.5 one unit in the last place is binary16's smallest subnormal */
    uint32_t subnormal = f32_bits(f32_from(rest) + 0.5f) - 0x3f000000u;
    uint32_t normal = (rest - (112u << 23) + 0xfffu + ((rest >> 13) & 1)) >> 13;
    uint32_t h = rest < 0x38800000u ? subnormal : normal;
    h = rest >= 0x477ff000u ? 0x7c00u : h;
    return rest > 0x7f800000u ? F16_NAN : (h | sign);
}

static inline float bf16_to_f32(uint32_t h)
{
    return f32_from(h << 16);
}

static inline uint32_t bf16_from_f32(float x)
{
    uint32_t b = f32_bits(x);
    return (b & 0x7fffffffu) > 0x7f800000u ? BF16_NAN : (b + 0x7fffu + ((b >> 16) & 1)) >> 16;
}

/* converts an 8-bit float with EXP exponent bits, 4 or 5 */
static inline float fp8_to_f32(int exp, uint32_t b)
{
    if (exp == 5) /* the upper byte of a binary16 */
        return f16_to_f32(b << 8);
    uint32_t rest = b & 0x7f;
    float x = rest == 0x7f ? f32_from(F32_NAN)
              : rest < 8   ? ldexpf((float)rest, -9)
                           : ldexpf((float)(8 + (rest & 7)), (int)(rest >> 3) - 10);
    return b & 0x80 ? -x : x;
}

/* a*b + c with the last bit set where the sum was not exact ("round to odd"): rounding that once
 * more to a format of at most 25 bits gives the correctly rounded result. The product of two 11-bit
 * fractions is exact in double. */
static inline double fma_to_odd(double a, double b, double c)
{
    double p = a * b, s = p + c;
    double back = s - p;
    double rest = (p - (s - back)) + (c - back);
    uint64_t bits = f64_bits(s);
    bool exact = rest == 0.0 || rest != rest || (bits & 1);
    bool away = (rest > 0.0) == (s > 0.0);
    return exact ? s : f64_from(away ? bits + 1 : bits - 1);
}

/* Does the same with three values of binary16, the product of which is exact in a float: its 22
 * bits and exponents of -48 to 31 fit. */
static inline float f16_fma_to_odd(float a, float b, float c)
{
    float p = a * b, s = p + c;
    float back = s - p;
    float rest = (p - (s - back)) + (c - back);
    uint32_t bits = f32_bits(s);
    /* Without branches, so that the compiler does many lanes at once. REST is no number where S is
     * none, and only a REST below or above 0 is one of an inexact sum. */
    uint32_t inexact = (rest < 0.0f) | (rest > 0.0f);
    uint32_t step = (rest > 0.0f) == (s > 0.0f) ? 1u : UINT32_MAX;
    return f32_from(bits + (inexact & ~bits ? step : 0u));
}

/* X, rounded to odd into a float, keeps enough bits for the narrow formats. */
static inline float f64_to_odd_f32(double x)
{
    float y = (float)x;
    uint32_t bits = f32_bits(y);
    bool exact = (double)y == x || x != x || (bits & 1);
    bool away = fabs(x) > fabs((double)y);
    return exact ? y : f32_from(away ? bits + 1 : bits - 1);
}

// Converts a 64-bit integer to a double, rounded to odd.
static inline double u64_to_odd(uint64_t x)
{
    int up = x >> 53 ? 11 - __builtin_clzll(x) : 0;
    uint64_t kept = x >> up, lost = x & ((1ull << up) - 1);
    return ldexp((double)(kept | (lost != 0)), up);
}

static inline double s64_to_odd(int64_t x)
{
    return x < 0 ? -u64_to_odd(0u - (uint64_t)x) : u64_to_odd((uint64_t)x);
}

// Converts a NaN of binary64 to one of binary16, which has the top of its payload and is quiet.
static inline uint32_t f16_nan_from_f64(double x)
{
    uint64_t b = f64_bits(x);
    return (uint32_t)(b >> 48 & 0x8000u) | 0x7e00u | (uint32_t)(b >> 42 & 0x3ffu);
}

// X on its way to binary16 with ftz: what is tiny once rounded to 11 bits is flushed.
static inline float f16_flush_tiny(float x)
{
    return fabsf(x) < 0x1p-14f - 0x1p-26f ? copysignf(0.0f, x) : x;
}

static inline uint32_t f16_flush(uint32_t h)
{
    return (h & 0x7c00u) ? h : h & 0x8000u;
}

/* ---- Integers
 * ----------------------------------------------------------------------------------------------------
 */

static inline uint32_t div_u32(uint32_t a, uint32_t b) /* the device answers all ones for b = 0 */
{
    return b ? a / b : UINT32_MAX;
}

static inline uint32_t rem_u32(uint32_t a, uint32_t b)
{
    return b ? a % b : UINT32_MAX;
}

static inline uint32_t div_s32(int32_t a, int32_t b)
{
    return b == 0 ? UINT32_MAX : b == -1 ? 0u - (uint32_t)a : (uint32_t)(a / b);
}

static inline uint32_t rem_s32(int32_t a, int32_t b)
{
    return b == 0 ? UINT32_MAX : b == -1 ? 0 : (uint32_t)(a % b);
}

static inline uint64_t div_u64(uint64_t a, uint64_t b)
{
    return b ? a / b : UINT64_MAX;
}

static inline uint64_t rem_u64(uint64_t a, uint64_t b)
{
    return b ? a % b : UINT64_MAX;
}

static inline uint64_t div_s64(int64_t a, int64_t b)
{
    return b == 0 ? UINT64_MAX : b == -1 ? 0u - (uint64_t)a : (uint64_t)(a / b);
}

static inline uint64_t rem_s64(int64_t a, int64_t b)
{
    return b == 0 ? UINT64_MAX : b == -1 ? 0 : (uint64_t)(a % b);
}

static inline uint64_t mulhi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
}

static inline uint64_t mulhi_s64(int64_t a, int64_t b)
{
    return (uint64_t)(((__int128)a * b) >> 64);
}

static inline int32_t clamp_s32(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

static inline uint32_t brev_b32(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

static inline uint64_t brev_b64(uint64_t x)
{
    return (uint64_t)brev_b32((uint32_t)x) << 32 | brev_b32((uint32_t)(x >> 32));
}

/* Bit fields of 32 bits take the low byte of position and length; those of 64 bits, which the
 * device composes of others, take all of them. */
static inline uint32_t bfe_u32(uint32_t a, uint32_t pos, uint32_t len)
{
    pos &= 255;
    len &= 255;
    uint32_t kept = len >= 32 ? UINT32_MAX : (1u << len) - 1;
    return pos >= 32 ? 0 : (a >> pos) & kept;
}

static inline uint32_t bfe_s32(uint32_t a, uint32_t pos, uint32_t len)
{
    pos &= 255;
    len &= 255;
    if (!len)
        return 0;
    uint32_t top = pos + len - 1 < 31 ? pos + len - 1 : 31;
    uint32_t sign = (a >> top & 1) ? UINT32_MAX : 0;
    uint32_t field = pos >= 32 ? sign : (a >> pos) | (pos ? sign << (32 - pos) : 0);
    return len >= 32 ? field : (field & ((1u << len) - 1)) | (sign << len);
}

static inline uint64_t bfe_u64(uint64_t a, uint32_t pos, uint32_t len)
{
    uint64_t kept = len >= 64 ? UINT64_MAX : (1ull << len) - 1;
    return pos >= 64 ? 0 : (a >> pos) & kept;
}

static inline uint64_t bfe_s64(uint64_t a, uint32_t pos, uint32_t len)
{
    if (!len)
        return 0;
    uint64_t last = (uint64_t)pos + len - 1;
    unsigned top = last < 63 ? (unsigned)last : 63;
    uint64_t sign = (a >> top & 1) ? UINT64_MAX : 0;
    uint64_t field = pos >= 64 ? sign : (a >> pos) | (pos ? sign << (64 - pos) : 0);
    return len >= 64 ? field : (field & ((1ull << len) - 1)) | (sign << len);
}

static inline uint32_t bfi_b32(uint32_t a, uint32_t b, uint32_t pos, uint32_t len)
{
    pos &= 255;
    len &= 255;
    if (pos >= 32)
        return b;
    uint32_t kept = (len >= 32 ? UINT32_MAX : (1u << len) - 1) << pos;
    return (b & ~kept) | (a << pos & kept);
}

static inline uint64_t bfi_b64(uint64_t a, uint64_t b, uint32_t pos, uint32_t len)
{
    if (pos >= 64)
        return b;
    uint64_t kept = (len >= 64 ? UINT64_MAX : (1ull << len) - 1) << pos;
    return (b & ~kept) | (a << pos & kept);
}

static inline uint32_t lop3_b32(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t r = 0;
    r |= (0u - (table >> 0 & 1)) & ~a & ~b & ~c;
    r |= (0u - (table >> 1 & 1)) & ~a & ~b & c;
    r |= (0u - (table >> 2 & 1)) & ~a & b & ~c;
    r |= (0u - (table >> 3 & 1)) & ~a & b & c;
    r |= (0u - (table >> 4 & 1)) & a & ~b & ~c;
    r |= (0u - (table >> 5 & 1)) & a & ~b & c;
    r |= (0u - (table >> 6 & 1)) & a & b & ~c;
    r |= (0u - (table >> 7 & 1)) & a & b & c;
    return r;
}

/* The byte that one selector nibble of prmt picks; its top bit asks for the sign instead. */
static inline uint32_t prmt_byte(uint64_t pool, uint32_t selector)
{
    uint32_t byte = (uint32_t)(pool >> (selector & 7) * 8) & 255;
    return selector & 8 ? (byte & 128 ? 255u : 0u) : byte;
}

static inline uint32_t prmt_b32(uint32_t a, uint32_t b, uint32_t selectors)
{
    uint64_t pool = (uint64_t)b << 32 | a;
    return prmt_byte(pool, selectors) | prmt_byte(pool, selectors >> 4) << 8 |
           prmt_byte(pool, selectors >> 8) << 16 | prmt_byte(pool, selectors >> 12) << 24;
}

static inline uint32_t shl_b32(uint32_t a, uint32_t n)
{
    return n > 31 ? 0 : a << (n & 31);
}

static inline uint32_t shr_u32(uint32_t a, uint32_t n)
{
    return n > 31 ? 0 : a >> (n & 31);
}

static inline uint32_t shr_s32(int32_t a, uint32_t n)
{
    return (uint32_t)(a >> (n > 31 ? 31 : n));
}

static inline uint64_t shl_b64(uint64_t a, uint32_t n)
{
    return n > 63 ? 0 : a << (n & 63);
}

static inline uint64_t shr_u64(uint64_t a, uint32_t n)
{
    return n > 63 ? 0 : a >> (n & 63);
}

static inline uint64_t shr_s64(int64_t a, uint32_t n)
{
    return (uint64_t)(a >> (n > 63 ? 63 : n));
}

static inline uint32_t clz_b32(uint32_t a)
{
    return a ? (uint32_t)__builtin_clz(a) : 32;
}

static inline uint32_t clz_b64(uint64_t a)
{
    return a ? (uint32_t)__builtin_clzll(a) : 64;
}

static inline uint32_t bfind_b32(uint32_t a)
{
    return a ? 31 - (uint32_t)__builtin_clz(a) : UINT32_MAX;
}

static inline uint32_t bfind_b64(uint64_t a)
{
    return a ? 63 - (uint32_t)__builtin_clzll(a) : UINT32_MAX;
}

#endif
