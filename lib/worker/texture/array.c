/*
 * array.c - a session's CUDA arrays: memory of a layout that only the driver knows, which kernels
 * reach through textures and surfaces alone.
 *
 * Runs in jobs, on service threads. The driver may let the making of an array wait as an allocation
 * does, so that is a patient job's; destroying one waits for every kernel, as cuMemFree does, so
 * that is left to a quiet moment (deferred_release.h).
 *
 * The driver's own memory backs an array. No descriptor of it can be given to the vault, so a
 * session with arrays ends with its worker.
 */
#include "worker/texture/array.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "worker/journal/journal.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/physical.h"
#include "worker/memory/user.h"
#include "worker/texture/check.h"

struct array *array_find(const struct session *session, uint64_t number)
{
    return session->texture.arrays && number < SEG_ARRAYS ? session->texture.arrays[number] : NULL;
}

/* ---- Clearing -------------------------------------------------------------------------------- */

#define ZEROS_BYTES (UINT64_C(2) << 20) /* the longest row of any array */

/* Zeros in device memory, from which arrays are cleared: the driver fills no array. Made at the
 * first array, kept from then on. */
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

/* Clears an array, because the driver may give it memory that another tenant has just given back:
 * in boxes of as many rows, or slices, as there are zeros for. */
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

static void create_prepare(struct job *job)
{
    struct session_texture *texture = &job->session->texture;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    texture_fault fault = req_array_check(job->arg, &desc);

    if (fault) {
        job_fail(job, GS_ERR_INVALID_VALUE, "%s", fault);
        return;
    }
    if (!array_calls_found()) {
        job_fail(job, GS_ERR_NOT_SUPPORTED, "the driver has no calls for arrays");
        return;
    }
    if (!texture->arrays)
        texture->arrays = calloc(SEG_ARRAYS, sizeof(*texture->arrays));
    if (!texture->arrays) {
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for the table of arrays");
        return;
    }
    for (job->index = 0; job->index < SEG_ARRAYS && texture->arrays[job->index];)
        job->index++;
    if (job->index == SEG_ARRAYS)
        job_fail(job, GS_ERR_LIMIT, "the session has %u arrays, the limit", SEG_ARRAYS);
}

static void array_gone(struct user *user, uint64_t size)
{
    user_discharge(user, size);
    user_release(user);
}

/* The session is not charged any more; its user is until the driver has let go of the memory. */
static void array_free(struct session *session, struct array *array)
{
    struct user *user = user_hold(session->uid);

    physical_discharge_session(session, array->counted);
    if (!user) /* no host memory for a record: that cannot be, since the session holds it */
        user_discharge(session->memory.user, array->counted);
    deferred_release_array(array->cu, array->counted, user ? array_gone : NULL, user);
    free(array);
}

/* Makes the driver's array, which is counted already, and clears it. On failure it is freed. */
static gs_status array_make(struct job *job, struct array *array,
                            const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    CUresult result = DRV(cuArray3DCreate_v2, &array->cu, desc);

    if (result) {
        physical_discharge(job->session, array->counted);
        free(array);
        /* The driver knows the device's largest sides, which differ by the kind of array. */
        if (result == CUDA_ERROR_INVALID_VALUE)
            return job_fail(job, GS_ERR_INVALID_VALUE, "the device has no arrays of these sizes");
        return job_fail_driver(job, result);
    }
    result = array_zero(array);
    if (!result)
        return GS_OK;
    array_free(job->session, array);
    return job_fail_driver(job, result);
}

static void create_work(struct job *job)
{
    struct array *array = calloc(1, sizeof(*array));
    CUDA_ARRAY3D_DESCRIPTOR desc;

    req_array_check(job->arg, &desc);
    if (!array) {
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an array's record");
        return;
    }
    *array = (struct array){.row = desc.Width * texel_size(desc.Format, desc.NumChannels),
                            .texel = texel_size(desc.Format, desc.NumChannels),
                            .height = desc.Height ? desc.Height : 1,
                            .depth = desc.Depth ? desc.Depth : 1,
                            .texture = array_texture_column(&desc),
                            .surface = array_surface_column(&desc),
                            .counted = array_counted(&desc)};
    if (physical_charge(job, array->row * array->height * array->depth, array->counted,
                        ARRAY_PIECE) != GS_OK) {
        free(array);
        return;
    }
    if (array_make(job, array, &desc) != GS_OK)
        return;
    journal_spoil(job->session->journal, "it has arrays");
    job->object = array;
    job->ret[0] = job->index;
}

static void create_install(struct job *job)
{
    job->session->texture.arrays[job->index] = job->object;
}

/* ---- Destroying ------------------------------------------------------------------------------ */

void array_unuse(struct session *session, struct array *array)
{
    array->uses--;
    if (array->uses == 0 && array->destroyed)
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
    struct array *array = job->object;

    if (job->status != GS_OK) /* it was not to wait */
        return;
    array->destroyed = true;
    if (array->uses == 0)
        array_free(job->session, array);
}

static void destroy_install(struct job *job)
{
    job->session->texture.arrays[job->arg[0]] = NULL;
}

void arrays_deinit(struct session *session)
{
    for (uint32_t i = 0; session->texture.arrays && i < SEG_ARRAYS; i++) {
        if (session->texture.arrays[i])
            array_free(session, session->texture.arrays[i]);
    }
    free(session->texture.arrays);
    session->texture.arrays = NULL;
}

const struct job_kind job_array_create = {"array_create", JOB_PATIENT,    create_prepare,
                                          create_work,    create_install, NULL};
const struct job_kind job_array_destroy = {"array_destroy", JOB_SESSION_IDLE, destroy_prepare,
                                           destroy_work,    destroy_install,  NULL};
