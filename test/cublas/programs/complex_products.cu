// gemm and gemv of complex numbers, for each pair of transposes and conjugates, of many sizes, in
// batches, by types and with scalars on the device: what they give is what the host computes.
#include <cublasLt.h>

#include "complex.h"

static const cublasOperation_t trans_all[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

template <class T> struct product {
    matrix<T> a, b, c;
    cublasOperation_t ta, tb;
    int m, n, k;
    std::vector<number_t> before;
    T alpha = narrow<T>({0.5, -2}), beta = narrow<T>({-1, 0.25});

    product(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k)
        : a((ta == CUBLAS_OP_N ? m : k) + 1, ta == CUBLAS_OP_N ? k : m, 1),
          b((tb == CUBLAS_OP_N ? k : n) + 2, tb == CUBLAS_OP_N ? n : k, 2), c(m + 3, n, 3), ta(ta),
          tb(tb), m(m), n(n), k(k), before(c.now())
    {
    }
    /* Judges C, and puts back what it was. */
    void see_c(judge &judge)
    {
        MUST(cudaDeviceSynchronize());
        for (int j = 0; j < n; j++)
            for (int i = 0; i < c.rows; i++) {
                number_t should = before[i + (size_t)j * c.rows], sum = 0;

                for (int d = 0; i < m && d < k; d++)
                    sum += a.op(ta, i, d) * b.op(tb, d, j);
                if (i < m)
                    should = widen(alpha) * sum + widen(beta) * should;
                see<T>(judge, c(i, j), should);
                c.device[i + (size_t)j * c.rows] = narrow<T>(before[i + (size_t)j * c.rows]);
            }
    }
};

template <class T> void products(cublasHandle_t handle)
{
    static const int sizes[][3] = {{1, 1, 1}, {33, 70, 17}, {64, 32, 40}, {1, 35, 50}, {50, 1, 35}};
    judge plain, by_3m, typed, batched, strided, on_device;

    for (cublasOperation_t ta : trans_all)
        for (cublasOperation_t tb : trans_all)
            for (auto &size : sizes) {
                product<T> p(ta, tb, size[0], size[1], size[2]);
                T *scalars, **each;

                BLAS(blas<T>::gemm(handle, ta, tb, p.m, p.n, p.k, &p.alpha, p.a.device, p.a.rows,
                                   p.b.device, p.b.rows, &p.beta, p.c.device, p.c.rows));
                p.see_c(plain);
                BLAS(blas<T>::gemm3m(handle, ta, tb, p.m, p.n, p.k, &p.alpha, p.a.device, p.a.rows,
                                     p.b.device, p.b.rows, &p.beta, p.c.device, p.c.rows));
                p.see_c(by_3m);
                BLAS(cublasGemmEx(handle, ta, tb, p.m, p.n, p.k, &p.alpha, p.a.device,
                                  blas<T>::type, p.a.rows, p.b.device, blas<T>::type, p.b.rows,
                                  &p.beta, p.c.device, blas<T>::type, p.c.rows, blas<T>::compute,
                                  CUBLAS_GEMM_DEFAULT));
                p.see_c(typed);
                BLAS(blas<T>::gemm_strided(handle, ta, tb, p.m, p.n, p.k, &p.alpha, p.a.device,
                                           p.a.rows, 0, p.b.device, p.b.rows, 0, &p.beta,
                                           p.c.device, p.c.rows, 0, 1));
                p.see_c(strided);
                MUST(cudaMallocManaged(&scalars, 2 * sizeof(T)));
                MUST(cudaMallocManaged(&each, 3 * sizeof(T *)));
                scalars[0] = p.alpha, scalars[1] = p.beta;
                each[0] = p.a.device, each[1] = p.b.device, each[2] = p.c.device;
                BLAS(blas<T>::gemm_batched(handle, ta, tb, p.m, p.n, p.k, &p.alpha, each, p.a.rows,
                                           each + 1, p.b.rows, &p.beta, each + 2, p.c.rows, 1));
                p.see_c(batched);
                BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
                BLAS(blas<T>::gemm(handle, ta, tb, p.m, p.n, p.k, scalars, p.a.device, p.a.rows,
                                   p.b.device, p.b.rows, scalars + 1, p.c.device, p.c.rows));
                BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
                p.see_c(on_device);
                cudaFree(scalars);
                cudaFree(each);
            }
    printf("gemm of %zu bytes: %d %d %d %d %d %d\n", sizeof(T), plain.right(), by_3m.right(),
           typed.right(), batched.right(), strided.right(), on_device.right());
}

static void by_types(cublasHandle_t handle)
{
    judge typed, by_3m;
    product<cuComplex> p(CUBLAS_OP_C, CUBLAS_OP_T, 33, 70, 17);

    BLAS(cublasCgemmEx(handle, p.ta, p.tb, p.m, p.n, p.k, &p.alpha, p.a.device, CUDA_C_32F, p.a.rows,
                       p.b.device, CUDA_C_32F, p.b.rows, &p.beta, p.c.device, CUDA_C_32F, p.c.rows));
    p.see_c(typed);
    BLAS(cublasCgemm3mEx_64(handle, p.ta, p.tb, p.m, p.n, p.k, &p.alpha, p.a.device, CUDA_C_32F,
                            p.a.rows, p.b.device, CUDA_C_32F, p.b.rows, &p.beta, p.c.device,
                            CUDA_C_32F, p.c.rows));
    p.see_c(by_3m);
    printf("gemm by types: %d %d\n", typed.right(), by_3m.right());
}

template <class T> void by_lt(cublasHandle_t of)
{
    cublasLtHandle_t handle = (cublasLtHandle_t)of; // as the documentation allows
    judge judge;

    for (cublasOperation_t ta : trans_all) {
        product<T> p(ta, CUBLAS_OP_N, 33, 70, 17);
        cublasLtMatmulDesc_t desc;
        cublasLtMatrixLayout_t a, b, c;

        BLAS(cublasLtMatmulDescCreate(&desc, blas<T>::compute, blas<T>::type));
        BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof(ta)));
        BLAS(cublasLtMatrixLayoutCreate(&a, blas<T>::type, ta == CUBLAS_OP_N ? p.m : p.k,
                                        p.a.columns, p.a.rows));
        BLAS(cublasLtMatrixLayoutCreate(&b, blas<T>::type, p.k, p.n, p.b.rows));
        BLAS(cublasLtMatrixLayoutCreate(&c, blas<T>::type, p.m, p.n, p.c.rows));
        BLAS(cublasLtMatmul(handle, desc, &p.alpha, p.a.device, a, p.b.device, b, &p.beta,
                            p.c.device, c, p.c.device, c, nullptr, nullptr, 0, nullptr));
        p.see_c(judge);
        for (cublasLtMatrixLayout_t layout : {a, b, c})
            cublasLtMatrixLayoutDestroy(layout);
        cublasLtMatmulDescDestroy(desc);
    }
    printf("cublasLtMatmul of %zu bytes: %d\n", sizeof(T), judge.right());
}

