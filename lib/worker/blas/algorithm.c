/*
 * algorithm.c - which of cuBLASLt's kernels computes a problem, and in how many parts.
 *
 * The library's heuristic chooses, and the choice is cached: the same problem gets the same kernel
 * whatever else the device does, and a call takes the lane 5 to 10 us instead of up to 80 ms.
 *
 * When a kernel is launched for the first time, the driver loads it, and all launches wait until
 * the device has finished (bench/results/h200-driver-facts-cublas.txt, 31). So the first call for a
 * problem is captured, at a quiet moment, into a graph that is thrown away: that loads the kernels
 * and runs nothing (31cl). The heuristic takes 25 to 80 ms for the first problem of a type, for
 * which nobody waits, except in tf32, where it loads something, too (31l). f64 and s8 were not
 * measured.
 *
 * Some kernels compute a product in parts, which they add up in a workspace: without one, tf32 had
 * half of the library's rate. The stream that runs the product has the workspace (workspace.h), or
 * else runs the fastest kernel that needs none.
 */
#include "worker/blas/algorithm.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/siphash.h"
#include "worker/blas/library.h"
#include "worker/blas/workspace.h"
#include "worker/driver/lost.h"

#define WAYS    4u
#define BUCKETS 256u /* WAYS algorithms each */
#define ANSWERS 16   /* the most answers of the heuristic, the fastest first */

/* A kernel, and the size of the workspace that it needs. */
struct choice {
    struct lt_algo algo;
    size_t workspace;
};

/* The indices of algorithm.choice. */
enum { DEVICE, PARTITION, TARGETS };
enum { ALONE, WITH_WORKSPACE, WORKSPACES };

struct algorithm {
    struct problem problem;
    lt_desc desc;
    lt_layout a, b, c;
    /* the fastest on the whole device, and the fastest that runs in any partition; each of the
     * kernels that need no workspace, and of all kernels */
    struct choice choice[TARGETS][WORKSPACES];
    uint64_t used; /* kept.clock when it was last found */
};

static struct {
    struct algorithm *algorithm[BUCKETS][WAYS];
    uint64_t clock;
} kept;

/* A bit for each enum rec_gemm_compute for which an algorithm has been chosen. */
static _Atomic uint32_t chosen_before;

/* ---- Making ---------------------------------------------------------------------------------- */

static int type_of(uint32_t type)
{
    switch (type) {
    case REC_F16:
        return LT_R_16F;
    case REC_BF16:
        return LT_R_16BF;
    case REC_F64:
        return LT_R_64F;
    case REC_S8:
        return LT_R_8I;
    case REC_S32:
        return LT_R_32I;
    default:
        return LT_R_32F;
    }
}

static int compute_of(uint32_t compute)
{
    switch (compute) {
    case REC_COMPUTE_F64:
        return LT_COMPUTE_64F;
    case REC_COMPUTE_TF32:
        return LT_COMPUTE_32F_FAST_TF32;
    case REC_COMPUTE_S32:
        return LT_COMPUTE_32I;
    default:
        return LT_COMPUTE_32F;
    }
}

static int layout_make(lt_layout *layout, uint32_t type, uint64_t rows, uint64_t columns,
                       const struct problem *p, unsigned matrix)
{
    const int32_t batch = (int32_t)p->batch;
    const int64_t stride = (int64_t)p->stride[matrix];
    int result = lt->cublasLtMatrixLayoutCreate(layout, type_of(type), rows, columns,
                                                (int64_t)p->ld[matrix]);

    if (result == LT_SUCCESS && batch > 1)
        result = lt->cublasLtMatrixLayoutSetAttribute(*layout, LT_LAYOUT_BATCH_COUNT, &batch,
                                                      sizeof(batch));
    if (result == LT_SUCCESS && batch > 1)
        result = lt->cublasLtMatrixLayoutSetAttribute(*layout, LT_LAYOUT_STRIDE, &stride,
                                                      sizeof(stride));
    return result;
}

static int desc_make(lt_desc *desc, const struct problem *p)
{
    const int32_t a = p->flags & REC_GEMM_TRANS_A ? LT_OP_T : LT_OP_N,
                  b = p->flags & REC_GEMM_TRANS_B ? LT_OP_T : LT_OP_N,
                  mode = p->flags & REC_GEMM_DEVICE_SCALARS ? LT_POINTER_MODE_DEVICE
                                                            : LT_POINTER_MODE_HOST;
    int result = lt->cublasLtMatmulDescCreate(desc, compute_of(p->compute),
                                              p->compute == REC_COMPUTE_F64   ? LT_R_64F
                                              : p->compute == REC_COMPUTE_S32 ? LT_R_32I
                                                                              : LT_R_32F);

    if (result == LT_SUCCESS)
        result = lt->cublasLtMatmulDescSetAttribute(*desc, LT_DESC_TRANSA, &a, sizeof(a));
    if (result == LT_SUCCESS)
        result = lt->cublasLtMatmulDescSetAttribute(*desc, LT_DESC_TRANSB, &b, sizeof(b));
    if (result == LT_SUCCESS)
        result =
            lt->cublasLtMatmulDescSetAttribute(*desc, LT_DESC_POINTER_MODE, &mode, sizeof(mode));
    return result;
}

