// product.cu - C = alpha op(A) op(B) + beta C where gemm.h does not compute it: for complex
// numbers, and where A or B is symmetric or Hermitian, so that one triangle of it is read. A block
// computes a tile of C, a thread four elements of it.
#include "cublas/kernels/complex.h"

#define SIDE  16         // threads along a side of the tile
#define TILE  (2 * SIDE) // elements along a side
#define DEPTH 16

template <class T>
INLINE T element(const struct matrix &m, const GLOBAL T *first, int i, int j, unsigned fill,
                 bool hermitian)
{
    const bool stored = filled(fill, i, j);
    const T x = stored ? first[i * m.row + j * m.column] : first[j * m.row + i * m.column];

    if (hermitian && fill != FILL_ALL && i == j)
        return from_real<T>(real(x));
    return (m.conjugated != 0) != (hermitian && !stored) ? conjugate(x) : x;
}

template <class T> INLINE void product(const struct product_params &p)
{
    static __shared__ T a_tile[DEPTH][TILE + 1], b_tile[DEPTH][TILE + 1];
    const T alpha = scalar_read<T>(&p.alpha), beta = scalar_read<T>(&p.beta);
    const int k = is_zero(alpha) ? 0 : p.k;
    const int tiles = (p.m + TILE - 1) / TILE;
    const int first_i = (int)blockIdx.x % tiles * TILE, first_j = (int)blockIdx.x / tiles * TILE;
    const int t = (int)threadIdx.x, ti = t % SIDE, tj = t / SIDE;

    if ((p.fill == FILL_LOWER && first_i + TILE <= first_j) ||
        (p.fill == FILL_UPPER && first_j + TILE <= first_i))
        return;
    for (int batch = (int)blockIdx.z; batch < p.batch; batch += (int)gridDim.z) {
        const GLOBAL T *a = operand<T>(&p.a, batch), *b = operand<T>(&p.b, batch);
        GLOBAL T *c = operand<T>(&p.c, batch);
        T sum[2][2] = {{T(0), T(0)}, {T(0), T(0)}};

#pragma unroll 1
        for (int from = 0; from < k; from += DEPTH) {
#pragma unroll 1
            for (int e = t; e < TILE * DEPTH; e += SIDE * SIDE) {
                // Neighbouring threads take neighbouring addresses, in either order of storage.
                const int i = p.a.row == 1 ? e % TILE : e / DEPTH;
                const int i_deep = p.a.row == 1 ? e / TILE : e % DEPTH;
                const int j = p.b.row == 1 ? e / DEPTH : e % TILE;
                const int j_deep = p.b.row == 1 ? e % DEPTH : e / TILE;
                T x = T(0), y = T(0);

                if (first_i + i < p.m && from + i_deep < k)
                    x = element<T>(p.a, a, first_i + i, from + i_deep, p.a_fill, p.hermitian);
                if (first_j + j < p.n && from + j_deep < k)
                    y = element<T>(p.b, b, from + j_deep, first_j + j, p.b_fill, p.hermitian);
                a_tile[i_deep][i] = x;
                b_tile[j_deep][j] = y;
            }
            __syncthreads();
            for (int d = 0; d < DEPTH; d++)
#pragma unroll
                for (int i = 0; i < 2; i++)
#pragma unroll
                    for (int j = 0; j < 2; j++)
                        sum[i][j] += times(a_tile[d][ti + i * SIDE], b_tile[d][tj + j * SIDE]);
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const int row = first_i + ti + i * SIDE, column = first_j + tj + j * SIDE;
                GLOBAL T *at = c + row * p.c.row + column * p.c.column;
                T value = times(alpha, sum[i][j]);

                if (row >= p.m || column >= p.n || !filled(p.fill, row, column))
                    continue;
                if (!is_zero(beta))
                    value += times(beta, T(*at));
                *at = p.hermitian && p.fill != FILL_ALL && row == column ? from_real<T>(real(value))
                                                                         : value;
            }
    }
}

#define PRODUCT(type, T)                                                                           \
    KERNEL(SIDE *SIDE) void product_##type(struct product_params p)                                \
    {                                                                                              \
        product<T>(p);                                                                             \
    }

PRODUCT(f32, float)
PRODUCT(f64, double)
PRODUCT(c32, c32)
PRODUCT(c64, c64)