template <class T> void vectors(cublasHandle_t handle)
{
    const int M = 37, N = 45, BATCH = 2;
    const T alpha = narrow<T>({0.5, -2}), beta = narrow<T>({-1, 0.25});
    judge gemv;

    for (cublasOperation_t trans : trans_all) {
        const int rows = trans == CUBLAS_OP_N ? M : N, columns = trans == CUBLAS_OP_N ? N : M;
        matrix<T> a(M + 1, N * BATCH, 1), x(2, columns * BATCH, 2), y(3, rows * BATCH, 3);
        std::vector<number_t> before = y.now();

        BLAS(blas<T>::gemv_strided(handle, trans, M, N, &alpha, a.device, M + 1, (M + 1) * N,
                                   x.device, 2, 2 * columns, &beta, y.device, 3, 3 * rows, BATCH));
        MUST(cudaDeviceSynchronize());
        for (int i = 0; i < rows * BATCH; i++) {
            number_t sum = 0;

            for (int j = 0; j < columns; j++) {
                const int from = i / rows * N;
                const number_t element = trans == CUBLAS_OP_N   ? a(i % rows, from + j)
                                         : trans == CUBLAS_OP_T ? a(j, from + i % rows)
                                                                : std::conj(a(j, from + i % rows));

                sum += element * x(0, i / rows * columns + j);
            }
            see<T>(gemv, y(0, i), widen(alpha) * sum + widen(beta) * before[i * 3]);
        }
        /* backwards */
        before = y.now();
        BLAS(blas<T>::gemv(handle, trans, M, N, &alpha, a.device, M + 1, x.device, -2, &beta,
                           y.device, -3));
        MUST(cudaDeviceSynchronize());
        for (int i = 0; i < rows; i++) {
            number_t sum = 0;

            for (int j = 0; j < columns; j++)
                sum += a.op(trans, i, j) * x(0, columns - 1 - j);
            see<T>(gemv, y(0, rows - 1 - i),
                   widen(alpha) * sum + widen(beta) * before[(rows - 1 - i) * 3]);
        }
    }
    printf("gemv of %zu bytes: %d\n", sizeof(T), gemv.right());
}

