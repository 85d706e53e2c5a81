// What this library has not names itself once and is CUBLAS_STATUS_NOT_SUPPORTED.
#include "blas.h"

int main()
{
    blas_handle handle;
    array<float> a(16), b(16), c(16);
    const cuComplex one = {1, 0};
    cuComplex *p = (cuComplex *)a.device;

    setvbuf(stdout, nullptr, _IONBF, 0);
    for (int i = 0; i < 2; i++)
        STATUS_OF("cgemm", cublasCgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, p, 1, p, 1, &one, p, 1)); //> libgshare_cublas: cublasCgemm_v2 is not supported
    //> cgemm: CUBLAS_STATUS_NOT_SUPPORTED
    //> cgemm: CUBLAS_STATUS_NOT_SUPPORTED
}
