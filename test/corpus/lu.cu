/* LU decomposition with pivoting of a small f64 matrix per block, and its solution. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL lu_solve(const double *matrices, const double *rhs, double *out)
{
    __shared__ double a[16][17];
    __shared__ int pivot;
    int t = threadIdx.x, n = 16;
    for (int r = 0; r < n; r++)
        a[r][t] = t < n ? matrices[(blockIdx.x * n + r) * n + t] : rhs[blockIdx.x * n + r];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (t == 0) {
            pivot = k;
            for (int r = k + 1; r < n; r++)
                if (fabs(a[r][k]) > fabs(a[pivot][k]))
                    pivot = r;
        }
        __syncthreads();
        double x = a[k][t];
        a[k][t] = a[pivot][t];
        if (pivot != k)
            a[pivot][t] = x;
        __syncthreads();
        for (int r = k + 1; r < n; r++) {
            double f = a[r][k] / a[k][k];
            __syncthreads();
            if (t > k)
                a[r][t] -= f * a[k][t];
            __syncthreads();
        }
    }
    if (t == 0)
        for (int r = n - 1; r >= 0; r--) {
            double x = a[r][n];
            for (int c = r + 1; c < n; c++)
                x -= a[r][c] * out[blockIdx.x * n + c];
            out[blockIdx.x * n + r] = x / a[r][r];
        }
}
#else
CASE(lu)
{
    enum { BLOCKS = 4, N = 16 };
    double m[BLOCKS * N * N], rhs[BLOCKS * N], x[BLOCKS * N], back[BLOCKS * N];

    for (int i = 0; i < BLOCKS * N * N; i++)
        m[i] = (double)random_f32(-1, 1);
    for (int i = 0; i < BLOCKS * N; i++)
        rhs[i] = (double)random_f32(-1, 1);
    device_ptr dm = upload(m, sizeof m), dr = upload(rhs, sizeof rhs), dx = zeros(sizeof x);
    RUN("lu_solve", BLOCKS, N + 1, &dm, &dr, &dx);
    download(x, dx, sizeof x);
    for (int i = 0; i < BLOCKS * N; i++) {
        back[i] = 0;
        for (int k = 0; k < N; k++)
            back[i] += m[i * N + k] * x[i / N * N + k];
    }
    expect_f64(back, rhs, BLOCKS * N, 1e-9, 1e-9);
}
#endif
