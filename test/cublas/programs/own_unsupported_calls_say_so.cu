// What this library has not names itself once and is CUBLAS_STATUS_NOT_SUPPORTED.
#include "blas.h"

int main()
{
    blas_handle handle;
    array<float> x(4);
    float sum;

    setvbuf(stdout, nullptr, _IONBF, 0);
    for (int i = 0; i < 2; i++)
        STATUS_OF("asum", cublasAsumEx(handle, 4, x.device, CUDA_R_32F, 1, &sum, CUDA_R_32F, CUDA_R_32F)); //> libgshare_cublas: cublasAsumEx is not supported
    //> asum: CUBLAS_STATUS_NOT_SUPPORTED
    //> asum: CUBLAS_STATUS_NOT_SUPPORTED
}
