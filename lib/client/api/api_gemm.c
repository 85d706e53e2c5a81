/* api_gemm.c - products of matrices. */
#include <string.h>

#include "client/base/error.h"
#include "client/base/params.h"
#include "client/memory/memory.h"
#include "client/submit/product.h"
#include "client/submit/submit.h"

static uint32_t type_bytes(gs_gemm_type type)
{
    switch (type) {
    case GS_GEMM_F64:
        return 8;
    case GS_GEMM_F32:
    case GS_GEMM_S32:
        return 4;
    case GS_GEMM_S8:
        return 1;
    default:
        return 2;
    }
}

static gs_status types_check(const gs_gemm_params *p)
{
    bool good;

    switch (p->compute) {
    case GS_GEMM_COMPUTE_F32:
        good =
            (p->inputs == GS_GEMM_F16 || p->inputs == GS_GEMM_BF16 || p->inputs == GS_GEMM_F32) &&
            (p->output == p->inputs || p->output == GS_GEMM_F32);
        break;
    case GS_GEMM_COMPUTE_TF32:
        good = p->inputs == GS_GEMM_F32 && p->output == GS_GEMM_F32;
        break;
    case GS_GEMM_COMPUTE_F64:
        good = p->inputs == GS_GEMM_F64 && p->output == GS_GEMM_F64;
        break;
    case GS_GEMM_COMPUTE_S32:
        good = p->inputs == GS_GEMM_S8 && p->output == GS_GEMM_S32;
        break;
    default:
        return error_set(GS_ERR_INVALID_VALUE, "compute is %d, no gs_gemm_compute",
                         (int)p->compute);
    }
    return good ? GS_OK
                : error_set(GS_ERR_INVALID_VALUE,
                            "no product has inputs %d, output %d and compute %d", (int)p->inputs,
                            (int)p->output, (int)p->compute);
}

/* Checks a matrix, and sets *bytes to the distance from its first byte to behind its last. */
static gs_status matrix_check(const char *name, const gs_gemm_matrix *matrix, uint64_t rows,
                              uint64_t columns, uint32_t batch, uint32_t element, uint64_t *bytes)
{
    uint64_t last, between;

    if (matrix->ld < rows)
        return error_set(GS_ERR_INVALID_VALUE, "%s.ld is %llu, less than its %llu rows", name,
                         (unsigned long long)matrix->ld, (unsigned long long)rows);
    if (matrix->at % element)
        return error_set(GS_ERR_INVALID_VALUE, "%s.at is no multiple of its elements' %u bytes",
                         name, element);
    if (__builtin_mul_overflow(matrix->ld, columns - 1, &last) ||
        __builtin_add_overflow(last, rows, &last) ||
        __builtin_mul_overflow(batch > 1 ? matrix->stride : 0, (uint64_t)batch - 1, &between) ||
        __builtin_add_overflow(last, between, &last) ||
        __builtin_mul_overflow(last, element, bytes))
        return error_set(GS_ERR_INVALID_VALUE, "%s has more bytes than there are", name);
    return GS_OK;
}

struct extents {
    uint64_t a, b, c, scalar;
};

static gs_status params_check(const gs_gemm_params *p, struct extents *extents)
{
    const uint32_t input = type_bytes(p->inputs), output = type_bytes(p->output);
    gs_status status = types_check(p);

    if (status != GS_OK)
        return status;
    if (p->m == 0 || p->n == 0 || p->k == 0 || p->batch == 0 || p->m > INT32_MAX ||
        p->n > INT32_MAX || p->k > INT32_MAX || p->batch > INT32_MAX)
        return error_set(GS_ERR_INVALID_VALUE, "m %u, n %u, k %u, batch %u: not 1 to 2^31 - 1",
                         p->m, p->n, p->k, p->batch);
    if (p->compute == GS_GEMM_COMPUTE_S32 && !p->alpha_at &&
        !(rec_gemm_whole(p->alpha) && rec_gemm_whole(p->beta)))
        return error_set(GS_ERR_INVALID_VALUE, "alpha %g, beta %g: not of 32 bits, for s32",
                         p->alpha, p->beta);
    if (!p->alpha_at != !p->beta_at)
        return error_set(GS_ERR_INVALID_VALUE, "one of alpha_at and beta_at is 0");
    extents->scalar = p->compute == GS_GEMM_COMPUTE_F64 ? 8 : 4;
    if (p->alpha_at % extents->scalar || p->beta_at % extents->scalar)
        return error_set(GS_ERR_INVALID_VALUE, "alpha_at or beta_at is no multiple of %llu",
                         (unsigned long long)extents->scalar);
    status = matrix_check("a", &p->a, p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k,
                          p->batch, input, &extents->a);
    if (status == GS_OK)
        status = matrix_check("b", &p->b, p->transpose_b ? p->n : p->k,
                              p->transpose_b ? p->k : p->n, p->batch, input, &extents->b);
    if (status == GS_OK)
        status = matrix_check("c", &p->c, p->m, p->n, p->batch, output, &extents->c);
    return status;
}

