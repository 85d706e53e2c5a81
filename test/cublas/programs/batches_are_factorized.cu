// LU and QR of batches, of real and complex numbers: factors give the matrix again, systems and
// inverses are solved by them, least squares leave a residual that is orthogonal to the matrix, and
// a matrix without full rank is told. What lies beside a matrix is kept.
#include "complex.h"

static const int N = 21, M = 34, LD = 37, VECTORS = 3, BATCH = 2, SIZE = LD * LD;

template <class T> struct functions;
#define FUNCTIONS(T, S)                                                                            \
    template <> struct functions<T> {                                                              \
        static constexpr auto getrf = cublas##S##getrfBatched;                                     \
        static constexpr auto getrs = cublas##S##getrsBatched;                                     \
        static constexpr auto getri = cublas##S##getriBatched;                                     \
        static constexpr auto matinv = cublas##S##matinvBatched;                                   \
        static constexpr auto geqrf = cublas##S##geqrfBatched;                                     \
        static constexpr auto gels = cublas##S##gelsBatched;                                       \
    };
FUNCTIONS(float, S)
FUNCTIONS(double, D)
FUNCTIONS(cuComplex, C)
FUNCTIONS(cuDoubleComplex, Z)

/* Numbers between -1 and 1; those of blas.h make matrices of a low rank. */
static double uniform(unsigned &state)
{
    state = state * 1664525u + 1013904223u;
    return (int)state / 2147483648.0;
}

/* BATCH matrices of LD rows, in memory of the host that the device reaches. */
template <class T> struct batch {
    T *elements, **each;

    explicit batch(unsigned seed)
    {
        MUST(cudaMallocManaged(&elements, BATCH * SIZE * sizeof(T)));
        MUST(cudaMallocManaged(&each, BATCH * sizeof(T *)));
        for (int i = 0; i < BATCH * SIZE; i++) {
            double x = uniform(seed), y = uniform(seed);

            elements[i] = narrow<T>({x, y});
        }
        for (int i = 0; i < BATCH; i++)
            each[i] = elements + i * SIZE;
    }
    ~batch()
    {
        cudaFree(elements);
        cudaFree(each);
    }
    batch(const batch &) = delete;
    number_t operator()(int of, int i, int j) const { return widen(each[of][i + j * LD]); }
};

static void see(judge &judge, number_t is, number_t should, double tolerance)
{
    judge.see(std::abs(is - should), 0, tolerance);
}

static number_t op(cublasOperation_t trans, number_t element)
{
    return trans == CUBLAS_OP_C ? std::conj(element) : element;
}

