// What this library has not names itself once and is CUBLAS_STATUS_NOT_SUPPORTED.
#include "blas.h"
#include <cublasXt.h>

int main()
{
    setvbuf(stdout, nullptr, _IONBF, 0);
    for (int i = 0; i < 2; i++)
        STATUS_OF("ratio", cublasXtSetCpuRatio(nullptr, CUBLASXT_GEMM, CUBLASXT_FLOAT, 0.5f)); //> libgshare_cublas: cublasXtSetCpuRatio is not supported
    //> ratio: CUBLAS_STATUS_NOT_SUPPORTED
    //> ratio: CUBLAS_STATUS_NOT_SUPPORTED
}
