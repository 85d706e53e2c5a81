/*
 * api_module.c - modules, their kernels and their global variables.
 *
 * The server is asked once for a kernel: a second gs_kernel_get of a name gives the same handle.
 */
#include <stdio.h>
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

/* Has the server load the image. A host block of its own carries the image. */
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
    uint32_t slot, generation;
    enum handle_insert_result result = HANDLE_NO_MEMORY;

    if (module) {
        module->id = id;
        pthread_mutex_lock(&session->object_lock);
        result = handle_insert(&session->modules, module, &slot, &generation);
        pthread_mutex_unlock(&session->object_lock);
    }
    if (result == HANDLE_INSERTED) {
        *handle =
            (gs_module)(uintptr_t)handle_encode(HANDLE_MODULE, session->index, slot, generation);
        return GS_OK;
    }
    free(module);
    module_unload_request(session, id);
    return result == HANDLE_FULL
               ? error_set(GS_ERR_LIMIT, "the session has %u modules, the limit", SEG_MODULES)
               : error_set(GS_ERR_NO_MEMORY, "no memory for a module");
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

/* Retires the handles of the module and its kernels; other threads may use the objects until
 * streams_pass. NULL: no such module. */
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
        free(k->name);
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

/* ---- Kernels ---- */

static gs_status name_check(const char *name, const char *what)
{
    size_t room = sizeof(((struct seg_request *)0)->name);

    if (!name || !*name)
        return error_set(GS_ERR_INVALID_VALUE, "the name of the %s is %s", what,
                         name ? "empty" : "NULL");
    if (strnlen(name, room) == room)
        return error_set(GS_ERR_INVALID_VALUE, "the name of the %s is longer than %zu bytes", what,
                         room - 1);
    return GS_OK;
}

/* Under object_lock. */
static struct kernel *kernel_of_name(const struct module *module, const char *name)
{
    for (struct kernel *k = module->kernels; k; k = k->next) {
        if (!strcmp(k->name, name))
            return k;
    }
    return NULL;
}

/* Sets *kernel to the handle of a kernel that was looked up before; NULL if it was not. */
static gs_status kernel_known(struct session *session, struct handle h, const char *name,
                              uint32_t *module_id, gs_kernel *kernel)
{
    const struct module *module;
    const struct kernel *found;

    *kernel = NULL;
    pthread_mutex_lock(&session->object_lock);
    module = handle_lookup(&session->modules, h.slot, h.generation);
    if (module) {
        *module_id = module->id;
        found = kernel_of_name(module, name);
        if (found)
            *kernel = (gs_kernel)(uintptr_t)handle_encode(HANDLE_KERNEL, session->index,
                                                          found->slot, found->generation);
    }
    pthread_mutex_unlock(&session->object_lock);
    return module ? GS_OK : handle_unknown(h, "module");
}

static gs_status kernel_info_check(const struct req_kernel *info)
{
    if (info->param_count > REQ_PARAMS_MAX || info->param_bytes > REQ_PARAM_BYTES_MAX)
        return error_set(GS_ERR_PROTOCOL,
                         "the server tells of a kernel with %u parameters, %u "
                         "bytes; the limits are %u and %u",
                         info->param_count, info->param_bytes, REQ_PARAMS_MAX, REQ_PARAM_BYTES_MAX);
    for (uint32_t i = 0; i < info->param_count; i++) {
        if ((uint32_t)info->param[i].offset + info->param[i].size > info->param_bytes)
            return error_set(GS_ERR_PROTOCOL, "the server puts parameter %u at %u + %u, beyond %u",
                             i, info->param[i].offset, info->param[i].size, info->param_bytes);
    }
    return GS_OK;
}

static struct kernel *kernel_new(const char *name, uint32_t id, const struct req_kernel *info)
{
    struct kernel *kernel = calloc(1, sizeof(*kernel));

    if (!kernel)
        return NULL;
    kernel->name = strdup(name);
    if (!kernel->name) {
        free(kernel);
        return NULL;
    }
    kernel->id = id;
    kernel->info = *info;
    return kernel;
}

