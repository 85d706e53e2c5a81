// geam adds two matrices, each as stored or transposed, also in place; dgmm multiplies by a diagonal.
#include "blas.h"

static const int M = 33, N = 20, LD = 40;

int main()
{
    blas_handle handle;
    const float alpha = 2, beta = -3, zero = 0;
    array<float> a(LD * LD, 1), b(LD * LD, 2), c(LD * LD, 3), x(2 * LD, 4);
    judge added, transposed, rows, columns;
    std::vector<float> got;

    BLAS(cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_T, M, N, &alpha, a.device, LD, &beta, b.device,
                     LD, c.device, LD));
    got = c.download();
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            added.see(got[i + j * LD], 2 * a[i + j * LD] - 3 * b[j + i * LD], EXACT_F32);
    HOLDS(added.right()); //> added.right(): yes
    BLAS(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, N, &alpha, a.device, LD, &zero, nullptr,
                     LD, c.device, LD));
    got = c.download();
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            transposed.see(got[i + j * LD], 2 * a[j + i * LD], EXACT_F32);
    HOLDS(transposed.right()); //> transposed.right(): yes

    BLAS(cublasSdgmm(handle, CUBLAS_SIDE_LEFT, M, N, a.device, LD, x.device, 1, c.device, LD));
    got = c.download();
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            rows.see(got[i + j * LD], a[i + j * LD] * x[i], EXACT_F32);
    HOLDS(rows.right()); //> rows.right(): yes
    BLAS(cublasSdgmm(handle, CUBLAS_SIDE_RIGHT, M, N, a.device, LD, x.device, 2, c.device, LD));
    got = c.download();
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            columns.see(got[i + j * LD], a[i + j * LD] * x[2 * j], EXACT_F32);
    HOLDS(columns.right()); //> columns.right(): yes
}
