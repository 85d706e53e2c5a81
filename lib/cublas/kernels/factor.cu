// factor.cu - batches of small matrices, factorized (LU, QR) and used to solve systems, as LAPACK
// defines it. Rows and columns count from 0 here, and from 1 in pivots and in info.
#include "cublas/kernels/complex.h"

#define BLOCK 128
#define LANES 32
#define ORDER 32 // the largest matrix that matinv inverts

// ---- LU ----

// Returns, to all threads, the first row from k on whose element is the largest.
template <class T> INLINE int pivot_find(const GLOBAL T *column, int k, int n)
{
    static __shared__ real_type<T> best[BLOCK];
    static __shared__ int row[BLOCK];
    const int t = (int)threadIdx.x;

    best[t] = real_type<T>(-1);
    row[t] = k;
    for (int i = k + t; i < n; i += BLOCK) {
        const real_type<T> size = magnitude(T(column[i]));

        if (size > best[t])
            best[t] = size, row[t] = i;
    }
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half &&
            (best[t + half] > best[t] || (best[t + half] == best[t] && row[t + half] < row[t])))
            best[t] = best[t + half], row[t] = row[t + half];
    }
    __syncthreads();
    return row[0];
}

template <class T> INLINE void exchange(GLOBAL T *a, GLOBAL T *b)
{
    const T kept = *a;

    *a = *b;
    *b = kept;
}

// Factorizes A = P L U. Without pivots P is the identity.
template <class T> INLINE void getrf(const struct factor_params &p)
{
    const long long ld = p.a.column;
    const int t = (int)threadIdx.x;

    for (int batch = (int)blockIdx.x; batch < p.batch; batch += (int)gridDim.x) {
        GLOBAL T *a = operand<T>(&p.a, batch);
        GLOBAL int *pivots = (GLOBAL int *)p.pivots + (long long)batch * p.n;
        int info = 0;

#pragma unroll 1
        for (int k = 0; k < p.n; k++) {
            GLOBAL T *column = a + k * ld;

            if (p.pivots != 0) {
                const int row = pivot_find<T>(column, k, p.n);

                if (t == 0)
                    pivots[k] = row + 1;
                for (int j = t; row != k && j < p.n; j += BLOCK)
                    exchange(&a[k + j * ld], &a[row + j * ld]);
                __syncthreads();
            }

            const T pivot = column[k];
            if (is_zero(pivot)) {
                info = info == 0 ? k + 1 : info;
                continue;
            }
            for (int i = k + 1 + t; i < p.n; i += BLOCK)
                column[i] = over(T(column[i]), pivot);
            __syncthreads();
            for (int j = k + 1 + t / LANES; j < p.n; j += BLOCK / LANES) {
                const T above = a[k + j * ld];

                for (int i = k + 1 + t % LANES; i < p.n; i += LANES)
                    a[i + j * ld] -= times(T(column[i]), above);
            }
            __syncthreads();
        }
        if (t == 0 && p.info != 0)
            ((GLOBAL int *)p.info)[batch] = info;
    }
}

// Solves op(triangle of A) x = b; x replaces b.
template <class T>
INLINE void triangle_solve(const struct factor_params &p, const GLOBAL T *a, GLOBAL T *b,
                           bool lower, bool unit)
{
    const long long row = p.transposed ? p.a.column : 1, column = p.transposed ? 1 : p.a.column;

#pragma unroll 1
    for (int s = 0; s < p.n; s++) {
        const int k = lower ? s : p.n - 1 - s;
        T x = b[k];

        if (!unit) {
            const T diagonal = a[k * (row + column)];

            x = over(x, p.conjugated ? conjugate(diagonal) : diagonal);
        }
        __syncthreads(); // all threads have read what the first one now writes
        if (threadIdx.x == 0)
            b[k] = x;
        for (int r = s + 1 + (int)threadIdx.x; r < p.n; r += BLOCK) {
            const int i = lower ? r : p.n - 1 - r;
            const T factor = a[i * row + k * column];

            b[i] -= times(p.conjugated ? conjugate(factor) : factor, x);
        }
        __syncthreads();
    }
}

