/*
 * params.h - the parameters of the kernels of this folder: one struct for each kernel, with device
 * addresses and numbers only. Included by the host's code and by the kernels.
 */
#ifndef GS_CUBLAS_PARAMS_H
#define GS_CUBLAS_PARAMS_H

enum scalar_type {
    SCALAR_F16,
    SCALAR_BF16,
    SCALAR_F32,
    SCALAR_F64,
    SCALAR_S32,
    SCALAR_C32,
    SCALAR_C64,
    SCALAR_E4M3,
    SCALAR_E5M2
};

/* alpha or beta. `address` 0: the value is in `bits`; else at that device address. */
struct scalar {
    unsigned long long bits[2], address;
    unsigned type;       /* enum scalar_type */
    unsigned conjugated; /* use the value's conjugate */
};

/* op(A): element (i, j) of batch b is address[b * stride + i * row + j * column]; one of row and
 * column is 1. `array`: `address` is that of an array with one address for each batch. A vector
 * uses only `row`, as its increment. */
struct matrix {
    unsigned long long address;
    long long row, column, stride;
    unsigned array, conjugated; /* conjugated: its elements are the conjugates of the stored ones */
};

enum fill { FILL_ALL, FILL_LOWER, FILL_UPPER };

/* op(A) of an A that is not stored whole. In a band, element (i, j) is address[above + i - j + j *
 * ld]. In a packed matrix, the columns of the triangle `fill` follow one another without gaps.
 * op(A) has elements (i, j) for i - before <= j <= i + behind. */
struct packed_matrix {
    unsigned long long address;
    long long ld, above, before, behind;
    int order; /* of a packed matrix */
    unsigned packed, fill;
    unsigned mirrored, hermitian; /* the other triangle is the transpose, or conjugate transpose,
                                     of `fill` */
    unsigned transposed, conjugated;
};

/* C = alpha op(A) op(B) + beta C, where C.row is 1; only the triangle `fill` of C is computed. */
struct gemm_params {
    struct matrix a, b, c;
    struct scalar alpha, beta;
    int m, n, k, batch;
    unsigned fill;
    unsigned c_wide; /* for the tensor-core kernels: C is of f32, not of the inputs' type */
};

/* A product of complex numbers or with symmetric matrices: of a symmetric A or B only the triangle
 * a_fill or b_fill is read. `hermitian`: such a matrix, or a C of which a triangle is computed, is
 * Hermitian. */
struct product_params {
    struct matrix a, b, c;
    struct scalar alpha, beta;
    int m, n, k, batch;
    unsigned fill, a_fill, b_fill, hermitian;
};

/* y = alpha op(A) x + beta y, op(A) of m rows and n columns. */
struct gemv_params {
    struct matrix a, x, y;
    struct scalar alpha, beta;
    int m, n, batch;
};

/* A += alpha x y', for the triangle `fill` of A only. The diagonal of a Hermitian A is real. */
struct ger_params {
    struct matrix a, x, y;
    struct scalar alpha;
    int m, n;
    unsigned fill, hermitian;
};

/* gemv and ger of an A that is not stored whole. */
struct packed_params {
    struct packed_matrix a;
    struct matrix x, y;
    struct scalar alpha, beta;
    int m, n;
    unsigned fill, hermitian;
};

/* Copies a triangle that is stored without gaps to a triangle of C, or back. */
struct repack_params {
    struct packed_matrix a;
    struct matrix c;
    int n;
    unsigned unpack;
};

/* Level 1. Increments may be negative: x and y are the addresses of element 0. */
struct vector_params {
    unsigned long long x, y, result;
    long long n, incx, incy;
    struct scalar alpha, beta; /* beta: the sine of a rotation */
    unsigned conjugated;       /* for dot: x is conjugated */
    unsigned wide_index;       /* the result of iamax is of 64 bits */
};

/* The addresses of the operands that make a rotation: for rotg a, b, c and s; for rotmg d1, d2, x1,
 * y1 and the resulting parameters. */
struct rotation_params {
    unsigned long long at[5];
};

/* op(A) X = alpha B, or X op(A) = alpha B; X replaces B. Vector v of B has its element i at b[i *
 * row + v * column]. `a` is lower or upper triangular as it is read, with row and column of op(A)
 * chosen so that each vector solves a v = b. For a product with such a matrix, b is the result and
 * `from` the factor. */
struct triangle_params {
    struct matrix a, b, from;
    struct scalar alpha;
    int m, vectors, batch;
    unsigned fill, unit;
};

/* triangle_params for one vector and an A that is not stored whole. */
struct packed_triangle_params {
    struct packed_matrix a;
    struct matrix b, from;
    struct scalar alpha;
    int m, vectors, batch;
    unsigned fill, unit;
};

/* C = alpha op(A) + beta op(B), or the product of a matrix and a diagonal. */
struct elementwise_params {
    struct matrix a, b, c;
    struct scalar alpha, beta;
    int m, n;
};

/* A batch of matrices of m rows and n columns, before or after factorization. The grid has a block
 * for each matrix, or for each vector of b. An address of 0 means no operand. */
struct factor_params {
    struct matrix a, b, tau;
    unsigned long long pivots, info; /* n pivots, and one info, for each matrix */
    int m, n, vectors, batch;
    unsigned transposed, conjugated;
};

/* D = d_scale (alpha a_scale b_scale op(A) op(B) + beta c_scale C), computed in f32, with elements
 * of any type of enum scalar_type except integers and complex numbers. Scales are device addresses;
 * 0: none. amax: address for the largest magnitude of D before its scale, in memory set to 0.
 */
struct float8_params {
    struct matrix a, b, c, d;
    struct scalar alpha, beta;
    unsigned long long a_scale, b_scale, c_scale, d_scale, amax;
    int m, n, k, batch;
    unsigned a_type, b_type, c_type, d_type;
};

/* What follows a product: the bits of cublasLtEpilogue_t. */
enum epilogue {
    EPILOGUE_NONE = 1,
    EPILOGUE_RELU = 2,
    EPILOGUE_BIAS = 4,
    EPILOGUE_DRELU = 8,
    EPILOGUE_BGRAD = 16,
    EPILOGUE_GELU = 32,
    EPILOGUE_DGELU = 64,
    EPILOGUE_AUX = 128,
    EPILOGUE_BGRADA = 256,
    EPILOGUE_BGRADB = 512
};

/* Changes D in place. aux: by columns, the bits of ReLU's mask, or the input of GELU. bias: a
 * number for each row; for row_sums, the address for the sums of D's rows. */
struct epilogue_params {
    struct matrix d, aux;
    unsigned long long bias;
    long long bias_stride;
    int m, n, batch;
    unsigned does, bias_type, aux_type;
};

#endif
