/* An image of four bytes a pixel enlarged, reduced and warped by a texture that filters linearly, and its edges
 * found from the four texels of a footprint. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL resize(cudaTextureObject_t image, float4 *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < w && y < h)
        out[y * w + x] = tex2D<float4>(image, (x + 0.5f) / w, (y + 0.5f) / h);
}

KERNEL swirl(cudaTextureObject_t image, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float dx = x - w * 0.5f, dy = y - h * 0.5f, twist = 0.25f + 0.003f * (dx * dx + dy * dy);

    if (x < w && y < h)
        out[y * w + x] = tex2D<float4>(image, (x + twist * dy) / w, (y - twist * dx) / h).y;
}

KERNEL edges(cudaTextureObject_t image, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= w || y >= h)
        return;
    float4 f = tex2Dgather<float4>(image, (x + 1.0f) / w, (y + 1.0f) / h, 1);
    out[y * w + x] = fabsf(f.x - f.z) + fabsf(f.y - f.w);
}
#else
enum { W = 64, H = 32 };

static const unsigned char *pixels;

static double at(int x, int y, int c)
{
    x = x < 0 ? 0 : x >= W ? W - 1 : x;
    y = y < 0 ? 0 : y >= H ? H - 1 : y;
    return pixels[4 * (y * W + x) + c] / 255.0;
}

static double sample(double x, double y, int c)
{
    double bx = x - 0.5, by = y - 0.5, a = round((bx - floor(bx)) * 256) / 256,
           b = round((by - floor(by)) * 256) / 256;
    int i = (int)floor(bx), j = (int)floor(by);

    return (1 - b) * ((1 - a) * at(i, j, c) + a * at(i + 1, j, c)) +
           b * ((1 - a) * at(i, j + 1, c) + a * at(i + 1, j + 1, c));
}

static void resized(uint64_t image, int w, int h)
{
    float *got = scratch(16 * w * h), *want = scratch(16 * w * h);
    device_ptr out = zeros(16 * w * h);

    for (int i = 0; i < 4 * w * h; i++)
        want[i] = (float)sample((i / 4 % w + 0.5) * W / w, (i / 4 / w + 0.5) * H / h, i % 4);
    launch("resize", (struct size3){(w + 15) / 16, (h + 7) / 8, 1}, (struct size3){16, 8, 1}, 0,
           ARGS(&image, &out, &w, &h));
    download(got, out, 16 * w * h);
    expect_f32(got, want, 4 * w * h, 0, 1.0 / 512); /* weights are whole 256ths: only sums are rounded */
}

CASE(texture_resize)
{
    unsigned char *data = scratch(4 * W * H);
    float *got = scratch(4 * W * H), *want = scratch(4 * W * H);
    int w = W, h = H;

    pixels = data;
    for (int i = 0; i < 4 * W * H; i++)
        data[i] = (unsigned char)random_u32();
    uint64_t array = array_upload(data, TEXEL_U8, 4, (struct size3){W, H, 0});
    uint64_t image = texture(array, TEXTURE_LINEAR | TEXTURE_NORMALIZED);
    resized(image, 2 * W, 4 * H);
    resized(image, W / 2, H / 4);

    device_ptr out = zeros(4 * W * H);
    for (int i = 0; i < W * H; i++) {
        float x = (float)(i % W), y = (float)(i / W), dx = x - W * 0.5f, dy = y - H * 0.5f;
        float twist = 0.25f + 0.003f * (dx * dx + dy * dy);

        want[i] = (float)sample((double)(x + twist * dy), (double)(y - twist * dx), 1);
    }
    launch("swirl", (struct size3){4, 4, 1}, (struct size3){16, 8, 1}, 0, ARGS(&image, &out, &w, &h));
    download(got, out, 4 * W * H);
    expect_f32(got, want, W * H, 0, 2.5 / 256); /* a weight may be rounded either way, in two dimensions */

    for (int i = 0; i < W * H; i++) {
        int x = i % W, y = i / W;

        want[i] = (float)(fabs(at(x, y + 1, 1) - at(x + 1, y, 1)) + fabs(at(x + 1, y + 1, 1) - at(x, y, 1)));
    }
    launch("edges", (struct size3){4, 4, 1}, (struct size3){16, 8, 1}, 0, ARGS(&image, &out, &w, &h));
    download(got, out, 4 * W * H);
    expect_f32(got, want, W * H, 0, 1e-6);
}
#endif
