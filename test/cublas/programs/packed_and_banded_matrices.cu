// Matrices of which a band is stored, or a triangle without gaps (packed), of all four types: products with general,
// symmetric, Hermitian and triangular ones, systems with triangular ones, updates, and copies of triangles. What is
// stored beside the band is not read, and neither is a unit diagonal.
#include "complex.h"

static const int M = 37, N = 45, INC = 2;
static const cublasFillMode_t fills[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};
static const int diagonals[] = {0, 3, 50}; /* beside the main one; 50 are more than there are */

template <class T> struct packed;
#define PACKED_OF(T, R, S, L)                                                                      \
    template <> struct packed<T> {                                                                 \
        typedef R real;                                                                            \
        static constexpr auto gbmv = cublas##S##gbmv_v2;                                           \
        static constexpr auto gbmv_64 = cublas##S##gbmv_v2_64;                                     \
        static constexpr auto sbmv = cublas##S##L##bmv_v2;                                         \
        static constexpr auto spmv = cublas##S##L##pmv_v2;                                         \
        static constexpr auto spr = cublas##S##L##pr_v2;                                           \
        static constexpr auto spr2 = cublas##S##L##pr2_v2;                                         \
        static constexpr auto tbmv = cublas##S##tbmv_v2;                                           \
        static constexpr auto tbsv = cublas##S##tbsv_v2;                                           \
        static constexpr auto tpmv = cublas##S##tpmv_v2;                                           \
        static constexpr auto tpsv = cublas##S##tpsv_v2;                                           \
        static constexpr auto tpttr = cublas##S##tpttr;                                            \
        static constexpr auto trttp = cublas##S##trttp;                                            \
    };
PACKED_OF(float, float, S, s)
PACKED_OF(double, double, D, s)
PACKED_OF(cuComplex, float, C, h)
PACKED_OF(cuDoubleComplex, double, Z, h)

/* All that is not set otherwise is not to be read. */
template <class T> void spoil(matrix<T> &a)
{
    for (int i = 0; i < a.rows * a.columns; i++)
        a.device[i] = narrow<T>({NAN, NAN});
}

/* Sets A outside of its `below` and `above` diagonals to 0, and gives the band as it is stored. */
template <class T> void to_band(matrix<T> &a, int below, int above, matrix<T> &band)
{
    spoil(band);
    for (int j = 0; j < a.columns; j++)
        for (int i = 0; i < a.rows; i++) {
            T &x = a.device[i + j * a.rows];

            if (i - j <= below && j - i <= above)
                band.device[above + i - j + j * band.rows] = x;
            else
                x = narrow<T>(0);
        }
}

static size_t place(cublasFillMode_t uplo, int n, int i, int j)
{
    return uplo == CUBLAS_FILL_MODE_UPPER ? i + (size_t)j * (j + 1) / 2 : i + (size_t)j * (2 * n - j - 1) / 2;
}

static bool in_triangle(cublasFillMode_t uplo, int i, int j)
{
    return uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
}

template <class T> void to_packed(const matrix<T> &a, cublasFillMode_t uplo, T *packed)
{
    for (int j = 0; j < a.columns; j++)
        for (int i = 0; i < a.columns; i++)
            if (in_triangle(uplo, i, j))
                packed[place(uplo, a.columns, i, j)] = a.device[i + j * a.rows];
}

/* Judges y = alpha op(A) x + beta y, by A's elements; x is read backwards. */
template <class T, class F>
void see_product(judge &judge, T alpha, T beta, int rows, int columns, const matrix<T> &x, const matrix<T> &y,
                 const std::vector<number_t> &before, F element)
{
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < rows; i++) {
        number_t sum = 0;

        for (int k = 0; k < columns; k++)
            sum += element(i, k) * x(0, columns - 1 - k);
        see<T>(judge, y(0, i), widen(alpha) * sum + widen(beta) * before[i]);
    }
}

