/* Convolutions: of a line with its taps in constant memory, of an image of bytes with borders clamped. */
#include "corpus.h"

#ifdef DEVICE_CODE
__constant__ float taps[9];

KERNEL line(const float *in, float *out, int n)
{
    int i = INDEX;
    float sum = 0;

    if (i >= n)
        return;
    for (int k = -4; k <= 4; k++)
        if (i + k >= 0 && i + k < n)
            sum += taps[k + 4] * in[i + k];
    out[i] = sum;
}

KERNEL blur(const unsigned char *in, unsigned char *out, int w, int h)
{
    static const int weights[3] = {1, 2, 1};
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, sum = 8;

    if (x >= w || y >= h)
        return;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) {
            int i = x + dx - 1, j = y + dy - 1;
            i = i < 0 ? 0 : i >= w ? w - 1 : i;
            j = j < 0 ? 0 : j >= h ? h - 1 : j;
            sum += weights[dx] * weights[dy] * in[j * w + i];
        }
    out[y * w + x] = (unsigned char)(sum / 16);
}
#else
static const int weights[3] = {1, 2, 1};

static int clamp(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

CASE(convolution)
{
    int n = 3001, w = 67, h = 45;
    float taps[9], *in = scratch(4 * n), *want = scratch(4 * n), *got = scratch(4 * n);
    unsigned char *image = scratch(w * h), *blurred = scratch(w * h), *out = scratch(w * h);

    for (int k = 0; k < 9; k++)
        taps[k] = random_f32(-1, 1);
    for (int i = 0; i < n; i++)
        in[i] = random_f32(-1, 1);
    for (int i = 0; i < n; i++)
        for (int k = -4; k <= 4; k++)
            if (i + k >= 0 && i + k < n)
                want[i] += taps[k + 4] * in[i + k];
    write_global("taps", taps, sizeof taps);
    device_ptr din = upload(in, 4 * n), dout = zeros(4 * n);
    RUN("line", 24, 128, &din, &dout, &n);
    download(got, dout, 4 * n);
    expect_f32(got, want, n, 1e-5, 1e-6);

    for (int i = 0; i < w * h; i++)
        image[i] = (unsigned char)random_u32();
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int sum = 8;
            for (int d = 0; d < 9; d++)
                sum += weights[d % 3] * weights[d / 3] * image[clamp(y + d / 3 - 1, h) * w + clamp(x + d % 3 - 1, w)];
            blurred[y * w + x] = (unsigned char)(sum / 16);
        }
    din = upload(image, w * h), dout = zeros(w * h);
    launch("blur", (struct size3){3, 6, 1}, (struct size3){32, 8, 1}, 0, ARGS(&din, &dout, &w, &h));
    download(out, dout, w * h);
    expect_bytes(out, blurred, w * h);
}
#endif
