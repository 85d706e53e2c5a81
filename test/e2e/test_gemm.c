/*
 * test_gemm.c - products of matrices by the library that the server loads: on the software device
 * libgshare-cublaslt.so (test/shim/cublaslt.c), on a GPU cuBLAS itself. Elements are small whole
 * numbers, so that sums are exact and what is expected is computed in f64.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bystander.h"
#include "common/wire.h"
#include "harness/harness.h"
#include "raw_client.h"

#define NO_ALGORITHM 7u /* of libgshare-cublaslt.so */

static bool on_gpu(void)
{
    const char *device = getenv("GSHARE_TEST_DEVICE");

    return device && !strcmp(device, "cuda");
}

/* A server with the library; `more`: one more option and its value. */
static struct server *blas_server(const char *option, const char *value)
{
    static char path[400];

    snprintf(path, sizeof(path), "%s", test_build_path("test/e2e/libgshare-cublaslt.so"));
    const char *const arguments[] = {"--cublas", on_gpu() ? "auto" : path, option, value, NULL};

    return server_start(&(struct server_options){.arguments = arguments});
}

/* ---- Elements -------------------------------------------------------------------------------- */

static uint32_t element_bytes(gs_gemm_type type)
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

static void element_set(void *matrix, size_t i, gs_gemm_type type, double value)
{
    const float f32 = (float)value;
    uint32_t bits;
    uint16_t half;

    memcpy(&bits, &f32, sizeof(bits));
    switch (type) {
    case GS_GEMM_F64:
        memcpy((double *)matrix + i, &value, 8);
        break;
    case GS_GEMM_F32:
        memcpy((float *)matrix + i, &f32, 4);
        break;
    case GS_GEMM_S8:
        ((int8_t *)matrix)[i] = (int8_t)value;
        break;
    case GS_GEMM_S32:
        ((int32_t *)matrix)[i] = (int32_t)value;
        break;
    case GS_GEMM_BF16:
        half = (uint16_t)(bits >> 16);
        memcpy((uint16_t *)matrix + i, &half, 2);
        break;
    default: /* exact for what has few bits and is neither small nor large */
        half = (uint16_t)(value == 0 ? 0
                                     : (bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 112) << 10 |
                                           (bits >> 13 & 0x3ff));
        memcpy((uint16_t *)matrix + i, &half, 2);
        break;
    }
}