static int described(struct algorithm *made)
{
    const struct problem *p = &made->problem;
    const bool trans_a = p->flags & REC_GEMM_TRANS_A, trans_b = p->flags & REC_GEMM_TRANS_B;
    int result = desc_make(&made->desc, p);

    if (result == LT_SUCCESS)
        result =
            layout_make(&made->a, p->inputs, trans_a ? p->k : p->m, trans_a ? p->m : p->k, p, 0);
    if (result == LT_SUCCESS)
        result =
            layout_make(&made->b, p->inputs, trans_b ? p->n : p->k, trans_b ? p->k : p->n, p, 1);
    return result == LT_SUCCESS ? layout_make(&made->c, p->output, p->m, p->n, p, 2) : result;
}

/* Returns whether the algorithm runs in any partition. The blocks of a cluster run on one part of
 * the device at the same time, and a partition may have few SMs of each part: clusters of eight
 * were refused on 64 SMs (35). The two SMs of a group belong to the same part. */
static bool fits_partitions(const struct lt_algo *algo)
{
    uint16_t shape = LT_CLUSTER_AUTO;
    size_t written;

    if (lt->cublasLtMatmulAlgoConfigGetAttribute(algo, LT_CONFIG_CLUSTER_SHAPE, &shape,
                                                 sizeof(shape), &written))
        return true; /* the library has no clusters */
    return shape == LT_CLUSTER_AUTO || shape == LT_CLUSTER_1 || shape == LT_CLUSTER_2X1 ||
           shape == LT_CLUSTER_1X2;
}

/* Takes the first usable answer for each target; both are needed, since a session's grant may
 * change between two products. */
static int taken(struct algorithm *made, unsigned room, const struct lt_heuristic *answers,
                 int count)
{
    const size_t most = room == ALONE ? 0 : WORKSPACE_MOST;
    bool any = false;

    for (int i = 0; i < count; i++) {
        const struct choice choice = {answers[i].algo, answers[i].workspace};

        if (answers[i].state != LT_SUCCESS || choice.workspace > most)
            continue;
        if (!any)
            made->choice[DEVICE][room] = choice;
        any = true;
        if (!fits_partitions(&choice.algo))
            continue;
        made->choice[PARTITION][room] = choice;
        return LT_SUCCESS;
    }
    return LT_NOT_SUPPORTED;
}

static int asked(struct algorithm *made, unsigned room, lt_preference preference)
{
    const struct problem *p = &made->problem;
    const struct {
        int attribute;
        uint32_t bytes;
    } aligns[] = {{LT_PREFERENCE_ALIGN_A, p->align[0]},
                  {LT_PREFERENCE_ALIGN_B, p->align[1]},
                  {LT_PREFERENCE_ALIGN_C, p->align[2]},
                  {LT_PREFERENCE_ALIGN_D, p->align[2]}};
    const size_t most = room == ALONE ? 0 : WORKSPACE_MOST;
    struct lt_heuristic answers[ANSWERS];
    int found = 0;
    int result = lt->cublasLtMatmulPreferenceSetAttribute(preference, LT_PREFERENCE_MAX_WORKSPACE,
                                                          &most, sizeof(most));

    for (size_t i = 0; i < sizeof(aligns) / sizeof(aligns[0]) && result == LT_SUCCESS; i++)
        result = lt->cublasLtMatmulPreferenceSetAttribute(preference, aligns[i].attribute,
                                                          &aligns[i].bytes, sizeof(uint32_t));
    if (result == LT_SUCCESS)
        result = lt->cublasLtMatmulAlgoGetHeuristic(library_handle(), made->desc, made->a, made->b,
                                                    made->c, made->c, preference, ANSWERS, answers,
                                                    &found);
    return result == LT_SUCCESS ? taken(made, room, answers, found) : result;
}

/* Makes products run without a workspace on both targets. */
static void choose_alone(struct algorithm *made)
{
    for (unsigned target = 0; target < TARGETS; target++)
        made->choice[target][WITH_WORKSPACE] = made->choice[target][ALONE];
}

/* Chooses the kernels. A problem must have one that needs no workspace, since its stream may get
 * none. */
