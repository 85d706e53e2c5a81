// SetVector, GetVector, SetMatrix and GetMatrix copy with increments and leading dimensions.
#include "blas.h"

int main()
{
    float from[12], to[12] = {}, *device;
    cudaStream_t stream;

    for (int i = 0; i < 12; i++)
        from[i] = (float)i;
    MUST(cudaMalloc(&device, 64 * sizeof(float)));
    STATUS(cublasSetVector(4, sizeof(float), from, 3, device, 2)); //> cublasSetVector(4, sizeof(float), from, 3, device, 2): CUBLAS_STATUS_SUCCESS
    STATUS(cublasGetVector(4, sizeof(float), device, 2, to, 1)); //> cublasGetVector(4, sizeof(float), device, 2, to, 1): CUBLAS_STATUS_SUCCESS
    printf("%g %g %g %g %g\n", to[0], to[1], to[2], to[3], to[4]); //> 0 3 6 9 0
    STATUS(cublasSetMatrix(2, 3, sizeof(float), from, 4, device, 5)); //> cublasSetMatrix(2, 3, sizeof(float), from, 4, device, 5): CUBLAS_STATUS_SUCCESS
    MUST(cudaStreamCreate(&stream));
    STATUS(cublasGetMatrixAsync(2, 3, sizeof(float), device, 5, to, 2, stream)); //> cublasGetMatrixAsync(2, 3, sizeof(float), device, 5, to, 2, stream): CUBLAS_STATUS_SUCCESS
    MUST(cudaStreamSynchronize(stream));
    printf("%g %g %g %g %g %g\n", to[0], to[1], to[2], to[3], to[4], to[5]); //> 0 1 4 5 8 9
    STATUS(cublasSetVector(0, sizeof(float), from, 1, device, 1)); //> cublasSetVector(0, sizeof(float), from, 1, device, 1): CUBLAS_STATUS_SUCCESS
    STATUS(cublasSetVector(4, sizeof(float), from, 0, device, 1)); //> cublasSetVector(4, sizeof(float), from, 0, device, 1): CUBLAS_STATUS_INVALID_VALUE
    STATUS(cublasSetVector(4, 0, from, 1, device, 1)); //> cublasSetVector(4, 0, from, 1, device, 1): CUBLAS_STATUS_INVALID_VALUE
}