static double element_get(const void *matrix, size_t i, gs_gemm_type type)
{
    uint32_t bits;
    uint16_t half;
    double value;
    float f32;

    if (type == GS_GEMM_S8)
        return ((const int8_t *)matrix)[i];
    if (type == GS_GEMM_S32)
        return ((const int32_t *)matrix)[i];
    if (type == GS_GEMM_F64) {
        memcpy(&value, (const double *)matrix + i, 8);
        return value;
    }
    if (type == GS_GEMM_F32) {
        memcpy(&f32, (const float *)matrix + i, 4);
        return (double)f32;
    }
    memcpy(&half, (const uint16_t *)matrix + i, 2);
    if (type == GS_GEMM_BF16)
        bits = (uint32_t)half << 16;
    else
        bits = half & 0x7fff ? (half & 0x8000u) << 16 | ((half >> 10 & 31u) + 112) << 23 |
                                   (half & 0x3ffu) << 13
                             : 0;
    memcpy(&f32, &bits, sizeof(f32));
    return (double)f32;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* A product with its matrices on both sides. */
struct product {
    gs_gemm_params p;
    unsigned char *a, *b, *c;
    size_t a_count, b_count, c_count; /* elements */
};

static size_t count_of(const gs_gemm_matrix *matrix, size_t rows, size_t columns, size_t batch)
{
    return matrix->ld * (columns - 1) + rows + matrix->stride * (batch - 1);
}

static unsigned char *operand_make(gs_session session, gs_gemm_matrix *matrix, gs_gemm_type type,
                                   size_t count)
{
    unsigned char *host = malloc(count * 8);

    CHECK(host != NULL);
    for (size_t i = 0; i < count; i++)
        element_set(host, i, type, (double)(test_random() % 5) - 2);
    CHECK_OK(gs_malloc(session, count * element_bytes(type), &matrix->at));
    CHECK_OK(gs_memcpy_htod(session, matrix->at, host, count * element_bytes(type)));
    return host;
}

/* Leading dimensions and strides leave some elements out, which must stay as they are. */
static void product_make(gs_session session, struct product *product, const gs_gemm_params *params)
{
    gs_gemm_params *p = &product->p;
    const size_t a_rows = params->transpose_a ? params->k : params->m,
                 a_columns = params->transpose_a ? params->m : params->k,
                 b_rows = params->transpose_b ? params->n : params->k,
                 b_columns = params->transpose_b ? params->k : params->n;

    *p = *params;
    p->a.ld = a_rows + (p->inputs == GS_GEMM_S8 ? 4 : 3); /* multiples of 4 for s8 */
    p->b.ld = b_rows;
    p->c.ld = p->m + (p->inputs == GS_GEMM_S8 ? 4 : 5);
    if (p->batch > 1) {
        p->a.stride = p->a.ld * a_columns + 1;
        p->b.stride = 0;
        p->c.stride = p->c.ld * p->n + 7;
    }
    product->a_count = count_of(&p->a, a_rows, a_columns, p->batch);
    product->b_count = count_of(&p->b, b_rows, b_columns, p->batch);
    product->c_count = count_of(&p->c, p->m, p->n, p->batch);
    product->a = operand_make(session, &p->a, p->inputs, product->a_count);
    product->b = operand_make(session, &p->b, p->inputs, product->b_count);
    product->c = operand_make(session, &p->c, p->output, product->c_count);
}

static void product_free(gs_session session, struct product *product)
{
    CHECK_OK(gs_free(session, product->p.a.at));
    CHECK_OK(gs_free(session, product->p.b.at));
    CHECK_OK(gs_free(session, product->p.c.at));
    free(product->a);
    free(product->b);
    free(product->c);
}

static double sum_of(const struct product *product, size_t batch, size_t row, size_t column)
{
    const gs_gemm_params *p = &product->p;
    double sum = 0;

    for (size_t l = 0; l < p->k; l++) {
        const size_t a = p->transpose_a ? row * p->a.ld + l : l * p->a.ld + row,
                     b = p->transpose_b ? l * p->b.ld + column : column * p->b.ld + l;
        sum += element_get(product->a, batch * p->a.stride + a, p->inputs) *
               element_get(product->b, batch * p->b.stride + b, p->inputs);
    }
    return sum;
}

/* Applies the product to the host's C, once for each time that the device has run it. */
static void product_expect(struct product *product, double alpha, double beta)
{
    const gs_gemm_params *p = &product->p;

    for (size_t batch = 0; batch < p->batch; batch++) {
        for (size_t column = 0; column < p->n; column++) {
            for (size_t row = 0; row < p->m; row++) {
                const size_t at = batch * p->c.stride + column * p->c.ld + row;
                element_set(product->c, at, p->output,
                            alpha * sum_of(product, batch, row, column) +
                                beta * element_get(product->c, at, p->output));
            }
        }
    }
}

/* bf16 rounds what the host cuts off. */
static void product_check(gs_session session, const struct product *product)
{
    const gs_gemm_type type = product->p.output;
    const double part = type == GS_GEMM_BF16 ? 1.0 / 100 : type == GS_GEMM_F16 ? 1.0 / 1000 : 1e-6;
    unsigned char *got = malloc(product->c_count * 8);

    CHECK(got != NULL);
    CHECK_OK(gs_memcpy_dtoh(session, got, product->p.c.at, product->c_count * element_bytes(type)));
    for (size_t i = 0; i < product->c_count; i++) {
        const double is = element_get(got, i, type), wanted = element_get(product->c, i, type),
                     least = wanted < 0 ? -wanted : wanted;
        if (!(is - wanted <= part * least && wanted - is <= part * least))
            test_fail(__FILE__, __LINE__, "element %zu of C is %g, not %g", i, is, wanted);
    }
    free(got);
}

static gs_gemm_params params_of(gs_gemm_type inputs, gs_gemm_type output, unsigned m, unsigned n,
                                unsigned k)
{
    gs_gemm_params p = GS_GEMM_PARAMS_INIT;

    p.inputs = inputs;
    p.output = output;
    p.compute = inputs == GS_GEMM_F64  ? GS_GEMM_COMPUTE_F64
                : inputs == GS_GEMM_S8 ? GS_GEMM_COMPUTE_S32
                                       : GS_GEMM_COMPUTE_F32;
    p.m = m;
    p.n = n;
    p.k = k;
    return p;
}

/* ---- Right products -------------------------------------------------------------------------- */

static void products_right(gs_session session)
{
    static const struct {
        gs_gemm_type inputs, output;
        gs_gemm_compute compute;
    } types[] = {
        {GS_GEMM_F32, GS_GEMM_F32, GS_GEMM_COMPUTE_F32},
        {GS_GEMM_F32, GS_GEMM_F32, GS_GEMM_COMPUTE_TF32},
        {GS_GEMM_F64, GS_GEMM_F64, GS_GEMM_COMPUTE_F64},
        {GS_GEMM_F16, GS_GEMM_F16, GS_GEMM_COMPUTE_F32},
        {GS_GEMM_F16, GS_GEMM_F32, GS_GEMM_COMPUTE_F32},
        {GS_GEMM_BF16, GS_GEMM_BF16, GS_GEMM_COMPUTE_F32},
        {GS_GEMM_BF16, GS_GEMM_F32, GS_GEMM_COMPUTE_F32},
    };

    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        for (unsigned trans = 0; trans < 4; trans++) {
            for (unsigned batch = 1; batch <= 3; batch += 2) {
                gs_gemm_params params = params_of(types[i].inputs, types[i].output, 37, 24, 19);
                struct product product;

                params.compute = types[i].compute;
                params.transpose_a = trans & 1;
                params.transpose_b = trans >> 1;
                params.batch = batch;
                params.alpha = 2;
                params.beta = -1;
                product_make(session, &product, &params);
                CHECK_OK(gs_gemm(session, &product.p, NULL));
                product_expect(&product, 2, -1);
                product_check(session, &product);
                product_free(session, &product);
            }
        }
    }
}

