/* 64-bit arithmetic, division and remainder of every width and sign, high products, saturation. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL integers(const long long *a, const long long *b, long long *out)
{
    int i = INDEX;
    long long x = a[i], y = b[i];
    unsigned long long u = x, v = y;
    long long *o = out + 16 * i;
    o[0] = x / y;
    o[1] = x % y;
    o[2] = u / v;
    o[3] = u % v;
    o[4] = (int)x / (int)(y | 1);
    o[5] = (unsigned)x % (unsigned)(y | 1);
    o[6] = (short)x / (short)(y | 1);
    o[7] = __mul64hi(x, y);
    o[8] = __umul64hi(u, v);
    o[9] = __mulhi((int)x, (int)y);
    o[10] = __umulhi((unsigned)x, (unsigned)y);
    o[11] = x * y + (x >> (y & 63)) + (u >> (y & 63)) + (x << (y & 63));
    o[12] = (signed char)x * (unsigned char)y;
    o[13] = __sad((int)x, (int)y, 7u) + __usad((unsigned)x, (unsigned)y, 9u);
    o[14] = min(x, y) ^ max(u, v);
    o[15] = __mul24((int)x, (int)y) + __hadd((int)x, (int)y) + __rhadd((int)x, (int)y);
}
#else
static int mul24(int a, int b)
{
    return (int)(unsigned)((long long)(int)((unsigned)a << 8) / 256 * ((long long)(int)((unsigned)b << 8) / 256));
}

CASE(integers)
{
    enum { N = 256 };
    long long a[N], b[N], *want = scratch(8 * 16 * N), *got = scratch(8 * 16 * N);

    for (int i = 0; i < N; i++) {
        a[i] = (long long)((uint64_t)random_u32() << 32 | random_u32()) >> (i % 5 * 8);
        b[i] = (long long)((uint64_t)random_u32() << 32 | random_u32()) >> (i % 7 * 8);
        if (b[i] == 0)
            b[i] = 3;
        long long x = a[i], y = b[i], *o = want + 16 * i;
        uint64_t u = (uint64_t)x, v = (uint64_t)y, s = v & 63;
        o[0] = x / y;
        o[1] = x % y;
        o[2] = (long long)(u / v);
        o[3] = (long long)(u % v);
        o[4] = (long long)(int)x / (int)(y | 1);
        o[4] = (int)o[4];
        o[5] = (unsigned)x % (unsigned)(y | 1);
        o[6] = (short)x / (short)(y | 1);
        o[7] = (long long)(((__int128)x * y) >> 64);
        o[8] = (long long)(((unsigned __int128)u * v) >> 64);
        o[9] = (int)(((long long)(int)x * (int)y) >> 32);
        o[10] = (unsigned)(((uint64_t)(unsigned)x * (unsigned)y) >> 32);
        o[11] = (long long)(u * v + (uint64_t)(x >> s) + (u >> s) + (u << s));
        o[12] = (signed char)x * (unsigned char)y;
        unsigned p = (unsigned)x, q = (unsigned)y;
        o[13] = (unsigned)(((int)x > (int)y ? p - q : q - p) + 7u + (p > q ? p - q : q - p) + 9u);
        o[14] = (long long)((uint64_t)(x < y ? x : y) ^ (u > v ? u : v));
        o[15] = (int)((unsigned)mul24((int)x, (int)y) + (unsigned)(((long long)(int)x + (int)y) >> 1) +
                      (unsigned)(((long long)(int)x + (int)y + 1) >> 1));
    }
    device_ptr da = upload(a, sizeof a), db = upload(b, sizeof b), dout = zeros(8 * 16 * N);
    RUN("integers", 4, 64, &da, &db, &dout);
    download(got, dout, 8 * 16 * N);
    for (int i = 0; i < 16 * N; i++)
        expect_bytes(&got[i], &want[i], 8);
}
#endif
