/* api_array.c - arrays, textures and surfaces, and the copies of boxes. */
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/params.h"
#include "client/memory/box.h"
#include "client/memory/freed.h"
#include "client/submit/submit.h"
#include "client/submit/sync_request.h"
#include "client/submit/wait.h"
#include "common/array_format.h"

/* ---- Arrays ---- */

static gs_status array_publish(struct session *session, struct array *array, gs_array *handle)
{
    struct sync_request request = {.op = REQ_ARRAY_DESTROY, .arg = {array->id}};
    char message[ERROR_MESSAGE_MAX];
    uint64_t made;
    gs_status status = object_publish(session, HANDLE_ARRAY, array, &made);

    if (status != GS_OK) {
        error_keep(message);
        sync_request(session, &request);
        return error_server(status, message);
    }
    *handle = (gs_array)(uintptr_t)made;
    return GS_OK;
}

/* Makes a request that makes an array, and gives that array a handle. */
static gs_status array_ask(struct session *session, struct sync_request *request,
                           const gs_array_desc *desc, gs_array *handle)
{
    struct array *array = calloc(1, sizeof(*array));
    gs_status status;

    if (!array)
        return error_set(GS_ERR_NO_MEMORY, "no memory for an array");
    status = freed_request(session, request);
    if (status == GS_OK) {
        array->id = (uint32_t)request->ret[0];
        array->row = desc->width * desc->channels * channel_bytes((uint32_t)desc->format);
        array->desc = *desc;
        status = array_publish(session, array, handle);
    }
    if (status != GS_OK)
        free(array);
    return status;
}

static gs_status array_make(struct session *session, const gs_array_desc *desc, gs_array *handle)
{
    struct sync_request request = {.op = REQ_ARRAY_CREATE,
                                   .arg = {desc->width, desc->height, desc->depth,
                                           req_array_kind((uint32_t)desc->format, desc->channels,
                                                          (uint32_t)desc->levels, desc->flags)}};

    if ((unsigned)desc->format > 0xFFFFu || desc->channels > 0xFFu || desc->levels > 0xFFu)
        return error_set(GS_ERR_INVALID_VALUE, "format %d of %u channels, %zu levels",
                         (int)desc->format, desc->channels, desc->levels);
    return array_ask(session, &request, desc, handle);
}

gs_status gs_array_create(gs_session session_handle, const gs_array_desc *given, gs_array *handle)
{
    gs_array_desc desc = GS_ARRAY_DESC_INIT;
    struct session *session;
    gs_status status;

    if (!handle || !given)
        return error_set(GS_ERR_INVALID_VALUE, "the %s pointer is NULL",
                         handle ? "gs_array_desc" : "gs_array");
    status = params_read(&desc, sizeof(desc), PARAMS_UP_TO(gs_array_desc, flags), given,
                         "gs_array_desc");
    if (status == GS_OK)
        status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = array_make(session, &desc, handle);
    session_leave(session);
    return status;
}

gs_status gs_array_destroy(gs_array handle)
{
    struct handle h = handle_decode(handle);
    struct session *session;
    struct array *array;
    gs_status status = session_use(h, HANDLE_ARRAY, &session);

    if (status != GS_OK)
        return status;
    array = object_retire(session, h);
    if (array) {
        status = freed_give(session, REQ_ARRAY_DESTROY, array->id, 0);
        object_release(session, h);
        free(array);
        status = wait_end(session, status);
    } else {
        status = handle_unknown(h, "array");
    }
    session_leave(session);
    return status;
}

/* Copies an array's description. The array may be destroyed at any time afterwards. */
static gs_status array_read(struct session *session, gs_array handle, struct array *copy)
{
    const struct array *array;

    pthread_mutex_lock(&session->object_lock);
    array = object_find(session, HANDLE_ARRAY, handle);
    if (array)
        *copy = *array;
    pthread_mutex_unlock(&session->object_lock);
    return array ? GS_OK : handle_unknown(handle_decode(handle), "array");
}

gs_status gs_array_info(gs_array handle, gs_array_desc *desc)
{
    struct session *session;
    struct array array;
    gs_status status = session_use(handle_decode(handle), HANDLE_ARRAY, &session);

    if (status != GS_OK)
        return status;
    status = array_read(session, handle, &array);
    if (status == GS_OK)
        status = params_write(desc, PARAMS_UP_TO(gs_array_desc, width), &array.desc,
                              sizeof(array.desc), "gs_array_desc");
    session_leave(session);
    return status;
}

/* ---- Levels ---- */

/* Returns the description of a level as an array of its own. */
static gs_array_desc level_desc(const gs_array_desc *whole, unsigned level)
{
    gs_array_desc desc = *whole;

    desc.width = level_side(whole->width, level);
    desc.height = level_side(whole->height, level);
    if (!(whole->flags & (GS_ARRAY_LAYERED | GS_ARRAY_CUBEMAP)))
        desc.depth = level_side(whole->depth, level);
    desc.levels = 0;
    return desc;
}

static gs_status level_make(struct session *session, const struct array *whole, unsigned level,
                            gs_array *handle)
{
    struct sync_request request = {.op = REQ_ARRAY_LEVEL, .arg = {whole->id, level}};
    gs_array_desc desc;

    if (level >= whole->desc.levels)
        return error_set(GS_ERR_INVALID_VALUE, "level %u of an array that has %zu", level,
                         whole->desc.levels);
    desc = level_desc(&whole->desc, level);
    return array_ask(session, &request, &desc, handle);
}