/* The library need not have one for all transposes. */
static void products_of_s8_are_right_or_refused(void)
{
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_S8, GS_GEMM_S32, 36, 24, 20);
    gs_session session;
    gs_devptr scalars;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, 8, &scalars));
    CHECK_OK(gs_memcpy_htod(session, scalars, (const int32_t[]){-3, 2}, 8));
    params.beta = -1;
    for (unsigned trans = 0; trans < 4; trans++) {
        struct product product;

        params.transpose_a = trans & 1;
        params.transpose_b = trans >> 1;
        product_make(session, &product, &params);
        product.p.alpha = 1000;
        const gs_status status = gs_gemm(session, &product.p, NULL);
        if (on_gpu() && trans != 1 && status == GS_ERR_NOT_SUPPORTED) {
            product_free(session, &product);
            continue;
        }
        CHECK_OK(status);
        product_expect(&product, 1000, -1);
        product_check(session, &product);
        product.p.alpha_at = scalars;
        product.p.beta_at = scalars + 4;
        CHECK_OK(gs_gemm(session, &product.p, NULL));
        CHECK_OK(gs_sync(session));
        product_expect(&product, -3, 2);
        product_check(session, &product);
        product.p.alpha_at = product.p.beta_at = 0;
        product.p.alpha = 0.5;
        CHECK_STATUS(gs_gemm(session, &product.p, NULL), GS_ERR_INVALID_VALUE);
        product.p.alpha = 3e9;
        CHECK_STATUS(gs_gemm(session, &product.p, NULL), GS_ERR_INVALID_VALUE);
        product.p.alpha = 1;
        product.p.a.ld--;
        if (!on_gpu())
            CHECK_STATUS(gs_gemm(session, &product.p, NULL), GS_ERR_NOT_SUPPORTED);
        product_free(session, &product);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void products_of_all_types_transposes_and_batches_are_right(void)
{
    struct server *server = blas_server(NULL, NULL);
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    products_right(session);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_fenced_session_has_products_too(void)
{
    struct server *server = blas_server("--fence", "always");
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    products_right(session);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Each product adds to what the one before it left, between fills and copies of the same stream. */
static void a_product_has_its_place_in_its_stream(void)
{
    enum { ROUNDS = 40 };
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 16, 16, 16);
    struct product product;
    gs_session session;
    gs_devptr copy;
    gs_stream stream;
    float got[16];

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    params.beta = 1;
    product_make(session, &product, &params);
    CHECK_OK(gs_malloc(session, sizeof(got), &copy));
    CHECK_OK(gs_memset_async(session, product.p.c.at, 0, product.c_count * 4, stream));
    memset(product.c, 0, product.c_count * 4);
    for (unsigned round = 0; round < ROUNDS; round++) {
        CHECK_OK(gs_gemm(session, &product.p, stream));
        product_expect(&product, 1, 1);
        if (round == ROUNDS / 2)
            CHECK_OK(gs_memcpy_dtod_async(session, copy, product.p.c.at, sizeof(got), stream));
        if (round == ROUNDS / 2)
            memcpy(got, product.c, sizeof(got));
    }
    CHECK_OK(gs_stream_sync(session, stream));
    product_check(session, &product);
    float then[16];
    CHECK_OK(gs_memcpy_dtoh(session, then, copy, sizeof(then)));
    CHECK_MEMORY(then, got, sizeof(got));
    product_free(session, &product);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void scalars_in_device_memory_are_read_when_it_runs(void)
{
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_F64, GS_GEMM_F64, 9, 10, 11);
    const double scalars[2] = {3, -2};
    struct product product;
    gs_session session;
    gs_devptr at;

    CHECK_OK(server_attach(server, &session));
    product_make(session, &product, &params);
    CHECK_OK(gs_malloc(session, sizeof(scalars), &at));
    CHECK_OK(gs_memset(session, at, 0, sizeof(scalars)));
    product.p.alpha_at = at;
    product.p.beta_at = at + 8;
    CHECK_OK(gs_memcpy_htod_async(session, at, scalars, sizeof(scalars), NULL));
    CHECK_OK(gs_gemm(session, &product.p, NULL));
    CHECK_OK(gs_sync(session));
    product_expect(&product, 3, -2);
    product_check(session, &product);
    product_free(session, &product);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* A product that comes again becomes a graph: of this record alone, so that others between must not
 * take its place, whatever differs. More of them than are kept follow. */
static void products_that_come_again_are_told_apart(void)
{
    enum { ROUNDS = 6, OTHERS = 80 };
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 12, 9, 10);
    struct product first, second;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    params.beta = -1;
    product_make(session, &first, &params);
    product_make(session, &second, &params);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned alpha = 1; alpha <= 2; alpha++) {
            first.p.alpha = second.p.alpha = alpha;
            CHECK_OK(gs_gemm(session, &first.p, NULL));
            product_expect(&first, alpha, -1);
            CHECK_OK(gs_gemm(session, &second.p, NULL));
            product_expect(&second, alpha, -1);
        }
    }
    product_check(session, &first);
    product_check(session, &second);
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned alpha = 1; alpha <= OTHERS; alpha++) {
            first.p.alpha = alpha;
            first.p.beta = 1;
            CHECK_OK(gs_gemm(session, &first.p, NULL));
            product_expect(&first, alpha, 1);
        }
    }
    product_check(session, &first);
    product_free(session, &second);
    product_free(session, &first);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* What the driver takes for the only session, as gsctl ps tells. */
static unsigned long long driver_memory(void)
{
    static char output[65536];

    CHECK_EQUAL(program_run((const char *const[]){"bin/gsctl", "ps", "--json", NULL}, output,
                            sizeof(output)),
                0);
    const char *at = strstr(output, "\"driver_memory\":");
    CHECK(at != NULL);
    return strtoull(strchr(at, ':') + 1, NULL, 10);
}

/* So many products, each so often that it becomes a graph where it may. */
static void products_run(gs_session session, struct product *product, unsigned count)
{
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned alpha = 1; alpha <= count; alpha++) {
            product->p.alpha = alpha;
            CHECK_OK(gs_gemm(session, &product->p, NULL));
            product_expect(product, alpha, product->p.beta);
        }
    }
    product_check(session, product);
}

/* Without room for a graph products go without; where they need one, a stream has one. */
static void graphs_of_products_count_for_their_user(void)
{
    enum { STREAM = 512 << 10, GRAPH = 112 << 10, LEFT = ((1 << 20) - STREAM) / GRAPH };
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 12, 9, 10);
    gs_qos qos = GS_QOS_INIT;
    struct product product;
    gs_session session;
    char user[16];

    CHECK_OK(server_attach(server, &session));
    product_make(session, &product, &params);
    products_run(session, &product, 3);
    CHECK_EQUAL(driver_memory(), STREAM + 3 * GRAPH);
    snprintf(user, sizeof(user), "%u", (unsigned)getuid());
    CHECK_EQUAL(program_run((const char *const[]){"bin/gsctl", "set", "--user", user,
                                                  "--user-driver-mem", "2M", NULL},
                            NULL, 0),
                0);
    products_run(session, &product, 20);
    CHECK_EQUAL(driver_memory(), STREAM + LEFT * GRAPH);
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 2;
    CHECK_OK(gs_set_qos(session, &qos));
    products_run(session, &product, 20);
    CHECK(driver_memory() <= STREAM + (LEFT + 1) * GRAPH);
    product_free(session, &product);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void products_of_many_streams_do_not_meet(void)
{
    enum { STREAMS = 12, ROUNDS = 5 };
    struct server *server = blas_server(NULL, NULL);
    struct product product[STREAMS];
    gs_stream stream[STREAMS];
    gs_session session[2];

    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(server_attach(server, &session[i]));
    for (unsigned i = 0; i < STREAMS; i++) {
        gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 30 + i % 3, 20, 25);

        CHECK_OK(gs_stream_create(session[i % 2], NULL, &stream[i]));
        product_make(session[i % 2], &product[i], &params);
    }
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < STREAMS; i++)
            CHECK_OK(gs_gemm(session[i % 2], &product[i].p, stream[i]));
    for (unsigned i = 0; i < STREAMS; i++) {
        CHECK_OK(gs_stream_sync(session[i % 2], stream[i]));
        product_expect(&product[i], 1, 0);
        product_check(session[i % 2], &product[i]);
        product_free(session[i % 2], &product[i]);
    }
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(gs_detach(session[i]));
    server_stop(server);
}

