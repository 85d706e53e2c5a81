/* Every atomic of 32 and 64 bits, in global and shared memory, f32 and f64 sums. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL atomics(unsigned *u, int *s, unsigned long long *w, float *f, double *d, const unsigned *in)
{
    __shared__ unsigned local[4];
    unsigned x = in[INDEX];
    if (threadIdx.x < 4)
        local[threadIdx.x] = threadIdx.x == 2 ? 0xffffffffu : 0;
    __syncthreads();
    atomicAdd(&u[0], x);
    atomicSub(&u[1], x);
    atomicAnd(&u[2], x | 0xff);
    atomicOr(&u[3], x & 0xff00);
    atomicXor(&u[4], x);
    atomicMin(&u[5], x);
    atomicMax(&u[6], x);
    atomicInc(&u[7], 99);
    atomicDec(&u[8], 49);
    atomicMin(&s[0], (int)x);
    atomicMax(&s[1], (int)x);
    atomicAdd(&w[0], (unsigned long long)x << 8);
    atomicMax(&w[1], (unsigned long long)x * x);
    atomicMin((long long *)&w[2], -(long long)x);
    atomicXor(&w[3], (unsigned long long)x << 20);
    atomicAdd(f, 0.5f);
    atomicAdd(d, (double)x);
    atomicAdd(&local[0], 1u);
    atomicMax(&local[1], x);
    atomicMin(&local[2], x);
    atomicAdd((float *)&local[3], 1.0f);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&u[9], local[0]);
        atomicMax(&u[10], local[1]);
        atomicMin(&u[11], local[2]);
        atomicAdd(&u[12], (unsigned)*(float *)&local[3]);
    }
    /* a maximum of floats by compare-and-swap */
    unsigned old = u[13], assumed;
    do {
        assumed = old;
        old = atomicCAS(&u[13], assumed, __float_as_uint(fmaxf(__uint_as_float(assumed), (float)(x >> 8))));
    } while (old != assumed);
}
#else
CASE(atomics)
{
    enum { BLOCKS = 5, THREADS = 96, N = BLOCKS * THREADS };
    uint32_t in[N], u[14] = {0}, got[14];
    int s[2] = {0}, gs[2];
    uint64_t w[4] = {0}, gw[4];
    double d = 0, gd;
    float f, highest = 0;

    u[2] = u[5] = u[11] = 0xffffffffu;
    device_ptr du = upload(u, sizeof u), ds = zeros(sizeof s), dw = zeros(sizeof w), df = zeros(4), dd = zeros(8);
    for (int i = 0; i < N; i++) {
        uint32_t x = in[i] = random_u32();
        u[0] += x, u[1] -= x, u[2] &= x | 0xff, u[3] |= x & 0xff00, u[4] ^= x;
        u[5] = x < u[5] ? x : u[5];
        u[6] = x > u[6] ? x : u[6];
        u[7] = u[7] >= 99 ? 0 : u[7] + 1;
        u[8] = u[8] == 0 || u[8] > 49 ? 49 : u[8] - 1;
        s[0] = (int)x < s[0] ? (int)x : s[0];
        s[1] = (int)x > s[1] ? (int)x : s[1];
        w[0] += (uint64_t)x << 8;
        w[1] = (uint64_t)x * x > w[1] ? (uint64_t)x * x : w[1];
        w[2] = -(int64_t)x < (int64_t)w[2] ? (uint64_t)-(int64_t)x : w[2];
        w[3] ^= (uint64_t)x << 20;
        d += x;
        highest = (float)(x >> 8) > highest ? (float)(x >> 8) : highest;
    }
    u[9] = u[12] = N, u[10] = u[6], u[11] = u[5];
    memcpy(&u[13], &highest, 4);
    device_ptr din = upload(in, sizeof in);
    RUN("atomics", BLOCKS, THREADS, &du, &ds, &dw, &df, &dd, &din);
    download(got, du, sizeof got);
    download(gs, ds, sizeof gs);
    download(gw, dw, sizeof gw);
    download(&f, df, 4);
    download(&gd, dd, 8);
    expect_u32(got, u, 14);
    expect_bytes(gs, s, sizeof s);
    expect_bytes(gw, w, sizeof w);
    expect_f32(&f, (float[]){N / 2.0f}, 1, 0, 0);
    expect_f64(&gd, &d, 1, 0, 0);
}
#endif
