/* See fence_rig.h. */
#include "fence_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/print_ring.h"
#include "ptx/ptx.h"
#include "ptx/rewrite/texture_table.h"
#include "softcuda/interp/exec.h"
#include "softcuda/lower/program.h"
#include "softcuda/texture/texel.h"

enum {
    SERVER_BYTES = PRINT_BLOCK_BYTES + (1 << 16), /* variables of gshare, print block */
    CONSTANT_BYTES = 1 << 16,
    SHARED = 512,
    STEPS = 20000, /* warp instructions of a block */
    TURN = 5000
};
#define WINDOW_BYTES ((uint64_t)8 << 30)
#define BLOCK_AT     ((uint64_t)1 << 20) /* of the module's variables, in the window */
#define BEYOND       (FENCE_GUARD + FENCE_REACH)
#define TEXELS_AT    ((uint64_t)8 << 20) /* of all textures and surfaces, in the window */
#define OBJECT       0x0b1ec7000000u     /* an object of the table's: this, its column, its row */
#define TABLE_BYTES  (TEXTURE_ROWS * sizeof(struct texture_row))

struct loaded {
    struct fence_rig *rig;
    struct ptx_module *module;
    struct exec_program *program;
    uint64_t *addresses;
    uint8_t *server, *constants;
    struct texture_row *table;
    size_t server_used, constants_used;
    struct mem_map *map;
};

static void *begin_of(const struct fence_rig *rig)
{
    return (void *)(uintptr_t)(rig->base - BEYOND);
}

void fence_rig_init(struct fence_rig *rig)
{
    uint64_t all = 2 * WINDOW_BYTES + 2 * BEYOND, at;
    void *memory = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    at = (uint64_t)(uintptr_t)memory;
    rig->size = WINDOW_BYTES;
    rig->base = (at + BEYOND + WINDOW_BYTES - 1) / WINDOW_BYTES * WINDOW_BYTES;
    munmap(memory, all);
    memory = mmap(begin_of(rig), rig->size + 2 * BEYOND, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != begin_of(rig))
        abort();
}

void fence_rig_deinit(struct fence_rig *rig)
{
    munmap(begin_of(rig), rig->size + 2 * BEYOND);
}

void fence_rig_clear(struct fence_rig *rig)
{
    madvise(begin_of(rig), rig->size + 2 * BEYOND, MADV_DONTNEED);
}

/* ---- What the worker does ---- */

static uint8_t *place(const struct ptx_var *v, uint8_t *area, size_t room, size_t *used)
{
    size_t align = v->align > 16 ? v->align : 16, at = (*used + align - 1) / align * align;

    if (v->size > room || at > room - v->size)
        return NULL;
    *used = at + v->size;
    return area + at;
}

static bool place_variables(struct loaded *l)
{
    for (uint32_t i = 0; i < l->module->nvars; i++) {
        const struct ptx_var *v = l->module->vars[i];
        uint8_t *at = NULL;

        if (v->space == PTX_SPACE_CONST)
            at = place(v, l->constants, CONSTANT_BYTES, &l->constants_used);
        else if (v->space == PTX_SPACE_GLOBAL)
            at = place(v, l->server + PRINT_BLOCK_BYTES, SERVER_BYTES - PRINT_BLOCK_BYTES,
                       &l->server_used);
        else
            continue;
        if (!at)
            return false;
        l->addresses[i] = (uint64_t)(uintptr_t)at;
        if (v->init)
            memcpy(at, v->init, v->ninit);
    }
    exec_program_bind(l->program, l->addresses);
    return true;
}

static uint8_t *variable(const struct loaded *l, const char *name)
{
    const struct ptx_var *v = ptx_module_var(l->module, name);

    return v ? (uint8_t *)(uintptr_t)l->addresses[v->id] : NULL;
}

static void write_initial(const struct loaded *l, const struct ptx_fence_report *report)
{
    uint64_t block = l->rig->base + BLOCK_AT;
    const struct ptx_var *functions = ptx_module_var(l->module, FENCE_FUNCTIONS);

    for (uint32_t i = 0; i < report->nvariables; i++)
        if (report->variables[i].nbytes)
            memcpy((void *)(uintptr_t)(block + report->variables[i].offset),
                   report->variables[i].bytes, report->variables[i].nbytes);
    for (uint32_t i = 0; i < report->naddresses; i++) {
        const struct ptx_fence_address *a = &report->addresses[i];
        uint64_t value =
            a->is_function ? exec_program_function(l->program, functions->relocs[a->function].func)
                           : block;

        value = (value + a->value) >> a->shift;
        memcpy((void *)(uintptr_t)(block + a->offset), &value, a->size);
    }
}

