/*
 * blas.h - what the programs of this folder have in common: numbers that are the same each time,
 * matrices on host and device, and results computed on the host in f64. Nothing here is gshare's,
 * so that NVIDIA's cuBLAS can be asked too (`make test-cublas-native`).
 */
#ifndef BLAS_H
#define BLAS_H

#include <cmath>
#include <cstdint>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

#include "cudart/programs/show.h"

/* The call and the name of what it returned. */
#define STATUS(call)          printf("%s: %s\n", #call, cublasGetStatusName(call))
/* The same under a name of its own, for a call that is long. */
#define STATUS_OF(name, call) printf("%s: %s\n", name, cublasGetStatusName(call))
/* A call that has to succeed for the rest to make sense. */
#define BLAS(call)                                                                                 \
    do {                                                                                           \
        cublasStatus_t status_ = (call);                                                           \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                    \
            printf("%s: %s\n", #call, cublasGetStatusName(status_));                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A handle that ends with its scope. */
struct blas_handle {
    cublasHandle_t handle;

    blas_handle() { BLAS(cublasCreate(&handle)); }
    ~blas_handle() { cublasDestroy(handle); }
    blas_handle(const blas_handle &) = delete;
    blas_handle &operator=(const blas_handle &) = delete;
    operator cublasHandle_t() const { return handle; }
};

/* Small multiples of a sixteenth: exact in 16 bits, and so are their products in f32. */
inline double number(unsigned i)
{
    return ((int)((i * 2654435761u) >> 20 & 31) - 15) / 16.0;
}

template <class T> T value(double x)
{
    return T(x);
}
template <> inline __half value<__half>(double x)
{
    return __float2half((float)x);
}
template <> inline __nv_bfloat16 value<__nv_bfloat16>(double x)
{
    return __float2bfloat16((float)x);
}
template <> inline int8_t value<int8_t>(double x)
{
    return (int8_t)std::lrint(x * 16);
}
template <class T> double plain(T x)
{
    return (double)x;
}
template <> inline double plain<__half>(__half x)
{
    return __half2float(x);
}
template <> inline double plain<__nv_bfloat16>(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

/* Elements on the host, and their copy on the device. */
template <class T> struct array {
    std::vector<T> host;
    T *device = nullptr;

    explicit array(size_t count, unsigned seed = 1) : host(count)
    {
        for (size_t i = 0; i < count; i++)
            host[i] = value<T>(number((unsigned)i + seed * 7919));
        MUST(cudaMalloc(&device, count * sizeof(T)));
        upload();
    }
    ~array() { cudaFree(device); }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    void upload()
    {
        MUST(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    void fill(T x)
    {
        host.assign(host.size(), x);
        upload();
    }
    std::vector<T> download() const
    {
        std::vector<T> result(host.size());

        MUST(cudaMemcpy(result.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return result;
    }
    double operator[](size_t i) const { return plain(host[i]); }
};

/* op(A)(i, j) of a stored matrix. */
template <class T>
double element(const array<T> &a, cublasOperation_t trans, int ld, int i, int j, size_t from = 0)
{
    return a[from + (trans == CUBLAS_OP_N ? i + (size_t)j * ld : j + (size_t)i * ld)];
}

/* How far a result is from what it should be, over what it may be off: 1 and less is right. */
struct judge {
    double worst = 0;

    void see(double is, double should, double tolerance)
    {
        double off = std::fabs(is - should) / (tolerance * (1 + std::fabs(should)));

        if (std::isnan(off))
            off = INFINITY;
        worst = off > worst ? off : worst;
    }
    bool right() const { return worst <= 1; }
};

static const double EXACT_F32 = 1e-5, EXACT_F64 = 1e-13, EXACT_F16 = 2e-3, EXACT_BF16 = 1e-2;

/* C = alpha op(A) op(B) + beta C, against what the device has. Other elements of C are kept. */
template <class T, class C>
bool gemm_right(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, double alpha,
                const array<T> &a, int lda, const array<T> &b, int ldb, double beta,
                const array<C> &c, int ldc, double tolerance, size_t a_from = 0, size_t b_from = 0,
                size_t c_from = 0)
{
    std::vector<C> got = c.download();
    judge judge;

    for (int j = 0; j < n; j++) {
        for (int i = 0; i < ldc; i++) {
            size_t at = c_from + i + (size_t)j * ldc;
            double sum = 0;

            if (at >= got.size())
                continue;
            for (int l = 0; l < k && i < m; l++)
                sum += element(a, ta, lda, i, l, a_from) * element(b, tb, ldb, l, j, b_from);
            judge.see(plain(got[at]), i < m ? alpha * sum + (beta != 0 ? beta * c[at] : 0) : c[at],
                      tolerance);
        }
    }
    return judge.right();
}

#endif
