/* See interp_rig.h. */
#include "interp_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA = 64 << 20, TURN = 1 << 20, TURNS = 64 };

static void print(void *context, const char *text, size_t length)
{
    struct rig *r = context;
    size_t room = sizeof r->printed - 1 - r->nprinted;

    length = length < room ? length : room;
    memcpy(r->printed + r->nprinted, text, length);
    r->nprinted += length;
}

static uint64_t allocate(void *context, uint64_t size)
{
    return (uint64_t)(uintptr_t)rig_alloc(context, size);
}

static bool release(void *context, uint64_t address)
{
    const struct rig *r = context;
    uint64_t base = (uint64_t)(uintptr_t)r->arena;

    return address >= base && address < base + r->used;
}

void *rig_alloc(struct rig *r, size_t bytes)
{
    size_t at = (r->used + 255) / 256 * 256;

    if (bytes > r->arena_bytes || at > r->arena_bytes - bytes)
        return NULL;
    r->used = at + bytes;
    return r->arena + at;
}

static uint64_t reloc_value(const struct rig *r, const struct ptx_reloc *reloc)
{
    if (reloc->func)
        return exec_program_function(r->program, reloc->func);
    return (r->addresses[reloc->var->id] + (uint64_t)reloc->addend) >> reloc->shift;
}

static void place_vars(struct rig *r)
{
    for (uint32_t i = 0; i < r->module->nvars; i++) {
        const struct ptx_var *v = r->module->vars[i];

        if (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST)
            r->addresses[i] = (uint64_t)(uintptr_t)rig_alloc(r, v->size ? v->size : 1);
    }
    exec_program_bind(r->program, r->addresses);
    for (uint32_t i = 0; i < r->module->nvars; i++) {
        const struct ptx_var *v = r->module->vars[i];

        if (!r->addresses[i])
            continue;
        if (v->init)
            memcpy((void *)(uintptr_t)r->addresses[i], v->init, v->ninit);
        for (uint32_t k = 0; k < v->nrelocs; k++) {
            uint64_t value = reloc_value(r, &v->relocs[k]);

            memcpy((uint8_t *)(uintptr_t)r->addresses[i] + v->relocs[k].offset, &value,
                   v->relocs[k].size);
        }
    }
}

struct rig *rig_new(const char *text, size_t length)
{
    struct rig *r = calloc(1, sizeof *r);
    struct ptx_error error = {0};

    r->device = (struct exec_device){.print = print,
                                     .allocate = allocate,
                                     .release = release,
                                     .context = r,
                                     .thread_instructions = &r->thread_instructions,
                                     .sm_count = 16,
                                     .clock_khz = 1000000};
    if (ptx_parse(text, length, &r->module, &error)) {
        fprintf(stderr, "%u:%u: %s\n", error.line, error.column, error.text);
        rig_free(r);
        return NULL;
    }
    if (exec_program_new(r->module, &r->program, r->log, sizeof r->log)) {
        fprintf(stderr, "%s\n", r->log);
        rig_free(r);
        return NULL;
    }
    r->arena_bytes = ARENA;
    r->arena = aligned_alloc(4096, ARENA);
    memset(r->arena, 0, ARENA);
    r->addresses = calloc(r->module->nvars + 1, sizeof *r->addresses);
    r->map = calloc(1, sizeof *r->map + sizeof r->map->extents[0]);
    r->map->count = 1;
    r->map->extents[0] = (struct mem_extent){
        (uint64_t)(uintptr_t)r->arena, (uint64_t)(uintptr_t)r->arena + ARENA, MEM_READ | MEM_WRITE};
    place_vars(r);
    return r;
}

void rig_free(struct rig *r)
{
    if (!r)
        return;
    exec_program_free(r->program);
    ptx_module_free(r->module);
    free(r->arena);
    free(r->addresses);
    free(r->map);
    free(r);
}

static const struct exec_kernel *find(const struct rig *r, const char *name)
{
    for (size_t i = 0; i < exec_program_kernel_count(r->program); i++)
        if (!strcmp(exec_program_kernel(r->program, i)->func->name, name))
            return exec_program_kernel(r->program, i);
    return NULL;
}

static enum exec_status run_blocks(struct rig *r, const struct exec_grid *grid, uint64_t count)
{
    struct mem_view view = {.map = r->map};
    struct exec_block *block = NULL;
    enum exec_status status = EXEC_DONE;

    if (exec_block_new(grid, &block))
        return EXEC_FAULT;
    for (uint64_t i = 0; i < count && status == EXEC_DONE; i++) {
        exec_block_start(block, i, &(uint32_t){(uint32_t)(i % 16)});
        status = EXEC_YIELD;
        for (unsigned turn = 0; turn < TURNS && (status == EXEC_YIELD || status == EXEC_WAITING);
             turn++)
            status = exec_block_run(block, &view, r->turn ? r->turn : TURN, &r->fault);
    }
    exec_block_free(block);
    return status;
}

enum exec_status rig_launch3(struct rig *r, const char *kernel, const uint32_t g[3],
                             const uint32_t b[3], uint32_t shared, const void *params)
{
    struct exec_grid grid = {.kernel = find(r, kernel),
                             .device = &r->device,
                             .id = 1,
                             .grid_dim = {g[0], g[1], g[2]},
                             .block_dim = {b[0], b[1], b[2]},
                             .dynamic_shared = shared,
                             .stack_bytes = 1024,
                             .params = params};

    r->fault = (struct exec_fault){0};
    if (!grid.kernel) {
        fprintf(stderr, "no kernel %s\n", kernel);
        return EXEC_FAULT;
    }
    return run_blocks(r, &grid, (uint64_t)g[0] * g[1] * g[2]);
}

enum exec_status rig_launch(struct rig *r, const char *kernel, uint32_t blocks, uint32_t threads,
                            uint32_t shared, const void *params)
{
    return rig_launch3(r, kernel, (uint32_t[]){blocks, 1, 1}, (uint32_t[]){threads, 1, 1}, shared,
                       params);
}
