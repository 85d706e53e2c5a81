// axpy, scal, dot and nrm2 with types by parameter: 16 bits are computed in f32. copy and swap take
// complex numbers too.
#include "blas.h"

template <class T> static void show(const char *name, cudaDataType type, double tolerance)
{
    blas_handle handle;
    const int n = 500;
    const float alpha = 0.5f;
    array<T> x(n, 1), y(n, 2);
    std::vector<T> got;
    T result;
    double sum = 0, squares = 0;
    judge judge;

    BLAS(cublasAxpyEx(handle, n, &alpha, CUDA_R_32F, x.device, type, 1, y.device, type, 1,
                      CUDA_R_32F));
    got = y.download();
    for (int i = 0; i < n; i++)
        judge.see(plain(got[i]), x[i] / 2 + y[i], tolerance);
    y.host = got;
    BLAS(cublasScalEx(handle, n, &alpha, CUDA_R_32F, x.device, type, 1, CUDA_R_32F));
    x.host = x.download();
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
        squares += x[i] * x[i];
    }
    BLAS(cublasDotEx(handle, n, x.device, type, 1, y.device, type, 1, &result, type, CUDA_R_32F));
    judge.see(plain(result), sum, tolerance);
    BLAS(cublasNrm2Ex(handle, n, x.device, type, 1, &result, type, CUDA_R_32F));
    judge.see(plain(result), std::sqrt(squares), tolerance);
    printf("%s: %s\n", name, judge.right() ? "right" : "wrong");
}

int main()
{
    blas_handle handle;
    array<double> x(20, 1), y(20, 2);

    show<float>("f32", CUDA_R_32F, EXACT_F32);          //> f32: right
    show<__half>("f16", CUDA_R_16F, EXACT_F16);         //> f16: right
    show<__nv_bfloat16>("bf16", CUDA_R_16BF, EXACT_BF16); //> bf16: right
    BLAS(cublasZswap(handle, 5, (cuDoubleComplex *)x.device, 2, (cuDoubleComplex *)y.device, 1));
    HOLDS(x.download()[4] == y.host[2] && x.download()[5] == y.host[3]); //> x.download()[4] == y.host[2] && x.download()[5] == y.host[3]: yes
    HOLDS(y.download()[3] == x.host[5] && x.download()[2] == x.host[2]); //> y.download()[3] == x.host[5] && x.download()[2] == x.host[2]: yes
}