static int picked(struct algorithm *made)
{
    lt_preference preference = NULL;
    int result = lt->cublasLtMatmulPreferenceCreate(&preference);

    if (result == LT_SUCCESS)
        result = asked(made, ALONE, preference);
    if (result == LT_SUCCESS && asked(made, WITH_WORKSPACE, preference) != LT_SUCCESS)
        choose_alone(made);
    if (preference)
        lt->cublasLtMatmulPreferenceDestroy(preference);
    return result;
}

/* A scalar, as the library reads it on the host. */
union scalar {
    double f64;
    float f32;
    int32_t s32;
};

static union scalar scalar_of(uint64_t bits, uint32_t compute)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    if (compute == REC_COMPUTE_F64)
        return (union scalar){.f64 = value};
    if (compute == REC_COMPUTE_S32) /* one that is not whole is unused: a device address */
        return (union scalar){.s32 = rec_gemm_whole(value) ? (int32_t)value : 0};
    return (union scalar){.f32 = (float)value};
}

static int call(const struct algorithm *algorithm, const struct choice *choice,
                const struct rec_gemm *r, CUdeviceptr workspace, CUstream stream)
{
    const bool device = r->h.flags & REC_GEMM_DEVICE_SCALARS;
    const union scalar alpha = scalar_of(r->alpha, r->compute),
                       beta = scalar_of(r->beta, r->compute);
    const void *alpha_at = device ? (const void *)(uintptr_t)r->alpha : &alpha,
               *beta_at = device ? (const void *)(uintptr_t)r->beta : &beta;
    void *c = (void *)(uintptr_t)r->c.at;

    return lt->cublasLtMatmul(
        library_handle(), algorithm->desc, alpha_at, (const void *)(uintptr_t)r->a.at, algorithm->a,
        (const void *)(uintptr_t)r->b.at, algorithm->b, beta_at, c, algorithm->c, c, algorithm->c,
        &choice->algo, (void *)(uintptr_t)workspace, choice->workspace, stream);
}

size_t algorithm_workspace(const struct algorithm *algorithm, bool partition)
{
    return algorithm->choice[partition ? PARTITION : DEVICE][WITH_WORKSPACE].workspace;
}

/* Returns the fastest kernel for which the workspace suffices. */
static const struct choice *choice_for(const struct algorithm *algorithm, bool partition,
                                       const struct workspace *workspace)
{
    const struct choice *choices = algorithm->choice[partition ? PARTITION : DEVICE];

    return &choices[workspace_holds(workspace, choices[WITH_WORKSPACE].workspace) ? WITH_WORKSPACE
                                                                                  : ALONE];
}

static gs_status captured(const struct algorithm *algorithm, const struct choice *choice,
                          const struct rec_gemm *record, CUdeviceptr workspace, CUstream stream,
                          CUgraph *graph, char *text, size_t size)
{
    CUgraph made = NULL;
    CUresult begun = DRV(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);

    if (begun) {
        driver_describe(text, size);
        return driver_status(begun);
    }
    const int result = call(algorithm, choice, record, workspace, stream);
    const CUresult ended = DRV(cuStreamEndCapture, stream, &made);
    if (result == LT_SUCCESS && !ended) {
        *graph = made;
        return GS_OK;
    }
    if (made)
        DRV_MUST(cuGraphDestroy, made);
    snprintf(text, size, "cublasLtMatmul under capture: cuBLAS status %d, driver status %d", result,
             (int)ended);
    return GS_ERR_DRIVER;
}

bool algorithm_choice_loads(const struct problem *problem)
{
    /* acquire: pairs with the release in algorithm_choose */
    return problem->compute != REC_COMPUTE_F32 &&
           !(atomic_load_explicit(&chosen_before, memory_order_acquire) & 1u << problem->compute);
}

gs_status algorithm_choose(const struct problem *problem, struct algorithm **chosen, char *text,
                           size_t size)
{
    struct algorithm *algorithm = calloc(1, sizeof(*algorithm));
    const char *step = "description";
    int result;

    if (!algorithm) {
        snprintf(text, size, "no memory for an algorithm");
        return GS_ERR_NO_MEMORY;
    }
    algorithm->problem = *problem;
    result = described(algorithm);
    if (result == LT_SUCCESS) {
        step = "algorithm";
        result = picked(algorithm);
    }
    if (result != LT_SUCCESS) {
        algorithm_free(algorithm);
        snprintf(text, size, "cuBLAS has no %s for such a product: cuBLAS status %d", step, result);
        return GS_ERR_NOT_SUPPORTED;
    }
    atomic_fetch_or_explicit(&chosen_before, 1u << problem->compute, memory_order_release);
    *chosen = algorithm;
    return GS_OK;
}

