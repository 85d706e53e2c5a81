/* mma.sync and ldmatrix in inline PTX, with the fragments spelled out: f16, bf16, tf32, s8. */
#include "corpus.h"

#ifdef DEVICE_CODE
#include <cuda_fp16.h>

KERNEL mma_f16(const __half *a, const __half *b, float *c)
{
    __shared__ __align__(16) __half s[16 * 16], t[16 * 8];
    unsigned lane = threadIdx.x, ra[4], rb[2];
    float d[4] = {0, 0, 0, 0};
    for (int i = lane; i < 256; i += 32)
        s[i] = a[i];
    for (int i = lane; i < 128; i += 32)
        t[i] = b[i];
    __syncwarp();
    unsigned pa = __cvta_generic_to_shared(&s[lane % 16 * 16 + lane / 16 * 8]);
    unsigned pb = __cvta_generic_to_shared(&t[lane % 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (int i = 0; i < 4; i++)
        c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}

KERNEL mma_tf32(const float *a, const float *b, float *c)
{
    unsigned lane = threadIdx.x, g = lane / 4, t = lane % 4, ra[4], rb[2];
    float d[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++)
        ra[i] = __float_as_uint(a[(g + i % 2 * 8) * 8 + t + i / 2 * 4]);
    for (int i = 0; i < 2; i++)
        rb[i] = __float_as_uint(b[(t + i * 4) * 8 + g]);
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (int i = 0; i < 4; i++)
        c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}

KERNEL mma_s8(const signed char *a, const signed char *b, int *c)
{
    unsigned lane = threadIdx.x, g = lane / 4, t = lane % 4, ra[4], rb[2];
    int d[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++)
        ra[i] = *(const unsigned *)&a[(g + i % 2 * 8) * 32 + t * 4 + i / 2 * 16];
    for (int i = 0; i < 2; i++)
        rb[i] = *(const unsigned *)&b[g * 32 + t * 4 + i * 16]; /* B by columns */
    asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (int i = 0; i < 4; i++)
        c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
#else
static unsigned short small_half(int x) /* |x| < 2048 */
{
    unsigned m = (unsigned)abs(x), e = m ? 31 - (unsigned)__builtin_clz(m) : 0;

    return (unsigned short)(m ? (x < 0 ? 0x8000u : 0) | (e + 15) << 10 | (m << (10 - e) & 1023) : 0);
}

CASE(mma_ldmatrix)
{
    unsigned short ha[256], hb[128];
    float a[256], b[128], want[128], got[128];
    signed char p[512], q[256];
    int sums[128], out[128];

    for (int i = 0; i < 256; i++)
        a[i] = (float)((int)(random_u32() % 65) - 32), ha[i] = small_half((int)a[i]);
    for (int i = 0; i < 128; i++)
        b[i] = (float)((int)(random_u32() % 65) - 32), hb[i] = small_half((int)b[i]);
    for (int i = 0; i < 128; i++) {
        want[i] = 0;
        for (int k = 0; k < 16; k++)
            want[i] += a[i / 8 * 16 + k] * b[k * 8 + i % 8];
    }
    device_ptr da = upload(ha, sizeof ha), db = upload(hb, sizeof hb), dc = zeros(sizeof want);
    RUN("mma_f16", 1, 32, &da, &db, &dc);
    download(got, dc, sizeof got);
    expect_f32(got, want, 128, 0, 0);

    for (int i = 0; i < 128; i++) {
        want[i] = (float)(1 + i / 64 * 2 + i % 2);
        for (int k = 0; k < 8; k++)
            want[i] += a[i / 8 * 8 + k] * b[k * 8 + i % 8];
    }
    da = upload(a, sizeof a), db = upload(b, sizeof b);
    RUN("mma_tf32", 1, 32, &da, &db, &dc);
    download(got, dc, sizeof got);
    expect_f32(got, want, 128, 0, 0);

    for (int i = 0; i < 512; i++)
        p[i] = (signed char)random_u32(), q[i % 256] = (signed char)random_u32();
    for (int i = 0; i < 128; i++) {
        sums[i] = 0;
        for (int k = 0; k < 32; k++)
            sums[i] += p[i / 8 * 32 + k] * q[i % 8 * 32 + k];
    }
    da = upload(p, sizeof p), db = upload(q, sizeof q);
    RUN("mma_s8", 1, 32, &da, &db, &dc);
    download(out, dc, sizeof out);
    expect_bytes(out, sums, sizeof out);
}
#endif
