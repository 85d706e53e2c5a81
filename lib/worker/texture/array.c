/*
 * array.c - a session's CUDA arrays: memory of a layout that only the driver knows, which kernels
 * access only through textures and surfaces; and mipmapped arrays. A tenant may ask for a level of
 * a mipmapped array as an array of its own. Such a level has no memory itself: it keeps the
 * mipmapped array in existence, as a texture of that array does.
 *
 * Runs in jobs, on service threads. The driver may delay the making of an array as it does an
 * allocation, so patient jobs do it. Destroying an array waits for every kernel, as cuMemFree does,
 * so it is left to a quiet moment (deferred_release.h).
 *
 * The driver's own memory backs an array. No descriptor of it can be given to the vault, so a
 * session with arrays ends with its worker.
 */
#include "worker/texture/array.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "worker/journal/journal.h"
#include "worker/memory/charge.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/user.h"
#include "worker/texture/check.h"

struct array *array_find(const struct session *session, uint64_t number)
{
    return session->texture.arrays && number < SEG_ARRAYS ? session->texture.arrays[number] : NULL;
}

/* ---- Clearing -------------------------------------------------------------------------------- */

#define ZEROS_BYTES (UINT64_C(2) << 20) /* the longest row of any array */

/* Zeros in device memory that are copied into arrays to clear them: the driver has no call to fill
 * an array. They are made for the first array and kept. */
static struct {
    pthread_mutex_t lock;
    CUdeviceptr at;
    bool cleared;
} zeros = {.lock = PTHREAD_MUTEX_INITIALIZER};

static CUresult zeros_make(CUdeviceptr *at)
{
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&zeros.lock);
    if (!zeros.at)
        result = DRV(cuMemAlloc_v2, &zeros.at, ZEROS_BYTES);
    if (!result && !zeros.cleared) {
        result = DRV(cuMemsetD8Async, zeros.at, 0, ZEROS_BYTES, service_stream());
        if (!result)
            result = DRV(cuStreamSynchronize, service_stream());
        zeros.cleared = !result;
    }
    *at = zeros.at;
    pthread_mutex_unlock(&zeros.lock);
    return result;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Clears an array, because the driver may give it memory that another tenant has just freed. It is
 * cleared in boxes of as many rows, or slices, as there are zeros for. */
CUresult array_zero(const struct array *array)
{
    const uint64_t rows = least(ZEROS_BYTES / array->row, array->height);
    const uint64_t slices =
        rows < array->height ? 1 : least(ZEROS_BYTES / (array->row * rows), array->depth);
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcPitch = array->row,
                         .srcHeight = rows,
                         .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                         .dstArray = array->cu,
                         .WidthInBytes = array->row};
    CUresult result = zeros_make(&box.srcDevice);

    for (uint64_t z = 0; z < array->depth && !result; z += slices) {
        for (uint64_t y = 0; y < array->height && !result; y += rows) {
            box.dstZ = z;
            box.dstY = y;
            box.Height = least(rows, array->height - y);
            box.Depth = least(slices, array->depth - z);
            result = DRV(cuMemcpy3DAsync_v2, &box, service_stream());
        }
    }
    return result ? result : DRV(cuStreamSynchronize, service_stream());
}

/* ---- Making ---------------------------------------------------------------------------------- */

bool array_calls_found(void)
{
    return cu->cuArray3DCreate_v2 && cu->cuArrayDestroy && cu->cuMemcpy3DAsync_v2;
}

static bool mipmap_calls_found(void)
{
    return cu->cuMipmappedArrayCreate && cu->cuMipmappedArrayGetLevel &&
           cu->cuMipmappedArrayDestroy;
}

/* Finds a free slot of the table. Returns false when the job has failed. */
static bool slot_find(struct job *job)
{
    struct session_texture *texture = &job->session->texture;

    if (!texture->arrays)
        texture->arrays = calloc(SEG_ARRAYS, sizeof(*texture->arrays));
    if (!texture->arrays) {
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for the table of arrays");
        return false;
    }
    for (job->index = 0; job->index < SEG_ARRAYS && texture->arrays[job->index];)
        job->index++;
    if (job->index == SEG_ARRAYS)
        job_fail(job, GS_ERR_LIMIT, "the session has %u arrays, the limit", SEG_ARRAYS);
    return job->status == GS_OK;
}

static void create_prepare(struct job *job)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    uint32_t levels = 0;
    texture_fault fault = req_array_check(job->arg, &desc, &levels);

    if (fault)
        job_fail(job, GS_ERR_INVALID_VALUE, "%s", fault);
    else if (!array_calls_found() || (levels && !mipmap_calls_found()))
        job_fail(job, GS_ERR_NOT_SUPPORTED, "the driver has no calls for such arrays");
    else
        slot_find(job);
}

/* Returns the record of an array that the driver has not made yet. */
static struct array array_of(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    return (struct array){.desc = *desc,
                          .row = desc->Width * texel_size(desc->Format, desc->NumChannels),
                          .texel = texel_size(desc->Format, desc->NumChannels),
                          .height = desc->Height ? desc->Height : 1,
                          .depth = desc->Depth ? desc->Depth : 1,
                          .texture = array_texture_column(desc),
                          .surface = array_surface_column(desc)};
}

/* Returns the record of a level of a mipmapped array. */
static struct array level_of(const struct array *whole, uint32_t level)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = array_level_desc(&whole->desc, level);
    struct array array = array_of(&desc);

    array.cu = whole->level[level];
    return array;
}

/* Frees an array's memory. The session is not charged any more; its user is, until the driver has
 * destroyed the array. */