static void kernel_free(struct kernel *kernel)
{
    if (!kernel)
        return;
    free(kernel->name);
    free(kernel);
}

/* Adds the kernel to its module's list, unless the module was unloaded meanwhile. */
static gs_status kernel_publish(struct session *session, struct handle h, struct kernel *kernel,
                                gs_kernel *handle)
{
    struct module *module;
    enum handle_insert_result result = HANDLE_FULL;

    pthread_mutex_lock(&session->object_lock);
    module = handle_lookup(&session->modules, h.slot, h.generation);
    if (module)
        result = handle_insert(&session->kernels, kernel, &kernel->slot, &kernel->generation);
    if (module && result == HANDLE_INSERTED) {
        kernel->next = module->kernels;
        module->kernels = kernel;
        *handle = (gs_kernel)(uintptr_t)handle_encode(HANDLE_KERNEL, session->index, kernel->slot,
                                                      kernel->generation);
    }
    pthread_mutex_unlock(&session->object_lock);
    if (!module)
        return handle_unknown(h, "module");
    if (result == HANDLE_FULL)
        return error_set(GS_ERR_LIMIT, "the session has %u kernels, the limit", SEG_KERNELS);
    if (result == HANDLE_NO_MEMORY)
        return error_set(GS_ERR_NO_MEMORY, "no memory for a kernel");
    return GS_OK;
}

static gs_status kernel_ask(struct session *session, struct handle h, uint32_t module_id,
                            const char *name, gs_kernel *handle)
{
    struct req_kernel info;
    struct sync_request request = {
        .op = REQ_KERNEL_GET, .arg = {module_id}, .name = name, .kernel = &info};
    struct kernel *kernel;
    gs_status status = freed_request(session, &request);

    if (status == GS_OK)
        status = kernel_info_check(&info);
    if (status != GS_OK)
        return status;
    kernel = kernel_new(name, (uint32_t)request.ret[0], &info);
    if (!kernel)
        return error_set(GS_ERR_NO_MEMORY, "no memory for a kernel");
    status = kernel_publish(session, h, kernel, handle);
    if (status != GS_OK)
        kernel_free(kernel);
    return status;
}

gs_status gs_kernel_get(gs_module module_handle, const char *name, gs_kernel *handle)
{
    struct handle h = handle_decode(module_handle);
    struct session *session;
    uint32_t module_id = 0;
    gs_kernel known;
    gs_status status;

    if (!handle)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_kernel pointer is NULL");
    status = session_use(h, HANDLE_MODULE, &session);
    if (status != GS_OK)
        return status;
    status = name_check(name, "kernel");
    if (status == GS_OK)
        status = kernel_known(session, h, name, &module_id, &known);
    if (status == GS_OK && known)
        *handle = known;
    else if (status == GS_OK)
        status = kernel_ask(session, h, module_id, name, handle);
    session_leave(session);
    return status;
}

/* Asks for a kernel's name, and how many kernels there are. */
static gs_status kernel_list(gs_module handle, unsigned index, char *name, size_t size,
                             unsigned *count)
{
    struct sync_request request = {
        .op = REQ_MODULE_KERNEL, .arg = {0, index}, .text = name, .text_size = size};
    struct handle h = handle_decode(handle);
    const struct module *module;
    struct session *session;
    gs_status status = session_use(h, HANDLE_MODULE, &session);

    if (status != GS_OK)
        return status;
    pthread_mutex_lock(&session->object_lock);
    module = handle_lookup(&session->modules, h.slot, h.generation);
    if (module)
        request.arg[0] = module->id;
    pthread_mutex_unlock(&session->object_lock);
    status = module ? sync_request(session, &request) : handle_unknown(h, "module");
    *count = (unsigned)request.ret[0];
    session_leave(session);
    return status;
}

