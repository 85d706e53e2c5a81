/*
 * api_kernel.c - the kernels of a module.
 *
 * The client asks the server once for each kernel: a second gs_kernel_get of a name returns the
 * same handle.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/params.h"
#include "client/memory/freed.h"
#include "client/session/session.h"
#include "client/submit/sync_request.h"

/* ---- Finding a kernel by its name ---- */

/* Returns the module's kernel of that name; NULL: none. The caller holds object_lock. */
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
    const size_t room = strlen(name) + 1;
    struct kernel *kernel = calloc(1, sizeof(*kernel) + room);

    if (!kernel)
        return NULL;
    kernel->id = id;
    kernel->info = *info;
    memcpy(kernel->name, name, room);
    return kernel;
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
        free(kernel);
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
    status = request_name_check(name, "kernel");
    if (status == GS_OK)
        status = kernel_known(session, h, name, &module_id, &known);
    if (status == GS_OK && known)
        *handle = known;
    else if (status == GS_OK)
        status = kernel_ask(session, h, module_id, name, handle);
    session_leave(session);
    return status;
}

/* ---- What a module has, and what a kernel is ---- */

/* Asks for the name of the kernel at the index, and for the number of the module's kernels. */
static gs_status kernel_list(gs_module handle, unsigned index, char *name, size_t size,
                             unsigned *count)
{
    struct sync_request request = {
        .op = REQ_MODULE_KERNEL, .arg = {0, index}, .text = name, .text_size = size};
    struct handle h = handle_decode(handle);
    struct session *session;
    uint32_t id = 0;
    gs_status status = session_use(h, HANDLE_MODULE, &session);

    if (status != GS_OK)
        return status;
    status = session_module(session, h, &id);
    request.arg[0] = id;
    if (status == GS_OK)
        status = sync_request(session, &request);
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
    desc->cluster =
        (gs_dim3){kernel->info.cluster[0], kernel->info.cluster[1], kernel->info.cluster[2]};
    desc->in_clusters = (kernel->info.flags & REQ_KERNEL_IN_CLUSTERS) != 0;
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
