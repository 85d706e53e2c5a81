/*
 * blas12.c - a program of cuBLAS 12, as its linker would leave it: it asks for libcublas.so.12 and
 * libcudart.so.12 and for the symbol versions of those names. It needs no toolkit; test_cublas.c
 * runs it by gshare-run and compares what it prints with these comments.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { OP_N = 0, OP_T = 1, HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, M = 5, N = 3, K = 4 };

static void *find(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    void *function = handle != NULL ? dlvsym(handle, name, library) : NULL;

    if (function != NULL)
        return function;
    printf("%s\n", dlerror());
    exit(1);
}
#define CUDA(name, types, ...) ((int(*) types)find("libcudart.so.12", #name))(__VA_ARGS__)
#define BLAS(name, types, ...) ((int(*) types)find("libcublas.so.12", #name))(__VA_ARGS__)

static float *upload(const float *host, size_t count)
{
    float *device = NULL;

    if (CUDA(cudaMalloc, (float **, size_t), &device, count * sizeof(*host)) != 0 ||
        CUDA(cudaMemcpy, (void *, const void *, size_t, int), device, host, count * sizeof(*host),
             HOST_TO_DEVICE) != 0)
        exit(1);
    return device;
}

int main(void)
{
    float a[M * K], b[K * N], c[M * N] = {0}, alpha = 1, beta = 0, *da, *db, *dc;
    void *handle = NULL;
    int version = 0, wrong = 0;

    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i % 7 - 3);
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i % 5 - 2);
    da = upload(a, M * K), db = upload(b, K * N), dc = upload(c, M * N);

    printf("%d\n", BLAS(cublasCreate_v2, (void **), &handle)); //> 0
    BLAS(cublasGetVersion_v2, (void *, int *), handle, &version);
    printf("%d\n", version / 10000); //> 12
    printf("%d\n", BLAS(cublasSgemm_v2,
                        (void *, int, int, int, int, int, const float *, const float *, int,
                         const float *, int, const float *, float *, int),
                        handle, OP_N, OP_N, M, N, K, &alpha, da, M, db, K, &beta, dc, M)); //> 0
    CUDA(cudaMemcpy, (void *, const void *, size_t, int), c, dc, sizeof(c), DEVICE_TO_HOST);
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < M; i++) {
            float sum = 0;

            for (int k = 0; k < K; k++)
                sum += a[i + k * M] * b[k + j * K];
            wrong += sum != c[i + j * M];
        }
    }
    printf("%d wrong\n", wrong);                              //> 0 wrong
    printf("%d\n", BLAS(cublasDestroy_v2, (void *), handle)); //> 0
    return 0;
}
