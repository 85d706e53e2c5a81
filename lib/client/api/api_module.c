/*
 * api_module.c - modules and their global variables.
 */
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/image.h"
#include "client/base/params.h"
#include "client/memory/memory.h"
#include "client/session/print_block.h"
#include "client/submit/sync_request.h"
#include "client/submit/wait.h"
#include "common/image_bundle.h"
#include "common/util.h"

static uint64_t handle_value(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

/* ---- Loading and unloading ---- */

static gs_status module_unload_request(struct session *session, uint32_t id)
{
    struct sync_request request = {.op = REQ_MODULE_UNLOAD, .arg = {id}};

    return sync_request(session, &request);
}

/* Maps the block that the module's kernels print to; unloads the module if that fails. */
static gs_status module_adopt_print(struct session *session, const struct sync_request *loaded)
{
    char message[ERROR_MESSAGE_MAX];
    gs_status status = print_adopt(session, loaded->ret[1], loaded->ret[2]);

    if (status == GS_OK)
        return GS_OK;
    error_keep(message);
    module_unload_request(session, (uint32_t)loaded->ret[0]);
    return error_server(status, message);
}

/* Makes the server load the image, which a host block carries. */
static gs_status image_send(struct session *session, const void *image, size_t size, uint32_t *id)
{
    struct sync_request request = {.op = REQ_MODULE_LOAD};
    struct host_block block;
    gs_status freed, status = host_block_new(session, size, HOST_BLOCK_PLAIN, &block);

    if (status != GS_OK)
        return status;
    memcpy(block.address, image, size);
    request.arg[0] = block.id;
    request.arg[1] = size;
    status = freed_request(session, &request);
    if (status != GS_OK) {
        char log[ERROR_MESSAGE_MAX];
        error_keep(log);
        host_block_free(session, &block);
        return error_server(status, log);
    }
    freed = host_block_free(session, &block);
    *id = (uint32_t)request.ret[0];
    return freed == GS_OK && request.ret[2] ? module_adopt_print(session, &request) : freed;
}

static gs_status module_publish(struct session *session, uint32_t id, gs_module *handle)
{
    struct module *module = calloc(1, sizeof(*module));
    char message[ERROR_MESSAGE_MAX];
    gs_status status = GS_ERR_NO_MEMORY;
    uint64_t made;

    if (module) {
        module->id = id;
        status = object_publish(session, HANDLE_MODULE, module, &made);
    } else {
        error_set(GS_ERR_NO_MEMORY, "no memory for a module");
    }
    if (status == GS_OK) {
        *handle = (gs_module)(uintptr_t)made;
        return GS_OK;
    }
    free(module);
    error_keep(message);
    module_unload_request(session, id);
    return error_server(status, message);
}

gs_status gs_module_load(gs_session session_handle, const void *image, size_t size,
                         gs_module *handle)
{
    struct session *session;
    size_t bytes;
    uint32_t id;
    gs_status status;

    if (!handle)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_module pointer is NULL");
    status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = image_size(image, size, &bytes);
    if (status == GS_OK)
        status = image_send(session, image, bytes, &id);
    if (status == GS_OK)
        status = module_publish(session, id, handle);
    session_leave(session);
    return status;
}

/* Sets the size of each image in a bundle, and of the bundle. */
static gs_status bundle_measure(const void *const *images, const size_t *sizes, unsigned count,
                                size_t *bundle_sizes, size_t *total)
{
    *total = bundle_head(count);
    for (unsigned i = 0; i < count; i++) {
        gs_status status = image_size(images[i], sizes ? sizes[i] : 0, &bundle_sizes[i]);

        if (status != GS_OK)
            return status;
        if (image_is_text(images[i]))
            bundle_sizes[i] = strnlen(images[i], bundle_sizes[i]);
        *total = bundle_next(*total, bundle_sizes[i]);
    }
    return GS_OK;
}

gs_status gs_module_link(gs_session session, const void *const *images, const size_t *sizes,
                         unsigned count, gs_module *handle)
{
    CLEANUP_FREE struct image_bundle *bundle = NULL;
    CLEANUP_FREE size_t *bytes = NULL;
    size_t total, at;
    gs_status status;

    if (!images || count == 0 || count > BUNDLE_IMAGES)
        return error_set(GS_ERR_INVALID_VALUE, "%u images to be linked: from 1 to %u", count,
                         BUNDLE_IMAGES);
    bytes = calloc(count, sizeof(*bytes));
    if (!bytes)
        return error_set(GS_ERR_NO_MEMORY, "no memory to link %u images", count);
    status = bundle_measure(images, sizes, count, bytes, &total);
    if (status != GS_OK)
        return status;
    bundle = calloc(1, total);
    if (!bundle)
        return error_set(GS_ERR_NO_MEMORY, "no memory for %zu bytes of images", total);
    bundle->magic = BUNDLE_MAGIC;
    bundle->count = count;
    at = bundle_head(count);
    for (unsigned i = 0; i < count; i++) {
        bundle->size[i] = bytes[i];
        memcpy((char *)bundle + at, images[i], bytes[i]);
        at = bundle_next(at, bytes[i]);
    }
    return gs_module_load(session, bundle, total, handle);
}

gs_status gs_module_load_file(gs_session session, const char *path, gs_module *handle)
{
    void *image;
    size_t size;
    gs_status status;

    if (!path)
        return error_set(GS_ERR_INVALID_VALUE, "the path is NULL");
    status = image_read(path, &image, &size);
    if (status != GS_OK)
        return status;
    status = gs_module_load(session, image, size, handle);
    free(image);
    return status;
}

/* Retires the handles of the module and its kernels, and returns the module; NULL: no such module.
 * Other threads may use the objects until streams_pass. */
static struct module *module_retire(struct session *session, struct handle h)
{
    struct module *module;

    pthread_mutex_lock(&session->object_lock);
    module = handle_lookup(&session->modules, h.slot, h.generation);
    if (module) {
        handle_retire(&session->modules, h.slot, h.generation);
        for (struct kernel *k = module->kernels; k; k = k->next)
            handle_retire(&session->kernels, k->slot, k->generation);
    }
    pthread_mutex_unlock(&session->object_lock);
    return module;
}

static void module_free(struct session *session, struct handle h, struct module *module)
{
    struct kernel *next;

    pthread_mutex_lock(&session->object_lock);
    for (struct kernel *k = module->kernels; k; k = next) {
        next = k->next;
        handle_release(&session->kernels, k->slot);
        free(k);
    }
    handle_release(&session->modules, h.slot);
    pthread_mutex_unlock(&session->object_lock);
    free(module);
}

gs_status gs_module_unload(gs_module handle)
{
    struct handle h = handle_decode(handle);
    struct session *session;
    struct module *module;
    gs_status status = session_use(h, HANDLE_MODULE, &session);

    if (status != GS_OK)
        return status;
    module = module_retire(session, h);
    if (module) {
        memory_forget_module(session, handle_value(handle));
        status = freed_give(session, REQ_MODULE_UNLOAD, module->id, 0);
        module_free(session, h, module);
        status = wait_end(session, status);
    } else {
        status = handle_unknown(h, "module");
    }
    session_leave(session);
    return status;
}

/* ---- Globals ---- */

/* Adds the variable to the session's memory, unless the module was unloaded meanwhile: nothing
 * would remove the variable any more. */
static gs_status global_note(struct session *session, struct handle h, uint64_t module,
                             uint64_t base, uint64_t size)
{
    bool live;
    gs_status status = GS_OK;

    pthread_mutex_lock(&session->object_lock);
    live = handle_lookup(&session->modules, h.slot, h.generation) != NULL;
    if (live)
        status = memory_add(session, base, size, module);
    pthread_mutex_unlock(&session->object_lock);
    return live ? status : handle_unknown(h, "module");
}

static gs_status global_ask(struct session *session, gs_module module, const char *name,
                            gs_devptr *ptr, size_t *size)
{
    struct sync_request request = {.op = REQ_GLOBAL_GET, .name = name};
    uint32_t id = 0;
    gs_status status = session_module(session, handle_decode(module), &id);

    if (status != GS_OK)
        return status;
    request.arg[0] = id;
    status = sync_request(session, &request);
    if (status == GS_OK)
        status = global_note(session, handle_decode(module), handle_value(module), request.ret[0],
                             request.ret[1]);
    if (status == GS_OK && ptr)
        *ptr = request.ret[0];
    if (status == GS_OK && size)
        *size = request.ret[1];
    return status;
}

gs_status gs_global_get(gs_module module, const char *name, gs_devptr *ptr, size_t *size)
{
    struct session *session;
    gs_status status = session_use(handle_decode(module), HANDLE_MODULE, &session);

    if (status != GS_OK)
        return status;
    status = request_name_check(name, "global variable");
    if (status == GS_OK)
        status = global_ask(session, module, name, ptr, size);
    session_leave(session);
    return status;
}