static struct rec_gemm_matrix record_matrix(const gs_gemm_matrix *matrix, uint32_t batch)
{
    return (struct rec_gemm_matrix){matrix->at, matrix->ld, batch > 1 ? matrix->stride : 0};
}

static struct rec_gemm record_of(const gs_gemm_params *p)
{
    struct rec_gemm record = {
        .h = {.op = REC_GEMM,
              .flags = (uint16_t)((p->transpose_a ? REC_GEMM_TRANS_A : 0) |
                                  (p->transpose_b ? REC_GEMM_TRANS_B : 0) |
                                  (p->alpha_at ? REC_GEMM_DEVICE_SCALARS : 0)),
              .size = sizeof(record)},
        .inputs = p->inputs,
        .output = p->output,
        .compute = p->compute,
        .batch = p->batch,
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .a = record_matrix(&p->a, p->batch),
        .b = record_matrix(&p->b, p->batch),
        .c = record_matrix(&p->c, p->batch),
        .alpha = p->alpha_at,
        .beta = p->beta_at,
    };

    if (!p->alpha_at) {
        memcpy(&record.alpha, &p->alpha, sizeof(record.alpha));
        memcpy(&record.beta, &p->beta, sizeof(record.beta));
    }
    return record;
}

/* Checks that the matrices are in the session's memory. The caller holds the stream's lock. */
static gs_status memory_checks(struct session *session, const gs_gemm_params *p,
                               const struct extents *extents)
{
    gs_status status = memory_check(session, p->a.at, extents->a, "matrix a");

    if (status == GS_OK)
        status = memory_check(session, p->b.at, extents->b, "matrix b");
    if (status == GS_OK)
        status = memory_check(session, p->c.at, extents->c, "matrix c");
    if (status == GS_OK && p->alpha_at)
        status = memory_check(session, p->alpha_at, extents->scalar, "alpha");
    if (status == GS_OK && p->alpha_at)
        status = memory_check(session, p->beta_at, extents->scalar, "beta");
    return status;
}

static gs_status gemm_give(struct session *session, const gs_gemm_params *p,
                           const struct extents *extents, gs_stream handle)
{
    const struct rec_gemm record = record_of(p);
    struct stream *stream;
    void *reserved;
    gs_status status = product_prepare(session, &record);

    if (status == GS_OK)
        status = stream_lock(session, handle, &stream);
    if (status != GS_OK)
        return status;
    status = stream_not_recording(stream, "a product");
    if (status == GS_OK)
        status = memory_checks(session, p, extents);
    if (status == GS_OK)
        status = stream_reserve(session, stream, sizeof(record), &reserved);
    if (status == GS_OK) {
        memcpy(reserved, &record, sizeof(record));
        stream_commit(session, stream, sizeof(record));
    }
    return stream_unlock(stream, status);
}

/* Reads and checks the parameters, and finds the session, which the caller leaves. */
static gs_status gemm_begin(gs_session handle, const gs_gemm_params *params, gs_gemm_params *p,
                            struct extents *extents, struct session **session)
{
    gs_status status;

    if (!params)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_gemm_params pointer is NULL");
    status =
        params_read(p, sizeof(*p), PARAMS_UP_TO(gs_gemm_params, beta_at), params, "gs_gemm_params");
    if (status == GS_OK)
        status = params_check(p, extents);
    return status == GS_OK ? session_use(handle_decode(handle), HANDLE_SESSION, session) : status;
}

gs_status gs_gemm(gs_session handle, const gs_gemm_params *params, gs_stream stream)
{
    gs_gemm_params p = GS_GEMM_PARAMS_INIT;
    struct extents extents;
    struct session *session;
    gs_status status = gemm_begin(handle, params, &p, &extents, &session);

    if (status != GS_OK)
        return status;
    status = gemm_give(session, &p, &extents, stream);
    session_leave(session);
    return status;
}

gs_status gs_gemm_prepare(gs_session handle, const gs_gemm_params *params)
{
    gs_gemm_params p = GS_GEMM_PARAMS_INIT;
    struct extents extents;
    struct session *session;
    gs_status status = gemm_begin(handle, params, &p, &extents, &session);

    if (status != GS_OK)
        return status;
    const struct rec_gemm record = record_of(&p);
    status = product_prepare(session, &record); /* the server checks the addresses */
    session_leave(session);
    return status;
}
