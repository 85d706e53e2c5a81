/* A matrix transposed through a padded tile. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL transpose(const float *in, float *out, int width, int height)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

    for (int k = 0; k < 32; k += 8)
        if (x < width && y + k < height)
            tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < height && y + k < width)
            out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}
#else
CASE(transpose)
{
    int w = 100, h = 75;
    float *in = scratch(4 * w * h), *want = scratch(4 * w * h), *got = scratch(4 * w * h);

    for (int i = 0; i < w * h; i++)
        in[i] = random_f32(0, 1);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            want[x * h + y] = in[y * w + x];
    device_ptr din = upload(in, 4 * w * h), dout = zeros(4 * w * h);
    launch("transpose", (struct size3){4, 3, 1}, (struct size3){32, 8, 1}, 0, ARGS(&din, &dout, &w, &h));
    download(got, dout, 4 * w * h);
    expect_bytes(got, want, 4 * w * h);
}
#endif