static void memory_free(struct session *session, struct array *array)
{
    const struct deferred_end end = {.gone = user_discharge, .user = session->memory.user};

    discharge_shown_session(session, array->counted);
    if (array->mipmap)
        deferred_release_mipmap(array->mipmap, array->counted, end);
    else
        deferred_release_array(array->cu, array->counted, end);
    free(array);
}

static void array_free(struct session *session, struct array *array)
{
    struct array *whole = array->whole;

    if (!whole) {
        memory_free(session, array);
        return;
    }
    free(array); /* a level's memory is its mipmapped array's */
    array_unuse(session, whole);
}

/* Finds and clears the levels of a mipmapped array. */
static CUresult levels_make(struct array *array)
{
    CUresult result = CUDA_SUCCESS;

    for (uint32_t i = 0; i < array->levels && !result; i++) {
        result = DRV(cuMipmappedArrayGetLevel, &array->level[i], array->mipmap, i);
        if (!result) {
            const struct array level = level_of(array, i);
            result = array_zero(&level);
        }
    }
    return result;
}

/* Makes the driver's array, which is charged already, and clears it. On failure the job has failed,
 * and the array is freed. */
static gs_status array_make(struct job *job, struct array *array)
{
    CUresult result = array->levels
                          ? DRV(cuMipmappedArrayCreate, &array->mipmap, &array->desc, array->levels)
                          : DRV(cuArray3DCreate_v2, &array->cu, &array->desc);

    if (result) {
        discharge_shown(job->session, array->counted);
        free(array);
        /* The driver knows the device's largest sides, which differ by the kind of array. */
        if (result == CUDA_ERROR_INVALID_VALUE)
            return job_fail(job, GS_ERR_INVALID_VALUE, "the device has no arrays of these sizes");
        return job_fail_driver(job, result);
    }
    result = array->levels ? levels_make(array) : array_zero(array);
    if (!result)
        return GS_OK;
    array_free(job->session, array);
    return job_fail_driver(job, result);
}

/* Returns the bytes of all texels of all levels. */
static uint64_t array_bytes(const struct array *array)
{
    uint64_t bytes = array->row * array->height * array->depth;

    for (uint32_t i = 1; i < array->levels; i++) {
        const struct array level = level_of(array, i);
        bytes += level.row * level.height * level.depth;
    }
    return bytes;
}

static void create_work(struct job *job)
{
    struct array *array = calloc(1, sizeof(*array));
    CUDA_ARRAY3D_DESCRIPTOR desc;
    uint32_t levels = 0;

    req_array_check(job->arg, &desc, &levels);
    if (!array) {
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an array's record");
        return;
    }
    *array = array_of(&desc);
    array->levels = levels;
    array->counted = array_counted(&desc, levels);
    if (charge_shown(job, array_bytes(array), array->counted, ARRAY_GRANULARITY) != GS_OK) {
        free(array);
        return;
    }
    if (array_make(job, array) != GS_OK)
        return;
    journal_set_incomplete(job->session->journal, "it has arrays");
    job->object = array;
    job->ret[0] = job->index;
}

static void create_install(struct job *job)
{
    job->session->texture.arrays[job->index] = job->object;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

static void level_prepare(struct job *job)
{
    struct array *whole = array_find(job->session, job->arg[0]);

    if (!whole)
        job_fail(job, GS_ERR_INVALID_HANDLE, "array %" PRIu64 " does not exist", job->arg[0]);
    else if (job->arg[1] >= whole->levels)
        job_fail(job, GS_ERR_INVALID_VALUE, "level %" PRIu64 " of an array that has %u",
                 job->arg[1], whole->levels);
    else
        slot_find(job);
    job->object = whole;
}

static void level_work(struct job *job)
{
    struct array *whole = job->object, *level = malloc(sizeof(*level));

    if (!level) {
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an array's record");
        return;
    }
    *level = level_of(whole, (uint32_t)job->arg[1]);
    level->whole = whole;
    whole->uses++;
    job->object = level;
    job->ret[0] = job->index;
}

/* ---- Destroying ------------------------------------------------------------------------------ */

void array_unuse(struct session *session, struct array *array)
{
    array->uses--;
    if (array->uses == 0 && array->destroyed)
        array_free(session, array);
}

/* Ends the tenant's use of the array. */
static void array_release(struct session *session, struct array *array)
{
    array->destroyed = true;
    if (array->uses == 0)
        array_free(session, array);
}

static void destroy_prepare(struct job *job)
{
    struct array *array = array_find(job->session, job->arg[0]);

    if (!array) {
        job_fail(job, GS_ERR_INVALID_HANDLE, "array %" PRIu64 " does not exist", job->arg[0]);
        return;
    }
    job->object = array;
    job->at_once = job->arg[1] == SEG_FREE_BESIDE;
}

static void destroy_work(struct job *job)
{
    if (job->status == GS_OK) /* else the session has work, and the tenant does not wait */
        array_release(job->session, job->object);
}

static void destroy_install(struct job *job)
{
    job->session->texture.arrays[job->arg[0]] = NULL;
}

void arrays_deinit(struct session *session)
{
    for (uint32_t i = 0; session->texture.arrays && i < SEG_ARRAYS; i++) {
        if (session->texture.arrays[i])
            array_release(session, session->texture.arrays[i]);
    }
    free(session->texture.arrays);
    session->texture.arrays = NULL;
}

const struct job_kind job_array_create = {"array_create", JOB_PATIENT,    create_prepare,
                                          create_work,    create_install, NULL};
const struct job_kind job_array_level = {"array_level", JOB_QUICK,      level_prepare,
                                         level_work,    create_install, NULL};
const struct job_kind job_array_destroy = {"array_destroy", JOB_SESSION_IDLE, destroy_prepare,
                                           destroy_work,    destroy_install,  NULL};
