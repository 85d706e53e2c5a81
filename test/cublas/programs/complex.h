/*
 * complex.h - what the programs about complex numbers have in common: matrices of any of the four
 * types, as numbers on the host, and cuBLAS' functions by type.
 */
#ifndef COMPLEX_H
#define COMPLEX_H

#include <complex>
#include <type_traits>

#include "blas.h"

typedef std::complex<double> number_t;

template <class T> inline constexpr bool is_complex = !std::is_arithmetic_v<T>;

template <class T> T narrow(number_t x)
{
    if constexpr (is_complex<T>)
        return T{(decltype(T::x))x.real(), (decltype(T::x))x.imag()};
    else
        return (T)x.real();
}
template <class T> number_t widen(T x)
{
    if constexpr (is_complex<T>)
        return {x.x, x.y};
    else
        return x;
}
template <class T> double tolerance()
{
    return sizeof(T) / (is_complex<T> ? 2 : 1) == 4 ? 1e-5 : 1e-13;
}

/* A matrix of `rows` stored rows in managed memory, of numbers between -1 and 1. */
template <class T> struct matrix {
    int rows, columns;
    T *device;
    unsigned state;

    matrix(int rows, int columns, unsigned seed) : rows(rows), columns(columns), state(seed)
    {
        MUST(cudaMallocManaged(&device, (size_t)rows * columns * sizeof(T)));
        for (int i = 0; i < rows * columns; i++) {
            double x = random(), y = random();

            device[i] = narrow<T>({x, y});
        }
    }
    ~matrix() { cudaFree(device); }
    matrix(const matrix &) = delete;
    double random()
    {
        state = state * 1664525u + 1013904223u;
        return (int)state / 2147483648.0;
    }
    number_t operator()(int i, int j) const { return widen(device[i + (size_t)j * rows]); }
    /* What is stored now. */
    std::vector<number_t> now() const
    {
        std::vector<number_t> copy((size_t)rows * columns);

        for (size_t i = 0; i < copy.size(); i++)
            copy[i] = widen(device[i]);
        return copy;
    }
    number_t op(cublasOperation_t trans, int i, int j) const
    {
        if (trans == CUBLAS_OP_N)
            return (*this)(i, j);
        return trans == CUBLAS_OP_C ? std::conj((*this)(j, i)) : (*this)(j, i);
    }
    /* An element of the symmetric or Hermitian matrix of which one triangle is stored. */
    number_t whole(cublasFillMode_t uplo, bool hermitian, int i, int j) const
    {
        if (i == j)
            return hermitian ? (*this)(i, i).real() : (*this)(i, i);
        if ((uplo == CUBLAS_FILL_MODE_LOWER) == (i > j))
            return (*this)(i, j);
        return hermitian ? std::conj((*this)(j, i)) : (*this)(j, i);
    }
    /* op() of a triangular matrix. */
    number_t triangle(cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int i,
                      int j) const
    {
        if (i == j && diag == CUBLAS_DIAG_UNIT)
            return 1;
        if (trans != CUBLAS_OP_N)
            std::swap(i, j);
        if (i != j && (uplo == CUBLAS_FILL_MODE_LOWER) != (i > j))
            return 0;
        return trans == CUBLAS_OP_C ? std::conj((*this)(i, j)) : (*this)(i, j);
    }
};

template <class T> void see(judge &judge, number_t is, number_t should)
{
    judge.see(std::abs(is - should), 0, 100 * tolerance<T>());
}

/* blas<T>::gemm is cublasSgemm, cublasDgemm, cublasCgemm or cublasZgemm. */
template <class T> struct blas;
#define BLAS_OF(T, S, ger_plain)                                                                   \
    static constexpr auto gemm = cublas##S##gemm_v2;                                               \
    static constexpr auto gemm_batched = cublas##S##gemmBatched;                                   \
    static constexpr auto gemm_strided = cublas##S##gemmStridedBatched;                            \
    static constexpr auto gemv = cublas##S##gemv_v2;                                               \
    static constexpr auto gemv_strided = cublas##S##gemvStridedBatched;                            \
    static constexpr auto ger = cublas##S##ger_plain##_v2;                                         \
    static constexpr auto symm = cublas##S##symm_v2;                                               \
    static constexpr auto symv = cublas##S##symv_v2;                                               \
    static constexpr auto syr = cublas##S##syr_v2;                                                 \
    static constexpr auto syr2 = cublas##S##syr2_v2;                                               \
    static constexpr auto syrk = cublas##S##syrk_v2;                                               \
    static constexpr auto syr2k = cublas##S##syr2k_v2;                                             \
    static constexpr auto trmm = cublas##S##trmm_v2;                                               \
    static constexpr auto trmv = cublas##S##trmv_v2;                                               \
    static constexpr auto trsm = cublas##S##trsm_v2;                                               \
    static constexpr auto trsv = cublas##S##trsv_v2;                                               \
    static constexpr auto geam = cublas##S##geam;                                                  \
    static constexpr auto dgmm = cublas##S##dgmm;
#define BLAS_OF_COMPLEX(S)                                                                         \
    static constexpr auto gerc = cublas##S##gerc_v2;                                               \
    static constexpr auto hemm = cublas##S##hemm_v2;                                               \
    static constexpr auto hemv = cublas##S##hemv_v2;                                               \
    static constexpr auto her = cublas##S##her_v2;                                                 \
    static constexpr auto her2 = cublas##S##her2_v2;                                               \
    static constexpr auto herk = cublas##S##herk_v2;                                               \
    static constexpr auto her2k = cublas##S##her2k_v2;                                             \
    static constexpr auto gemm3m = cublas##S##gemm3m;                                              \
    static constexpr auto axpy = cublas##S##axpy_v2;                                               \
    static constexpr auto scal = cublas##S##scal_v2;                                               \
    static constexpr auto dotu = cublas##S##dotu_v2;                                               \
    static constexpr auto dotc = cublas##S##dotc_v2;
template <> struct blas<float> {
    BLAS_OF(float, S, ger)
};
template <> struct blas<double> {
    BLAS_OF(double, D, ger)
};
template <> struct blas<cuComplex> {
    typedef float real;
    static const cudaDataType type = CUDA_C_32F;
    static const cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    BLAS_OF(cuComplex, C, geru)
    BLAS_OF_COMPLEX(C)
    static constexpr auto scal_real = cublasCsscal_v2;
    static constexpr auto nrm2 = cublasScnrm2_v2;
    static constexpr auto asum = cublasScasum_v2;
    static constexpr auto iamax = cublasIcamax_v2;
    static constexpr auto iamin = cublasIcamin_v2;
};
template <> struct blas<cuDoubleComplex> {
    typedef double real;
    static const cudaDataType type = CUDA_C_64F;
    static const cublasComputeType_t compute = CUBLAS_COMPUTE_64F;
    BLAS_OF(cuDoubleComplex, Z, geru)
    BLAS_OF_COMPLEX(Z)
    static constexpr auto scal_real = cublasZdscal_v2;
    static constexpr auto nrm2 = cublasDznrm2_v2;
    static constexpr auto asum = cublasDzasum_v2;
    static constexpr auto iamax = cublasIzamax_v2;
    static constexpr auto iamin = cublasIzamin_v2;
};

#endif
