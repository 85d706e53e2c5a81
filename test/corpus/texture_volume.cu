/* A volume of floats seen along rays: the sum and the largest of samples between its texels, black outside. The eight
 * weights of a sample are whole 256ths, as a GPU has them. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL cast_rays(cudaTextureObject_t volume, float2 *out, int w, int h, int steps)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0, most = 0;

    if (x >= w || y >= h)
        return;
    for (int i = 0; i < steps; i++) {
        float t = i * 0.125f, v = tex3D<float>(volume, x * 0.5f + t, y * 0.25f + 0.5f * t, t * 0.75f - 2);

        sum += v;
        most = fmaxf(most, v);
    }
    out[y * w + x] = make_float2(sum, most);
}
#else
enum { N = 16, RAYS = 24, STEPS = 160 };

static const float *voxels;

static double at(int x, int y, int z)
{
    bool outside = x < 0 || y < 0 || z < 0 || x >= N || y >= N || z >= N;

    return outside ? 0 : (double)voxels[(z * N + y) * N + x];
}

/* 256ths: divided along z, then x, then y. */
static void divide(const int far[3], int weights[8])
{
    for (int z = 0; z < 2; z++) {
        int slice = z ? far[2] : 256 - far[2], right = (slice * far[0] + 128) / 256, left = slice - right;
        int right_far = (right * far[1] + 128) / 256, left_far = (left * far[1] + 127) / 256;

        memcpy(weights + 4 * z, (int[]){left - left_far, right - right_far, left_far, right_far}, 4 * sizeof *weights);
    }
}

static double sample(double x, double y, double z)
{
    double place[3] = {x - 0.5, y - 0.5, z - 0.5}, sum = 0;
    int first[3], far[3], weights[8];

    for (int d = 0; d < 3; d++) {
        first[d] = (int)floor(place[d]);
        far[d] = (int)((place[d] - first[d]) * 256);
    }
    divide(far, weights);
    for (int k = 0; k < 8; k++)
        sum += weights[k] / 256.0 * at(first[0] + (k & 1), first[1] + (k >> 1 & 1), first[2] + (k >> 2));
    return sum;
}

CASE(texture_volume)
{
    float *data = scratch(4 * N * N * N), *got = scratch(8 * RAYS * RAYS), *want = scratch(8 * RAYS * RAYS);
    int w = RAYS, h = RAYS, steps = STEPS;

    voxels = data;
    for (int i = 0; i < N * N * N; i++)
        data[i] = random_f32(0, 1);
    uint64_t array = array_upload(data, TEXEL_F32, 1, (struct size3){N, N, N});
    uint64_t volume = texture(array, TEXTURE_LINEAR | TEXTURE_BORDER);
    for (int i = 0; i < RAYS * RAYS; i++)
        for (int k = 0; k < STEPS; k++) { /* places are whole 64ths: weights need no rounding */
            double t = k * 0.125, v = sample(i % RAYS * 0.5 + t, i / RAYS * 0.25 + 0.5 * t, t * 0.75 - 2);

            want[2 * i] += (float)v;
            want[2 * i + 1] = fmaxf(want[2 * i + 1], (float)v);
        }
    device_ptr out = zeros(8 * RAYS * RAYS);
    launch("cast_rays", (struct size3){3, 3, 1}, (struct size3){8, 8, 1}, 0, ARGS(&volume, &out, &w, &h, &steps));
    download(got, out, 8 * RAYS * RAYS);
    for (int i = 0; i < RAYS * RAYS; i++) {
        expect_f32(got + 2 * i, want + 2 * i, 1, 0, 2e-5);
        expect_f32(got + 2 * i + 1, want + 2 * i + 1, 1, 0, 1e-6);
    }
}
#endif