/* Loads the kernel of one choice, unless an earlier choice has the same. */
static gs_status choice_load(const struct algorithm *algorithm, const struct choice *choice,
                             const struct rec_gemm *record, CUdeviceptr workspace, CUstream stream,
                             char *text, size_t size)
{
    CUgraph graph;

    for (const struct choice *c = &algorithm->choice[0][0]; c < choice; c++) {
        if (!memcmp(&c->algo, &choice->algo, sizeof(c->algo)))
            return GS_OK;
    }
    if (captured(algorithm, choice, record, workspace, stream, &graph, text, size) != GS_OK)
        return GS_ERR_NOT_SUPPORTED;
    DRV_MUST(cuGraphDestroy, graph);
    return GS_OK;
}

static gs_status choices_load(const struct algorithm *algorithm, const struct rec_gemm *record,
                              CUdeviceptr workspace, CUstream stream, char *text, size_t size)
{
    gs_status status = GS_OK;

    for (unsigned i = 0; i < TARGETS * WORKSPACES && status == GS_OK; i++)
        status = choice_load(algorithm, &algorithm->choice[i / WORKSPACES][i % WORKSPACES], record,
                             workspace, stream, text, size);
    return status;
}

/* A call of a kernel that needs a workspace has to pass one, even where it is only captured. */
gs_status algorithm_load(struct algorithm *algorithm, const struct rec_gemm *record,
                         CUstream stream, char *text, size_t size)
{
    const size_t device = algorithm_workspace(algorithm, false),
                 partition = algorithm_workspace(algorithm, true),
                 bytes = device > partition ? device : partition;
    CUdeviceptr workspace = 0;

    if (bytes > 0 && DRV(cuMemAlloc_v2, &workspace, bytes)) {
        workspace = 0;
        choose_alone(algorithm);
    }
    const gs_status status = choices_load(algorithm, record, workspace, stream, text, size);
    if (workspace)
        DRV_MUST(cuMemFree_v2, workspace);
    return status;
}

void algorithm_free(struct algorithm *algorithm)
{
    if (!algorithm)
        return;
    if (algorithm->c)
        lt->cublasLtMatrixLayoutDestroy(algorithm->c);
    if (algorithm->b)
        lt->cublasLtMatrixLayoutDestroy(algorithm->b);
    if (algorithm->a)
        lt->cublasLtMatrixLayoutDestroy(algorithm->a);
    if (algorithm->desc)
        lt->cublasLtMatmulDescDestroy(algorithm->desc);
    free(algorithm);
}

/* ---- Keeping --------------------------------------------------------------------------------- */

static struct algorithm **bucket_of(const struct problem *problem)
{
    static const uint64_t key[2];

    return kept.algorithm[siphash(key, problem, sizeof(*problem)) % BUCKETS];
}

struct algorithm *algorithm_find(const struct problem *problem)
{
    struct algorithm **bucket = bucket_of(problem);

    for (uint32_t i = 0; i < WAYS; i++) {
        if (bucket[i] && !memcmp(&bucket[i]->problem, problem, sizeof(*problem))) {
            bucket[i]->used = ++kept.clock;
            return bucket[i];
        }
    }
    return NULL;
}

void algorithm_keep(struct algorithm *algorithm)
{
    struct algorithm **bucket = bucket_of(&algorithm->problem), **slot = bucket;

    for (uint32_t i = 0; i < WAYS; i++) {
        if (!bucket[i] ||
            !memcmp(&bucket[i]->problem, &algorithm->problem, sizeof(struct problem))) {
            slot = &bucket[i];
            break;
        }
        if (bucket[i]->used < (*slot)->used)
            slot = &bucket[i];
    }
    algorithm_free(*slot);
    algorithm->used = ++kept.clock;
    *slot = algorithm;
}

/* ---- Running --------------------------------------------------------------------------------- */

gs_status algorithm_run(const struct algorithm *algorithm, const struct rec_gemm *record,
                        const struct workspace *workspace, CUstream stream, char *text, size_t size)
{
    const int result = call(algorithm, choice_for(algorithm, false, workspace), record,
                            workspace_address(workspace), stream);

    if (result == LT_SUCCESS)
        return GS_OK;
    snprintf(text, size, "cublasLtMatmul: cuBLAS status %d", result);
    return GS_ERR_DRIVER;
}

gs_status algorithm_capture(const struct algorithm *algorithm, const struct rec_gemm *record,
                            bool partition, const struct workspace *workspace, CUstream stream,
                            CUgraph *graph, char *text, size_t size)
{
    return captured(algorithm, choice_for(algorithm, partition, workspace), record,
                    workspace_address(workspace), stream, graph, text, size);
}