template <class T> void general(cublasHandle_t handle, judge &judge)
{
    const T alpha = narrow<T>({0.5, -2}), beta = narrow<T>({-1, 0.25});

    for (int below : diagonals)
        for (int above : diagonals)
            for (cublasOperation_t trans : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
                const int rows = trans == CUBLAS_OP_N ? M : N, columns = trans == CUBLAS_OP_N ? N : M;
                matrix<T> a(M, N, 1), band(below + above + 2, N, 2), x(INC, columns, 3), y(1, rows, 4);
                std::vector<number_t> before = y.now();
                auto element = [&](int i, int k) { return a.op(trans, i, k); };

                to_band(a, below, above, band);
                BLAS(packed<T>::gbmv(handle, trans, M, N, below, above, &alpha, band.device, band.rows, x.device, -INC,
                                     &beta, y.device, 1));
                see_product(judge, alpha, beta, rows, columns, x, y, before, element);
                before = y.now();
                BLAS(packed<T>::gbmv_64(handle, trans, M, N, below, above, &alpha, band.device, band.rows, x.device,
                                        -INC, &beta, y.device, 1));
                see_product(judge, alpha, beta, rows, columns, x, y, before, element);
            }
}

template <class T> void symmetric(cublasHandle_t handle, judge &judge)
{
    const T alpha = narrow<T>({0.5, -2}), beta = narrow<T>({-1, 0.25});

    for (cublasFillMode_t uplo : fills) {
        const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;

        for (int k : diagonals) {
            matrix<T> a(N, N, 1), band(k + 1, N, 2), x(INC, N, 3), y(1, N, 4);
            std::vector<number_t> before = y.now();

            to_band(a, lower ? k : 0, lower ? 0 : k, band);
            BLAS(packed<T>::sbmv(handle, uplo, N, k, &alpha, band.device, k + 1, x.device, -INC, &beta, y.device, 1));
            see_product(judge, alpha, beta, N, N, x, y, before,
                        [&](int i, int j) { return a.whole(uplo, is_complex<T>, i, j); });
        }
        matrix<T> a(N, N, 1), stored(1, N * (N + 1) / 2, 2), x(INC, N, 3), y(1, N, 4);
        std::vector<number_t> before = y.now();

        to_packed(a, uplo, stored.device);
        BLAS(packed<T>::spmv(handle, uplo, N, &alpha, stored.device, x.device, -INC, &beta, y.device, 1));
        see_product(judge, alpha, beta, N, N, x, y, before,
                    [&](int i, int j) { return a.whole(uplo, is_complex<T>, i, j); });
    }
}

template <class T> void updates(cublasHandle_t handle, judge &judge)
{
    const T alpha = narrow<T>({0.5, -2});
    const typename packed<T>::real half = 0.5;

    for (cublasFillMode_t uplo : fills) {
        matrix<T> a(1, N * (N + 1) / 2, 1), x(INC, N, 2), y(1, N, 3);
        std::vector<number_t> before = a.now(), between;
        auto conj = [](number_t z) { return is_complex<T> ? std::conj(z) : z; };

        BLAS(packed<T>::spr(handle, uplo, N, &half, x.device, INC, a.device));
        MUST(cudaDeviceSynchronize());
        between = a.now();
        BLAS(packed<T>::spr2(handle, uplo, N, &alpha, x.device, INC, y.device, -1, a.device));
        MUST(cudaDeviceSynchronize());
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) {
                if (!in_triangle(uplo, i, j))
                    continue;
                const size_t at = place(uplo, N, i, j);
                const number_t xi = x(0, i), xj = x(0, j), yi = y(0, N - 1 - i), yj = y(0, N - 1 - j);
                number_t once = before[at] + 0.5 * xi * conj(xj);
                number_t twice = between[at] + widen(alpha) * xi * conj(yj) + conj(widen(alpha)) * yi * conj(xj);

                see<T>(judge, between[at], i == j && is_complex<T> ? once.real() : once);
                see<T>(judge, a(0, (int)at), i == j && is_complex<T> ? twice.real() : twice);
            }
    }
}

