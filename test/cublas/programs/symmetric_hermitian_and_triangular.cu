// What reads or writes one triangle of a matrix, of all four types: products with a symmetric,
// Hermitian or triangular matrix, systems with a triangular one, and updates of one triangle. The
// other triangle is not read, and not written. The diagonal of a Hermitian matrix becomes real.
#include "complex.h"

static const int M = 35, N = 41, LD = 43, INC = 2;
static const cublasFillMode_t fills[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};

/* NaN in the triangle that is not to be read. */
template <class T> void spoil(matrix<T> &a, cublasFillMode_t uplo, cublasDiagType_t diag)
{
    for (int i = 0; i < a.rows; i++)
        for (int j = 0; j < a.columns; j++)
            if (i == j ? diag == CUBLAS_DIAG_UNIT : (uplo == CUBLAS_FILL_MODE_LOWER) != (i > j))
                a.device[i + j * a.rows] = narrow<T>({NAN, NAN});
}

template <class T> void with_symmetric(cublasHandle_t handle, judge &judge, bool hermitian)
{
    const T alpha = narrow<T>({0.5, -2}), beta = narrow<T>({-1, 0.25});

    for (cublasFillMode_t uplo : fills)
        for (cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
            const int order = side == CUBLAS_SIDE_LEFT ? M : N;
            matrix<T> a(LD, order, 1), b(M, N, 2), c(M + 1, N, 3), x(INC, order, 4), y(1, order, 5);
            std::vector<number_t> before = c.now(), y_before = y.now();
            auto symm = blas<T>::symm;
            auto symv = blas<T>::symv;

            if constexpr (is_complex<T>)
                if (hermitian)
                    symm = blas<T>::hemm, symv = blas<T>::hemv;
            spoil(a, uplo, CUBLAS_DIAG_NON_UNIT);
            BLAS(symm(handle, side, uplo, M, N, &alpha, a.device, LD, b.device, M, &beta, c.device,
                      M + 1));
            BLAS(symv(handle, uplo, order, &alpha, a.device, LD, x.device, -INC, &beta, y.device,
                      1));
            MUST(cudaDeviceSynchronize());
            for (int j = 0; j < N; j++)
                for (int i = 0; i < M; i++) {
                    number_t sum = 0;

                    for (int k = 0; k < order; k++)
                        sum += side == CUBLAS_SIDE_LEFT ? a.whole(uplo, hermitian, i, k) * b(k, j)
                                                        : b(i, k) * a.whole(uplo, hermitian, k, j);
                    see<T>(judge, c(i, j),
                           widen(alpha) * sum + widen(beta) * before[i + j * (M + 1)]);
                }
            for (int i = 0; i < order; i++) {
                number_t sum = 0;

                for (int k = 0; k < order; k++)
                    sum += a.whole(uplo, hermitian, i, k) * x(0, order - 1 - k);
                see<T>(judge, y(0, i), widen(alpha) * sum + widen(beta) * y_before[i]);
            }
        }
}

template <class T> void with_triangle(cublasHandle_t handle, judge &products, judge &systems)
{
    const T alpha = narrow<T>({0.5, -2});

    for (int which = 0; which < 24; which++) {
        cublasSideMode_t side = which & 1 ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
        cublasFillMode_t uplo = fills[which >> 1 & 1];
        cublasDiagType_t diag = which & 4 ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        cublasOperation_t trans = (cublasOperation_t)(which / 8);
        const int order = side == CUBLAS_SIDE_LEFT ? M : N;
        matrix<T> a(LD, order, 1), b(M, N, 2), c(M + 1, N, 3), in_place(M, N, 2), x(M, N, 2);
        matrix<T> v(INC, order, 4), w(INC, order, 4);
        std::vector<number_t> before = v.now();

        for (int i = 0; i < order * LD; i++) /* such that solutions stay small */
            a.device[i] = narrow<T>(widen(a.device[i]) / 8.0);
        for (int i = 0; i < order; i++)
            a.device[i * (LD + 1)] = narrow<T>({2, 1});
        spoil(a, uplo, diag);
        BLAS(blas<T>::trmm(handle, side, uplo, trans, diag, M, N, &alpha, a.device, LD, b.device, M,
                           c.device, M + 1));
        BLAS(blas<T>::trmm(handle, side, uplo, trans, diag, M, N, &alpha, a.device, LD,
                           in_place.device, M, in_place.device, M));
        BLAS(blas<T>::trsm(handle, side, uplo, trans, diag, M, N, &alpha, a.device, LD, x.device,
                           M));
        BLAS(blas<T>::trmv(handle, uplo, trans, diag, order, a.device, LD, v.device, -INC));
        BLAS(blas<T>::trsv(handle, uplo, trans, diag, order, a.device, LD, w.device, INC));
        MUST(cudaDeviceSynchronize());
        auto times = [&](const matrix<T> &b, int i, int j) {
            number_t sum = 0;

            for (int k = 0; k < order; k++)
                sum += side == CUBLAS_SIDE_LEFT ? a.triangle(uplo, trans, diag, i, k) * b(k, j)
                                                : b(i, k) * a.triangle(uplo, trans, diag, k, j);
            return sum;
        };
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++) {
                see<T>(products, c(i, j), widen(alpha) * times(b, i, j));
                see<T>(products, in_place(i, j), c(i, j));
                see<T>(systems, times(x, i, j), widen(alpha) * b(i, j));
            }
        for (int i = 0; i < order; i++) {
            number_t product = 0, solved = 0;

            for (int k = 0; k < order; k++) {
                product += a.triangle(uplo, trans, diag, i, k) * before[(order - 1 - k) * INC];
                solved += a.triangle(uplo, trans, diag, i, k) * w(0, k);
            }
            see<T>(products, v(0, order - 1 - i), product);
            see<T>(systems, solved, before[i * INC]);
        }
    }
}