template <class T> void lu(cublasHandle_t handle, double tolerance, bool pivoting)
{
    batch<T> a(1), f(1), x(2), b(2), inverse(3), small(4);
    int *pivots, *info, wrong = 7;
    judge factors, solutions, inverses;

    MUST(cudaMallocManaged(&pivots, BATCH * N * sizeof(int)));
    MUST(cudaMallocManaged(&info, BATCH * sizeof(int)));
    for (int k = 0; !pivoting && k < BATCH * N; k++) /* a diagonal that needs no pivots */
        a.each[k / N][k % N * (LD + 1)] = f.each[k / N][k % N * (LD + 1)] = narrow<T>(20);
    BLAS(functions<T>::getrf(handle, N, f.each, LD, pivoting ? pivots : nullptr, info, BATCH));
    MUST(cudaDeviceSynchronize());
    for (int of = 0; of < BATCH; of++) {
        int row[LD];

        for (int i = 0; i < LD; i++)
            row[i] = i;
        for (int k = 0; pivoting && k < N; k++)
            std::swap(row[k], row[pivots[of * N + k] - 1]);
        for (int i = 0; i < LD; i++)
            for (int j = 0; j < LD; j++) {
                number_t sum = i < N && j < N ? 0.0 : f(of, i, j);

                for (int k = 0; i < N && j < N && k <= std::min(i, j); k++)
                    sum += (k == i ? 1.0 : f(of, i, k)) * f(of, k, j);
                see(factors, sum, a(of, j < N ? row[i] : i, j), tolerance);
            }
        factors.see(info[of], 0, tolerance);
    }
    for (cublasOperation_t trans : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
        for (int i = 0; i < BATCH * SIZE; i++)
            x.elements[i] = b.elements[i];
        BLAS(functions<T>::getrs(handle, trans, N, VECTORS, f.each, LD, pivoting ? pivots : nullptr,
                                 x.each, LD, &wrong, BATCH));
        MUST(cudaDeviceSynchronize());
        solutions.see(wrong, 0, tolerance);
        for (int of = 0; of < BATCH; of++)
            for (int v = 0; v < VECTORS; v++)
                for (int i = 0; i < N; i++) {
                    number_t sum = 0;

                    for (int j = 0; j < N; j++)
                        sum += (trans == CUBLAS_OP_N ? a(of, i, j) : op(trans, a(of, j, i))) *
                               x(of, j, v);
                    see(solutions, sum, b(of, i, v), tolerance);
                }
    }
    auto check = [&](const batch<T> &by) {
        for (int of = 0; of < BATCH; of++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) {
                    number_t sum = 0;

                    for (int k = 0; k < N; k++)
                        sum += a(of, i, k) * by(of, k, j);
                    see(inverses, sum, i == j, tolerance);
                }
    };
    BLAS(functions<T>::getri(handle, N, f.each, LD, pivoting ? pivots : nullptr, inverse.each, LD,
                             info, BATCH));
    BLAS(functions<T>::matinv(handle, N, a.each, LD, small.each, LD, info, BATCH));
    MUST(cudaDeviceSynchronize());
    check(inverse);
    check(small);
    printf("LU of %zu bytes: %d %d %d\n", sizeof(T), factors.right(), solutions.right(),
           inverses.right());
    cudaFree(pivots);
    cudaFree(info);
}

/* H(k) y or, with the conjugate of tau, its inverse, for a vector on the host. */
template <class T>
void reflect(const batch<T> &v, int of, int k, number_t tau, std::vector<number_t> &y)
{
    number_t sum = y[k];

    for (int i = k + 1; i < M; i++)
        sum += std::conj(v(of, i, k)) * y[i];
    y[k] -= tau * sum;
    for (int i = k + 1; i < M; i++)
        y[i] -= tau * sum * v(of, i, k);
}

template <class T> void qr(cublasHandle_t handle, double tolerance)
{
    batch<T> a(1), f(1), g(1), tau(2), x(3), b(3);
    int *info, wrong = 7;
    judge factors, residuals;

    MUST(cudaMallocManaged(&info, BATCH * sizeof(int)));
    BLAS(functions<T>::geqrf(handle, M, N, f.each, LD, tau.each, &wrong, BATCH));
    factors.see(wrong, 0, tolerance);
    BLAS(functions<T>::gels(handle, CUBLAS_OP_N, M, N, VECTORS, g.each, LD, x.each, LD, &wrong,
                            info, BATCH));
    factors.see(wrong, 0, tolerance);
    MUST(cudaDeviceSynchronize());
    for (int of = 0; of < BATCH; of++) {
        for (int j = 0; j < N; j++) {
            std::vector<number_t> column(M);

            for (int i = 0; i <= j; i++)
                column[i] = f(of, i, j);
            for (int k = N - 1; k >= 0; k--)
                reflect(f, of, k, tau(of, k, 0), column);
            for (int i = 0; i < M; i++) {
                see(factors, column[i], a(of, i, j), tolerance);
                see(factors, g(of, i, j), f(of, i, j), tolerance);
            }
            factors.see(f(of, j, j).imag(), 0, tolerance);
        }
        for (int v = 0; v < VECTORS; v++) {
            std::vector<number_t> residual(M);

            for (int i = 0; i < M; i++) {
                residual[i] = -b(of, i, v);
                for (int j = 0; j < N; j++)
                    residual[i] += a(of, i, j) * x(of, j, v);
            }
            for (int j = 0; j < N; j++) {
                number_t sum = 0;

                for (int i = 0; i < M; i++)
                    sum += std::conj(a(of, i, j)) * residual[i];
                see(residuals, sum, 0, tolerance);
            }
        }
        residuals.see(info[of], 0, tolerance);
    }
    printf("QR of %zu bytes: %d %d\n", sizeof(T), factors.right(), residuals.right());
    cudaFree(info);
}