/* ---- Workspaces ------------------------------------------------------------------------------ */

#define MIB ((uint64_t)1 << 20)

static gs_session limited_attach(const struct server *server, uint64_t limit)
{
    gs_attach_params attach = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    attach.instance = server->instance;
    attach.mem_limit = limit;
    CHECK_OK(gs_attach(&attach, &session));
    return session;
}

static uint64_t memory_left(gs_session session)
{
    size_t left;

    CHECK_OK(gs_mem_info(session, &left, NULL));
    return left;
}

/* Libgshare-cublaslt.so wants room for C, and gets it in sizes that double. */
static void workspaces_are_charged_by_stream_and_given_back_with_it(void)
{
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params small_params = params_of(GS_GEMM_F32, GS_GEMM_F32, 37, 24, 19),
                   large_params = params_of(GS_GEMM_F32, GS_GEMM_F32, 900, 700, 4);
    gs_session session = limited_attach(server, 128 * MIB);
    struct product small_one, large_one;
    gs_stream stream;

    small_params.beta = large_params.beta = 1;
    product_make(session, &small_one, &small_params);
    product_make(session, &large_one, &large_params);
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    const uint64_t before = memory_left(session);
    for (unsigned round = 0; round < 4;
         round++) { /* as a call, as a graph, with another's address */
        CHECK_OK(gs_gemm(session, &small_one.p, stream));
        CHECK_OK(gs_stream_sync(session, stream));
        product_expect(&small_one, 1, 1);
    }
    if (!on_gpu())
        CHECK_EQUAL(before - memory_left(session), 2 * MIB);
    for (unsigned round = 0; round < 4; round++) {
        CHECK_OK(gs_gemm(session, &large_one.p, stream));
        product_expect(&large_one, 1, 1);
        CHECK_OK(gs_gemm(session, &small_one.p, stream));
        product_expect(&small_one, 1, 1);
    }
    CHECK_OK(gs_stream_sync(session, stream));
    product_check(session, &small_one);
    product_check(session, &large_one);
    if (!on_gpu())
        CHECK_EQUAL(before - memory_left(session), 4 * MIB);
    CHECK_OK(gs_gemm(session, &small_one.p, NULL));
    CHECK_OK(gs_sync(session));
    if (!on_gpu())
        CHECK_EQUAL(before - memory_left(session), 6 * MIB);
    CHECK_OK(gs_stream_destroy(stream));
    if (!on_gpu())
        CHECK_EQUAL(before - memory_left(session), 2 * MIB);
    product_free(session, &small_one);
    product_free(session, &large_one);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* At its limit a session's products do without one, until it has freed something. */
static void products_of_a_session_without_room_for_a_workspace_are_right(void)
{
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 64, 48, 40);
    gs_session session = limited_attach(server, 16 * MIB);
    struct product product;
    gs_devptr rest;

    product_make(session, &product, &params);
    CHECK_OK(gs_malloc(session, memory_left(session), &rest));
    product_expect(&product, 1, 0);
    for (unsigned round = 0; round < 5; round++)
        CHECK_OK(gs_gemm(session, &product.p, NULL));
    product_check(session, &product);
    CHECK_EQUAL(memory_left(session), 0);
    CHECK_OK(gs_free(session, rest));
    const uint64_t freed = memory_left(session);
    for (unsigned round = 0; round < 5; round++) {
        CHECK_OK(gs_memset(session, product.p.c.at, 0, 4));
        CHECK_OK(gs_gemm(session, &product.p, NULL));
    }
    product_check(session, &product);
    if (!on_gpu())
        CHECK_EQUAL(freed - memory_left(session), 2 * MIB);
    product_free(session, &product);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* What one leaves in its workspace must not come into another's C. */
static void streams_that_multiply_at_a_time_do_not_share_a_workspace(void)
{
    enum { STREAMS = 4, ROUNDS = 40 };
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 96, 64, 32);
    struct product product[STREAMS];
    gs_stream stream[STREAMS];
    gs_session session[2];

    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(server_attach(server, &session[i]));
    for (unsigned i = 0; i < STREAMS; i++) {
        CHECK_OK(gs_stream_create(session[i % 2], NULL, &stream[i]));
        product_make(session[i % 2], &product[i], &params);
        product_expect(&product[i], 1, 0);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < STREAMS; i++)
            CHECK_OK(gs_gemm(session[i % 2], &product[i].p, stream[i]));
        if (round % 4 == 3) {
            const unsigned i = round / 4 % STREAMS;
            CHECK_OK(gs_stream_sync(session[i % 2], stream[i]));
            product_check(session[i % 2], &product[i]);
        }
    }
    for (unsigned i = 0; i < STREAMS; i++) {
        CHECK_OK(gs_stream_sync(session[i % 2], stream[i]));
        product_check(session[i % 2], &product[i]);
        product_free(session[i % 2], &product[i]);
    }
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(gs_detach(session[i]));
    server_stop(server);
}

