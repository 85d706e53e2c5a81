// cublasLtMatmul: matrices stored by columns and by rows, transposed or not, a C apart from D, and
// batches.
#include "lt.h"

enum { M = 40, N = 24, K = 16, BATCH = 3 };

// An element of a matrix that is stored by columns or by rows.
static size_t place(const lt_size &size, int order, int i, int j)
{
    return order == CUBLASLT_ORDER_COL ? i + j * size.ld : i * size.ld + j;
}

static lt_size stored(int rows, int columns, cublasOperation_t trans, int order)
{
    lt_size size = {(uint64_t)rows, (uint64_t)columns, 0};

    if (trans != CUBLAS_OP_N)
        std::swap(size.rows, size.columns);
    size.ld = (int64_t)(order == CUBLASLT_ORDER_COL ? size.rows : size.columns) + 8;
    return size;
}

static size_t elements(const lt_size &size, int order)
{
    return size.ld * (order == CUBLASLT_ORDER_COL ? size.columns : size.rows);
}

template <class T>
static bool product(cublasOperation_t ta, cublasOperation_t tb, int oa, int ob, int od, float beta)
{
    const lt_size sa = stored(M, K, ta, oa), sb = stored(K, N, tb, ob),
                  sd = stored(M, N, CUBLAS_OP_N, od);
    const size_t na = elements(sa, oa), nb = elements(sb, ob), nd = elements(sd, od);
    array<T> a(na * BATCH, 1), b(nb * BATCH, 2), c(nd * BATCH, 3), d(nd * BATCH, 4);
    lt_matmul<T> lt(ta, tb, sa, sb, sd);
    judge judge;

    lt.layouts({lt.a}, CUBLASLT_MATRIX_LAYOUT_ORDER, oa);
    lt.layouts({lt.b}, CUBLASLT_MATRIX_LAYOUT_ORDER, ob);
    lt.layouts({lt.c, lt.d}, CUBLASLT_MATRIX_LAYOUT_ORDER, od);
    lt.layouts({lt.a, lt.b, lt.c, lt.d}, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, (int32_t)BATCH);
    lt.layouts({lt.a}, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, (int64_t)na);
    lt.layouts({lt.b}, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, (int64_t)nb);
    lt.layouts({lt.c, lt.d}, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, (int64_t)nd);
    BLAS(lt.run(1.5f, a.device, b.device, beta, c.device, d.device));

    std::vector<T> got = d.download();
    for (int batch = 0; batch < BATCH; batch++) {
        for (int i = 0; i < M; i++) {
            for (int j = 0; j < N; j++) {
                size_t at = batch * nd + place(sd, od, i, j);
                double sum = 0;

                for (int l = 0; l < K; l++)
                    sum += a[batch * na +
                             (ta == CUBLAS_OP_N ? place(sa, oa, i, l) : place(sa, oa, l, i))] *
                           b[batch * nb +
                             (tb == CUBLAS_OP_N ? place(sb, ob, l, j) : place(sb, ob, j, l))];
                judge.see(plain(got[at]), 1.5 * sum + (beta != 0 ? beta * c[at] : 0),
                          sizeof(T) == 4 ? EXACT_F32 : EXACT_BF16);
            }
        }
    }
    return judge.right();
}

template <class T> static bool all(int oa, int ob, int od)
{
    bool right = true;

    for (cublasOperation_t ta : {CUBLAS_OP_N, CUBLAS_OP_T})
        for (cublasOperation_t tb : {CUBLAS_OP_N, CUBLAS_OP_T})
            for (float beta : {0.0f, -0.5f})
                right &= product<T>(ta, tb, oa, ob, od, beta);
    return right;
}

int main()
{
    const int columns = CUBLASLT_ORDER_COL, rows = CUBLASLT_ORDER_ROW;

    HOLDS(all<float>(columns, columns, columns));  //> all<float>(columns, columns, columns): yes
    HOLDS(all<float>(rows, rows, rows));           //> all<float>(rows, rows, rows): yes
    HOLDS(all<__half>(columns, columns, columns)); //> all<__half>(columns, columns, columns): yes
    HOLDS(all<__nv_bfloat16>(rows, rows, rows));   //> all<__nv_bfloat16>(rows, rows, rows): yes
    HOLDS(all<float>(columns, rows, columns));     //> all<float>(columns, rows, columns): yes
    HOLDS(all<float>(rows, columns, rows));        //> all<float>(rows, columns, rows): yes
}
