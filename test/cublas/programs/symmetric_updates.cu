// ger changes all of a matrix; syr, syr2, syrk, syrkx and syr2k change one triangle of it and leave
// the other.
#include "blas.h"

static const int N = 37, K = 9, LD = 40;

/* What the triangle should have, by a function of row and column. */
template <class F>
static bool triangle_right(const array<double> &c, cublasFillMode_t uplo, double beta, F added)
{
    std::vector<double> got = c.download();
    judge judge;

    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            bool in = uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
            size_t at = i + (size_t)j * LD;

            judge.see(got[at], in ? added(i, j) + beta * c[at] : c[at], EXACT_F64);
        }
    return judge.right();
}

int main()
{
    blas_handle handle;
    const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER, upper = CUBLAS_FILL_MODE_UPPER;
    const cublasOperation_t n = CUBLAS_OP_N, t = CUBLAS_OP_T;
    const double alpha = 2, beta = 0.5;
    array<double> x(N, 1), y(N, 2), c(LD * N, 3), a(LD * LD, 4), b(LD * LD, 5);
    judge ger;

    BLAS(cublasDger(handle, N, N, &alpha, x.device, 1, y.device, 1, c.device, LD));
    std::vector<double> got = c.download();
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            ger.see(got[i + j * LD], c[i + j * LD] + alpha * x[i] * y[j], EXACT_F64);
    HOLDS(ger.right()); //> ger.right(): yes

    auto syr = [&](int i, int j) { return alpha * x[i] * x[j]; };
    c.upload();
    BLAS(cublasDsyr(handle, lower, N, &alpha, x.device, 1, c.device, LD));
    HOLDS(triangle_right(c, lower, 1, syr)); //> triangle_right(c, lower, 1, syr): yes
    auto syr2 = [&](int i, int j) { return alpha * (x[i] * y[j] + y[i] * x[j]); };
    c.upload();
    BLAS(cublasDsyr2(handle, upper, N, &alpha, x.device, 1, y.device, 1, c.device, LD));
    HOLDS(triangle_right(c, upper, 1, syr2)); //> triangle_right(c, upper, 1, syr2): yes

    auto product = [&](const array<double> &l, const array<double> &r, cublasOperation_t op, int i,
                       int j) {
        double sum = 0;

        for (int k = 0; k < K; k++)
            sum += element(l, op, LD, i, k) * element(r, op, LD, j, k);
        return alpha * sum;
    };
    auto syrk = [&](int i, int j) { return product(a, a, n, i, j); };
    c.upload();
    BLAS(cublasDsyrk(handle, lower, n, N, K, &alpha, a.device, LD, &beta, c.device, LD));
    HOLDS(triangle_right(c, lower, beta, syrk)); //> triangle_right(c, lower, beta, syrk): yes
    auto syrkx = [&](int i, int j) { return product(a, b, t, i, j); };
    c.upload();
    BLAS(cublasDsyrkx(handle, upper, t, N, K, &alpha, a.device, LD, b.device, LD, &beta, c.device, LD));
    HOLDS(triangle_right(c, upper, beta, syrkx)); //> triangle_right(c, upper, beta, syrkx): yes
    auto syr2k = [&](int i, int j) { return product(a, b, n, i, j) + product(b, a, n, i, j); };
    c.upload();
    BLAS(cublasDsyr2k(handle, lower, n, N, K, &alpha, a.device, LD, b.device, LD, &beta, c.device, LD));
    HOLDS(triangle_right(c, lower, beta, syr2k)); //> triangle_right(c, lower, beta, syr2k): yes
}
