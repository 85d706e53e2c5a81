// Functions with types by parameter give what those of the type give, of real and complex numbers.
#include "complex.h"

static const int N = 700, K = 20;

template <class T> struct typed;
#define TYPED_OF(T, R, type_, real_, S, SUM, s, dotc_)                                             \
    template <> struct typed<T> {                                                                  \
        typedef R real;                                                                            \
        static const cudaDataType type = type_, length = real_;                                    \
        static constexpr auto asum = cublas##SUM##asum_v2;                                         \
        static constexpr auto nrm2 = cublas##SUM##nrm2_v2;                                         \
        static constexpr auto iamax = cublasI##s##amax_v2;                                         \
        static constexpr auto iamin = cublasI##s##amin_v2;                                         \
        static constexpr auto dotc = cublas##S##dotc_##_v2;                                        \
        static constexpr auto axpy = cublas##S##axpy_v2;                                           \
        static constexpr auto scal = cublas##S##scal_v2;                                           \
    };
TYPED_OF(float, float, CUDA_R_32F, CUDA_R_32F, S, S, s, dot)
TYPED_OF(double, double, CUDA_R_64F, CUDA_R_64F, D, D, d, dot)
TYPED_OF(cuComplex, float, CUDA_C_32F, CUDA_R_32F, C, Sc, c, dotc)
TYPED_OF(cuDoubleComplex, double, CUDA_C_64F, CUDA_R_64F, Z, Dz, z, dotc)

static bool near(number_t is, number_t should)
{
    return std::abs(is - should) <= 1e-4 * (1 + std::abs(should));
}

template <class T> bool same(const matrix<T> &a, const matrix<T> &b)
{
    bool all = true;

    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < a.rows * a.columns; i++)
        all &= near(widen(a.device[i]), widen(b.device[i]));
    return all;
}

template <class T> void vectors(cublasHandle_t handle, bool &results, bool &changes, bool &moves)
{
    typedef typed<T> F;
    const cudaDataType t = F::type, r = F::length;
    matrix<T> x(1, N, 1), y(1, N, 2), z(1, N, 2), w(1, N, 1);
    typename F::real length = 0, should_length = -1;
    T dot, should_dot;
    int at = 0, should_at = -1;
    int64_t wide = 0;
    const T alpha = narrow<T>({0.5, -2});

    BLAS(F::asum(handle, N, x.device, 1, &should_length));
    BLAS(cublasAsumEx(handle, N, x.device, t, 1, &length, r, t));
    results &= near(length, should_length);
    BLAS(F::nrm2(handle, N, x.device, 1, &should_length));
    BLAS(cublasNrm2Ex(handle, N, x.device, t, 1, &length, r, r));
    results &= near(length, should_length);
    BLAS(F::iamax(handle, N, x.device, 1, &should_at));
    BLAS(cublasIamaxEx(handle, N, x.device, t, 1, &at));
    BLAS(cublasIamaxEx_64(handle, N, x.device, t, 1, &wide));
    results &= at == should_at && wide == should_at;
    BLAS(F::iamin(handle, N, x.device, 1, &should_at));
    BLAS(cublasIaminEx(handle, N, x.device, t, 1, &at));
    results &= at == should_at;
    BLAS(F::dotc(handle, N, x.device, 1, y.device, 1, &should_dot));
    BLAS(cublasDotcEx(handle, N, x.device, t, 1, y.device, t, 1, &dot, t, t));
    results &= near(widen(dot), widen(should_dot));

    BLAS(F::axpy(handle, N, &alpha, x.device, 1, y.device, 1));
    BLAS(cublasAxpyEx(handle, N, &alpha, t, x.device, t, 1, z.device, t, 1, t));
    changes &= same(y, z);
    BLAS(F::scal(handle, N, &alpha, y.device, 1));
    BLAS(cublasScalEx(handle, N, &alpha, t, z.device, t, 1, t));
    changes &= same(y, z);

    BLAS(cublasSwapEx(handle, N, x.device, t, 1, y.device, t, 1));
    moves &= same(x, z) && same(y, w);
    BLAS(cublasCopyEx(handle, N, x.device, t, 1, y.device, t, 1));
    moves &= same(y, z);
}

