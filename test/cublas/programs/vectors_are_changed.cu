// axpy, scal, copy, swap and rot; with negative increments a vector is taken from its end.
#include "blas.h"

int main()
{
    const int n = 1000;
    blas_handle handle;
    array<float> x(2 * n, 1), y(n, 2);
    array<double> d(n, 3), e(n, 4);
    const float alpha = 3, c = 0.6f, s = 0.8f;
    const double half = 0.5;
    std::vector<float> got, other;
    judge axpy, back, scal, copied, swapped, turned;

    BLAS(cublasSaxpy(handle, n, &alpha, x.device, 2, y.device, 1));
    got = y.download();
    for (int i = 0; i < n; i++)
        axpy.see(got[i], 3 * x[2 * i] + y[i], EXACT_F32);
    HOLDS(axpy.right()); //> axpy.right(): yes
    y.upload();
    BLAS(cublasSaxpy(handle, n, &alpha, x.device, -2, y.device, 1));
    got = y.download();
    for (int i = 0; i < n; i++)
        back.see(got[i], 3 * x[2 * (n - 1 - i)] + y[i], EXACT_F32);
    HOLDS(back.right()); //> back.right(): yes
    BLAS(cublasDscal(handle, n / 2, &half, d.device, 2));
    std::vector<double> halves = d.download();
    for (int i = 0; i < n; i++)
        scal.see(halves[i], i % 2 ? d[i] : d[i] / 2, EXACT_F64);
    HOLDS(scal.right()); //> scal.right(): yes

    d.upload();
    BLAS(cublasDcopy(handle, n, d.device, 1, e.device, -1));
    std::vector<double> copy = e.download();
    for (int i = 0; i < n; i++)
        copied.see(copy[i], d[n - 1 - i], EXACT_F64);
    HOLDS(copied.right()); //> copied.right(): yes
    BLAS(cublasSswap(handle, n, x.device, 1, y.device, 1));
    other = x.download();
    for (int i = 0; i < n; i++)
        swapped.see(other[i], got[i], EXACT_F32);
    HOLDS(swapped.right()); //> swapped.right(): yes

    x.upload(), y.upload();
    BLAS(cublasSrot(handle, n, x.device, 1, y.device, 1, &c, &s));
    got = x.download(), other = y.download();
    for (int i = 0; i < n; i++) {
        turned.see(got[i], 0.6 * x[i] + 0.8 * y[i], EXACT_F32);
        turned.see(other[i], 0.6 * y[i] - 0.8 * x[i], EXACT_F32);
    }
    HOLDS(turned.right()); //> turned.right(): yes

    STATUS(cublasSaxpy(handle, 0, &alpha, x.device, 1, y.device, 1)); //> cublasSaxpy(handle, 0, &alpha, x.device, 1, y.device, 1): CUBLAS_STATUS_SUCCESS
    STATUS(cublasSscal(handle, -5, &alpha, x.device, 1)); //> cublasSscal(handle, -5, &alpha, x.device, 1): CUBLAS_STATUS_SUCCESS
}