template <class T> void triangles(cublasHandle_t handle, judge &products, judge &systems)
{
    for (int which = 0; which < 48; which++) {
        const cublasFillMode_t uplo = fills[which & 1];
        const cublasDiagType_t diag = which & 2 ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        const cublasOperation_t trans = (cublasOperation_t)(which / 4 % 3);
        const bool in_band = which / 12 < 3, lower = uplo == CUBLAS_FILL_MODE_LOWER;
        const int k = in_band ? diagonals[which / 12] : N;
        matrix<T> a(N, N, 1), band(k + 1, N, 2), stored(1, N * (N + 1) / 2, 3), v(INC, N, 4), w(INC, N, 4);
        std::vector<number_t> before = v.now();

        for (int i = 0; i < N * N; i++) /* such that solutions stay small */
            a.device[i] = narrow<T>(i % (N + 1) ? widen(a.device[i]) / 8.0 : number_t(2, 1));
        if (diag == CUBLAS_DIAG_UNIT)
            for (int i = 0; i < N; i++)
                a.device[i * (N + 1)] = narrow<T>({NAN, NAN});
        to_band(a, lower ? k : 0, lower ? 0 : k, band);
        to_packed(a, uplo, stored.device);
        if (in_band) {
            BLAS(packed<T>::tbmv(handle, uplo, trans, diag, N, k, band.device, k + 1, v.device, -INC));
            BLAS(packed<T>::tbsv(handle, uplo, trans, diag, N, k, band.device, k + 1, w.device, INC));
        } else {
            BLAS(packed<T>::tpmv(handle, uplo, trans, diag, N, stored.device, v.device, -INC));
            BLAS(packed<T>::tpsv(handle, uplo, trans, diag, N, stored.device, w.device, INC));
        }
        MUST(cudaDeviceSynchronize());
        for (int i = 0; i < N; i++) {
            number_t product = 0, solved = 0;

            for (int j = 0; j < N; j++) {
                product += a.triangle(uplo, trans, diag, i, j) * before[(N - 1 - j) * INC];
                solved += a.triangle(uplo, trans, diag, i, j) * w(0, j);
            }
            see<T>(products, v(0, N - 1 - i), product);
            see<T>(systems, solved, before[i * INC]);
        }
    }
}

template <class T> void copies(cublasHandle_t handle, judge &judge)
{
    for (cublasFillMode_t uplo : fills) {
        matrix<T> a(N + 3, N, 1), stored(1, N * (N + 1) / 2, 2), c(N + 1, N, 3);
        std::vector<number_t> before = c.now();

        BLAS(packed<T>::trttp(handle, uplo, N, a.device, N + 3, stored.device));
        BLAS(packed<T>::tpttr(handle, uplo, N, stored.device, c.device, N + 1));
        MUST(cudaDeviceSynchronize());
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) {
                if (in_triangle(uplo, i, j))
                    see<T>(judge, stored(0, (int)place(uplo, N, i, j)), a(i, j));
                see<T>(judge, c(i, j), in_triangle(uplo, i, j) ? a(i, j) : before[i + j * (N + 1)]);
            }
    }
}

int main()
{
    blas_handle handle;
    judge band, whole, update, product, system, copy;
    const double one = 1;
    array<double> a(8), x(8);
    auto all = [&](auto zero) {
        typedef decltype(zero) T;

        general<T>(handle, band);
        symmetric<T>(handle, whole);
        updates<T>(handle, update);
        triangles<T>(handle, product, system);
        copies<T>(handle, copy);
    };

    all(float());
    all(double());
    all(cuComplex());
    all(cuDoubleComplex());
    HOLDS(band.right());    //> band.right(): yes
    HOLDS(whole.right());   //> whole.right(): yes
    HOLDS(update.right());  //> update.right(): yes
    HOLDS(product.right()); //> product.right(): yes
    HOLDS(system.right());  //> system.right(): yes
    HOLDS(copy.right());    //> copy.right(): yes

    /* A leading dimension has to hold all diagonals. */
    STATUS_OF("gbmv", cublasDgbmv(handle, CUBLAS_OP_N, 2, 2, 1, 1, &one, a.device, 2, x.device, 1, &one, x.device, 1)); //> gbmv: CUBLAS_STATUS_INVALID_VALUE
    STATUS_OF("sbmv", cublasDsbmv(handle, CUBLAS_FILL_MODE_LOWER, 2, 1, &one, a.device, 1, x.device, 1, &one, x.device, 1)); //> sbmv: CUBLAS_STATUS_INVALID_VALUE
    STATUS_OF("tbmv", cublasDtbmv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 2, 1, a.device, 1, x.device, 1)); //> tbmv: CUBLAS_STATUS_INVALID_VALUE
    STATUS_OF("tpsv", cublasDtpsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 2, a.device, x.device, 0)); //> tpsv: CUBLAS_STATUS_INVALID_VALUE
    STATUS_OF("spr", cublasDspr(handle, CUBLAS_FILL_MODE_FULL, 2, &one, x.device, 1, a.device)); //> spr: CUBLAS_STATUS_INVALID_VALUE
}
