/* cp.async with groups, cuda::barrier-like mbarriers, named barriers between producers and consumers. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL pipelined(const int *in, int *out, int tiles)
{
    __shared__ __align__(16) int s[2][128];
    int t = threadIdx.x, sum = 0;
    unsigned to[2] = {(unsigned)__cvta_generic_to_shared(&s[0][t * 4]), (unsigned)__cvta_generic_to_shared(&s[1][t * 4])};
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.commit_group;" ::"r"(to[0]), "l"(in + t * 4));
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to[(k + 1) % 2]), "l"(in + (k + 1) * 128 + t * 4),
                         "r"(k + 2 < tiles ? 16 : 8));
        asm volatile("cp.async.commit_group;\ncp.async.wait_group 1;");
        __syncthreads();
        for (int i = 0; i < 4; i++)
            sum += s[k % 2][(t * 4 + i + 13) % 128] * (k + 1);
        __syncthreads();
    }
    out[t] = sum;
}

KERNEL produce_consume(const int *in, int *out, int rounds)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        if (t < 64) { /* two warps write, two read */
            asm volatile("barrier.sync 1, 128;" ::: "memory");
            box[t] = in[r * 64 + t] * 3;
            asm volatile("barrier.arrive 2, 128;" ::: "memory");
        } else {
            asm volatile("barrier.arrive 1, 128;" ::: "memory");
            asm volatile("barrier.sync 2, 128;" ::: "memory");
            out[r * 64 + t - 64] = box[(t + 5) % 64];
        }
    }
    int odd = __syncthreads_count(t & 1), any = __syncthreads_or(t == 77), all = __syncthreads_and(t < 127);
    if (t == 0)
        out[rounds * 64] = odd * 100 + (any != 0) * 10 + (all != 0);
}

KERNEL arrive_wait(const int *in, int *out)
{
    __shared__ unsigned long long bar;
    __shared__ int s[96];
    int t = threadIdx.x;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 96;" ::"r"(at));
    __syncthreads();
    int v = in[t];
    for (unsigned phase = 0; phase < 4; phase++) {
        unsigned long long state;
        unsigned done = 0;
        s[t] = v;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
        while (!done)
            asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                         : "=r"(done) : "r"(at), "l"(state) : "memory");
        v += s[(t + 1) % 96];
        __syncthreads();
    }
    out[t] = v;
}
#else
CASE(async_copies)
{
    int tiles = 5, rounds = 6, in[5 * 128], want[512], got[512];

    for (int i = 0; i < 5 * 128; i++)
        in[i] = (int)(random_u32() % 1000);
    device_ptr din = upload(in, sizeof in), dout = zeros(sizeof want);
    for (int t = 0; t < 32; t++) {
        want[t] = 0;
        for (int k = 0; k < tiles; k++)
            for (int i = 0; i < 4; i++) {
                int at = (t * 4 + i + 13) % 128;
                want[t] += (k == tiles - 1 && at % 4 >= 2 ? 0 : in[k * 128 + at]) * (k + 1);
            }
    }
    RUN("pipelined", 1, 32, &din, &dout, &tiles);
    download(got, dout, sizeof got);
    expect_bytes(got, want, 4 * 32);

    for (int i = 0; i < rounds * 64; i++)
        want[i] = in[i / 64 * 64 + (i % 64 + 5) % 64] * 3;
    want[rounds * 64] = 64 * 100 + 10;
    RUN("produce_consume", 1, 128, &din, &dout, &rounds);
    download(got, dout, sizeof got);
    expect_bytes(got, want, 4 * (rounds * 64 + 1));

    int v[96], next[96];
    memcpy(v, in, sizeof v);
    for (int phase = 0; phase < 4; phase++) {
        for (int t = 0; t < 96; t++)
            next[t] = v[t] + v[(t + 1) % 96];
        memcpy(v, next, sizeof v);
    }
    RUN("arrive_wait", 1, 96, &din, &dout);
    download(got, dout, sizeof got);
    expect_bytes(got, v, sizeof v);
}
#endif
