/* Virtual functions through pointers that differ within a warp; construction in place. */
#include "corpus.h"

#ifdef DEVICE_CODE
struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};
struct circle : shape {
    float r;
    __device__ circle(float r) : r(r) {}
    __device__ float area() const override { return 3.0f * r * r; }
};
struct box : shape {
    float w, h;
    __device__ box(float w, float h) : w(w), h(h) {}
    __device__ float area() const override { return w * h; }
    __device__ int corners() const override { return 4; }
};
struct square : box {
    __device__ square(float w) : box(w, w) {}
    __device__ int corners() const override { return 40 + box::corners(); }
};

KERNEL shapes(const int *kind, const float *size, float *out)
{
    int i = INDEX;
    circle c(size[i]);
    box b(size[i], 2.0f);
    square s(size[i]);
    shape *all[3] = {&c, &b, &s};
    const shape *one = all[kind[i]];
    out[i] = one->area() + 1000.0f * one->corners();
}
#else
CASE(virtual_functions)
{
    enum { N = 200 };
    int kind[256];
    float size[256], want[256], got[256];

    for (int i = 0; i < 256; i++) {
        kind[i] = (int)(random_u32() % 3);
        size[i] = (float)(random_u32() % 64);
        want[i] = kind[i] == 0 ? 3.0f * size[i] * size[i]
                  : kind[i] == 1 ? size[i] * 2.0f + 4000.0f
                                 : size[i] * size[i] + 44000.0f;
    }
    device_ptr dk = upload(kind, sizeof kind), ds = upload(size, sizeof size), dout = zeros(sizeof want);
    RUN("shapes", 4, 64, &dk, &ds, &dout);
    download(got, dout, sizeof got);
    expect_f32(got, want, 256, 0, 0);
}
#endif
