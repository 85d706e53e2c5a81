/* problem.c - see problem.h. */
#include "worker/blas/problem.h"

#include <stdbool.h>
#include <string.h>

#define SIZE_MOST  INT32_MAX /* of m, n, k and batch: the limit of all of cuBLAS' kernels */
#define LD_MOST    (INT64_C(1) << 40) /* no memory has longer columns */
#define ALIGN_MOST 256u               /* the alignment that cuBLAS assumes for an allocation */
#define ALIGN_FINE 16u /* the widest access: more makes no difference below ALIGN_MOST */

/* The combinations of types for which cuBLASLt has algorithms: for s8 if leading dimensions and
 * addresses are multiples of 4, for the others at every size and alignment. */
static const struct types {
    uint32_t inputs, output, compute, input_bytes, output_bytes, scalar_bytes;
} types_table[] = {
    {REC_F16, REC_F16, REC_COMPUTE_F32, 2, 2, 4},   {REC_F16, REC_F32, REC_COMPUTE_F32, 2, 4, 4},
    {REC_BF16, REC_BF16, REC_COMPUTE_F32, 2, 2, 4}, {REC_BF16, REC_F32, REC_COMPUTE_F32, 2, 4, 4},
    {REC_F32, REC_F32, REC_COMPUTE_F32, 4, 4, 4},   {REC_F32, REC_F32, REC_COMPUTE_TF32, 4, 4, 4},
    {REC_F64, REC_F64, REC_COMPUTE_F64, 8, 8, 8},   {REC_S8, REC_S32, REC_COMPUTE_S32, 1, 4, 4},
};

static const struct types *types_find(const struct rec_gemm *r)
{
    for (size_t i = 0; i < sizeof(types_table) / sizeof(types_table[0]); i++) {
        const struct types *t = &types_table[i];
        if (t->inputs == r->inputs && t->output == r->output && t->compute == r->compute)
            return t;
    }
    return NULL;
}

/* Checks the scalars' values: in s32 they must be whole numbers of 32 bits, others have no meaning.
 */
static bool scalars_right(const struct rec_gemm *r)
{
    double alpha, beta;

    memcpy(&alpha, &r->alpha, sizeof(alpha));
    memcpy(&beta, &r->beta, sizeof(beta));
    return r->compute != REC_COMPUTE_S32 || r->h.flags & REC_GEMM_DEVICE_SCALARS ||
           (rec_gemm_whole(alpha) && rec_gemm_whole(beta));
}

static const char *matrix_check(const struct rec_gemm_matrix *matrix, uint64_t rows,
                                uint64_t columns, uint32_t batch, uint32_t element, uint64_t *bytes)
{
    uint64_t last, between;

    if (matrix->ld < rows || matrix->ld > LD_MOST)
        return "a product of a matrix whose columns overlap, or are longer than any memory";
    if (matrix->at % element)
        return "a product of a matrix that is not aligned to its elements";
    if (__builtin_mul_overflow(matrix->ld, columns - 1, &last) ||
        __builtin_add_overflow(last, rows, &last) ||
        __builtin_mul_overflow(matrix->stride, (uint64_t)batch - 1, &between) ||
        __builtin_add_overflow(last, between, &last) ||
        __builtin_mul_overflow(last, element, bytes))
        return "a product of a matrix of more bytes than there are";
    return NULL;
}

static uint32_t alignment(uint64_t address)
{
    const uint64_t low = address & -address;

    return address % ALIGN_MOST == 0 ? ALIGN_MOST : low < ALIGN_FINE ? (uint32_t)low : ALIGN_FINE;
}

const char *problem_of(const struct rec_gemm *r, struct problem *problem, struct extents *extents)
{
    const struct types *types = types_find(r);
    const bool trans_a = r->h.flags & REC_GEMM_TRANS_A, trans_b = r->h.flags & REC_GEMM_TRANS_B;
    const char *fault;

    if (!types)
        return "a product of types that do not go together";
    if (r->h.flags & ~REC_GEMM_FLAGS)
        return "a product with flags of no known meaning";
    if (r->m == 0 || r->n == 0 || r->k == 0 || r->batch == 0 || r->m > SIZE_MOST ||
        r->n > SIZE_MOST || r->k > SIZE_MOST || r->batch > SIZE_MOST)
        return "a product of no size, or beyond 2^31 - 1";
    if ((fault = matrix_check(&r->a, trans_a ? r->k : r->m, trans_a ? r->m : r->k, r->batch,
                              types->input_bytes, &extents->a)) ||
        (fault = matrix_check(&r->b, trans_b ? r->n : r->k, trans_b ? r->k : r->n, r->batch,
                              types->input_bytes, &extents->b)) ||
        (fault = matrix_check(&r->c, r->m, r->n, r->batch, types->output_bytes, &extents->c)))
        return fault;
    if (!scalars_right(r))
        return "a product whose scalars are not of its type";
    extents->scalar = types->scalar_bytes;
    if (r->h.flags & REC_GEMM_DEVICE_SCALARS && (r->alpha | r->beta) % types->scalar_bytes)
        return "a product whose scalars are not aligned";
    memset(problem, 0, sizeof(*problem));
    *problem = (struct problem){
        .inputs = r->inputs,
        .output = r->output,
        .compute = r->compute,
        .flags = r->h.flags,
        .m = r->m,
        .n = r->n,
        .k = r->k,
        .batch = r->batch,
        .ld = {r->a.ld, r->b.ld, r->c.ld},
        .stride = {r->a.stride, r->b.stride, r->c.stride},
        .align = {alignment(r->a.at), alignment(r->b.at), alignment(r->c.at)},
        .zeros = rec_gemm_zeros(r),
    };
    if (r->batch == 1) /* strides have no meaning for one matrix */
        memset(problem->stride, 0, sizeof(problem->stride));
    return NULL;
}
