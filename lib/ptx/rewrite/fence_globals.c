/* The module's .global variables. The driver would put them outside of the session's window and
 * count them nowhere. So they move into one block that the caller allocates in the window, and the
 * code addresses them through gshare$globals. A .const variable whose initial values contain their
 * addresses stays, and has zeros there until the caller writes the addresses. */
#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "ptx/ir/arena.h"
#include "ptx/rewrite/fence.h"

static const uint64_t BLOCK_MAX = 1ull << 40;

bool fence_is_moved(const struct ptx_var *v)
{
    return v->space == PTX_SPACE_GLOBAL &&
           (!fence_is_reserved_name(v->name) || !strcmp(v->name, GRID_VARIABLE));
}

bool fence_is_bound(const struct ptx_var *v)
{
    for (uint32_t i = 0; v->space == PTX_SPACE_CONST && i < v->nrelocs; i++)
        if (!v->relocs[i].func)
            return true;
    return false;
}

uint64_t fence_block_offset(const struct ptx_var *v)
{
    const struct ptx_fence_variable *placed = v->user; /* of a module that is the fence's own */

    return placed->offset;
}

static bool variable_check(struct fence *fence, const struct ptx_var *v)
{
    if (v->space == PTX_SPACE_TEX || v->type == PTX_T_TEXREF || v->type == PTX_T_SAMPLERREF ||
        v->type == PTX_T_SURFREF)
        return fence_refuse(fence, v->line, "%.80s is a texture, sampler or surface", v->name);
    if (v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST)
        return true;
    if (v->linkage == PTX_LINK_EXTERN || v->unsized)
        return fence_refuse(fence, v->line, "%.80s is defined elsewhere", v->name);
    return true;
}

static uint32_t function_index(struct fence *fence, const struct ptx_func **functions,
                               const struct ptx_func *f)
{
    for (uint32_t i = 0; i < fence->report->nfunctions; i++)
        if (functions[i] == f)
            return i;
    functions[fence->report->nfunctions] = f;
    return fence->report->nfunctions++;
}

static bool address_init(struct fence *fence, const struct ptx_var *v, const struct ptx_reloc *r,
                         const char *constant, const struct ptx_func **functions,
                         struct ptx_fence_address *to)
{
    const bool moved = fence_is_moved(v);

    *to = (struct ptx_fence_address){.constant = moved ? NULL : constant,
                                     .offset = (moved ? fence_block_offset(v) : 0) + r->offset,
                                     .value = (uint64_t)r->addend,
                                     .size = r->size,
                                     .shift = r->shift,
                                     .is_function = r->func != NULL};
    if (r->func) {
        if (!r->func->has_body || r->func->entry)
            return fence_refuse(fence, v->line,
                                "%.80s begins with an address of %.80s, which is "
                                "no function of the module",
                                v->name, r->func->name);
        to->function = function_index(fence, functions, r->func);
        return true;
    }
    if (r->var->space != PTX_SPACE_GLOBAL || fence_is_reserved_name(r->var->name))
        return fence_refuse(fence, v->line, "%.80s begins with an address in .%s", v->name,
                            ptx_space_name(r->var->space));
    to->value += fence_block_offset(r->var);
    return true;
}

/* Declares the functions behind the last line, where all of them are known. */
static void declare_functions(struct fence *fence, const struct ptx_func **functions)
{
    size_t end = strlen(fence->text);

    if (!fence->report->nfunctions)
        return;
    edits_insert(&fence->edits, end,
                 edits_text(&fence->edits,
                            "\n.visible .global .align 8 .u64 " FENCE_FUNCTIONS "[%u] = {",
                            fence->report->nfunctions));
    for (uint32_t i = 0; i < fence->report->nfunctions; i++)
        edits_insert(&fence->edits, end,
                     edits_text(&fence->edits, "%s%s", i ? ", " : "", functions[i]->name));
    edits_insert(&fence->edits, end, "};\n");
}