/* What is prepared holds for every grant. */
static void a_session_on_few_sms_has_products_too(void)
{
    struct server *server = blas_server(NULL, NULL);
    gs_attach_params attach = GS_ATTACH_PARAMS_INIT;
    gs_qos qos = GS_QOS_INIT;
    gs_session session;

    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 4;
    attach.instance = server->instance;
    attach.qos = &qos;
    CHECK_OK(gs_attach(&attach, &session));
    products_right(session);
    for (unsigned type = GS_GEMM_F16; type <= GS_GEMM_F64; type++) {
        gs_gemm_params params = params_of((gs_gemm_type)type, (gs_gemm_type)type, 1000, 24, 96);
        struct product product;

        product_make(session, &product, &params);
        for (unsigned sms = 2; sms <= 6; sms += 2) {
            qos.affinity.sm_count = sms;
            CHECK_OK(gs_set_qos(session, &qos));
            CHECK_OK(gs_gemm(session, &product.p, NULL));
        }
        qos.affinity.type = GS_EXEC_AFFINITY_NONE;
        CHECK_OK(gs_set_qos(session, &qos));
        CHECK_OK(gs_gemm(session, &product.p, NULL));
        qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
        product_expect(&product, 1, 0);
        product_check(session, &product);
        product_free(session, &product);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* While latency work comes, best effort keeps off some SMs: another partition. */
static void best_effort_products_run_beside_latency_work(void)
{
    struct server *server = blas_server(NULL, NULL);
    gs_attach_params attach = GS_ATTACH_PARAMS_INIT;
    gs_gemm_params params = params_of(GS_GEMM_F16, GS_GEMM_F16, 1000, 24, 96);
    gs_qos qos = GS_QOS_INIT;
    struct product product[2];
    gs_session session[2];

    attach.instance = server->instance;
    attach.qos = &qos;
    for (unsigned i = 0; i < 2; i++) {
        qos.cls = i ? GS_CLASS_BEST_EFFORT : GS_CLASS_LATENCY;
        CHECK_OK(gs_attach(&attach, &session[i]));
        product_make(session[i], &product[i], &params);
        product_expect(&product[i], 1, 0);
    }
    for (unsigned round = 0; round < 30; round++) {
        for (unsigned i = 0; i < 2; i++)
            CHECK_OK(gs_gemm(session[i], &product[i].p, NULL));
        if (round % 10 == 0)
            CHECK_OK(gs_sync(session[0]));
    }
    for (unsigned i = 0; i < 2; i++) {
        product_check(session[i], &product[i]);
        product_free(session[i], &product[i]);
        CHECK_OK(gs_detach(session[i]));
    }
    server_stop(server);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void wrong_parameters_are_refused_and_nothing_else_happens(void)
{
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 8, 8, 8), wrong;
    struct product product;
    gs_session session, other;
    gs_devptr foreign;
    gs_graph graph;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(server_attach(server, &other));
    CHECK_OK(gs_malloc(other, 4096, &foreign));
    product_make(session, &product, &params);
#define WRONG(field, value, status)                                                                \
    do {                                                                                           \
        wrong = product.p;                                                                         \
        wrong.field = (value);                                                                     \
        CHECK_STATUS(gs_gemm(session, &wrong, NULL), status);                                      \
    } while (0)
    CHECK_STATUS(gs_gemm(session, NULL, NULL), GS_ERR_INVALID_VALUE);
    WRONG(size, 8, GS_ERR_INVALID_VALUE);
    WRONG(inputs, GS_GEMM_F64, GS_ERR_INVALID_VALUE);
    WRONG(output, (gs_gemm_type)9, GS_ERR_INVALID_VALUE);
    WRONG(compute, GS_GEMM_COMPUTE_F64, GS_ERR_INVALID_VALUE);
    WRONG(compute, (gs_gemm_compute)0, GS_ERR_INVALID_VALUE);
    WRONG(m, 0, GS_ERR_INVALID_VALUE);
    WRONG(n, 0x80000000u, GS_ERR_INVALID_VALUE);
    WRONG(k, 0, GS_ERR_INVALID_VALUE);
    WRONG(batch, 0, GS_ERR_INVALID_VALUE);
    WRONG(a.ld, 7, GS_ERR_INVALID_VALUE);
    WRONG(c.ld, UINT64_MAX, GS_ERR_INVALID_VALUE);
    WRONG(b.at, product.p.b.at + 2, GS_ERR_INVALID_VALUE);
    WRONG(alpha_at, product.p.a.at, GS_ERR_INVALID_VALUE);
    WRONG(m, 100, GS_ERR_INVALID_VALUE); /* beyond its leading dimensions */
    WRONG(n, 100, GS_ERR_INVALID_POINTER);
    WRONG(k, 100, GS_ERR_INVALID_VALUE);
    WRONG(a.at, product.p.a.at + 4096, GS_ERR_INVALID_POINTER);
    WRONG(b.at, 0, GS_ERR_INVALID_POINTER);
    WRONG(c.at, foreign, GS_ERR_INVALID_POINTER);
    wrong = product.p;
    wrong.k = 0;
    CHECK_STATUS(gs_gemm_prepare(session, NULL), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_gemm_prepare(session, &wrong), GS_ERR_INVALID_VALUE);
    wrong = product.p;
    wrong.c.at = foreign;
    CHECK_STATUS(gs_gemm_prepare(session, &wrong), GS_ERR_INVALID_POINTER);
    product.p.batch = 2;
    WRONG(c.stride, 4096, GS_ERR_INVALID_POINTER);
    WRONG(a.stride, UINT64_MAX / 2, GS_ERR_INVALID_VALUE);
    product.p.batch = 1;
#undef WRONG
    CHECK_OK(gs_gemm_prepare(session, &product.p)); /* which computes nothing */
    CHECK_OK(gs_graph_begin(session, NULL));
    CHECK_STATUS(gs_gemm(session, &product.p, NULL), GS_ERR_RECORDING);
    CHECK_EQUAL(gs_graph_end(session, NULL, &graph), GS_ERR_RECORDING);
    CHECK_OK(gs_gemm(session, &product.p, NULL));
    product_expect(&product, 1, 0);
    product_check(session, &product);
    product_free(session, &product);
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Of such a k the server has no product, when asked again either; the session goes on. */
static void product_refused(struct server *server, unsigned k)
{
    gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 8, 8, k);
    struct product product;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    product_make(session, &product, &params);
    CHECK_STATUS(gs_gemm_prepare(session, &product.p), GS_ERR_NOT_SUPPORTED);
    for (unsigned i = 0; i < 2; i++)
        CHECK_STATUS(gs_gemm(session, &product.p, NULL), GS_ERR_NOT_SUPPORTED);
    CHECK_OK(gs_sync(session));
    product_free(session, &product);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_server_without_the_library_says_so(void)
{
    const char *const arguments[] = {"--cublas", "none", NULL};

    product_refused(server_start(&(struct server_options){.arguments = arguments}), 8);
}

static void a_product_without_an_algorithm_is_refused(void)
{
    if (on_gpu())
        test_skip("cuBLAS has one for each");
    product_refused(blas_server(NULL, NULL), NO_ALGORITHM);
}

/* hold: sets words[1], and runs until words[0] is set. */
static const char hold_ptx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry hold(.param .u64 words)\n"
    "{ .reg .b64 %rd; .reg .b32 %r; .reg .pred %p; ld.param.u64 %rd, [words];\n"
    "  st.volatile.global.u32 [%rd+4], 1;\n"
    "again: ld.volatile.global.u32 %r, [%rd]; setp.eq.u32 %p, %r, 0; @%p bra again; ret; }\n";

/* A session's kernels without end, and what ends them. */
struct holder {
    gs_session session;
    gs_devptr words;
    gs_module module;
    gs_stream aside;
};

static void holder_init(struct holder *holder, gs_session session)
{
    holder->session = session;
    CHECK_OK(gs_malloc(session, 8, &holder->words));
    CHECK_OK(gs_memset(session, holder->words, 0, 8));
    CHECK_OK(gs_stream_create(session, NULL, &holder->aside));
    CHECK_OK(gs_module_load(session, hold_ptx, 0, &holder->module));
}

/* Returns once the kernel runs. */
static void holder_launch(struct holder *holder, gs_stream stream)
{
    uint32_t started = 0;

    CHECK_OK(gs_memcpy_htod_async(holder->session, holder->words + 4, &started, sizeof(started),
                                  holder->aside));
    CHECK_OK(gs_stream_sync(holder->session, holder->aside));
    CHECK_OK(kernels_launch(stream, kernels_get(holder->module, "hold"), 1, 1,
                            (void *[]){&holder->words}));
    while (!started) {
        CHECK_OK(gs_memcpy_dtoh_async(holder->session, &started, holder->words + 4, sizeof(started),
                                      holder->aside));
        CHECK_OK(gs_stream_sync(holder->session, holder->aside));
    }
}

static void holder_end(struct holder *holder)
{
    const uint32_t end = 1;

    CHECK_OK(
        gs_memcpy_htod_async(holder->session, holder->words, &end, sizeof(end), holder->aside));
    CHECK_OK(gs_sync(holder->session));
}

/* What was prepared goes on with other scalars, of which 0 is a kind of its own. What the library
 * has no algorithm for is told without a quiet moment. */
static void a_kernel_without_end_holds_products_of_new_kinds_up_once(void)
{
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 8, 8, 8);
    gs_session session, other;
    struct product product;
    struct holder holder;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(server_attach(server, &other));
    product_make(session, &product, &params);
    CHECK_OK(gs_gemm(session, &product.p, NULL));
    holder_init(&holder, other);
    holder_launch(&holder, NULL);
    if (!on_gpu()) {
        gs_gemm_params none = product.p;
        none.k = NO_ALGORITHM;
        CHECK_STATUS(gs_gemm(session, &none, NULL), GS_ERR_NOT_SUPPORTED);
    }
    product.p.beta = 1;
    CHECK_STATUS(gs_gemm(session, &product.p, NULL), GS_ERR_TIMEOUT);
    const uint64_t asked = clock_ns();
    product.p.m = 6;
    CHECK_STATUS(gs_gemm(session, &product.p, NULL), GS_ERR_TIMEOUT);
    CHECK(clock_ns() - asked < 5000000000u);
    product.p.m = 8;
    product.p.beta = 0;
    product.p.alpha = 3;
    CHECK_OK(gs_gemm(session, &product.p, NULL));
    product_expect(&product, 3, 0);
    product_check(session, &product);
    holder_end(&holder);
    product_free(session, &product);
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Each of its streams has a product behind a kernel without end. */
static void held_products_run(const gs_qos *qos)
{
    enum { STREAMS = 6 };
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 8, 8, 8);
    gs_attach_params attach = GS_ATTACH_PARAMS_INIT;
    struct product product, held;
    gs_session session, other;
    struct holder holder;
    gs_stream stream;

    attach.instance = server->instance;
    attach.qos = qos;
    CHECK_OK(gs_attach(&attach, &session));
    CHECK_OK(gs_attach(&attach, &other));
    product_make(session, &product, &params);
    product_make(other, &held, &params);
    CHECK_OK(gs_gemm(session, &product.p, NULL));
    CHECK_OK(gs_gemm(other, &held.p, NULL));
    holder_init(&holder, other);
    for (unsigned i = 0; i < STREAMS; i++) {
        CHECK_OK(gs_stream_create(other, NULL, &stream));
        holder_launch(&holder, stream);
        CHECK_OK(gs_gemm(other, &held.p, stream));
    }
    CHECK_OK(gs_gemm(session, &product.p, NULL));
    product_expect(&product, 1, 0);
    product_check(session, &product);
    holder_end(&holder);
    product_free(session, &product);
    product_free(other, &held);
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_session_whose_products_never_begin_holds_nobody_elses_up(void)
{
    held_products_run(NULL);
}

/* The two have the same SMs. */
static void nor_does_it_in_a_partition_that_both_share(void)
{
    gs_qos qos = GS_QOS_INIT;

    qos.affinity.type = GS_EXEC_AFFINITY_SM_MASK;
    qos.affinity.sm_mask[0] = 0xff;
    held_products_run(&qos);
}

/* ---- Records that the library would not send ------------------------------------------------- */

static struct rec_gemm good_record(const struct raw_belongings *b)
{
    const double one = 1;
    struct rec_gemm r = {.h = {.op = REC_GEMM, .size = sizeof(r)},
                         .inputs = REC_F32,
                         .output = REC_F32,
                         .compute = REC_COMPUTE_F32,
                         .batch = 1,
                         .m = 4,
                         .n = 4,
                         .k = 4,
                         .a = {b->memory, 4, 0},
                         .b = {b->memory + 256, 4, 0},
                         .c = {b->memory + 512, 4, 0}};

    memcpy(&r.alpha, &one, sizeof(one));
    return r;
}

/* Sends one record, and waits until it is done or the session has ended. */
static void record_send(struct raw_client *raw, const struct rec_gemm *record)
{
    raw_push(raw, 0, record, sizeof(*record));
    CHECK_WITHIN(20000,
                 !raw_open(raw) || atomic_load(&raw->complete->position[0]) >= sizeof(*record));
}

static void record_corrupt(struct rec_gemm *r, unsigned way, const struct raw_belongings *b)
{
    switch (way) {
    case 0:
        r->a.at = b->memory + b->memory_size - 60;
        break;
    case 1:
        r->b.at = b->memory - 4;
        break;
    case 2:
        r->c.at = 4096;
        break;
    case 3:
        r->c.ld = b->memory_size;
        break;
    case 4:
        r->a.ld = UINT64_MAX / 3;
        break;
    case 5:
        r->batch = 2;
        r->c.stride = UINT64_MAX / 2;
        break;
    case 6:
        r->batch = UINT32_MAX;
        break;
    case 7:
        r->m = 0x80000000u;
        break;
    case 8:
        r->k = 0;
        break;
    case 9:
        r->inputs = 17;
        break;
    case 10:
        r->output = REC_F16;
        break;
    case 11:
        r->compute = 0;
        break;
    case 12:
        r->h.flags = 8;
        break;
    case 13:
        r->h.flags = REC_GEMM_DEVICE_SCALARS;
        r->alpha = r->beta = 64;
        break;
    case 14:
        r->a.at++;
        break;
    case 15:
        r->a.ld = 3;
        break;
    case 16:
        r->h.size = 192;
        break;
    case 17: { /* no number of s32 */
        const double nan = 0.0 / 0.0;
        r->inputs = REC_S8;
        r->output = REC_S32;
        r->compute = REC_COMPUTE_S32;
        memcpy(&r->beta, &nan, sizeof(nan));
        break;
    }
    case 18:
        r->batch = 3;
        r->b.stride = b->memory_size / 8;
        break;
    default:
        r->h.flags = REC_GEMM_TRANS_A;
        r->k = r->m = 8;
        break;
    }
}
#define CORRUPTIONS 20u

static void every_wrong_field_of_a_record_ends_its_session_alone(void)
{
    struct server *server = blas_server(NULL, NULL);
    struct bystanders *others = bystanders_start(1);

    for (unsigned way = 0; way < CORRUPTIONS; way++) {
        struct raw_belongings b;
        struct raw_client raw;
        unsigned char padded[192] = {0};

        CHECK_EQUAL(raw_attach(&raw, server->instance), GS_OK);
        raw_belongings_get(&raw, &b);
        struct rec_gemm record = good_record(&b);
        record_send(&raw, &record);
        CHECK(raw_open(&raw));
        record_corrupt(&record, way, &b);
        memcpy(padded, &record, sizeof(record));
        raw_push(&raw, 0, padded, record.h.size);
        CHECK_WITHIN(20000, !raw_open(&raw));
        CHECK_EQUAL(atomic_load(&raw.server->state), SEG_FAULTED);
        CHECK_EQUAL(raw.server->fault.kind, GS_FAULT_REJECTED);
        raw_detach(&raw);
    }
    bystanders_stop(others);
    server_stop(server);
}

/* No request has prepared them. */
static void a_record_that_finds_nothing_prepared_waits_and_is_run(void)
{
    struct server *server = blas_server(NULL, NULL);
    struct raw_belongings b;
    struct raw_client raw;

    CHECK_EQUAL(raw_attach(&raw, server->instance), GS_OK);
    raw_belongings_get(&raw, &b);
    struct rec_gemm record = good_record(&b);
    record_send(&raw, &record);
    CHECK(raw_open(&raw));
    if (!on_gpu()) {
        record.k = NO_ALGORITHM;
        record.b.ld = 8;
        raw_push(&raw, 0, &record, sizeof(record));
        CHECK_WITHIN(20000, !raw_open(&raw));
        CHECK_EQUAL(raw.server->fault.status, GS_ERR_NOT_SUPPORTED);
    }
    raw_detach(&raw);
    server_stop(server);
}

/* Asks for a product's algorithm as the library does. */
static gs_status prepare(struct raw_client *raw, const struct rec_gemm *record)
{
    struct raw_request request = {.op = REQ_GEMM_PREPARE};

    memcpy(raw->request->payload.bytes, record, sizeof(*record));
    return raw_ask(raw, &request);
}

static void nothing_is_prepared_for_memory_that_the_session_does_not_have(void)
{
    struct server *server = blas_server(NULL, NULL);
    struct raw_belongings b;
    struct raw_client raw;

    CHECK_EQUAL(raw_attach(&raw, server->instance), GS_OK);
    raw_belongings_get(&raw, &b);
    const struct rec_gemm good = good_record(&b);
    struct rec_gemm record = good;
    record.a.at = 4096;
    CHECK_EQUAL(prepare(&raw, &record), GS_ERR_INVALID_POINTER);
    record = good;
    record.c.ld = b.memory_size;
    CHECK_EQUAL(prepare(&raw, &record), GS_ERR_INVALID_POINTER);
    record = good;
    record.m = record.n = record.k = INT32_MAX;
    record.a.ld = record.b.ld = record.c.ld = INT32_MAX;
    CHECK_EQUAL(prepare(&raw, &record), GS_ERR_INVALID_POINTER);
    record.a.ld = UINT64_C(1) << 40;
    CHECK_EQUAL(prepare(&raw, &record), GS_ERR_INVALID_VALUE);
    CHECK_EQUAL(prepare(&raw, &good), GS_OK);
    raw_detach(&raw);
    server_stop(server);
}

/* Its workspace is for nobody then. */
static void a_stream_may_be_destroyed_while_its_product_waits(void)
{
    enum { ROUNDS = 30 };
    struct server *server = blas_server(NULL, NULL);
    struct raw_belongings b;
    struct raw_client raw;

    CHECK_EQUAL(raw_attach(&raw, server->instance), GS_OK);
    raw_belongings_get(&raw, &b);
    const struct rec_gemm record = good_record(&b);
    CHECK_EQUAL(prepare(&raw, &record), GS_OK);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct raw_request create = {.op = REQ_STREAM_CREATE, .arg = {0, GS_CLASS_NORMAL}};
        CHECK_EQUAL(raw_ask(&raw, &create), GS_OK);
        raw_push(&raw, (unsigned)create.ret[0], &record, sizeof(record));
        struct raw_request destroy = {.op = REQ_STREAM_DESTROY, .arg = {create.ret[0]}};
        CHECK_EQUAL(raw_ask(&raw, &destroy), GS_OK);
        if (!raw_open(&raw)) /* the record was read when its stream was gone */
            break;
    }
    raw_detach(&raw);
    CHECK_EQUAL(raw_attach(&raw, server->instance), GS_OK);
    raw_belongings_get(&raw, &b);
    const struct rec_gemm good = good_record(&b);
    record_send(&raw, &good);
    CHECK(raw_open(&raw));
    raw_detach(&raw);
    server_stop(server);
}

/* Nothing has prepared it, and beside a kernel without end nothing can: it is given up at the
 * second time-out, and others go on. */
static void a_record_that_never_finds_a_quiet_moment_is_given_up(void)
{
    struct server *server = blas_server(NULL, NULL);
    struct raw_belongings b;
    struct raw_client raw;
    struct holder holder;
    gs_session other;
    gs_devptr more;

    CHECK_OK(server_attach(server, &other));
    CHECK_EQUAL(raw_attach(&raw, server->instance), GS_OK);
    raw_belongings_get(&raw, &b);
    struct rec_gemm record = good_record(&b);
    CHECK_EQUAL(prepare(&raw, &record), GS_OK);
    holder_init(&holder, other);
    holder_launch(&holder, NULL);
    record.m = 3;
    const uint64_t pushed = clock_ns();
    raw_push(&raw, 0, &record, sizeof(record));
    CHECK_WITHIN(60000, !raw_open(&raw));
    CHECK_EQUAL(raw.server->fault.status, GS_ERR_TIMEOUT);
    CHECK(clock_ns() - pushed > 15000000000u);
    raw_detach(&raw);
    CHECK_OK(gs_malloc(other, 4096, &more));
    holder_end(&holder);
    CHECK_OK(gs_detach(other));
    server_stop(server);
}

/* ---- Takeover -------------------------------------------------------------------------------- */

/* The client has prepared it, the next worker has not, and no workspace either. */
static void products_go_on_with_the_next_worker(void)
{
    enum { SESSIONS = 3 };
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 33, 17, 21);
    struct product product[SESSIONS];
    gs_session session[SESSIONS];

    for (unsigned i = 0; i < SESSIONS; i++) {
        CHECK_OK(server_attach(server, &session[i]));
        product_make(session[i], &product[i], &params);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < SESSIONS; i++) {
            CHECK_OK(gs_memset(session[i], product[i].p.c.at, 0, product[i].c_count * 4));
            CHECK_OK(gs_gemm(session[i], &product[i].p, NULL));
        }
        for (unsigned i = 0; i < SESSIONS; i++) {
            memset(product[i].c, 0, product[i].c_count * 4);
            product_expect(&product[i], 1, 0);
            product_check(session[i], &product[i]);
        }
        server_worker_replace(server, 0);
    }
    for (unsigned i = 0; i < SESSIONS; i++) {
        product_free(session[i], &product[i]);
        CHECK_OK(gs_detach(session[i]));
    }
    server_stop(server);
}

