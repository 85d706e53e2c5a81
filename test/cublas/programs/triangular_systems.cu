// trsm, its batched form and trsv: what they give solves the system, for each side, triangle,
// transpose and kind of diagonal. The other triangle is not read.
#include "blas.h"

static const int M = 13, N = 7, LD = 15, ORDER = 13;

/* op(A)(i, j) as the call means it. */
static double triangular(const array<double> &a, cublasFillMode_t uplo, cublasOperation_t op,
                         cublasDiagType_t diag, int i, int j)
{
    if (op != CUBLAS_OP_N)
        std::swap(i, j);
    if (i == j)
        return diag == CUBLAS_DIAG_UNIT ? 1 : a[i + j * LD];
    return (uplo == CUBLAS_FILL_MODE_LOWER) == (i > j) ? a[i + j * LD] : 0;
}

/* A with a large diagonal, and nonsense in the triangle that is not its own. */
static void make(array<double> &a, cublasFillMode_t uplo, cublasDiagType_t diag)
{
    for (int j = 0; j < ORDER; j++)
        for (int i = 0; i < ORDER; i++) {
            if (i == j)
                a.host[i + j * LD] = diag == CUBLAS_DIAG_UNIT ? NAN : 4 + number(i);
            else if ((uplo == CUBLAS_FILL_MODE_LOWER) != (i > j))
                a.host[i + j * LD] = NAN;
            else
                a.host[i + j * LD] = number(i * 31 + j) / 4;
        }
    a.upload();
}

int main()
{
    blas_handle handle;
    const double alpha = 3;
    judge trsm, batched, trsv;
    double *host[2], **device;

    MUST(cudaMalloc(&device, sizeof(host)));
    for (int which = 0; which < 24; which++) {
        cublasSideMode_t side = which & 1 ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
        cublasFillMode_t uplo = which & 2 ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
        cublasDiagType_t diag = which & 4 ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        cublasOperation_t op = (cublasOperation_t)(which / 8);
        array<double> a(LD * ORDER, 1), b(LD * M, 2), x(LD * M, 2);
        int m = side == CUBLAS_SIDE_LEFT ? M : N, n = side == CUBLAS_SIDE_LEFT ? N : M;

        make(a, uplo, diag);
        BLAS(cublasDtrsm(handle, side, uplo, op, diag, m, n, &alpha, a.device, LD, x.device, LD));
        auto check = [&](judge &judge) {
            x.host = x.download();
            for (int j = 0; j < n; j++)
                for (int i = 0; i < m; i++) {
                    double sum = 0;

                    for (int k = 0; k < ORDER; k++)
                        sum += side == CUBLAS_SIDE_LEFT
                                   ? triangular(a, uplo, op, diag, i, k) * x[k + j * LD]
                                   : x[i + k * LD] * triangular(a, uplo, op, diag, k, j);
                    judge.see(sum, alpha * b[i + j * LD], 1e-11);
                }
        };
        check(trsm);

        x.host = b.host;
        x.upload();
        host[0] = a.device, host[1] = x.device;
        MUST(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
        BLAS(cublasDtrsmBatched(handle, side, uplo, op, diag, m, n, &alpha, device, LD, device + 1,
                                LD, 1));
        check(batched);

        x.host = b.host;
        x.upload();
        int inc = side == CUBLAS_SIDE_LEFT ? 2 : -1;
        BLAS(cublasDtrsv(handle, uplo, op, diag, ORDER, a.device, LD, x.device, inc));
        x.host = x.download();
        auto at = [&](const array<double> &v, int i) {
            return v[inc > 0 ? i * inc : (i + 1 - ORDER) * inc];
        };
        for (int i = 0; i < ORDER; i++) {
            double sum = 0;

            for (int k = 0; k < ORDER; k++)
                sum += triangular(a, uplo, op, diag, i, k) * at(x, k);
            trsv.see(sum, at(b, i), 1e-11);
        }
    }
    HOLDS(trsm.right());    //> trsm.right(): yes
    HOLDS(batched.right()); //> batched.right(): yes
    HOLDS(trsv.right());    //> trsv.right(): yes
}