static void fill_table(struct loaded *l)
{
    uint8_t *at = variable(l, FENCE_TEXTURES);
    uint64_t table = (uint64_t)(uintptr_t)l->table;

    for (unsigned i = 0; i < TEXTURE_ROWS; i++)
        for (unsigned k = 0; k < TEXTURE_COLUMNS; k++)
            l->table[i].object[k] = OBJECT | k << 12 | i;
    if (at)
        memcpy(at, &table, sizeof(table));
}

static struct fence_window window_of(const struct fence_rig *rig)
{
    return fence_window(rig->base, rig->size, rig->base + BLOCK_AT);
}

static bool load(struct loaded *l, const char *text, const struct ptx_fence_report *report)
{
    const struct fence_window window = window_of(l->rig);
    uint64_t print;
    struct ptx_error error = {0};
    uint8_t *at;

    if (ptx_parse(text, strlen(text), &l->module, &error) ||
        exec_program_new(l->module, &l->program, l->rig->what, sizeof(l->rig->what)))
        return false;
    l->addresses = calloc(l->module->nvars + 1, sizeof(*l->addresses));
    l->server = calloc(1, SERVER_BYTES);
    l->constants = aligned_alloc(256, CONSTANT_BYTES);
    l->map = calloc(1, sizeof(*l->map) + 4 * sizeof(l->map->extents[0]));
    l->table = aligned_alloc(sizeof(*l->table), TABLE_BYTES);
    if (!l->addresses || !l->server || !l->constants || !l->map || !l->table)
        abort();
    memset(l->constants, 0, CONSTANT_BYTES);
    if (report->bytes > (1 << 30) || !place_variables(l))
        return false;
    write_initial(l, report);
    fill_table(l);
    at = variable(l, FENCE_VARIABLE);
    if (at)
        memcpy(at, &window, sizeof(window));
    at = variable(l, PTX_PRINT_VARIABLE);
    print = (uint64_t)(uintptr_t)l->server;
    if (at)
        memcpy(at, &print, sizeof(print));
    return true;
}

static int by_base(const void *a, const void *b)
{
    const struct mem_extent *x = a, *y = b;

    return x->base < y->base ? -1 : x->base > y->base;
}

static void map_memory(struct loaded *l, bool indexed)
{
    const uint64_t beyond = indexed ? BEYOND : FENCE_GUARD;
    const struct mem_extent all[] = {
        {l->rig->base - beyond, l->rig->base + l->rig->size + beyond, MEM_READ | MEM_WRITE},
        {(uint64_t)(uintptr_t)l->constants, (uint64_t)(uintptr_t)l->constants + CONSTANT_BYTES,
         MEM_READ},
        {(uint64_t)(uintptr_t)l->server, (uint64_t)(uintptr_t)l->server + SERVER_BYTES,
         MEM_READ | MEM_WRITE},
        {(uint64_t)(uintptr_t)l->table, (uint64_t)(uintptr_t)l->table + TABLE_BYTES, MEM_READ},
    };

    l->map->count = sizeof(all) / sizeof(all[0]);
    memcpy(l->map->extents, all, sizeof(all));
    qsort(l->map->extents, l->map->count, sizeof(all[0]), by_base);
}

/* ---- Running ---- */

static const struct ptx_inst *instruction_at(const struct ptx_module *m, uint32_t line)
{
    for (uint32_t i = 0; i < m->nfuncs; i++)
        for (uint32_t k = 0; k < m->funcs[i]->ninsts; k++)
            if (m->funcs[i]->insts[k].line == line)
                return &m->funcs[i]->insts[k];
    return NULL;
}

/* Shared, local and parameter memory end where the hardware says: a fault, and nobody's harm. What
 * lies in the window is mapped, so an access to it that faults is one to another space, such as
 * that of cp.async to shared memory by a register of 64 bits. */
static bool is_escape(struct loaded *l, const struct exec_fault *fault)
{
    const bool inside = fault->address - l->rig->base < l->rig->size;
    const struct ptx_inst *inst = instruction_at(l->module, fault->line);
    uint64_t high = fault->address >> 32, first = MEM_SHARED_WINDOW >> 32;
    bool global = inst && (inst->space == PTX_SPACE_GENERIC || inst->space == PTX_SPACE_GLOBAL ||
                           inst->space2 == PTX_SPACE_GLOBAL);

    snprintf(l->rig->what, sizeof(l->rig->what), "line %u, %s: address 0x%llx, fault %d",
             fault->line, inst ? ptx_op_name(inst->op) : "?", (unsigned long long)fault->address,
             fault->kind);
    return fault->kind == EXEC_FAULT_INVALID_PC ||
           (fault->kind == EXEC_FAULT_ILLEGAL_ADDRESS && (!inst || global) && !inside &&
            !(high >= first && high <= first + 2));
}

static uint64_t no_memory(void *context, uint64_t size)
{
    return (void)context, (void)size, 0;
}

static bool no_release(void *context, uint64_t address)
{
    return (void)context, (void)address, true;
}