template <class T> void level1(cublasHandle_t handle)
{
    const int N = 1500;
    typedef typename blas<T>::real R;
    matrix<T> x(2, N, 1), y(1, N, 2);
    const T alpha = narrow<T>({0.5, -2});
    const R half = 0.5;
    std::vector<number_t> before = y.now();
    T plain, conjugated;
    R length, sum;
    int largest, smallest;
    judge changed, results;
    number_t dotu = 0, dotc = 0;
    double squares = 0, magnitudes = 0;
    auto magnitude = [&](int i) { return std::fabs(x(0, i).real()) + std::fabs(x(0, i).imag()); };

    BLAS(blas<T>::dotu(handle, N, x.device, 2, y.device, 1, &plain));
    BLAS(blas<T>::dotc(handle, N, x.device, 2, y.device, 1, &conjugated));
    BLAS(blas<T>::nrm2(handle, N, x.device, 2, &length));
    BLAS(blas<T>::asum(handle, N, x.device, 2, &sum));
    BLAS(blas<T>::iamax(handle, N, x.device, 2, &largest));
    BLAS(blas<T>::iamin(handle, N, x.device, 2, &smallest));
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) {
        dotu += x(0, i) * y(0, i);
        dotc += std::conj(x(0, i)) * y(0, i);
        squares += std::norm(x(0, i));
        magnitudes += magnitude(i);
        if (magnitude(i) > magnitude(largest - 1) || magnitude(i) < magnitude(smallest - 1))
            results.see(1, 0, 1e-9);
    }
    see<T>(results, widen(plain), dotu);
    see<T>(results, widen(conjugated), dotc);
    see<T>(results, length, std::sqrt(squares));
    results.see(sum, magnitudes, 100 * tolerance<T>());
    BLAS(blas<T>::axpy(handle, N, &alpha, x.device, 2, y.device, 1));
    BLAS(blas<T>::scal(handle, N / 2, &alpha, y.device, 1));
    BLAS(blas<T>::scal_real(handle, N / 2, &half, y.device + N / 2, 1));
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        see<T>(changed, y(0, i),
               (i < N / 2 ? widen(alpha) : 0.5) * (before[i] + widen(alpha) * x(0, i)));
    printf("vectors of %zu bytes: %d %d\n", sizeof(T), changed.right(), results.right());
}

int main()
{
    blas_handle handle;

    products<cuComplex>(handle);       //> gemm of 8 bytes: 1 1 1 1 1 1
    products<cuDoubleComplex>(handle); //> gemm of 16 bytes: 1 1 1 1 1 1
    by_types(handle);                  //> gemm by types: 1 1
    by_lt<cuComplex>(handle);          //> cublasLtMatmul of 8 bytes: 1
    by_lt<cuDoubleComplex>(handle);    //> cublasLtMatmul of 16 bytes: 1
    vectors<cuComplex>(handle);        //> gemv of 8 bytes: 1
    vectors<cuDoubleComplex>(handle);  //> gemv of 16 bytes: 1
    level1<cuComplex>(handle);         //> vectors of 8 bytes: 1 1
    level1<cuDoubleComplex>(handle);   //> vectors of 16 bytes: 1 1
}
