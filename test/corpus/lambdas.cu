/* Lambdas with captures, passed to templates; a lambda chosen at run time. */
#include "corpus.h"

#ifdef DEVICE_CODE
template <class F> __device__ int fold(const int *a, int n, int start, F f)
{
    for (int i = 0; i < n; i++)
        start = f(start, a[i]);
    return start;
}

KERNEL lambdas(const int *a, int *out, int n)
{
    int t = threadIdx.x;
    auto add = [](int x, int y) { return x + y; };
    auto weigh = [t, n](int x, int y) { return x * (t + 1) + y * n; };
    int (*plain)(int, int) = [](int x, int y) { return x ^ (y << 1); };
    out[3 * t] = fold(a, n, 0, add);
    out[3 * t + 1] = fold(a, n, t, weigh);
    out[3 * t + 2] = fold(a, n, t, plain);
}
#else
CASE(lambdas)
{
    int n = 20, a[20], got[96], want[96];

    for (int i = 0; i < n; i++)
        a[i] = (int)(random_u32() % 1000);
    for (int t = 0; t < 32; t++) {
        unsigned x = 0, y = (unsigned)t, z = (unsigned)t;
        for (int i = 0; i < n; i++) {
            x += (unsigned)a[i];
            y = y * (unsigned)(t + 1) + (unsigned)(a[i] * n);
            z ^= (unsigned)a[i] << 1;
        }
        want[3 * t] = (int)x, want[3 * t + 1] = (int)y, want[3 * t + 2] = (int)z;
    }
    device_ptr da = upload(a, sizeof a), dout = zeros(sizeof want);
    RUN("lambdas", 1, 32, &da, &dout, &n);
    download(got, dout, sizeof got);
    expect_bytes(got, want, sizeof got);
}
#endif