/* Managed variables have pages of their own, so that the host can map pages for them. */
static uint32_t place_align(const struct ptx_var *v)
{
    return v->managed && v->align < MANAGED_PAGE ? MANAGED_PAGE : v->align;
}

static bool place_variables(struct fence *fence, struct ptx_fence_variable *to)
{
    struct ptx_fence_report *report = fence->report;

    report->align = 256;
    for (uint32_t i = 0; i < fence->m->nvars; i++) {
        struct ptx_var *v = fence->m->vars[i];
        uint8_t *bytes = NULL;

        if (!fence_is_moved(v))
            continue;
        const uint32_t align = place_align(v);

        report->managed |= v->managed;
        report->align = align > report->align ? align : report->align;
        report->bytes = round_up(report->bytes, align);
        if (v->ninit) {
            bytes = arena_alloc(report->memory, v->ninit);
            if (!bytes)
                return false;
            memcpy(bytes, v->init, v->ninit);
        }
        to[report->nvariables++] = (struct ptx_fence_variable){
            .name = arena_string(report->memory, v->name, strlen(v->name)),
            .offset = report->bytes,
            .size = v->size,
            .align = align,
            .nbytes = v->ninit,
            .bytes = bytes};
        v->user = &to[report->nvariables - 1];
        report->bytes += v->managed ? round_up(v->size, MANAGED_PAGE) : v->size;
        if (report->bytes > BLOCK_MAX)
            return fence_refuse(fence, v->line, "variables of more than 1 TiB");
        if (!to[report->nvariables - 1].name)
            return false;
    }
    return true;
}

bool fence_globals(struct fence *fence)
{
    struct ptx_fence_report *report = fence->report;
    uint32_t nrelocs = 0;
    size_t bytes = 4096;

    for (uint32_t i = 0; i < fence->m->nvars; i++) {
        const struct ptx_var *v = fence->m->vars[i];

        if (!variable_check(fence, v))
            return false;
        nrelocs += v->nrelocs;
        if (nrelocs > FENCE_ADDRESSES)
            return fence_refuse(fence, v->line,
                                "more than %d addresses among the initial values of variables",
                                FENCE_ADDRESSES);
        bytes += v->ninit + 2 * strlen(v->name) + 64;
    }
    for (uint32_t i = 0; i < fence->m->nfuncs; i++)
        bytes += sizeof(struct ptx_fence_kernel) + sizeof(struct ptx_fence_maps) +
                 2 * (strlen(fence->m->funcs[i]->name) + 16);
    bytes += (sizeof(struct ptx_fence_variable) + 16) * fence->m->nvars +
             (sizeof(struct ptx_fence_address) + sizeof(void *)) * nrelocs;
    report->memory = arena_new(bytes);
    if (!report->memory)
        return false;
    struct ptx_fence_variable *variables =
        arena_alloc(report->memory, sizeof(*variables) * (fence->m->nvars + 1));
    struct ptx_fence_address *addresses =
        arena_alloc(report->memory, sizeof(*addresses) * (nrelocs + 1));
    const struct ptx_func **functions =
        arena_alloc(report->memory, sizeof(*functions) * (nrelocs + 1));

    report->variables = variables;
    report->addresses = addresses;
    if (!variables || !addresses || !functions || !place_variables(fence, variables))
        return false;
    for (uint32_t i = 0; i < fence->m->nvars; i++) {
        const struct ptx_var *v = fence->m->vars[i];
        const char *name = NULL;

        if (!fence_is_moved(v) && !fence_is_bound(v))
            continue;
        if (v->nrelocs && !(name = arena_string(report->memory, v->name, strlen(v->name))))
            return false;
        for (uint32_t k = 0; k < v->nrelocs; k++)
            if (!address_init(fence, v, &v->relocs[k], name, functions,
                              &addresses[report->naddresses++]))
                return false;
    }
    declare_functions(fence, functions);
    return true;
}