/* Of 16 bits a sum of magnitudes has 32, and a length has 16. */
template <class T> void narrow_vectors(cublasHandle_t handle, cudaDataType t, bool &results)
{
    T *x, length;
    float sum = 0, should = 0, squares = 0;
    int largest = 0, smallest = 0;

    MUST(cudaMallocManaged(&x, N * sizeof(*x)));
    for (int i = 0; i < N; i++) {
        const float value = i == 500 ? -9 : i == 300 ? 0.25f : (float)(i % 7 - 3) + (i % 7 == 3);

        x[i] = value;
        should += std::abs(value);
        squares += value * value;
    }
    BLAS(cublasAsumEx(handle, N, x, t, 1, &sum, CUDA_R_32F, CUDA_R_32F));
    BLAS(cublasNrm2Ex(handle, N, x, t, 1, &length, t, CUDA_R_32F));
    BLAS(cublasIamaxEx(handle, N, x, t, 1, &largest));
    BLAS(cublasIaminEx(handle, N, x, t, 1, &smallest));
    results &= sum == should && std::abs((float)length - std::sqrt(squares)) < 0.01 * std::sqrt(squares) && largest == 501 &&
               smallest == 301;
    MUST(cudaFree(x));
}

/* Which types go together. */
static bool only_types_that_agree(cublasHandle_t handle)
{
    const cudaDataType h = CUDA_R_16F, s = CUDA_R_32F, c = CUDA_C_32F;
    double result[2], alpha[2] = {0};
    void *x;
    bool all = true;

    MUST(cudaMalloc(&x, 4096));
    all &= cublasAsumEx(handle, 8, x, h, 1, result, h, s) == CUBLAS_STATUS_NOT_SUPPORTED;
    all &= cublasAsumEx(handle, 8, x, c, 1, result, s, s) == CUBLAS_STATUS_NOT_SUPPORTED;
    all &= cublasNrm2Ex(handle, 8, x, h, 1, result, s, s) == CUBLAS_STATUS_NOT_SUPPORTED;
    all &= cublasNrm2Ex(handle, 8, x, c, 1, result, s, c) == CUBLAS_STATUS_NOT_SUPPORTED;
    all &= cublasAxpyEx(handle, 8, alpha, h, x, h, 1, x, h, 1, s) == CUBLAS_STATUS_NOT_SUPPORTED;
    all &= cublasScalEx(handle, 8, alpha, h, x, h, 1, s) == CUBLAS_STATUS_NOT_SUPPORTED;
    all &= cublasRotEx(handle, 8, x, h, 1, x, h, 1, alpha, alpha, s, s) == CUBLAS_STATUS_NOT_SUPPORTED;
    MUST(cudaFree(x));
    return all;
}

int main()
{
    blas_handle handle;
    bool results = true, changes = true, moves = true, updates = true;
    const cuComplex alpha = {0.5, -2}, beta = {-1, 0.25};
    const float half = 0.5, minus = -1;
    matrix<cuComplex> a(K, K, 1), c(K, K, 2), d(K, K, 2);
    const cudaDataType t = CUDA_C_32F;

    vectors<float>(handle, results, changes, moves);
    vectors<double>(handle, results, changes, moves);
    vectors<cuComplex>(handle, results, changes, moves);
    vectors<cuDoubleComplex>(handle, results, changes, moves);
    narrow_vectors<__half>(handle, CUDA_R_16F, results);
    narrow_vectors<__nv_bfloat16>(handle, CUDA_R_16BF, results);
    for (auto syrk : {cublasCsyrkEx, cublasCsyrk3mEx}) {
        BLAS(cublasCsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, K, K, &alpha, a.device, K, &beta, c.device, K));
        BLAS(syrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, K, K, &alpha, a.device, t, K, &beta, d.device, t, K));
        updates &= same(d, c);
    }
    for (auto herk : {cublasCherkEx, cublasCherk3mEx}) {
        BLAS(cublasCherk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_C, K, K, &half, a.device, K, &minus, c.device, K));
        BLAS(herk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_C, K, K, &half, a.device, t, K, &minus, d.device, t, K));
        updates &= same(d, c);
    }
    HOLDS(results); //> results: yes
    HOLDS(changes); //> changes: yes
    HOLDS(moves);   //> moves: yes
    HOLDS(updates); //> updates: yes
    const bool refused = only_types_that_agree(handle);
    HOLDS(refused); //> refused: yes
}