/* Judges the triangle of c that was updated, and that the other one is as before. */
template <class T, class F>
void see_update(judge &judge, const matrix<T> &c, const std::vector<number_t> &before,
                cublasFillMode_t uplo, F should)
{
    for (int j = 0; j < c.columns; j++)
        for (int i = 0; i < c.columns; i++) {
            const number_t was = before[i + j * c.rows];

            if (i != j && (uplo == CUBLAS_FILL_MODE_LOWER) != (i > j))
                see<T>(judge, c(i, j), was);
            else
                see<T>(judge, c(i, j), should(i, j, was));
        }
}

template <class T> void updates(cublasHandle_t handle, judge &judge)
{
    const T alpha = narrow<T>({0.5, -2}), beta = narrow<T>({-1, 0.25});

    for (cublasFillMode_t uplo : fills)
        for (cublasOperation_t trans : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            const bool plain = trans == CUBLAS_OP_N;
            matrix<T> a(plain ? M : N, plain ? N : M, 1), b(a.rows, a.columns, 2), c(LD, M, 3);
            matrix<T> x(INC, M, 4), y(1, M, 5);
            std::vector<number_t> before = c.now();
            auto update = [&](bool two, int i, int j) {
                number_t sum = 0;

                for (int k = 0; k < N; k++)
                    sum += two ? a.op(trans, i, k) * (plain ? b(j, k) : b(k, j)) +
                                     b.op(trans, i, k) * (plain ? a(j, k) : a(k, j))
                               : a.op(trans, i, k) * (plain ? a(j, k) : a(k, j));
                return widen(alpha) * sum;
            };

            BLAS(blas<T>::syrk(handle, uplo, trans, M, N, &alpha, a.device, a.rows, &beta, c.device,
                               LD));
            MUST(cudaDeviceSynchronize());
            see_update(judge, c, before, uplo, [&](int i, int j, number_t was) {
                return update(false, i, j) + widen(beta) * was;
            });
            before = c.now();
            BLAS(blas<T>::syr2k(handle, uplo, trans, M, N, &alpha, a.device, a.rows, b.device,
                                b.rows, &beta, c.device, LD));
            MUST(cudaDeviceSynchronize());
            see_update(judge, c, before, uplo, [&](int i, int j, number_t was) {
                return update(true, i, j) + widen(beta) * was;
            });
            before = c.now();
            BLAS(blas<T>::syr2(handle, uplo, M, &alpha, x.device, INC, y.device, 1, c.device, LD));
            BLAS(blas<T>::syr(handle, uplo, M, &alpha, x.device, INC, c.device, LD));
            MUST(cudaDeviceSynchronize());
            see_update(judge, c, before, uplo, [&](int i, int j, number_t was) {
                return was +
                       widen(alpha) * (x(0, i) * y(0, j) + y(0, i) * x(0, j) + x(0, i) * x(0, j));
            });
        }
}