gs_status gs_array_level(gs_array handle, unsigned level, gs_array *of_level)
{
    struct session *session;
    struct array whole;
    gs_status status;

    if (!of_level)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_array pointer is NULL");
    status = session_use(handle_decode(handle), HANDLE_ARRAY, &session);
    if (status != GS_OK)
        return status;
    status = array_read(session, handle, &whole);
    if (status == GS_OK)
        status = level_make(session, &whole, level, of_level);
    session_leave(session);
    return status;
}

/* ---- Copies ---- */

static gs_status box_run(gs_session session_handle, const gs_memcpy_3d_params *given,
                         gs_stream stream, bool wait)
{
    gs_memcpy_3d_params params = GS_MEMCPY_3D_PARAMS_INIT;
    struct session *session;
    gs_status status;

    if (!given)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_memcpy_3d_params pointer is NULL");
    status = params_read(&params, sizeof(params), PARAMS_UP_TO(gs_memcpy_3d_params, depth), given,
                         "gs_memcpy_3d_params");
    if (status == GS_OK)
        status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = box_copy(session, stream, &params, wait);
    session_leave(session);
    return status;
}

gs_status gs_memcpy_3d(gs_session session, const gs_memcpy_3d_params *params)
{
    return box_run(session, params, NULL, true);
}

gs_status gs_memcpy_3d_async(gs_session session, const gs_memcpy_3d_params *params,
                             gs_stream stream)
{
    return box_run(session, params, stream, false);
}

/* ---- Textures and surfaces ---- */

static void texture_fill(struct req_texture *texture, const gs_texture_resource *resource,
                         const gs_texture_desc *desc)
{
    *texture = (struct req_texture){
        .type = (uint32_t)resource->type,
        .address = resource->address,
        .width = resource->width,
        .height = resource->height,
        .pitch = resource->pitch,
        .format = (uint32_t)resource->format,
        .channels = resource->channels,
        .filter_mode = (uint32_t)desc->filter_mode,
        .flags = desc->flags,
        .max_anisotropy = desc->max_anisotropy,
        .mipmap_filter = (uint32_t)desc->mipmap_filter,
        .mipmap_bias = desc->mipmap_bias,
        .mipmap_min = desc->mipmap_min,
        .mipmap_max = desc->mipmap_max,
    };
    for (unsigned i = 0; i < 3; i++)
        texture->address_mode[i] = (uint32_t)desc->address_mode[i];
    memcpy(texture->border, desc->border, sizeof(texture->border));
}

/* Copies the description of an array that a texture or surface is to access as a resource of that
 * type. Fails if the array is not of the type. */
static gs_status array_shown(struct session *session, gs_array handle, gs_resource_type type,
                             struct array *array)
{
    const bool mipmapped = type == GS_RESOURCE_MIPMAPPED;
    gs_status status = array_read(session, handle, array);

    if (status == GS_OK && mipmapped != (array->desc.levels > 0))
        return error_set(GS_ERR_INVALID_VALUE, "the array is %s mipmapped array",
                         mipmapped ? "no" : "a");
    return status;
}

static gs_status texture_make(struct session *session, const gs_texture_resource *resource,
                              const gs_texture_desc *desc, gs_texture *handle)
{
    struct req_texture texture;
    struct sync_request request = {.op = REQ_TEXTURE_CREATE, .texture = &texture};
    struct array array = {0};
    gs_status status = GS_OK;

    if (resource->type == GS_RESOURCE_ARRAY || resource->type == GS_RESOURCE_MIPMAPPED)
        status = array_shown(session, resource->array, resource->type, &array);
    if (status != GS_OK)
        return status;
    texture_fill(&texture, resource, desc);
    texture.array = array.id;
    status = freed_request(session, &request);
    if (status == GS_OK)
        *handle = request.ret[0];
    return status;
}

gs_status gs_texture_create(gs_session session_handle, const gs_texture_resource *given,
                            const gs_texture_desc *given_desc, gs_texture *texture)
{
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture_desc desc = GS_TEXTURE_DESC_INIT;
    struct session *session;
    gs_status status;

    if (!texture || !given)
        return error_set(GS_ERR_INVALID_VALUE, "the %s pointer is NULL",
                         texture ? "gs_texture_resource" : "gs_texture");
    status = params_read(&resource, sizeof(resource), PARAMS_UP_TO(gs_texture_resource, pitch),
                         given, "gs_texture_resource");
    if (status == GS_OK && given_desc)
        status = params_read(&desc, sizeof(desc), PARAMS_UP_TO(gs_texture_desc, border), given_desc,
                             "gs_texture_desc");
    if (status == GS_OK)
        status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = texture_make(session, &resource, &desc, texture);
    session_leave(session);
    return status;
}

gs_status gs_surface_create(gs_session session_handle, gs_array handle, gs_surface *surface)
{
    struct sync_request request = {.op = REQ_SURFACE_CREATE};
    struct session *session;
    struct array array;
    gs_status status;

    if (!surface)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_surface pointer is NULL");
    status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = array_shown(session, handle, GS_RESOURCE_ARRAY, &array);
    if (status == GS_OK) {
        request.arg[0] = array.id;
        status = freed_request(session, &request);
    }
    if (status == GS_OK)
        *surface = request.ret[0];
    session_leave(session);
    return status;
}

static gs_status object_destroy(gs_session session_handle, enum req_op op, uint64_t object)
{
    struct session *session;
    gs_status status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    status = wait_end(session, freed_give_known(session, op, object));
    session_leave(session);
    return status;
}

gs_status gs_texture_destroy(gs_session session, gs_texture texture)
{
    return object_destroy(session, REQ_TEXTURE_DESTROY, texture);
}

gs_status gs_surface_destroy(gs_session session, gs_surface surface)
{
    return object_destroy(session, REQ_SURFACE_DESTROY, surface);
}
