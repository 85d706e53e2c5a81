/* A radix-2 FFT of one block, with twiddles by sincospi. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL fft(float2 *data, int log2n)
{
    extern __shared__ float2 s[];
    int n = 1 << log2n, t = threadIdx.x;

    for (int i = t; i < n; i += blockDim.x)
        s[__brev(i) >> (32 - log2n)] = data[i];
    __syncthreads();
    for (int size = 2; size <= n; size *= 2) {
        for (int i = t; i < n / 2; i += blockDim.x) {
            int half = size / 2, j = i / half * size + i % half;
            float c, d;
            sincospif(-2.0f * (i % half) / size, &d, &c);
            float2 a = s[j], b = s[j + half];
            float2 w = make_float2(b.x * c - b.y * d, b.x * d + b.y * c);
            s[j] = make_float2(a.x + w.x, a.y + w.y);
            s[j + half] = make_float2(a.x - w.x, a.y - w.y);
        }
        __syncthreads();
    }
    for (int i = t; i < n; i += blockDim.x)
        data[i] = s[i];
}
#else
CASE(fft)
{
    enum { LOG = 9, N = 1 << LOG };
    float in[2 * N], want[2 * N], got[2 * N];
    int log2n = LOG;

    for (int i = 0; i < 2 * N; i++)
        in[i] = random_f32(-1, 1);
    for (int k = 0; k < N; k++) {
        double re = 0, im = 0;
        for (int i = 0; i < N; i++) {
            double angle = -2 * M_PI * (double)(k * i % N) / N, c = cos(angle), d = sin(angle);
            re += (double)in[2 * i] * c - (double)in[2 * i + 1] * d;
            im += (double)in[2 * i] * d + (double)in[2 * i + 1] * c;
        }
        want[2 * k] = (float)re;
        want[2 * k + 1] = (float)im;
    }
    device_ptr d = upload(in, sizeof in);
    launch("fft", (struct size3){1, 1, 1}, (struct size3){128, 1, 1}, 8 * N, ARGS(&d, &log2n));
    download(got, d, sizeof got);
    expect_f32(got, want, 2 * N, 1e-4, 1e-4);
}
#endif
