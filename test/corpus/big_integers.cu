/* Products and sums of 256-bit integers with carry chains in inline PTX, against __int128 by hand. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL add256(const unsigned *a, const unsigned *b, unsigned *sum, unsigned *difference)
{
    int i = INDEX * 8;
    unsigned s[9], d[9];
    asm("add.cc.u32 %0, %9, %17;\naddc.cc.u32 %1, %10, %18;\naddc.cc.u32 %2, %11, %19;\naddc.cc.u32 %3, %12, %20;\n"
        "addc.cc.u32 %4, %13, %21;\naddc.cc.u32 %5, %14, %22;\naddc.cc.u32 %6, %15, %23;\naddc.cc.u32 %7, %16, %24;\naddc.u32 %8, 0, 0;"
        : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3]), "=r"(s[4]), "=r"(s[5]), "=r"(s[6]), "=r"(s[7]), "=r"(s[8])
        : "r"(a[i]), "r"(a[i + 1]), "r"(a[i + 2]), "r"(a[i + 3]), "r"(a[i + 4]), "r"(a[i + 5]), "r"(a[i + 6]), "r"(a[i + 7]),
          "r"(b[i]), "r"(b[i + 1]), "r"(b[i + 2]), "r"(b[i + 3]), "r"(b[i + 4]), "r"(b[i + 5]), "r"(b[i + 6]), "r"(b[i + 7]));
    asm("sub.cc.u32 %0, %9, %17;\nsubc.cc.u32 %1, %10, %18;\nsubc.cc.u32 %2, %11, %19;\nsubc.cc.u32 %3, %12, %20;\n"
        "subc.cc.u32 %4, %13, %21;\nsubc.cc.u32 %5, %14, %22;\nsubc.cc.u32 %6, %15, %23;\nsubc.cc.u32 %7, %16, %24;\nsubc.u32 %8, 0, 0;"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7]), "=r"(d[8])
        : "r"(a[i]), "r"(a[i + 1]), "r"(a[i + 2]), "r"(a[i + 3]), "r"(a[i + 4]), "r"(a[i + 5]), "r"(a[i + 6]), "r"(a[i + 7]),
          "r"(b[i]), "r"(b[i + 1]), "r"(b[i + 2]), "r"(b[i + 3]), "r"(b[i + 4]), "r"(b[i + 5]), "r"(b[i + 6]), "r"(b[i + 7]));
    for (int k = 0; k < 9; k++) {
        sum[INDEX * 9 + k] = s[k];
        difference[INDEX * 9 + k] = d[k];
    }
}

KERNEL mul128(const unsigned *a, const unsigned *b, unsigned *out)
{
    int i = INDEX;
    unsigned r[8] = {};
    for (int j = 0; j < 4; j++) {
        unsigned carry = 0;
        for (int k = 0; k < 4; k++) {
            unsigned x = a[i * 8 + j], y = b[i * 8 + k];
            unsigned low, next;
            asm("mad.lo.cc.u32 %0, %2, %3, %4;\nmadc.hi.u32 %1, %2, %3, 0;\nadd.cc.u32 %0, %0, %5;\naddc.u32 %1, %1, 0;"
                : "=&r"(low), "=&r"(next) : "r"(x), "r"(y), "r"(r[j + k]), "r"(carry));
            r[j + k] = low;
            carry = next;
        }
        r[j + 4] = carry;
    }
    for (int k = 0; k < 8; k++)
        out[i * 8 + k] = r[k];
}
#else
CASE(big_integers)
{
    enum { N = 64 };
    uint32_t a[8 * N], b[8 * N], sum[9 * N], difference[9 * N], product[8 * N], got[9 * N];

    for (int i = 0; i < 8 * N; i++) {
        a[i] = i % 5 ? random_u32() : 0xffffffffu;
        b[i] = i % 7 ? random_u32() : 0xffffffffu;
    }
    for (int i = 0; i < N; i++) {
        uint64_t carry = 0, borrow = 0;
        for (int k = 0; k < 8; k++) {
            uint64_t s = (uint64_t)a[8 * i + k] + b[8 * i + k] + carry, d = (uint64_t)a[8 * i + k] - b[8 * i + k] - borrow;
            sum[9 * i + k] = (uint32_t)s, carry = s >> 32;
            difference[9 * i + k] = (uint32_t)d, borrow = d >> 63;
        }
        sum[9 * i + 8] = (uint32_t)carry;
        difference[9 * i + 8] = (uint32_t)(0 - borrow);
        uint32_t *p = product + 8 * i;
        memset(p, 0, 32);
        for (int j = 0; j < 4; j++) {
            uint64_t c = 0;
            for (int k = 0; k < 4; k++) {
                unsigned __int128 t = (unsigned __int128)a[8 * i + j] * b[8 * i + k] + p[j + k] + c;
                p[j + k] = (uint32_t)t;
                c = (uint64_t)(t >> 32);
            }
            p[j + 4] = (uint32_t)c;
        }
    }
    device_ptr da = upload(a, sizeof a), db = upload(b, sizeof b), ds = zeros(sizeof sum), dd = zeros(sizeof sum);
    RUN("add256", 2, 32, &da, &db, &ds, &dd);
    download(got, ds, sizeof sum);
    expect_u32(got, sum, 9 * N);
    download(got, dd, sizeof sum);
    expect_u32(got, difference, 9 * N);
    RUN("mul128", 2, 32, &da, &db, &ds);
    download(got, ds, sizeof product);
    expect_u32(got, product, 8 * N);
}
#endif
