// What this library has not names itself once and is CUBLAS_STATUS_NOT_SUPPORTED.
#include "blas.h"

int main()
{
    blas_handle handle;
    float a = 1, b = 2, c, s;

    setvbuf(stdout, nullptr, _IONBF, 0);
    for (int i = 0; i < 2; i++)
        STATUS_OF("srotg", cublasSrotg(handle, &a, &b, &c, &s)); //> libgshare_cublas: cublasSrotg_v2 is not supported
    //> srotg: CUBLAS_STATUS_NOT_SUPPORTED
    //> srotg: CUBLAS_STATUS_NOT_SUPPORTED
}
