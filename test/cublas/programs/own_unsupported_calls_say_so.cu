// What this library has not names itself once and is CUBLAS_STATUS_NOT_SUPPORTED.
#include "blas.h"

int main()
{
    blas_handle handle;
    float a = 3, b = 4, c, s;

    setvbuf(stdout, nullptr, _IONBF, 0);
    for (int i = 0; i < 2; i++)
        STATUS_OF("rotg", cublasRotgEx(handle, &a, &b, CUDA_R_32F, &c, &s, CUDA_R_32F, CUDA_R_32F)); //> libgshare_cublas: cublasRotgEx is not supported
    //> rotg: CUBLAS_STATUS_NOT_SUPPORTED
    //> rotg: CUBLAS_STATUS_NOT_SUPPORTED
}
