// alpha, beta and results by device addresses: nothing waits for the device then, and a scalar is
// what it is when the stream comes to it.
#include "blas.h"

int main()
{
    blas_handle handle;
    cublasPointerMode_t mode;
    array<float> a(12 * 12, 1), b(12 * 12, 2), c(12 * 12, 3), scalars(4), result(2);
    judge judge;

    BLAS(cublasGetPointerMode(handle, &mode));
    HOLDS(mode == CUBLAS_POINTER_MODE_HOST); //> mode == CUBLAS_POINTER_MODE_HOST: yes
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    scalars.host = {3, -2, 0, 0};
    scalars.upload();
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 12, 12, 12, scalars.device, a.device, 12,
                     b.device, 12, scalars.device + 1, c.device, 12));
    HOLDS(gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, 12, 12, 12, 3, a, 12, b, 12, -2, c, 12, EXACT_F32)); //> gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, 12, 12, 12, 3, a, 12, b, 12, -2, c, 12, EXACT_F32): yes
    c.fill(NAN);
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 12, 12, 12, scalars.device, a.device, 12,
                     b.device, 12, scalars.device + 2, c.device, 12));
    HOLDS(gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, 12, 12, 12, 3, a, 12, b, 12, 0, c, 12, EXACT_F32)); //> gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, 12, 12, 12, 3, a, 12, b, 12, 0, c, 12, EXACT_F32): yes

    /* The dot product is the next call's factor. */
    double dot = 0;
    for (int i = 0; i < 144; i++)
        dot += a[i] * b[i];
    BLAS(cublasSdot(handle, 144, a.device, 1, b.device, 1, result.device));
    BLAS(cublasSscal(handle, 144, result.device, a.device, 1));
    std::vector<float> scaled = a.download();
    for (int i = 0; i < 144; i++)
        judge.see(scaled[i], dot * a[i], EXACT_F32);
    HOLDS(judge.right()); //> judge.right(): yes
}
