/*
 * vector.cpp - y = a * x + y in C++: handles end with their scope, errors are exceptions, and a
 * launch takes its arguments by their types (gshare.hpp).
 *
 *     gshared -d
 *     c++ vector.cpp $(pkg-config --cflags --libs gshare) -o vector && ./vector
 */
#include <cstdio>
#include <gshare.hpp>
#include <vector>

/* extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned n), as nvcc or clang
 * would compile it. Without extern "C" its name would be _Z4axpyfPKfPfj. */
static const char ptx[] = R"(
.version 6.4
.target sm_70
.address_size 64
.visible .entry axpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    ld.param.u32 %r4, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r1, %r1, %r2, %r3;
    setp.ge.u32 %p, %r1, %r4;
    @%p ret;
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    ld.global.f32 %f2, [%rd1];
    ld.global.f32 %f3, [%rd2];
    fma.rn.f32 %f3, %f1, %f2, %f3;
    st.global.f32 [%rd2], %f3;
    ret;
}
)";

int main()
{
    try {
        const unsigned n = 100000, threads = 128;
        std::vector<float> x(n), y(n, 1.0f);
        for (unsigned i = 0; i < n; i++)
            x[i] = static_cast<float>(i);

        gshare::session session;
        gshare::module module(session, ptx);
        gshare::kernel axpy = module.kernel("axpy");
        gshare::buffer<float> dx(session, n), dy(session, n);
        dx.upload(x);
        dy.upload(y);
        axpy.launch({(n + threads - 1) / threads}, {threads}, 2.0f, dx, dy, n);
        y = dy.download();

        unsigned right = 0;
        for (unsigned i = 0; i < n; i++)
            right += y[i] == 2.0f * x[i] + 1.0f;
        std::printf("%u of %u elements right\n", right, n);
        return right == n ? 0 : 1;
    } catch (const gshare::error &e) {
        std::fprintf(stderr, "vector: %s\n", e.what());
        return 1;
    }
}
