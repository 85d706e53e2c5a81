/*
 * texture.c - a session's texture and surface objects, through which kernels read, filter and write
 * arrays and the session's own memory.
 *
 * Runs in jobs. An object shows an array of the session, which stays until the object is destroyed,
 * or memory that was inside a live allocation when the object was made. If that allocation is
 * freed, its place is the session's own until the session ends, just as for a kernel's pointer.
 *
 * In an unfenced session a kernel uses the driver's own number of an object, which the next worker
 * could not reproduce: a session with textures then ends with its worker. In a fenced session the
 * number stands for a row of the session's table (table.c), in which the next worker puts another
 * object of the same memory. An array is lost with the worker (array.c): a session that has shown
 * one ends with its worker.
 */
#include "worker/texture/texture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/user.h"
#include "worker/texture/array.h"
#include "worker/texture/check.h"
#include "worker/texture/table.h"
#include "worker/texture/tensor_map.h"

/* The most textures and surfaces of a user: the driver has one table of them for all tenants. */
#define USER_TEXTURES 16384u

struct texture {
    uint64_t handle; /* the driver's object; 0: its memory was freed before a takeover */
    uint64_t number; /* the tenant's number for it; unfenced: the handle */
    uint32_t row;    /* row of the session's table; fenced sessions only */
    bool surface;
    struct array *array; /* NULL: it shows linear or pitched memory */
};

/* ---- Making ---------------------------------------------------------------------------------- */

/* Finds a free slot of the table. Returns false when the job has failed. */
static bool slot_find(struct job *job)
{
    struct session_texture *texture = &job->session->texture;

    if (!cu->cuTexObjectCreate || !cu->cuTexObjectDestroy || !cu->cuSurfObjectCreate ||
        !cu->cuSurfObjectDestroy) {
        job_fail(job, GS_ERR_NOT_SUPPORTED, "the driver has no calls for textures");
        return false;
    }
    if (!texture->textures)
        texture->textures = calloc(SEG_TEXTURES, sizeof(*texture->textures));
    if (!texture->textures) {
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for the table of textures");
        return false;
    }
    for (job->index = 0; job->index < SEG_TEXTURES && texture->textures[job->index];)
        job->index++;
    if (job->index == SEG_TEXTURES)
        job_fail(job, GS_ERR_LIMIT, "the session has %u textures and surfaces, the limit",
                 SEG_TEXTURES);
    return job->status == GS_OK;
}

/* Sets job->object to the array that is to be shown, which must be a mipmapped one or not. */
static void array_take(struct job *job, uint64_t number, bool mipmapped)
{
    struct array *array = array_find(job->session, number);

    job->object = array;
    if (!array)
        job_fail(job, GS_ERR_INVALID_HANDLE, "array %" PRIu64 " does not exist", number);
    else if (mipmapped != (array->levels > 0))
        job_fail(job, GS_ERR_INVALID_VALUE, "array %" PRIu64 " is %s mipmapped array", number,
                 mipmapped ? "no" : "a");
}

static void texture_prepare(struct job *job)
{
    const struct req_texture *asked = &job->texture;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    uint64_t bytes = 0;
    texture_fault fault = req_texture_check(asked, &resource, &desc, &bytes);

    if (fault)
        job_fail(job, GS_ERR_INVALID_VALUE, "%s", fault);
    else if (asked->type == GS_RESOURCE_ARRAY || asked->type == GS_RESOURCE_MIPMAPPED)
        array_take(job, asked->array, asked->type == GS_RESOURCE_MIPMAPPED);
    else if (!allocations_containing(&job->session->memory.allocations, asked->address, bytes))
        job_fail(job, GS_ERR_INVALID_POINTER,
                 "a texture of 0x%" PRIx64 " + %" PRIu64
                 " bytes, which is not inside a live allocation",
                 asked->address, bytes);
    if (job->status == GS_OK)
        slot_find(job);
}

/* Makes the number by which a tenant knows the object. Its lowest bits are the row, which kernels
 * use. The other bits tell it from numbers of other sessions, and of destroyed objects. */
static uint64_t number_make(struct session *session, uint32_t row)
{
    const uint64_t made = ++session->texture.made;

    return UINT64_C(1) << 62 | (session->id & 0x3fffffff) << 32 |
           (made * TEXTURE_ROWS & UINT32_MAX) | row;
}

/* Notes the texture in the journal, or makes the journal incomplete if the next worker could not
 * restore the texture. */
static void texture_keep(struct job *job, const struct texture *texture)
{
    const struct session *session = job->session;
    const uint64_t value[JOURNAL_VALUES] = {texture->number};
    const uint64_t made[JOURNAL_VALUES] = {session->texture.made};

    if (!session->fenced || texture->array) {
        journal_set_incomplete(session->journal, "it has textures");
        return;
    }
    /* An entry of its own, since it also counts destroyed objects. */
    journal_put(session->journal, JOURNAL_TEXTURES, 0, made, NULL, 0);
    job_makes(job, JOURNAL_TEXTURE, texture->row);
    journal_put(session->journal, JOURNAL_TEXTURE, texture->row, value, &job->texture,
                sizeof(job->texture));
}

