/* Conway's game of life on a torus of bytes, with a halo in shared memory. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL life(const unsigned char *in, unsigned char *out, int w, int h)
{
    __shared__ unsigned char s[10][34];
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8, t = threadIdx.y * 32 + threadIdx.x;
    for (int i = t; i < 340; i += 256) {
        int x = (x0 + i % 34 - 1 + w) % w, y = (y0 + i / 34 - 1 + h) % h;
        s[i / 34][i % 34] = in[y * w + x];
    }
    __syncthreads();
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    int around = s[y - 1][x - 1] + s[y - 1][x] + s[y - 1][x + 1] + s[y][x - 1] + s[y][x + 1] + s[y + 1][x - 1] + s[y + 1][x] + s[y + 1][x + 1];
    out[(y0 + y - 1) * w + x0 + x - 1] = around == 3 || (around == 2 && s[y][x]);
}
#else
CASE(life)
{
    int w = 64, h = 32, n = w * h;
    unsigned char *a = scratch(n), *b = scratch(n), *got = scratch(n);

    for (int i = 0; i < n; i++)
        a[i] = random_u32() % 3 == 0;
    device_ptr da = upload(a, n), db = zeros(n);
    for (int step = 0; step < 8; step++) {
        launch("life", (struct size3){2, 4, 1}, (struct size3){32, 8, 1}, 0, ARGS(&da, &db, &w, &h));
        for (int i = 0; i < n; i++) {
            int around = 0;
            for (int d = 0; d < 9; d++)
                around += d == 4 ? 0 : a[(i / w + d / 3 - 1 + h) % h * w + (i % w + d % 3 - 1 + w) % w];
            b[i] = around == 3 || (around == 2 && a[i]);
        }
        unsigned char *t = a;
        a = b, b = t;
        device_ptr d = da;
        da = db, db = d;
    }
    download(got, da, n);
    expect_bytes(got, a, n);
}
#endif
