/*
 * vector.cu - a CUDA C++ application whose kernels run through gshare: host code and kernels in one
 * file, kernel<<<grid, block>>>(...) as ever. nvcc compiles it, or clang, which needs no toolkit.
 *
 * It computes y = 2 * x + y for a million elements, then the dot product of x and y, in float and in
 * double, and checks both against the host.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cuda_launch.h"
#include "cuda_words.h"
#include "gshare.h"

__constant__ int factor = 1; /* set by the host to 2 */

template <typename T> __global__ void axpy(const T *x, T *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = (T)factor * x[i] + y[i];
}

/* One partial sum per block. */
template <typename T> __global__ void dot(const T *x, const T *y, T *part, unsigned n)
{
    __shared__ T sum[256];

    T mine = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += x[i] * y[i];
    sum[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sum[threadIdx.x] += sum[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum[0];
}

static void check(gs_status status)
{
    if (status != GS_OK) {
        fprintf(stderr, "vector: %s: %s\n", gs_status_name(status), gs_last_error_message());
        exit(1);
    }
}

/* Small integers, so that every sum is exact in both types. */
template <typename T> static bool run(gs_session session, const char *type)
{
    const unsigned n = 1 << 20, blocks = 64;
    T *x = (T *)malloc(n * sizeof(T)), *y = (T *)malloc(n * sizeof(T)), part[blocks];
    const T a = 2;
    gs_devptr dx, dy, dpart;
    double want = 0, got = 0;
    unsigned wrong = 0;

    for (unsigned i = 0; i < n; i++) {
        x[i] = (T)(i % 7);
        y[i] = (T)(i % 3);
        want += (double)x[i] * (double)(a * x[i] + y[i]);
    }
    check(gs_malloc(session, n * sizeof(T), &dx));
    check(gs_malloc(session, n * sizeof(T), &dy));
    check(gs_malloc(session, sizeof(part), &dpart));
    check(gs_memcpy_htod(session, dx, x, n * sizeof(T)));
    check(gs_memcpy_htod(session, dy, y, n * sizeof(T)));

    axpy<<<(n + 255) / 256, 256>>>((const T *)dx, (T *)dy, n);
    dot<<<blocks, 256>>>((const T *)dx, (const T *)dy, (T *)dpart, n);
    check(cuda_launch_status());

    check(gs_memcpy_dtoh(session, part, dpart, sizeof(part)));
    for (unsigned i = 0; i < blocks; i++)
        got += (double)part[i];
    check(gs_memcpy_dtoh(session, x, dy, n * sizeof(T)));
    for (unsigned i = 0; i < n; i++)
        wrong += x[i] != a * (T)(i % 7) + y[i];
    printf("%-6s  %u of %u elements right, dot product %.0f (host: %.0f)\n", type, n - wrong, n, got,
           want);
    check(gs_free(session, dx));
    check(gs_free(session, dy));
    check(gs_free(session, dpart));
    free(x);
    free(y);
    return wrong == 0 && got == want;
}

int main()
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_devptr on_device;
    size_t size;
    int two = 2;
    bool right;

    check(gs_attach(NULL, &session));
    check(cuda_launch_use(session));
    check(cuda_launch_variable(&factor, &on_device, &size));
    check(gs_memcpy_htod(session, on_device, &two, size));
    check(gs_session_info(session, &desc));
    printf("device: %s\n", desc.device_name);
    right = run<float>(session, "float");
    right = run<double>(session, "double") && right;
    check(gs_detach(session));
    return right ? 0 : 1;
}