static void no_print(void *context, const char *text, size_t length)
{
    (void)context, (void)text, (void)length;
}

/* One image serves all geometries: the device bounds accesses by the object's own. */
static struct image image_at(const struct fence_rig *rig)
{
    return (struct image){.address = rig->base + TEXELS_AT,
                          .bytes = 16 * 8 * 8 * 12,
                          .pitch = 16 * 8,
                          .slice = 16 * 8 * 8,
                          .width = 8,
                          .height = 8,
                          .depth = 12,
                          .format = CU_AD_FORMAT_UNSIGNED_INT32,
                          .channels = 4,
                          .channel_bytes = 4,
                          .texel_bytes = 16,
                          .dims = 3,
                          .levels = 1};
}

/* Notes the object's column. False: it is none of the table's. */
static bool is_of_table(struct fence_rig *rig, uint64_t handle, unsigned first, unsigned last)
{
    const unsigned column = (unsigned)(handle >> 12) % TEXTURE_COLUMNS;

    if ((handle & ~0xffffull) != OBJECT || (handle & 0xfff) >= TEXTURE_ROWS || column < first ||
        column > last)
        return false;
    rig->columns |= 1u << column;
    return true;
}

static const struct texture *texture_of(void *context, uint64_t handle)
{
    static struct texture texture;

    texture = (struct texture){.image = image_at(context)};
    return is_of_table(context, handle, TEXTURE_ANY, TEXTURE_ACUBE) ? &texture : NULL;
}

static const struct image *surface_of(void *context, uint64_t handle)
{
    static struct image image;

    image = image_at(context);
    return is_of_table(context, handle, SURFACE_ANY, SURFACE_A2D) ? &image : NULL;
}

static enum fence_end run_blocks(struct loaded *l, const struct exec_grid *grid)
{
    struct mem_view view = {.map = l->map};
    struct exec_block *block = NULL;
    enum fence_end end = FENCE_RAN;

    if (exec_block_new(grid, &block))
        abort();
    for (uint64_t i = 0; i < grid->grid_dim[0] && end == FENCE_RAN; i++) {
        struct exec_fault fault = {0};
        enum exec_status status = EXEC_YIELD;
        int64_t left = STEPS;

        exec_block_start(block, i, &(uint32_t){(uint32_t)i % 4});
        for (; left > 0 && (status == EXEC_YIELD || status == EXEC_WAITING); left -= TURN)
            status = exec_block_run(block, &view, TURN, &fault);
        l->rig->faults += status == EXEC_FAULT;
        if (status == EXEC_FAULT && is_escape(l, &fault))
            end = FENCE_ESCAPED;
    }
    exec_block_free(block);
    return end;
}

static enum fence_end run(struct loaded *l, const struct ptx_fence_report *report, unsigned blocks,
                          unsigned threads, const uint64_t *params, unsigned nparams)
{
    struct exec_device device = {.print = no_print,
                                 .allocate = no_memory,
                                 .release = no_release,
                                 .texture = texture_of,
                                 .surface = surface_of,
                                 .context = l->rig,
                                 .sm_count = 4,
                                 .clock_khz = 1000000};
    struct exec_grid grid = {.device = &device,
                             .id = 1,
                             .grid_dim = {blocks, 1, 1},
                             .block_dim = {threads, 1, 1},
                             .dynamic_shared = SHARED,
                             .stack_bytes = 1024};
    _Alignas(16) uint8_t bytes[4096] = {0};

    for (size_t i = 0; i < exec_program_kernel_count(l->program); i++)
        if (!strcmp(exec_program_kernel(l->program, i)->func->name, "k"))
            grid.kernel = exec_program_kernel(l->program, i);
    if (!grid.kernel || grid.kernel->func->param_bytes > sizeof(bytes))
        return FENCE_REFUSED;
    memcpy(bytes, params, nparams * sizeof(*params));
    const struct ptx_fence_kernel *windowed = ptx_fence_report_kernel(report, "k");
    if (windowed) {
        const struct fence_window window = window_of(l->rig);

        memcpy(bytes + grid.kernel->func->params[windowed->index]->offset, &window, sizeof(window));
    }
    grid.params = bytes;
    map_memory(l, report->indexed);
    return run_blocks(l, &grid);
}

enum fence_end fence_rig_run(struct fence_rig *rig, const char *text,
                             const struct ptx_fence_report *report, unsigned blocks,
                             unsigned threads, const uint64_t *params, unsigned nparams)
{
    struct loaded l = {.rig = rig};

    rig->faults = 0;
    rig->columns = 0;
    enum fence_end end =
        load(&l, text, report) ? run(&l, report, blocks, threads, params, nparams) : FENCE_REFUSED;

    exec_program_free(l.program);
    ptx_module_free(l.module);
    free(l.addresses);
    free(l.server);
    free(l.constants);
    free(l.table);
    free(l.map);
    return end;
}
