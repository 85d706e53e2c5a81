/* Iteration counts: loops that end at another time in each lane. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL mandelbrot(unsigned *out, int w, int h, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;

    if (px >= w || py >= h)
        return;
    double cx = -2.0 + 3.0 * px / w, cy = -1.0 + 2.0 * py / h, x = 0, y = 0;
    int i = 0;
    while (i < most && x * x + y * y < 4.0) {
        double next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        i++;
    }
    out[py * w + px] = i;
}
#else
CASE(mandelbrot)
{
    int w = 64, h = 48, most = 200, wrong = 0;
    uint32_t *want = scratch(4 * w * h), *got = scratch(4 * w * h);

    for (int p = 0; p < w * h; p++) {
        double cx = -2.0 + 3.0 * (p % w) / w, cy = -1.0 + 2.0 * (p / w) / h, x = 0, y = 0;
        int i = 0;
        while (i < most && x * x + y * y < 4.0) {
            double next = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = next;
            i++;
        }
        want[p] = (uint32_t)i;
    }
    device_ptr d = zeros(4 * w * h);
    launch("mandelbrot", (struct size3){8, 6, 1}, (struct size3){8, 8, 1}, 0, ARGS(&d, &w, &h, &most));
    download(got, d, 4 * w * h);
    /* fused multiply-adds move a few pixels on the edge of chaos */
    for (int i = 0; i < w * h; i++)
        wrong += got[i] != want[i];
    expect_u32((uint32_t[]){wrong > w * h / 100}, (uint32_t[]){0}, 1);
}
#endif