/* A product behind work that was lost runs again. */
static void an_unfinished_product_is_replayed(void)
{
    struct server *server = blas_server(NULL, NULL);
    gs_gemm_params params = params_of(GS_GEMM_F32, GS_GEMM_F32, 64, 64, 64);
    gs_attach_params attach = GS_ATTACH_PARAMS_INIT;
    struct product product;
    gs_session session;

    attach.instance = server->instance;
    attach.on_fault = GS_ON_FAULT_REPLAY;
    CHECK_OK(gs_attach(&attach, &session));
    product_make(session, &product, &params);
    product_expect(&product, 1, 0);
    for (unsigned round = 0; round < 3; round++) {
        CHECK_OK(gs_memset(session, product.p.c.at, 0xCC, product.c_count * 4));
        for (unsigned i = 0; i < 200; i++)
            CHECK_OK(gs_gemm(session, &product.p, NULL));
        server_worker_replace(server, 0);
        CHECK_OK(gs_sync(session));
        for (size_t i = 0, column = 0; column < product.p.n - 1; column++) /* between the columns */
            for (i = product.p.m; i < product.p.c.ld; i++)
                memset(product.c + 4 * (column * product.p.c.ld + i), 0xCC, 4);
        float got;
        CHECK_OK(gs_memcpy_dtoh(session, &got, product.p.c.at, sizeof(got)));
        CHECK_EQUAL((int64_t)got, (int64_t)element_get(product.c, 0, GS_GEMM_F32));
    }
    product_check(session, &product);
    product_free(session, &product);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(products_of_all_types_transposes_and_batches_are_right),
        TEST(products_of_s8_are_right_or_refused),
        TEST(a_fenced_session_has_products_too),
        TEST(a_product_has_its_place_in_its_stream),
        TEST(scalars_in_device_memory_are_read_when_it_runs),
        TEST(products_that_come_again_are_told_apart),
        TEST(graphs_of_products_count_for_their_user),
        TEST(products_of_many_streams_do_not_meet),
        TEST(workspaces_are_charged_by_stream_and_given_back_with_it),
        TEST(products_of_a_session_without_room_for_a_workspace_are_right),
        TEST(streams_that_multiply_at_a_time_do_not_share_a_workspace),
        TEST(a_session_on_few_sms_has_products_too),
        TEST(best_effort_products_run_beside_latency_work),
        TEST(wrong_parameters_are_refused_and_nothing_else_happens),
        TEST(a_server_without_the_library_says_so),
        TEST(a_product_without_an_algorithm_is_refused),
        TEST(a_kernel_without_end_holds_products_of_new_kinds_up_once),
        TEST(a_session_whose_products_never_begin_holds_nobody_elses_up),
        TEST(nor_does_it_in_a_partition_that_both_share),
        TEST(every_wrong_field_of_a_record_ends_its_session_alone),
        TEST(a_record_that_finds_nothing_prepared_waits_and_is_run),
        TEST(nothing_is_prepared_for_memory_that_the_session_does_not_have),
        TEST(a_stream_may_be_destroyed_while_its_product_waits),
        TEST(a_record_that_never_finds_a_quiet_moment_is_given_up),
        TEST(products_go_on_with_the_next_worker),
        TEST(an_unfinished_product_is_replayed),
    };

    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
