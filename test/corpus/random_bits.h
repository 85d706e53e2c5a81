/* random_bits.h - of random.h: operations on bits. For the device they are CUDA's functions and
 * instructions of PTX; for the host, what their descriptions say. */
#ifndef GS_TEST_CORPUS_RANDOM_BITS_H
#define GS_TEST_CORPUS_RANDOM_BITS_H

/* clang-format off: a line for each */
INLINE u32 popc_u32(u32 a)
{
    return SIDES((u32)__popc(a), (u32)__builtin_popcount(a));
}
INLINE u32 popc_u64(u64 a)
{
    return SIDES((u32)__popcll(a), (u32)__builtin_popcountll(a));
}
INLINE u32 clz_u32(u32 a)
{
    return SIDES((u32)__clz((int)a), a ? (u32)__builtin_clz(a) : 32);
}
INLINE u32 clz_u64(u64 a)
{
    return SIDES((u32)__clzll((long long)a), a ? (u32)__builtin_clzll(a) : 64);
}
INLINE u32 ffs_u32(u32 a)
{
    return SIDES((u32)__ffs((int)a), (u32)__builtin_ffs((int)a));
}
INLINE u32 ffs_u64(u64 a)
{
    return SIDES((u32)__ffsll((long long)a), (u32)__builtin_ffsll((long long)a));
}
#ifdef DEVICE_CODE
INLINE u32 brev_u32(u32 a)
{
    return __brev(a);
}
INLINE u64 brev_u64(u64 a)
{
    return __brevll(a);
}
INLINE u32 byte_perm(u32 a, u32 b, u32 s)
{
    return __byte_perm(a, b, s);
}
INLINE u32 mulhi_u32(u32 a, u32 b)
{
    return __umulhi(a, b);
}
INLINE i32 mulhi_i32(i32 a, i32 b)
{
    return __mulhi(a, b);
}
INLINE u64 mulhi_u64(u64 a, u64 b)
{
    return __umul64hi(a, b);
}
INLINE i64 mulhi_i64(i64 a, i64 b)
{
    return __mul64hi(a, b);
}
INLINE u32 sad_u32(u32 a, u32 b, u32 c)
{
    return __usad(a, b, c);
}
INLINE u32 sad_i32(i32 a, i32 b, u32 c)
{
    return __sad(a, b, c);
}
/* not __mul24, which multiplies as C does: what overflows is left open */
INLINE u32 mul24_u32(u32 a, u32 b)
{
    u32 d;
    asm("mul24.lo.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
INLINE i32 mul24_i32(i32 a, i32 b)
{
    i32 d;
    asm("mul24.lo.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
INLINE u32 funnel_l(u32 a, u32 b, u32 n)
{
    return __funnelshift_l(a, b, n);
}
INLINE u32 funnel_r(u32 a, u32 b, u32 n)
{
    return __funnelshift_r(a, b, n);
}
INLINE u32 funnel_lc(u32 a, u32 b, u32 n)
{
    return __funnelshift_lc(a, b, n);
}
INLINE u32 funnel_rc(u32 a, u32 b, u32 n)
{
    return __funnelshift_rc(a, b, n);
}
INLINE u32 dot4(u32 a, u32 b, u32 c)
{
    return __dp4a(a, b, c);
}
INLINE u32 vadd4(u32 a, u32 b)
{
    return __vadd4(a, b);
}
INLINE u32 vmaxs2(u32 a, u32 b)
{
    return __vmaxs2(a, b);
}
INLINE u32 vabsdiffu4(u32 a, u32 b)
{
    return __vabsdiffu4(a, b);
}
INLINE u32 vcmpgtu4(u32 a, u32 b)
{
    return __vcmpgtu4(a, b);
}
INLINE u32 bfe(u32 a, u32 at, u32 n)
{
    u32 d;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(at & 255), "r"(n & 255));
    return d;
}
INLINE u64 bfe_s64(u64 a, u32 at, u32 n)
{
    u64 d;
    asm("bfe.s64 %0, %1, %2, %3;" : "=l"(d) : "l"(a), "r"(at & 255), "r"(n & 255));
    return d;
}
INLINE u32 bfi(u32 a, u32 b, u32 at, u32 n)
{
    u32 d;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(at & 255), "r"(n & 255));
    return d;
}
INLINE u32 bfind(u32 a)
{
    u32 d;
    asm("bfind.u32 %0, %1;" : "=r"(d) : "r"(a));
    return d;
}
INLINE u32 bfind_shift(u64 a)
{
    u32 d;
    asm("bfind.shiftamt.u64 %0, %1;" : "=r"(d) : "l"(a));
    return d;
}
INLINE u32 prmt_f4e(u32 a, u32 b, u32 s)
{
    u32 d;
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(s));
    return d;
}
INLINE u32 prmt_rc16(u32 a, u32 b, u32 s)
{
    u32 d;
    asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(s));
    return d;
}
INLINE u32 lop3_or(u32 a, u32 b, u32 c) /* whether any bit is left, and one bit of it */
{
    u32 d;
    asm("{ .reg .pred p, q; setp.lt.u32 q, %1, %2; lop3.or.b32 %0|p, %1, %2, %3, 0x1e, q;\n\t"
        "@p xor.b32 %0, %0, 1; }"
        : "=r"(d)
        : "r"(a), "r"(b), "r"(c));
    return d;
}
INLINE u32 compare_both(i32 a, i32 b, f32 x, f32 y)
{
    u32 d;
    asm("{ .reg .pred p, q, r; setp.ltu.f32 r, %3, %4; setp.gt.xor.s32 p|q, %1, %2, r;\n\t"
        "selp.u32 %0, 5, 2, p; @q add.u32 %0, %0, 16; @!r shl.b32 %0, %0, 3; }"
        : "=r"(d)
        : "r"(a), "r"(b), "f"(x), "f"(y));
    return d;
}
INLINE u32 set_and(f64 a, f64 b, u32 c)
{
    u32 d;
    asm("{ .reg .pred p; setp.ne.u32 p, %3, 0; set.ge.and.u32.f64 %0, %1, %2, p; }"
        : "=r"(d)
        : "d"(a), "d"(b), "r"(c));
    return d;
}
INLINE u32 slct(u32 a, u32 b, i32 c)
{
    u32 d;
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
INLINE i32 add_sat(i32 a, i32 b)
{
    i32 d;
    asm("add.sat.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
INLINE u32 narrow_sat(i64 a)
{
    u32 d;
    asm("{ .reg .b16 t; cvt.sat.s8.s64 t, %1; cvt.s32.s8 %0, t; }" : "=r"(d) : "l"(a));
    return d;
}
INLINE u64 carry(u64 a, u64 b)
{
    u64 d;
    asm("{ .reg .b32 l, h, m, n; mov.b64 {l, h}, %1; mov.b64 {m, n}, %2;\n\t"
        "add.cc.u32 l, l, m; addc.cc.u32 h, h, n; addc.u32 m, 0, 0; xor.b32 l, l, m;\n\t"
        "mov.b64 %0, {h, l}; }"
        : "=l"(d)
        : "l"(a), "l"(b));
    return d;
}
INLINE u64 mad_wide_hi(u32 a, u32 b, u64 c)
{
    u64 d;
    asm("{ .reg .b32 h; mad.wide.u32 %0, %1, %2, %3; mul.hi.u32 h, %1, %2;\n\t"
        "cvt.u64.u32 %0, h; mad.lo.u64 %0, %0, %3, 3; }"
        : "=&l"(d)
        : "r"(a), "r"(b), "l"(c));
    return d;
}
#else
static inline u32 brev_u32(u32 a)
{
    u32 d = 0;
    for (u32 i = 0; i < 32; i++)
        d |= (a >> i & 1) << (31 - i);
    return d;
}
static inline u64 brev_u64(u64 a)
{
    return (u64)brev_u32((u32)a) << 32 | brev_u32((u32)(a >> 32));
}
static inline u32 byte_perm(u32 a, u32 b, u32 s)
{
    u64 both = (u64)b << 32 | a;
    u32 d = 0;
    for (u32 i = 0; i < 4; i++)
        d |= (u32)(both >> (s >> 4 * i & 7) * 8 & 255) << 8 * i;
    return d;
}
static inline u32 mulhi_u32(u32 a, u32 b)
{
    return (u32)((u64)a * b >> 32);
}
static inline i32 mulhi_i32(i32 a, i32 b)
{
    return (i32)((i64)a * b >> 32);
}
static inline u64 mulhi_u64(u64 a, u64 b)
{
    return (u64)((u128)a * b >> 64);
}
static inline i64 mulhi_i64(i64 a, i64 b)
{
    return (i64)((__int128)a * b >> 64);
}
static inline u32 sad_u32(u32 a, u32 b, u32 c)
{
    return (a < b ? b - a : a - b) + c;
}
static inline u32 sad_i32(i32 a, i32 b, u32 c)
{
    return (a < b ? (u32)b - (u32)a : (u32)a - (u32)b) + c;
}
static inline u32 mul24_u32(u32 a, u32 b)
{
    return (a & 0xffffff) * (b & 0xffffff);
}
static inline i32 mul24_i32(i32 a, i32 b)
{
    return (i32)((u32)((i32)((u32)a << 8) >> 8) * (u32)((i32)((u32)b << 8) >> 8));
}
static inline u32 funnel_l(u32 a, u32 b, u32 n)
{
    return (u32)(((u64)b << 32 | a) << (n & 31) >> 32);
}
static inline u32 funnel_r(u32 a, u32 b, u32 n)
{
    return (u32)(((u64)b << 32 | a) >> (n & 31));
}
static inline u32 funnel_lc(u32 a, u32 b, u32 n)
{
    return (u32)(((u64)b << 32 | a) << (n < 32 ? n : 32) >> 32);
}
static inline u32 funnel_rc(u32 a, u32 b, u32 n)
{
    return (u32)(((u64)b << 32 | a) >> (n < 32 ? n : 32));
}
#define EACH(bits, value)                                                                          \
    u32 d = 0;                                                                                     \
    for (u32 i = 0; i < 32; i += bits) {                                                           \
        u32 x = a >> i & ((1u << bits) - 1), y = b >> i & ((1u << bits) - 1);                      \
        d |= ((u32)(value) & ((1u << bits) - 1)) << i;                                             \
    }                                                                                              \
    return d
static inline u32 dot4(u32 a, u32 b, u32 c)
{
    for (u32 i = 0; i < 32; i += 8)
        c += (a >> i & 255) * (b >> i & 255);
    return c;
}
static inline u32 vadd4(u32 a, u32 b)
{
    EACH(8, x + y);
}
static inline u32 vmaxs2(u32 a, u32 b)
{
    EACH(16, (i16)x > (i16)y ? x : y);
}
static inline u32 vabsdiffu4(u32 a, u32 b)
{
    EACH(8, x > y ? x - y : y - x);
}
static inline u32 vcmpgtu4(u32 a, u32 b)
{
    EACH(8, x > y ? 255 : 0);
}
static inline u32 bfe(u32 a, u32 at, u32 n)
{
    at &= 255, n &= 255;
    u64 field = at < 32 ? a >> at : 0;
    return (u32)(n < 32 ? field & ((1u << n) - 1) : field);
}
static inline u64 bfe_s64(u64 a, u32 at, u32 n)
{
    at &= 255, n &= 255;
    u32 sign = at + n - 1 < 63 ? at + n - 1 : 63;
    u64 ones = n && a >> sign & 1 ? ~(u64)0 : 0, d = 0;
    for (u32 i = 0; i < 64; i++)
        d |= (i < n && at + i < 64 ? a >> (at + i) & 1 : ones & 1) << i;
    return d;
}
static inline u32 bfi(u32 a, u32 b, u32 at, u32 n)
{
    at &= 255, n &= 255;
    for (u32 i = 0; i < n && at + i < 32; i++)
        b = (b & ~(1u << (at + i))) | (a >> i & 1) << (at + i);
    return b;
}
static inline u32 bfind(u32 a)
{
    return a ? 31 - (u32)__builtin_clz(a) : ~0u;
}
static inline u32 bfind_shift(u64 a)
{
    return a ? (u32)__builtin_clzll(a) : ~0u;
}
static inline u32 prmt_f4e(u32 a, u32 b, u32 s)
{
    return byte_perm(a, b, 0x3210 + (s & 3) * 0x1111);
}
static inline u32 prmt_rc16(u32 a, u32 b, u32 s)
{
    (void)b;
    return s & 1 ? a >> 16 | (a & 0xffff0000u) : (a & 0xffff) | a << 16;
}
static inline u32 lop3_or(u32 a, u32 b, u32 c)
{
    u32 d = a ^ (b | c);
    return d != 0 || a < b ? d ^ 1 : d;
}
static inline u32 compare_both(i32 a, i32 b, f32 x, f32 y)
{
    bool r = !(x >= y), p = (a > b) ^ r, q = !(a > b) ^ r;
    u32 d = (p ? 5 : 2) + (q ? 16 : 0);
    return r ? d : d << 3;
}
static inline u32 set_and(f64 a, f64 b, u32 c)
{
    return a >= b && c ? ~0u : 0;
}
static inline u32 slct(u32 a, u32 b, i32 c)
{
    return c >= 0 ? a : b;
}
static inline i32 add_sat(i32 a, i32 b)
{
    i64 d = (i64)a + b;
    return (i32)(d > INT32_MAX ? INT32_MAX : d < INT32_MIN ? INT32_MIN : d);
}
static inline u32 narrow_sat(i64 a)
{
    return (u32)(a > 127 ? 127 : a < -128 ? -128 : a);
}
static inline u64 carry(u64 a, u64 b)
{
    u64 d = a + b;
    return d >> 32 | ((d & 0xffffffffu) ^ (d < a)) << 32;
}
static inline u64 mad_wide_hi(u32 a, u32 b, u64 c)
{
    return ((u64)a * b >> 32) * c + 3;
}
#endif
/* clang-format on */

#endif
