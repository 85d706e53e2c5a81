// Sizes of 0 are no errors. Without k, C is scaled; where beta is 0, C is not read; where alpha is
// 0, A and B are not.
#include "blas.h"

int main()
{
    blas_handle handle;
    const float zero = 0, one = 1, two = 2;
    array<float> a(16), b(16), c(16);
    std::vector<float> got;

#define GEMM(m, n, k, alpha, beta)                                                                 \
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, alpha, a.device, 4, b.device, 4, beta,  \
                c.device, 4)
    c.fill(3);
    STATUS(GEMM(0, 4, 4, &one, &zero)); //> GEMM(0, 4, 4, &one, &zero): CUBLAS_STATUS_SUCCESS
    STATUS(GEMM(4, 0, 4, &one, &zero)); //> GEMM(4, 0, 4, &one, &zero): CUBLAS_STATUS_SUCCESS
    printf("%g\n", c.download()[5]); //> 3
    STATUS(GEMM(4, 4, 0, &one, &two)); //> GEMM(4, 4, 0, &one, &two): CUBLAS_STATUS_SUCCESS
    printf("%g\n", c.download()[5]); //> 6
    STATUS(GEMM(4, 4, 0, &one, &zero)); //> GEMM(4, 4, 0, &one, &zero): CUBLAS_STATUS_SUCCESS
    printf("%g\n", c.download()[5]); //> 0

    c.fill(NAN);
    a.fill(1), b.fill(1);
    STATUS(GEMM(4, 4, 4, &one, &zero)); //> GEMM(4, 4, 4, &one, &zero): CUBLAS_STATUS_SUCCESS
    printf("%g\n", c.download()[5]); //> 4
    a.fill(NAN), b.fill(INFINITY);
    STATUS(GEMM(4, 4, 4, &zero, &two)); //> GEMM(4, 4, 4, &zero, &two): CUBLAS_STATUS_SUCCESS
    printf("%g\n", c.download()[5]); //> 8
    STATUS_OF("without A and B", cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &zero, nullptr, 4, nullptr, 4, &two, c.device, 4)); //> without A and B: CUBLAS_STATUS_SUCCESS
    printf("%g\n", c.download()[5]); //> 16
}
