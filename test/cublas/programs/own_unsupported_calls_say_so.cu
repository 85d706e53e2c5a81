// What this library has not names itself once and is CUBLAS_STATUS_NOT_SUPPORTED.
#include "blas.h"

int main()
{
    blas_handle handle;
    array<float> a(16), b(16), c(16);
    const float one = 1;

    setvbuf(stdout, nullptr, _IONBF, 0);
    for (int i = 0; i < 2; i++)
        STATUS_OF("sspmv", cublasSspmv(handle, CUBLAS_FILL_MODE_LOWER, 1, &one, a.device, b.device, 1, &one, c.device, 1)); //> libgshare_cublas: cublasSspmv_v2 is not supported
    //> sspmv: CUBLAS_STATUS_NOT_SUPPORTED
    //> sspmv: CUBLAS_STATUS_NOT_SUPPORTED
}