template <class T> void hermitian_updates(cublasHandle_t handle, judge &judge)
{
    const T alpha = narrow<T>({0.5, -2});
    const typename blas<T>::real half = 0.5, beta = -1;

    for (cublasFillMode_t uplo : fills)
        for (cublasOperation_t trans : {CUBLAS_OP_N, CUBLAS_OP_C}) {
            const bool plain = trans == CUBLAS_OP_N;
            matrix<T> a(plain ? M : N, plain ? N : M, 1), b(a.rows, a.columns, 2), c(LD, M, 3);
            matrix<T> x(INC, M, 4), y(1, M, 5);
            std::vector<number_t> before = c.now();
            auto real_diagonal = [](int i, int j, number_t x) { return i == j ? x.real() : x; };
            auto product = [&](const matrix<T> &l, const matrix<T> &r, int i, int j) {
                number_t sum = 0;

                for (int k = 0; k < N; k++)
                    sum += l.op(trans, i, k) * std::conj(r.op(trans, j, k));
                return sum;
            };

            BLAS(blas<T>::herk(handle, uplo, trans, M, N, &half, a.device, a.rows, &beta, c.device,
                               LD));
            MUST(cudaDeviceSynchronize());
            see_update(judge, c, before, uplo, [&](int i, int j, number_t was) {
                return real_diagonal(i, j, 0.5 * product(a, a, i, j) - was);
            });
            before = c.now();
            BLAS(blas<T>::her2k(handle, uplo, trans, M, N, &alpha, a.device, a.rows, b.device,
                                b.rows, &beta, c.device, LD));
            MUST(cudaDeviceSynchronize());
            see_update(judge, c, before, uplo, [&](int i, int j, number_t was) {
                return real_diagonal(i, j,
                                     widen(alpha) * product(a, b, i, j) +
                                         std::conj(widen(alpha)) * product(b, a, i, j) - was);
            });
            before = c.now();
            BLAS(blas<T>::her2(handle, uplo, M, &alpha, x.device, INC, y.device, 1, c.device, LD));
            BLAS(blas<T>::her(handle, uplo, M, &half, x.device, INC, c.device, LD));
            MUST(cudaDeviceSynchronize());
            see_update(judge, c, before, uplo, [&](int i, int j, number_t was) {
                return real_diagonal(i, j,
                                     was + widen(alpha) * x(0, i) * std::conj(y(0, j)) +
                                         std::conj(widen(alpha)) * y(0, i) * std::conj(x(0, j)) +
                                         0.5 * x(0, i) * std::conj(x(0, j)));
            });
        }
}

template <class T> void elementwise(cublasHandle_t handle, judge &judge)
{
    const T alpha = narrow<T>({0.5, -2}), beta = narrow<T>({-1, 0.25});

    for (cublasOperation_t ta : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
        for (cublasOperation_t tb : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
            matrix<T> a(LD, LD, 1), b(LD, LD, 2), c(LD, N, 3), d(LD, N, 4), x(1, M, 5), y(1, N, 6);
            std::vector<number_t> before = c.now();

            BLAS(blas<T>::ger(handle, M, N, &alpha, x.device, 1, y.device, 1, c.device, LD));
            if constexpr (is_complex<T>)
                BLAS(blas<T>::gerc(handle, M, N, &beta, x.device, 1, y.device, 1, c.device, LD));
            MUST(cudaDeviceSynchronize());
            for (int j = 0; j < N; j++)
                for (int i = 0; i < M; i++)
                    see<T>(judge, c(i, j),
                           before[i + j * LD] + widen(alpha) * x(0, i) * y(0, j) +
                               (is_complex<T> ? widen(beta) * x(0, i) * std::conj(y(0, j)) : 0.0));
            BLAS(blas<T>::geam(handle, ta, tb, M, N, &alpha, a.device, LD, &beta, b.device, LD,
                               c.device, LD));
            BLAS(blas<T>::dgmm(handle, CUBLAS_SIDE_LEFT, M, N, a.device, LD, x.device, 1, d.device,
                               LD));
            MUST(cudaDeviceSynchronize());
            for (int j = 0; j < N; j++)
                for (int i = 0; i < M; i++) {
                    see<T>(judge, c(i, j),
                           widen(alpha) * a.op(ta, i, j) + widen(beta) * b.op(tb, i, j));
                    see<T>(judge, d(i, j), x(0, i) * a(i, j));
                }
        }
}

template <class T> void all(cublasHandle_t handle)
{
    judge symmetric, products, systems, updated, other;

    with_symmetric<T>(handle, symmetric, false);
    with_triangle<T>(handle, products, systems);
    updates<T>(handle, updated);
    elementwise<T>(handle, other);
    printf("%zu bytes: %d %d %d %d %d\n", sizeof(T), symmetric.right(), products.right(),
           systems.right(), updated.right(), other.right());
    if constexpr (is_complex<T>) {
        judge hermitian, rank;

        with_symmetric<T>(handle, hermitian, true);
        hermitian_updates<T>(handle, rank);
        printf("Hermitian: %d %d\n", hermitian.right(), rank.right());
    }
}

int main()
{
    blas_handle handle;

    all<float>(handle);           //> 4 bytes: 1 1 1 1 1
    all<double>(handle);          //> 8 bytes: 1 1 1 1 1
    all<cuComplex>(handle);       //> 8 bytes: 1 1 1 1 1
                                  //> Hermitian: 1 1
    all<cuDoubleComplex>(handle); //> 16 bytes: 1 1 1 1 1
                                  //> Hermitian: 1 1
}