template <class T>
INLINE void rows_exchange(const struct factor_params &p, int batch, GLOBAL T *b, bool forward)
{
    const GLOBAL int *pivots = (const GLOBAL int *)p.pivots + (long long)batch * p.n;

    if (threadIdx.x == 0 && p.pivots != 0)
        for (int s = 0; s < p.n; s++) {
            const int k = forward ? s : p.n - 1 - s;

            exchange(&b[k], &b[pivots[k] - 1]);
        }
    __syncthreads();
}

// Solves op(A) x = b for one vector of B by the factors of A.
template <class T>
INLINE void factors_solve(const struct factor_params &p, int batch, const GLOBAL T *a, GLOBAL T *b)
{
    if (!p.transposed)
        rows_exchange(p, batch, b, true);
    triangle_solve(p, a, b, true, !p.transposed);
    triangle_solve(p, a, b, false, p.transposed);
    if (p.transposed)
        rows_exchange(p, batch, b, false);
}

template <class T> INLINE void getrs(const struct factor_params &p)
{
    for (long long v = blockIdx.x; v < (long long)p.vectors * p.batch; v += gridDim.x) {
        const int batch = (int)(v / p.vectors);

        factors_solve<T>(p, batch, operand<T>(&p.a, batch),
                         operand<T>(&p.b, batch) + v % p.vectors * p.b.column);
    }
}

// Computes the inverse, one column per block; not for a matrix whose U has a 0.
template <class T> INLINE void getri(const struct factor_params &p)
{
    static __shared__ int zero;

    for (long long v = blockIdx.x; v < (long long)p.n * p.batch; v += gridDim.x) {
        const int batch = (int)(v / p.n), j = (int)(v % p.n);
        const GLOBAL T *a = operand<T>(&p.a, batch);
        GLOBAL T *b = operand<T>(&p.b, batch) + j * p.b.column;

        if (threadIdx.x == 0) {
            zero = 0;
            for (int k = p.n - 1; k >= 0; k--)
                if (is_zero(T(a[k * (1 + p.a.column)])))
                    zero = k + 1;
            if (j == 0 && p.info != 0)
                ((GLOBAL int *)p.info)[batch] = zero;
        }
        __syncthreads();
        if (zero == 0) {
            for (int i = (int)threadIdx.x; i < p.n; i += BLOCK)
                b[i] = from_real<T>(i == j ? 1 : 0);
            __syncthreads();
            factors_solve<T>(p, batch, a, b);
        }
        __syncthreads(); // all threads have read `zero`
    }
}

// Computes the inverse of a matrix, which is kept, by eliminating each column in [A I].
template <class T> INLINE void matinv(const struct factor_params &p)
{
    static __shared__ T both[ORDER][2 * ORDER];
    static __shared__ T factor[ORDER];
    const int t = (int)threadIdx.x, n = p.n;

    for (int batch = (int)blockIdx.x; batch < p.batch; batch += (int)gridDim.x) {
        const GLOBAL T *a = operand<T>(&p.a, batch);
        GLOBAL T *b = operand<T>(&p.b, batch);
        int info = 0;

        for (int e = t; e < n * n; e += BLOCK) {
            both[e % n][e / n] = a[e % n + e / n * p.a.column];
            both[e % n][n + e / n] = from_real<T>(e % n == e / n ? 1 : 0);
        }
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < n && info == 0; k++) {
            int row = k;

            for (int i = k + 1; i < n; i++)
                if (magnitude(both[i][k]) > magnitude(both[row][k]))
                    row = i;
            if (is_zero(both[row][k]))
                info = k + 1;
            __syncthreads();
            for (int j = t; row != k && j < 2 * n; j += BLOCK) {
                const T kept = both[k][j];

                both[k][j] = both[row][j];
                both[row][j] = kept;
            }
            __syncthreads();

            const T pivot = both[k][k];
            if (t < n)
                factor[t] = both[t][k];
            __syncthreads();
            for (int j = t; info == 0 && j < 2 * n; j += BLOCK) {
                const T x = over(both[k][j], pivot);

                for (int i = 0; i < n; i++)
                    both[i][j] = i == k ? x : both[i][j] - times(factor[i], x);
            }
            __syncthreads();
        }
        for (int e = t; info == 0 && e < n * n; e += BLOCK)
            b[e % n + e / n * p.b.column] = both[e % n][n + e / n];
        if (t == 0 && p.info != 0)
            ((GLOBAL int *)p.info)[batch] = info;
        __syncthreads();
    }
}