gs_status gs_module_kernel_count(gs_module module, unsigned *count)
{
    unsigned found;
    gs_status status;

    if (!count)
        return error_set(GS_ERR_INVALID_VALUE, "the count's pointer is NULL");
    status = kernel_list(module, UINT32_MAX, NULL, 0, &found);
    if (status == GS_OK)
        *count = found;
    return status;
}

gs_status gs_module_kernel_name(gs_module module, unsigned index, char *name, size_t size)
{
    unsigned count;
    gs_status status;

    if (!name || size == 0)
        return error_set(GS_ERR_INVALID_VALUE, "there is no room for a kernel's name");
    status = kernel_list(module, index, name, size, &count);
    if (status == GS_OK && index >= count)
        status = error_set(GS_ERR_NOT_FOUND, "the module has %u kernels, and none of index %u",
                           count, index);
    return status;
}

static void kernel_describe(const struct kernel *kernel, gs_kernel_desc *desc)
{
    snprintf(desc->name, sizeof(desc->name), "%s", kernel->name);
    desc->param_count = kernel->info.param_count;
    desc->param_bytes = kernel->info.param_bytes;
    desc->max_threads_per_block = kernel->info.max_threads_per_block;
    desc->registers = kernel->info.registers;
    desc->static_smem = kernel->info.static_smem;
    desc->local_bytes = kernel->info.local_bytes;
    desc->max_dynamic_smem = kernel->info.max_dynamic_smem;
}

gs_status gs_kernel_info(gs_kernel handle, gs_kernel_desc *desc)
{
    struct handle h = handle_decode(handle);
    gs_kernel_desc read = GS_KERNEL_DESC_INIT;
    struct session *session;
    const struct kernel *kernel;
    gs_status status = session_use(h, HANDLE_KERNEL, &session);

    if (status != GS_OK)
        return status;
    /* object_lock keeps a kernel that is found alive, because kernels are freed under it. */
    pthread_mutex_lock(&session->object_lock);
    kernel = handle_lookup(&session->kernels, h.slot, h.generation);
    if (kernel)
        kernel_describe(kernel, &read);
    pthread_mutex_unlock(&session->object_lock);
    status = kernel ? params_write(desc, PARAMS_UP_TO(gs_kernel_desc, name), &read, sizeof(read),
                                   "gs_kernel_desc")
                    : handle_unknown(h, "kernel");
    session_leave(session);
    return status;
}

gs_status gs_kernel_param_info(gs_kernel handle, unsigned index, size_t *offset, size_t *size)
{
    struct handle h = handle_decode(handle);
    struct session *session;
    const struct kernel *kernel;
    gs_status status = session_use(h, HANDLE_KERNEL, &session);

    if (status != GS_OK)
        return status;
    pthread_mutex_lock(&session->object_lock);
    kernel = handle_lookup(&session->kernels, h.slot, h.generation);
    if (!kernel) {
        status = handle_unknown(h, "kernel");
    } else if (index >= kernel->info.param_count) {
        status = error_set(GS_ERR_INVALID_VALUE, "parameter %u of kernel %.64s, which has %u",
                           index, kernel->name, kernel->info.param_count);
    } else {
        if (offset)
            *offset = kernel->info.param[index].offset;
        if (size)
            *size = kernel->info.param[index].size;
    }
    pthread_mutex_unlock(&session->object_lock);
    session_leave(session);
    return status;
}

/* ---- Globals ---- */

static gs_status module_id_of(struct session *session, struct handle h, uint32_t *id)
{
    const struct module *module;

    pthread_mutex_lock(&session->object_lock);
    module = handle_lookup(&session->modules, h.slot, h.generation);
    if (module)
        *id = module->id;
    pthread_mutex_unlock(&session->object_lock);
    return module ? GS_OK : handle_unknown(h, "module");
}

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
    gs_status status = module_id_of(session, handle_decode(module), &id);

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
    status = name_check(name, "global variable");
    if (status == GS_OK)
        status = global_ask(session, module, name, ptr, size);
    session_leave(session);
    return status;
}
