// What a handle is made with, what can be set, versions, and names and texts of statuses.
#include "blas.h"

int main()
{
    cublasHandle_t h = nullptr, none = nullptr;
    cublasPointerMode_t pointer;
    cublasAtomicsMode_t atomics;
    cublasMath_t math;
    cudaStream_t stream, set;
    int version, major;
    void *memory;

    STATUS(cublasCreate(nullptr)); //> cublasCreate(nullptr): CUBLAS_STATUS_INVALID_VALUE
    STATUS(cublasCreate(&h)); //> cublasCreate(&h): CUBLAS_STATUS_SUCCESS
    STATUS(cublasGetVersion(h, &version)); //> cublasGetVersion(h, &version): CUBLAS_STATUS_SUCCESS
    STATUS(cublasGetProperty(MAJOR_VERSION, &major)); //> cublasGetProperty(MAJOR_VERSION, &major): CUBLAS_STATUS_SUCCESS
    HOLDS(version / 10000 == CUBLAS_VER_MAJOR && major == CUBLAS_VER_MAJOR); //> version / 10000 == CUBLAS_VER_MAJOR && major == CUBLAS_VER_MAJOR: yes
    STATUS(cublasGetVersion(h, nullptr)); //> cublasGetVersion(h, nullptr): CUBLAS_STATUS_INVALID_VALUE

    BLAS(cublasGetStream(h, &set));
    HOLDS(set == nullptr); //> set == nullptr: yes
    MUST(cudaStreamCreate(&stream));
    STATUS(cublasSetStream(h, stream)); //> cublasSetStream(h, stream): CUBLAS_STATUS_SUCCESS
    BLAS(cublasGetStream(h, &set));
    HOLDS(set == stream); //> set == stream: yes
    STATUS(cublasSetStream(none, stream)); //> cublasSetStream(none, stream): CUBLAS_STATUS_NOT_INITIALIZED

    BLAS(cublasGetPointerMode(h, &pointer));
    BLAS(cublasGetAtomicsMode(h, &atomics));
    BLAS(cublasGetMathMode(h, &math));
    printf("%d %d %d\n", pointer, atomics, math); //> 0 0 0
    STATUS(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE)); //> cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE): CUBLAS_STATUS_SUCCESS
    STATUS(cublasSetAtomicsMode(h, CUBLAS_ATOMICS_ALLOWED)); //> cublasSetAtomicsMode(h, CUBLAS_ATOMICS_ALLOWED): CUBLAS_STATUS_SUCCESS
    STATUS(cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH)); //> cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH): CUBLAS_STATUS_SUCCESS
    BLAS(cublasGetPointerMode(h, &pointer));
    BLAS(cublasGetAtomicsMode(h, &atomics));
    BLAS(cublasGetMathMode(h, &math));
    printf("%d %d %d\n", pointer, atomics, math); //> 1 1 3

    MUST(cudaMalloc(&memory, 1 << 20));
    STATUS(cublasSetWorkspace(h, memory, 1 << 20)); //> cublasSetWorkspace(h, memory, 1 << 20): CUBLAS_STATUS_SUCCESS
    STATUS(cublasSetWorkspace(h, nullptr, 0)); //> cublasSetWorkspace(h, nullptr, 0): CUBLAS_STATUS_SUCCESS
    STATUS(cublasDestroy(h)); //> cublasDestroy(h): CUBLAS_STATUS_SUCCESS
    STATUS(cublasDestroy(none)); //> cublasDestroy(none): CUBLAS_STATUS_NOT_INITIALIZED

    puts(cublasGetStatusName(CUBLAS_STATUS_ALLOC_FAILED)); //> CUBLAS_STATUS_ALLOC_FAILED
    puts(cublasGetStatusString(CUBLAS_STATUS_SUCCESS)); //> success
    puts(cublasGetStatusString(CUBLAS_STATUS_INVALID_VALUE)); //> an unsupported value or parameter was passed to the function
    puts(cublasGetStatusString((cublasStatus_t)99)); //> unrecognized status
}
