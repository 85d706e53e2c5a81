// The logger's callback gets a line for each operation.
#include "blas.h"

static void line(const char *text)
{
    fputs(text, stdout);
}

int main()
{
    blas_handle handle;
    array<float> a(16), b(16), c(16);
    const float one = 1;

    BLAS(cublasSetLoggerCallback(line));
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 3, 4, &one, a.device, 4, b.device, 4, &one, c.device, 4)); //> libgshare_cublas: GEMM m 2 n 3 k 4 batch 1
    BLAS(cublasSetLoggerCallback(nullptr));
    BLAS(cublasSscal(handle, 4, &one, a.device, 1));
    puts("silent"); //> silent
}
