/* Templates, constexpr, functors, variadic packs. */
#include "corpus.h"

#ifdef DEVICE_CODE
template <int N> struct power {
    template <class T> __device__ static T of(T x) { return x * power<N - 1>::of(x); }
};
template <> struct power<0> {
    template <class T> __device__ static T of(T) { return 1; }
};
template <class T> __device__ T sum(T x) { return x; }
template <class T, class... R> __device__ T sum(T x, R... rest) { return x + sum<T>(rest...); }

struct scale {
    int by;
    __device__ int operator()(int x) const { return x * by; }
};
template <class F> __device__ void map(int *data, F f) { data[INDEX] = f(data[INDEX]); }

KERNEL templates(int *a, long long *b)
{
    int i = INDEX;
    b[i] = power<5>::of((long long)a[i]) + sum(1ll, 2, (short)3, 4u);
    map(a, scale{3});
}
#else
CASE(templates)
{
    enum { N = 96 };
    int a[N], got_a[N], want_a[N];
    long long want_b[N], got_b[N];

    for (int i = 0; i < N; i++) {
        a[i] = (int)(random_u32() % 2000) - 1000;
        long long x = a[i];
        want_b[i] = x * x * x * x * x + 10;
        want_a[i] = a[i] * 3;
    }
    device_ptr da = upload(a, sizeof a), db = zeros(sizeof want_b);
    RUN("templates", 3, 32, &da, &db);
    download(got_a, da, sizeof got_a);
    download(got_b, db, sizeof got_b);
    expect_bytes(got_a, want_a, sizeof got_a);
    expect_bytes(got_b, want_b, sizeof got_b);
}
#endif
