/* Lanes that part and meet in every way: nested branches, early exits and returns, warp barriers in different places. */
#include "corpus.h"

#ifdef DEVICE_CODE
__device__ __noinline__ int choose(int x)
{
    if (x % 5 == 0)
        return -x;
    for (int i = 0; i < x % 7; i++)
        if (i * x % 11 == 3)
            return i;
    return x % 2 ? x * 3 : x / 2;
}

KERNEL divergence(const int *in, int *out, int *votes)
{
    int i = INDEX, x = in[i], r = 0;
    if (x % 13 == 12) {
        out[i] = -1;
        return;
    }
    if (x & 1) {
        if (x & 2)
            r += choose(x);
        else
            for (int k = 0; k < x % 6; k++)
                r += k & 1 ? choose(x + k) : k;
        r ^= 5;
    } else {
        int k = x;
        do {
            k = k & 1 ? 3 * k + 1 : k / 2;
            r++;
            if (r > 60)
                break;
        } while (k > 1);
    }
    out[i] = r + choose(r);
    if (votes && i < 32) { /* the halves wait for each other in different places */
        if (i < 16) {
            __syncwarp(0xffffffffu);
            votes[i] = __ballot_sync(0x0000ffffu, i & 1);
        } else {
            votes[i] = __ballot_sync(0xffff0000u, i % 3 == 0);
            __syncwarp(0xffffffffu);
        }
        votes[32 + i] = __any_sync(0xffffffffu, i == 31) + __shfl_sync(0xffffffffu, i, 31 - i);
    }
}
#else
static int choose(int x)
{
    if (x % 5 == 0)
        return -x;
    for (int i = 0; i < x % 7; i++)
        if (i * x % 11 == 3)
            return i;
    return x % 2 ? x * 3 : x / 2;
}

CASE(divergence)
{
    enum { N = 256 };
    int in[N], want[N], got[N], votes[64], got_votes[64];

    for (int i = 0; i < N; i++) {
        int x = in[i] = (int)(random_u32() % 10000), r = 0;
        if (i < 32 && x % 13 == 12)
            x = in[i] = 1;
        want[i] = -1;
        if (x % 13 == 12)
            continue;
        if (x & 1) {
            if (x & 2)
                r += choose(x);
            else
                for (int k = 0; k < x % 6; k++)
                    r += k & 1 ? choose(x + k) : k;
            r ^= 5;
        } else {
            int k = x;
            do {
                k = k & 1 ? 3 * k + 1 : k / 2;
                r++;
                if (r > 60)
                    break;
            } while (k > 1);
        }
        want[i] = r + choose(r);
    }
    for (int i = 0; i < 32; i++) {
        votes[i] = i < 16 ? 0xaaaa : (int)0x49240000u;
        votes[32 + i] = 1 + 31 - i;
    }
    device_ptr din = upload(in, sizeof in), dout = zeros(sizeof want), dv = zeros(sizeof votes);
    RUN("divergence", 4, 64, &din, &dout, &dv);
    download(got, dout, sizeof got);
    download(got_votes, dv, sizeof votes);
    expect_bytes(got, want, sizeof got);
    expect_bytes(got_votes, votes, sizeof votes);
}
#endif