/* Makes the record of an object that the driver has made. */
static void texture_note(struct job *job, uint64_t handle, bool surface)
{
    struct texture *texture = job->made;

    *texture = (struct texture){
        .handle = handle, .number = handle, .surface = surface, .array = job->object};
    if (job->session->fenced) {
        texture->row = job->index;
        texture->number = number_make(job->session, job->index);
    }
    if (texture->array)
        texture->array->uses++;
    job->ret[0] = texture->number;
    texture_keep(job, texture);
}

/* Allocates job->made, the record, and the session's table before the driver's call, so that little
 * can fail after it, and charges the user. False: the job has failed. */
static bool record_make(struct job *job)
{
    if (job->session->fenced && texture_table_open(job) != GS_OK)
        return false;
    if (!user_texture_charge(job->session->memory.user, USER_TEXTURES)) {
        job_fail(job, GS_ERR_LIMIT, "the user's sessions have %u textures and surfaces, the limit",
                 USER_TEXTURES);
        return false;
    }
    job->made = calloc(1, sizeof(struct texture));
    if (!job->made) {
        user_texture_discharge(job->session->memory.user);
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for a texture's record");
    }
    return job->made;
}

/* Puts the driver's object into the table, where the session's kernels see it. If that fails, they
 * may still see it, so the caller must not destroy the object. */
static CUresult texture_show(struct job *job, uint64_t handle, enum texture_column column)
{
    return job->session->fenced ? texture_table_put(job->session, job->index, handle, column)
                                : CUDA_SUCCESS;
}

/* Frees the record and fails the job. made: the driver has the object, and only its row could not
 * be written. Then the object stays and its user stays charged: a user whose writes fail again and
 * again could otherwise fill the driver's table. */
static void record_drop(struct job *job, CUresult result, bool made)
{
    if (!made)
        user_texture_discharge(job->session->memory.user);
    free(job->made);
    job->made = NULL;
    job_fail_driver(job, result);
}

static void texture_work(struct job *job)
{
    const struct array *array = job->object;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    CUtexObject made = 0;
    uint64_t bytes;

    req_texture_check(&job->texture, &resource, &desc, &bytes);
    if (array && array->levels)
        resource.res.mipmap.hMipmappedArray = array->mipmap;
    else if (array)
        resource.res.array.hArray = array->cu;
    if (!record_make(job))
        return;
    CUresult result = DRV(cuTexObjectCreate, &made, &resource, &desc, NULL);
    if (!result)
        result = texture_show(job, made, array ? array->texture : memory_texture_column(&resource));
    if (result)
        record_drop(job, result, made);
    else
        texture_note(job, made, false);
}

static void surface_prepare(struct job *job)
{
    array_take(job, job->arg[0], false);
    if (job->status == GS_OK)
        slot_find(job);
}

static void surface_work(struct job *job)
{
    const struct array *array = job->object;
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                         .res.array.hArray = array->cu};
    CUsurfObject made = 0;

    if (!record_make(job))
        return;
    CUresult result = DRV(cuSurfObjectCreate, &made, &resource);
    if (!result)
        result = texture_show(job, made, array->surface);
    if (result)
        record_drop(job, result, made);
    else
        texture_note(job, made, true);
}

static void create_install(struct job *job)
{
    job->session->texture.textures[job->index] = job->made;
}

/* ---- Taking up ------------------------------------------------------------------------------- */

/* Makes the driver's object of a former worker's texture. Returns 0 and does not fail the job if
 * the texture's memory was freed: kernels that use the texture find a null object. */
static CUtexObject object_resume(struct job *job, uint32_t row, const struct req_texture *asked)
{
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    CUtexObject made = 0;
    uint64_t bytes = 0;
    CUresult result;

    if (req_texture_check(asked, &resource, &desc, &bytes) || !bytes ||
        !allocations_containing(&job->session->memory.allocations, asked->address, bytes))
        return 0;
    result = DRV(cuTexObjectCreate, &made, &resource, &desc, NULL);
    if (!result) {
        result = texture_table_put(job->session, row, made, memory_texture_column(&resource));
        if (result)
            DRV_MUST(cuTexObjectDestroy, made);
    }
    if (!result)
        return made;
    job_fail_driver(job, result);
    return 0;
}

static gs_status texture_resume(struct job *job, const struct journal_entry *entry)
{
    struct session_texture *own = &job->session->texture;
    struct texture *texture;
    struct req_texture asked;
    uint64_t handle;

    job->index = (uint32_t)entry->key;
    if (!own->textures)
        own->textures = calloc(SEG_TEXTURES, sizeof(*own->textures));
    if (!own->textures || entry->key >= SEG_TEXTURES || own->textures[entry->key] ||
        entry->size != sizeof(asked))
        return job_fail(job, GS_ERR_INTERRUPTED, "a texture has no slot in its table");
    if (texture_table_open(job) != GS_OK)
        return job->status;
    memcpy(&asked, entry->bytes, sizeof(asked));
    handle = object_resume(job, job->index, &asked);
    if (job->status != GS_OK)
        return job->status;
    texture = calloc(1, sizeof(*texture));
    if (!texture) { /* the session is refused, and the object released */
        if (handle)
            deferred_release_texture(handle, (struct deferred_end){0});
        return job_fail(job, GS_ERR_NO_MEMORY, "no host memory for a texture's record");
    }
    *texture =
        (struct texture){.handle = handle, .number = entry->value[0], .row = (uint32_t)entry->key};
    own->textures[entry->key] = texture;
    user_texture_charge(job->session->memory.user, 0);
    return GS_OK;
}

