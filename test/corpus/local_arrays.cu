/* Arrays in local memory: indexed at run time, addressed through pointers, passed on. */
#include "corpus.h"

#ifdef DEVICE_CODE
__device__ __noinline__ int walk(const int *a, int n, int start)
{
    int at = start, sum = 0;
    for (int i = 0; i < n; i++) {
        at = a[at];
        sum += at * (i + 1);
    }
    return sum;
}

KERNEL local_arrays(const int *seed, int *out, double *sums)
{
    int next[24], t = INDEX;
    unsigned char bytes[40];
    double d[5] = {};
    for (int i = 0; i < 24; i++)
        next[i] = (i * seed[t] + t) % 24;
    for (int i = 0; i < 40; i++)
        bytes[(i * 7 + t) % 40] = (unsigned char)(i * t);
    int *end = &next[t % 24], sum = walk(next, 30, t % 24);
    for (int *p = next; p != end; p++)
        sum += *p;
    for (int i = 0; i < 40; i++) {
        sum = sum * 31 + bytes[i];
        d[bytes[i] % 5] += i * 0.5;
    }
    out[t] = sum;
    sums[t] = d[t % 5];
}
#else
CASE(local_arrays)
{
    enum { N = 96 };
    int seed[N], got[N];
    double got_sums[N];

    for (int i = 0; i < N; i++)
        seed[i] = (int)(random_u32() % 1000);
    device_ptr ds = upload(seed, sizeof seed), dout = zeros(sizeof got), dd = zeros(sizeof got_sums);
    RUN("local_arrays", 3, 32, &ds, &dout, &dd);
    download(got, dout, sizeof got);
    download(got_sums, dd, sizeof got_sums);
    for (int t = 0; t < N; t++) {
        int next[24], at = t % 24;
        unsigned sum = 0;
        unsigned char bytes[40];
        double d[5] = {0};
        for (int i = 0; i < 24; i++)
            next[i] = (i * seed[t] + t) % 24;
        for (int i = 0; i < 40; i++)
            bytes[(i * 7 + t) % 40] = (unsigned char)(i * t);
        for (int i = 0; i < 30; i++)
            sum += (unsigned)((at = next[at]) * (i + 1));
        for (int i = 0; i < t % 24; i++)
            sum += (unsigned)next[i];
        for (int i = 0; i < 40; i++) {
            sum = sum * 31 + bytes[i];
            d[bytes[i] % 5] += i * 0.5;
        }
        expect_u32((uint32_t *)&got[t], &sum, 1);
        expect_f64(&got_sums[t], &d[t % 5], 1, 0, 0);
    }
}
#endif
