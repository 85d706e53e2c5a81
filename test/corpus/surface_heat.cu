/* Heat that spreads over a plate: two surfaces in turns, read beyond their edges; and a volume of bytes and a row of
 * layers that are painted. clang: no (clang 14 has no surfaces) */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL spread(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= w || y >= h)
        return;
    float2 c = surf2Dread<float2>(from, x * 8, y);
    float2 l = surf2Dread<float2>(from, x * 8 - 8, y, cudaBoundaryModeClamp);
    float2 r = surf2Dread<float2>(from, x * 8 + 8, y, cudaBoundaryModeClamp);
    float2 u = surf2Dread<float2>(from, x * 8, y - 1, cudaBoundaryModeZero);
    float2 d = surf2Dread<float2>(from, x * 8, y + 1, cudaBoundaryModeZero);

    c.x += 0.125f * (l.x + r.x + u.x + d.x - 4 * c.x);
    c.y += 0.0625f * (l.y + r.y + u.y + d.y - 4 * c.y);
    surf2Dwrite(c, to, x * 8, y);
}

KERNEL paint(cudaSurfaceObject_t volume, cudaSurfaceObject_t layers, int n)
{
    int i = INDEX, x = i % n, y = i / n % n, z = i / n / n;

    if (z >= n)
        return;
    surf3Dwrite(make_uchar4(x, y, z, x ^ y ^ z), volume, x * 4, y, z);
    surf3Dwrite(make_uchar4(1, 2, 3, 4), volume, x * 4, y + n, z, cudaBoundaryModeZero); /* nowhere */
    if (y == 0)
        surf1DLayeredwrite((unsigned short)(x * 7 + z), layers, x * 2, z);
}
#else
enum { W = 50, H = 30, N = 12 };

static double at(const float *plate, int x, int y, int c)
{
    x = x < 0 ? 0 : x >= W ? W - 1 : x;
    return y < 0 || y >= H ? 0 : (double)plate[2 * (y * W + x) + c];
}

static void painted(void)
{
    unsigned char *none = scratch(4 * N * N * N), *got = scratch(4 * N * N * N), *want = scratch(4 * N * N * N);
    uint16_t *rows = scratch(2 * N * N), *got_rows = scratch(2 * N * N);
    uint64_t volume = array_upload(none, TEXEL_U8, 4, (struct size3){N, N, N});
    uint64_t layers = array_upload_layers(rows, TEXEL_U16, 1, (struct size3){N, 0, N});
    uint64_t volume_surface = surface(volume), layers_surface = surface(layers);
    int n = N;

    for (int i = 0; i < N * N * N; i++) {
        int x = i % N, y = i / N % N, z = i / N / N;
        unsigned char texel[4] = {(unsigned char)x, (unsigned char)y, (unsigned char)z, (unsigned char)(x ^ y ^ z)};

        memcpy(want + 4 * i, texel, 4);
        rows[z * N + x] = (uint16_t)(x * 7 + z);
    }
    RUN("paint", 14, 128, &volume_surface, &layers_surface, &n);
    array_download(got, volume);
    expect_bytes(got, want, 4 * N * N * N);
    array_download(got_rows, layers);
    expect_bytes(got_rows, rows, 2 * N * N);
}

CASE(surface_heat)
{
    float *plate = scratch(8 * W * H), *next = scratch(8 * W * H), *got = scratch(8 * W * H);
    int w = W, h = H;

    for (int i = 0; i < 2 * W * H; i++)
        plate[i] = random_f32(0, 100);
    uint64_t arrays[2] = {array_upload(plate, TEXEL_F32, 2, (struct size3){W, H, 0}),
                          array_upload(next, TEXEL_F32, 2, (struct size3){W, H, 0})};
    uint64_t surfaces[2] = {surface(arrays[0]), surface(arrays[1])};
    for (int step = 0; step < 6; step++) {
        launch("spread", (struct size3){4, 4, 1}, (struct size3){16, 8, 1}, 0,
               ARGS(&surfaces[step % 2], &surfaces[1 - step % 2], &w, &h));
        for (int i = 0; i < 2 * W * H; i++) {
            int x = i / 2 % W, y = i / 2 / W, c = i % 2;
            double around = at(plate, x - 1, y, c) + at(plate, x + 1, y, c) + at(plate, x, y - 1, c) + at(plate, x, y + 1, c);

            next[i] = (float)((double)plate[i] + (c ? 0.0625 : 0.125) * (around - 4 * (double)plate[i]));
        }
        memcpy(plate, next, 8 * W * H);
    }
    array_download(got, arrays[0]);
    expect_f32(got, plate, 2 * W * H, 1e-5, 1e-4);
    painted();
}
#endif