gs_status textures_resume(struct job *job)
{
    const struct journal *journal = job->session->journal;
    const struct journal_entry *made = journal_find(journal, JOURNAL_TEXTURES, 0);

    if (made)
        job->session->texture.made = (uint32_t)made->value[0];
    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));) {
        if (e->kind == JOURNAL_TEXTURE && texture_resume(job, e) != GS_OK)
            return job->status;
    }
    return GS_OK;
}

/* ---- Destroying ------------------------------------------------------------------------------ */

static void texture_free(struct session *session, struct texture *texture)
{
    if (texture->surface)
        DRV_MUST(cuSurfObjectDestroy, texture->handle);
    else if (texture->handle)
        DRV_MUST(cuTexObjectDestroy, texture->handle);
    if (texture->array)
        array_unuse(session, texture->array);
    user_texture_discharge(session->memory.user);
    free(texture);
}

static void destroy_take(struct job *job, bool surface)
{
    struct texture **textures = job->session->texture.textures;

    for (uint32_t i = 0; textures && i < SEG_TEXTURES; i++) {
        if (!textures[i] || textures[i]->number != job->arg[0] || textures[i]->surface != surface)
            continue;
        job->object = textures[i];
        job->index = i;
        job->at_once = job->arg[1] == SEG_FREE_BESIDE;
        if (job->arg[1] == SEG_FREE_LOOK)
            job_fail(job, GS_NOT_READY, "work that was given before may use it");
        return;
    }
    job_fail(job, GS_ERR_INVALID_HANDLE, "0x%" PRIx64 " is no %s of the session", job->arg[0],
             surface ? "surface" : "texture");
}

static void texture_destroy_prepare(struct job *job)
{
    destroy_take(job, false);
}

static void surface_destroy_prepare(struct job *job)
{
    destroy_take(job, true);
}

static void destroy_work(struct job *job)
{
    struct texture *texture = job->object;
    CUresult result = CUDA_SUCCESS;

    if (job->status != GS_OK) /* the session has work, and the tenant does not wait */
        return;
    if (job->session->fenced)
        result = texture_table_remove(job->session, texture->row);
    if (result) {
        job_fail_driver(job, result); /* the object stays, and the tenant keeps it */
        return;
    }
    if (job->session->fenced) {
        job_removes(job, JOURNAL_TEXTURE, texture->row);
        journal_remove(job->session->journal, JOURNAL_TEXTURE, texture->row);
    }
    texture_free(job->session, texture);
}

static void destroy_install(struct job *job)
{
    job->session->texture.textures[job->index] = NULL;
}

static void texture_gone(struct user *user, uint64_t size)
{
    (void)size;
    user_texture_discharge(user);
}

/* Each of the driver's calls may be delayed, and nobody waits for a session's end, so they are made
 * at a quiet moment. The user is charged until then. */
static void texture_defer(struct session *session, struct texture *texture)
{
    const struct deferred_end end = {.gone = texture_gone, .user = session->memory.user};

    if (texture->surface)
        deferred_release_surface(texture->handle, end);
    else if (texture->handle)
        deferred_release_texture(texture->handle, end);
    else
        user_texture_discharge(session->memory.user);
    if (texture->array)
        array_unuse(session, texture->array);
    free(texture);
}

void textures_deinit(struct session *session)
{
    for (uint32_t i = 0; session->texture.textures && i < SEG_TEXTURES; i++) {
        if (session->texture.textures[i])
            texture_defer(session, session->texture.textures[i]);
    }
    free(session->texture.textures);
    session->texture.textures = NULL;
    texture_table_deinit(session);
    tensor_maps_deinit(session);
    arrays_deinit(session);
}

const struct job_kind job_texture_create = {"texture_create", JOB_PATIENT,    texture_prepare,
                                            texture_work,     create_install, NULL};
const struct job_kind job_surface_create = {"surface_create", JOB_PATIENT,    surface_prepare,
                                            surface_work,     create_install, NULL};
const struct job_kind job_texture_destroy = {
    "texture_destroy",       JOB_SESSION_IDLE | JOB_PATIENT,
    texture_destroy_prepare, destroy_work,
    destroy_install,         NULL};
const struct job_kind job_surface_destroy = {
    "surface_destroy",       JOB_SESSION_IDLE | JOB_PATIENT,
    surface_destroy_prepare, destroy_work,
    destroy_install,         NULL};
