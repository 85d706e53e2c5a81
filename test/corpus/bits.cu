/* Counting and moving bits: popc, clz, ffs, brev, byte_perm, funnel shifts, dp4a. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL bits(const unsigned *a, const unsigned *b, unsigned *out)
{
    int i = INDEX;
    unsigned x = a[i], y = b[i], *o = out + 12 * i;
    unsigned long long wide = (unsigned long long)x << 32 | y;
    o[0] = __popc(x) + 100 * __popcll(wide);
    o[1] = __clz(x) + 100 * __clzll(wide);
    o[2] = __ffs(x) + 100 * __ffsll(wide);
    o[3] = __brev(x) ^ (unsigned)__brevll(wide);
    o[4] = __byte_perm(x, y, i * 0x1357);
    o[5] = __funnelshift_l(x, y, i) + __funnelshift_rc(x, y, i);
    o[6] = __dp4a((int)x, (int)y, i) + __dp4a(x, y, (unsigned)i);
    o[7] = (x >> (i & 31)) | (x << (32 - (i & 31)));
    o[8] = (x & ~y) | (~x & y & 0xff00ff00) | (x ^ i);
    o[9] = (unsigned)__vadd4(x, y) ^ __vabsdiffu4(x, y) ^ __vcmpgtu2(x, y);
    o[10] = (x >> 5 & 0x1ff) | (unsigned)((int)(y << 7) >> 20);
    o[11] = __uint_as_float(0x3f800000 | (x & 0x7fffff)) > 1.5f;
}
#else
static uint64_t reverse(uint64_t x, int n)
{
    uint64_t r = 0;
    for (int i = 0; i < n; i++)
        r |= (x >> i & 1) << (n - 1 - i);
    return r;
}

CASE(bits)
{
    enum { N = 128 };
    uint32_t a[N], b[N], want[12 * N], got[12 * N];

    for (int i = 0; i < N; i++) {
        uint32_t x = a[i] = i ? random_u32() >> (i % 9 * 3) : 0, y = b[i] = i ? random_u32() : 0, *o = want + 12 * i;
        uint64_t wide = (uint64_t)x << 32 | y, pool = (uint64_t)y << 32 | x;
        int s = i & 31, dot = 0;
        unsigned udot = 0, add = 0, diff = 0, gt = 0;
        o[0] = (uint32_t)__builtin_popcount(x) + 100u * (uint32_t)__builtin_popcountll(wide);
        o[1] = (uint32_t)(x ? __builtin_clz(x) : 32) + 100u * (uint32_t)(wide ? __builtin_clzll(wide) : 64);
        o[2] = (uint32_t)__builtin_ffs((int)x) + 100u * (uint32_t)__builtin_ffsll((long long)wide);
        o[3] = (uint32_t)reverse(x, 32) ^ (uint32_t)reverse(wide, 64);
        o[4] = 0;
        for (int k = 0; k < 4; k++) /* __byte_perm looks at three bits of each selector */
            o[4] |= (uint32_t)(pool >> ((uint32_t)(i * 0x1357) >> 4 * k & 7) * 8 & 255) << 8 * k;
        o[5] = (uint32_t)(pool << s >> 32) + (i >= 32 ? y : (uint32_t)(pool >> s));
        for (int k = 0; k < 4; k++) {
            unsigned p = x >> 8 * k & 255, q = y >> 8 * k & 255;
            dot += (int8_t)p * (int8_t)q;
            udot += p * q;
            add |= ((p + q) & 255) << 8 * k;
            diff |= (p > q ? p - q : q - p) << 8 * k;
        }
        for (int k = 0; k < 2; k++)
            gt |= (x >> 16 * k & 0xffff) > (y >> 16 * k & 0xffff) ? 0xffffu << 16 * k : 0;
        o[6] = (uint32_t)(dot + i) + udot + (uint32_t)i;
        o[7] = s ? x >> s | x << (32 - s) : x;
        o[8] = (x & ~y) | (~x & y & 0xff00ff00) | (x ^ (uint32_t)i);
        o[9] = add ^ diff ^ gt;
        o[10] = (x >> 5 & 0x1ff) | (uint32_t)((int)(y << 7) >> 20);
        o[11] = (x & 0x7fffff) > 0x400000;
    }
    device_ptr da = upload(a, sizeof a), db = upload(b, sizeof b), dout = zeros(sizeof want);
    RUN("bits", 4, 32, &da, &db, &dout);
    download(got, dout, sizeof got);
    expect_u32(got, want, 12 * N);
}
#endif