template <class T> void singular(cublasHandle_t handle)
{
    batch<T> a(1), f(1), inverse(2), small(2), b(3);
    int *pivots, *info, wrong;

    MUST(cudaMallocManaged(&pivots, BATCH * N * sizeof(int)));
    MUST(cudaMallocManaged(&info, 4 * BATCH * sizeof(int)));
    for (int i = 0; i < LD; i++) /* of the second matrix the third column is 0 */
        a.each[1][i + 2 * LD] = f.each[1][i + 2 * LD] = narrow<T>(0);
    BLAS(functions<T>::getrf(handle, N, f.each, LD, pivots, info, BATCH));
    BLAS(functions<T>::getri(handle, N, f.each, LD, pivots, inverse.each, LD, info + 2, BATCH));
    BLAS(functions<T>::matinv(handle, N, a.each, LD, small.each, LD, info + 4, BATCH));
    BLAS(functions<T>::gels(handle, CUBLAS_OP_N, M, N, 1, a.each, LD, b.each, LD, &wrong, info + 6,
                            BATCH));
    MUST(cudaDeviceSynchronize());
    printf("singular:");
    for (int i = 0; i < 4 * BATCH; i++)
        printf(" %d", info[i]);
    printf("\n");
    cudaFree(pivots);
    cudaFree(info);
}

int main()
{
    blas_handle handle;
    batch<float> a(1);
    int info = 7;

    for (bool pivoting : {true, false}) {
        lu<float>(handle, 1e-3, pivoting);
        lu<double>(handle, 1e-11, pivoting);
        lu<cuComplex>(handle, 1e-3, pivoting);
        lu<cuDoubleComplex>(handle, 1e-11, pivoting);
        //> LU of 4 bytes: 1 1 1
        //> LU of 8 bytes: 1 1 1
        //> LU of 8 bytes: 1 1 1
        //> LU of 16 bytes: 1 1 1
        //> LU of 4 bytes: 1 1 1
        //> LU of 8 bytes: 1 1 1
        //> LU of 8 bytes: 1 1 1
        //> LU of 16 bytes: 1 1 1
    }
    qr<float>(handle, 1e-3);            //> QR of 4 bytes: 1 1
    qr<double>(handle, 1e-11);          //> QR of 8 bytes: 1 1
    qr<cuComplex>(handle, 1e-3);        //> QR of 8 bytes: 1 1
    qr<cuDoubleComplex>(handle, 1e-11); //> QR of 16 bytes: 1 1
    singular<double>(handle);           //> singular: 0 3 0 3 0 3 0 3
    singular<cuComplex>(handle);        //> singular: 0 3 0 3 0 3 0 3

    STATUS_OF("n", cublasSgetrfBatched(handle, -1, a.each, LD, nullptr, nullptr, 1));
    //> n: CUBLAS_STATUS_INVALID_VALUE
    STATUS_OF("lda", cublasSgetrsBatched(handle, CUBLAS_OP_N, N, 1, a.each, N - 1, nullptr, a.each,
                                         LD, &info, 1)); //> lda: CUBLAS_STATUS_INVALID_VALUE
    printf("info: %d\n", info);                          //> info: -5
    STATUS_OF("rows", cublasSgelsBatched(handle, CUBLAS_OP_N, N, M, 1, a.each, LD, a.each, LD,
                                         &info, nullptr, 1)); //> rows: CUBLAS_STATUS_NOT_SUPPORTED
    STATUS_OF("nothing", cublasSgetrfBatched(handle, 0, nullptr, 1, nullptr, nullptr, 0));
    //> nothing: CUBLAS_STATUS_SUCCESS
}
