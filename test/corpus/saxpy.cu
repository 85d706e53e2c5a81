/* y = a x + y, with the tail of the last block beyond the end. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL saxpy(float a, const float *x, float *y, int n)
{
    int i = INDEX;

    if (i < n)
        y[i] = a * x[i] + y[i];
}
#else
CASE(saxpy)
{
    int n = 10007;
    float a = 2.5f, *x = scratch(4 * n), *y = scratch(4 * n), *got = scratch(4 * n);

    for (int i = 0; i < n; i++)
        x[i] = random_f32(-1, 1), y[i] = random_f32(-1, 1);
    device_ptr dx = upload(x, 4 * n), dy = upload(y, 4 * n);
    RUN("saxpy", 40, 256, &a, &dx, &dy, &n);
    for (int i = 0; i < n; i++)
        y[i] = fmaf(a, x[i], y[i]);
    download(got, dy, 4 * n);
    expect_f32(got, y, n, 1e-6, 1e-6);
}
#endif
