// The forms with _64 take sizes of 64 bits, and give an index of 64 bits.
#include "blas.h"

int main()
{
    blas_handle handle;
    const int64_t n = 20;
    const float one = 1, zero = 0;
    array<float> a(n * n, 1), b(n * n, 2), c(n * n, 3);
    int64_t index = -1;

    STATUS_OF("gemm", cublasSgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.device, n, b.device, n, &zero, c.device, n)); //> gemm: CUBLAS_STATUS_SUCCESS
    HOLDS(gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, 1, a, n, b, n, 0, c, n, EXACT_F32)); //> gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, 1, a, n, b, n, 0, c, n, EXACT_F32): yes
    a.host[77] = 100;
    a.upload();
    STATUS(cublasIsamax_64(handle, n * n, a.device, 1, &index)); //> cublasIsamax_64(handle, n * n, a.device, 1, &index): CUBLAS_STATUS_SUCCESS
    printf("%lld\n", (long long)index); //> 78
}
