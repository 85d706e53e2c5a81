/* Five-point heat flow, several steps, on a two-dimensional grid. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL heat(const float *in, float *out, int w, int h, float k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= w || y >= h)
        return;
    int i = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[i] = in[i];
        return;
    }
    out[i] = in[i] + k * (in[i - 1] + in[i + 1] + in[i - w] + in[i + w] - 4.0f * in[i]);
}
#else
CASE(stencil2d)
{
    int w = 61, h = 47, n = w * h;
    float k = 0.2f, *a = scratch(4 * n), *b = scratch(4 * n), *got = scratch(4 * n);

    for (int i = 0; i < n; i++)
        a[i] = random_f32(0, 100);
    device_ptr da = upload(a, 4 * n), db = zeros(4 * n);
    for (int step = 0; step < 6; step++) {
        launch("heat", (struct size3){4, 6, 1}, (struct size3){16, 8, 1}, 0, ARGS(&da, &db, &w, &h, &k));
        for (int i = 0; i < n; i++) {
            int x = i % w, y = i / w;
            bool edge = x == 0 || y == 0 || x == w - 1 || y == h - 1;
            b[i] = edge ? a[i] : a[i] + k * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w] - 4.0f * a[i]);
        }
        float *t = a;
        a = b, b = t;
        device_ptr d = da;
        da = db, db = d;
    }
    download(got, da, 4 * n);
    expect_f32(got, a, n, 1e-5, 1e-5);
}
#endif