// ---- QR ----

// Returns, to all threads, the sum of squares of the column's rows from k on.
template <class T> INLINE real_type<T> squares_sum(const GLOBAL T *column, int k, int m)
{
    static __shared__ real_type<T> sum[BLOCK];
    const int t = (int)threadIdx.x;
    real_type<T> own = 0;

    for (int i = k + t; i < m; i += BLOCK)
        own += square(T(column[i]));
    sum[t] = own;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            sum[t] += sum[t + half];
    }
    __syncthreads();
    own = sum[0];
    __syncthreads();
    return own;
}

// Computes y -= tau v (v' y), where v is 1 in row k and the column's elements below it.
template <class T> INLINE void reflect(const GLOBAL T *v, T tau, GLOBAL T *y, int k, int m)
{
    T sum = y[k];

    for (int i = k + 1; i < m; i++)
        sum += times(conjugate(T(v[i])), T(y[i]));
    sum = times(tau, sum);
    y[k] -= sum;
    for (int i = k + 1; i < m; i++)
        y[i] -= times(T(v[i]), sum);
}

// Factorizes A = Q R with Q = H(1) H(2) ..., H = I - tau v v'; the v replace A's lower part, and
// each thread reflects a column. For gels, B's first n rows then become the solution of R X = Q' B,
// if R's diagonal has no 0.
template <class T> INLINE void qr(const struct factor_params &p)
{
    const int t = (int)threadIdx.x, steps = p.m < p.n ? p.m : p.n;

    for (int batch = (int)blockIdx.x; batch < p.batch; batch += (int)gridDim.x) {
        GLOBAL T *a = operand<T>(&p.a, batch);
        int info = 0;

#pragma unroll 1
        for (int k = 0; k < steps; k++) {
            GLOBAL T *column = a + k * p.a.column;
            const real_type<T> below = squares_sum<T>(column, k + 1, p.m);
            const T alpha = column[k];
            T tau = T(0), diagonal = alpha;

            if (below != 0 || imaginary(alpha) != 0) {
                const real_type<T> norm = root(below + square(alpha));
                const real_type<T> beta = real(alpha) >= 0 ? -norm : norm;

                diagonal = from_real<T>(beta);
                tau = (diagonal - alpha) / beta;
                for (int i = k + 1 + t; i < p.m; i += BLOCK)
                    column[i] = over(T(column[i]), T(alpha - diagonal));
            }
            __syncthreads();
            for (int j = k + 1 + t; j < p.n; j += BLOCK)
                reflect<T>(column, conjugate(tau), a + j * p.a.column, k, p.m);
            for (int j = t; j < p.vectors; j += BLOCK)
                reflect<T>(column, conjugate(tau), operand<T>(&p.b, batch) + j * p.b.column, k,
                           p.m);
            if (t == 0) {
                column[k] = diagonal;
                if (p.tau.address != 0)
                    operand<T>(&p.tau, batch)[k] = tau;
            }
            if (is_zero(diagonal) && info == 0)
                info = k + 1;
            __syncthreads();
        }
        for (int j = t; info == 0 && j < p.vectors; j += BLOCK) {
            GLOBAL T *x = operand<T>(&p.b, batch) + j * p.b.column;

            for (int k = p.n - 1; k >= 0; k--) {
                const T solved = over(T(x[k]), T(a[k * (1 + p.a.column)]));

                x[k] = solved;
                for (int i = 0; i < k; i++)
                    x[i] -= times(T(a[i + k * p.a.column]), solved);
            }
        }
        if (t == 0 && p.info != 0)
            ((GLOBAL int *)p.info)[batch] = info;
    }
}

#define FACTOR(name, ...)                                                                          \
    KERNEL(BLOCK) void name(struct factor_params p)                                                \
    {                                                                                              \
        __VA_ARGS__(p);                                                                            \
    }
#define FACTORS(type, T)                                                                           \
    FACTOR(getrf_##type, getrf<T>)                                                                 \
    FACTOR(getrs_##type, getrs<T>)                                                                 \
    FACTOR(getri_##type, getri<T>)                                                                 \
    FACTOR(matinv_##type, matinv<T>)                                                               \
    FACTOR(qr_##type, qr<T>)

FACTORS(f32, float)
FACTORS(f64, double)
FACTORS(c32, c32)
FACTORS(c64, c64)
