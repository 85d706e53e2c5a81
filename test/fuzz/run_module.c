/* See run_module.h. Every range that a kernel may touch is a block of the host's heap of exactly
 * that size, so that AddressSanitizer sees the first byte beside it. */
#include "run_module.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "softcuda/interp/exec.h"
#include "softcuda/lower/program.h"
#include "softcuda/texture/texel.h"

enum {
    MEMORY_BYTES = 4096, /* each range */
    VARIABLE_BYTES = 64 << 10,
    PARAM_BYTES = 4096,
    MOST_SHARED = 227 << 10,
    STEPS =
        2000, /* warp instructions of a kernel: products of matrices take long with sanitizers */
    TURN = 500,
    KERNELS = 2,
    TEXTURES = 5,
};

enum range { RANGE_READ, RANGE_WRITE, RANGE_HEAP, RANGE_VARIABLES, RANGES };

struct little_device {
    struct ptx_module *module;
    struct exec_program *program;
    uint8_t *range[RANGES];
    size_t bytes[RANGES];
    size_t heap_used;
    uint64_t *addresses; /* of the module's variables */
    struct mem_map *map;
    struct exec_device device;
    struct texture texture[TEXTURES];
    volatile unsigned printed; /* every byte was looked at */
};

static void die(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static void *get(void *memory)
{
    if (!memory)
        die("setup", "out of memory");
    return memory;
}

/* ---- What a kernel asks of its device ---- */

static void print(void *context, const char *text, size_t length)
{
    struct little_device *d = context;

    for (size_t i = 0; i < length; i++)
        d->printed += (unsigned char)text[i];
}

static uint64_t allocate(void *context, uint64_t size)
{
    struct little_device *d = context;
    size_t at = d->heap_used;

    if (size > d->bytes[RANGE_HEAP] - at)
        return 0;
    d->heap_used += (size_t)size;
    return (uint64_t)(uintptr_t)d->range[RANGE_HEAP] + at;
}

static bool release(void *context, uint64_t address)
{
    const struct little_device *d = context;
    uint64_t base = (uint64_t)(uintptr_t)d->range[RANGE_HEAP];

    return address >= base && address < base + d->heap_used;
}

/* Handles from 1 on name textures; surfaces are the images of the same. */
static const struct texture *find_texture(void *context, uint64_t handle)
{
    struct little_device *d = context;

    return handle - 1 < TEXTURES ? &d->texture[handle - 1] : NULL;
}

static const struct image *find_surface(void *context, uint64_t handle)
{
    const struct texture *t = find_texture(context, handle);

    return t ? &t->image : NULL;
}

/* The levels of a mipmapped array lie one behind the other. */
static void lay_out_levels(struct image *m)
{
    struct image last;

    image_lay_out(m);
    last = image_level(m, m->levels - 1u);
    m->bytes = last.address + last.bytes - m->address;
}

/* Rows, a plane, layers, a cube and levels; every way of filtering and addressing. The last is
 * longer than what a kernel may touch. */
static void make_textures(struct little_device *d)
{
    static const struct texture all[TEXTURES] = {
        {.image = {.width = 1000,
                   .height = 1,
                   .depth = 1,
                   .format = CU_AD_FORMAT_FLOAT,
                   .channels = 1,
                   .texel_bytes = 4},
         .reading = READ_FLOAT,
         .linear = true,
         .normalized = true},
        {.image = {.width = 13,
                   .height = 7,
                   .depth = 3,
                   .format = CU_AD_FORMAT_UNSIGNED_INT8,
                   .channels = 4,
                   .texel_bytes = 4},
         .address = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_BORDER},
         .reading = READ_UNSIGNED,
         .linear = true,
         .normalized = true,
         .srgb = true},
        {.image = {.width = 5,
                   .height = 5,
                   .depth = 12,
                   .format = CU_AD_FORMAT_HALF,
                   .channels = 2,
                   .texel_bytes = 4,
                   .layered = true,
                   .cube = true},
         .reading = READ_FLOAT,
         .address = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER}},
        {.image = {.width = 9,
                   .height = 12,
                   .depth = 1,
                   .format = CU_AD_FORMAT_FLOAT,
                   .channels = 1,
                   .texel_bytes = 4,
                   .dims = 2,
                   .levels = 4},
         .reading = READ_FLOAT,
         .linear = true,
         .normalized = true,
         .linear_levels = true,
         .bias = -64,
         .most = 1 << 16},
        {.image = {.width = 64,
                   .height = 64,
                   .depth = 1,
                   .format = CU_AD_FORMAT_SIGNED_INT16,
                   .channels = 1,
                   .texel_bytes = 2}},
    };

    for (size_t i = 0; i < TEXTURES; i++) {
        struct image *m = &d->texture[i].image;

        d->texture[i] = all[i];
        m->address = (uint64_t)(uintptr_t)d->range[RANGE_WRITE];
        m->pitch = (uint64_t)m->width * m->texel_bytes;
        m->slice = m->pitch * m->height;
        m->bytes = m->slice * m->depth;
        if (m->levels)
            lay_out_levels(m);
        else
            m->levels = 1;
    }
}

/* ---- Memory ---- */

static int by_base(const void *a, const void *b)
{
    const struct mem_extent *x = a, *y = b;

    return x->base < y->base ? -1 : x->base > y->base;
}

static void make_memory(struct little_device *d)
{
    d->map = get(calloc(1, sizeof *d->map + RANGES * sizeof d->map->extents[0]));
    for (size_t i = 0; i < RANGES; i++) {
        if (i != RANGE_VARIABLES)
            d->bytes[i] = MEMORY_BYTES;
        if (!d->bytes[i])
            continue;
        d->range[i] = get(aligned_alloc(256, (d->bytes[i] + 255) / 256 * 256));
        d->bytes[i] = (d->bytes[i] + 255) / 256 * 256;
        memset(d->range[i], i == RANGE_READ ? 0x5a : 0, d->bytes[i]);
        d->map->extents[d->map->count++] = (struct mem_extent){
            (uint64_t)(uintptr_t)d->range[i], (uint64_t)(uintptr_t)d->range[i] + d->bytes[i],
            i == RANGE_READ ? MEM_READ : MEM_READ | MEM_WRITE};
    }
    qsort(d->map->extents, d->map->count, sizeof d->map->extents[0], by_base);
}

static bool is_placed(const struct ptx_var *v)
{
    return v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST;
}

/* Where each variable will lie among those of the module. False: they do not fit. */
static bool measure_variables(struct little_device *d)
{
    size_t at = 0;

    for (uint32_t i = 0; i < d->module->nvars; i++) {
        const struct ptx_var *v = d->module->vars[i];

        if (!is_placed(v))
            continue;
        if (v->size > VARIABLE_BYTES || v->align > 256)
            return false;
        at = (at + v->align - 1) / v->align * v->align;
        d->addresses[i] = at;
        at += v->size ? (size_t)v->size : 1;
        if (at > VARIABLE_BYTES)
            return false;
    }
    d->bytes[RANGE_VARIABLES] = at;
    return true;
}

static void write_variables(struct little_device *d)
{
    for (uint32_t i = 0; i < d->module->nvars; i++)
        if (is_placed(d->module->vars[i]))
            d->addresses[i] += (uint64_t)(uintptr_t)d->range[RANGE_VARIABLES];
    exec_program_bind(d->program, d->addresses);
    for (uint32_t i = 0; i < d->module->nvars; i++) {
        const struct ptx_var *v = d->module->vars[i];
        uint8_t *to = (uint8_t *)(uintptr_t)d->addresses[i];

        if (!is_placed(v))
            continue;
        if (v->init)
            memcpy(to, v->init, v->ninit);
        for (uint32_t k = 0; k < v->nrelocs; k++) {
            const struct ptx_reloc *r = &v->relocs[k];
            uint64_t value = r->func ? exec_program_function(d->program, r->func)
                                     : (d->addresses[r->var->id] + (uint64_t)r->addend) >> r->shift;

            memcpy(to + r->offset, &value, r->size);
        }
    }
}

/* ---- Running ---- */

/* Pointers into each range, near their ends, small numbers and wild ones. */
static void fill_params(const struct little_device *d, const struct ptx_func *f, uint64_t choice,
                        uint8_t *params)
{
    for (uint32_t i = 0; i < f->nparams; i++) {
        const struct ptx_var *v = f->params[i];
        uint64_t n = choice >> (5 * i % 60), value = 1 + n % 64;

        if (v->size == 8 && n % 16 != 15)
            value = (uint64_t)(uintptr_t)d->range[i % 3] + (n % 8 ? 0 : MEMORY_BYTES - 4);
        for (uint64_t at = 0; at + 4 <= v->size; at += 8)
            memcpy(params + v->offset + at, &value, v->size - at < 8 ? v->size - at : 8);
    }
}

static void run_blocks(const struct little_device *d, const struct exec_grid *grid)
{
    struct mem_view view = {.map = d->map};
    struct exec_fault fault = {0};
    struct exec_block *block = NULL;
    uint64_t left = STEPS;
    enum exec_status status = EXEC_DONE;

    if (exec_block_new(grid, &block))
        return;
    for (uint64_t i = 0; i < grid->grid_dim[0] && status == EXEC_DONE; i++) {
        unsigned waits = 0;

        exec_block_start(block, i, &(uint32_t){(uint32_t)i});
        for (status = EXEC_YIELD; left && (status == EXEC_YIELD || status == EXEC_WAITING);) {
            status = exec_block_run(block, &view, TURN, &fault);
            left -= left < TURN ? left : TURN;
            if (status == EXEC_WAITING && ++waits == 3)
                break;
        }
    }
    if (status == EXEC_FAULT && (fault.kind == EXEC_FAULT_NONE || !fault.function))
        die("fault", "does not say what or where");
    exec_block_free(block);
}

static void run_kernel(struct little_device *d, const struct exec_kernel *kernel, uint64_t choice)
{
    static const uint32_t sizes[][3] = {{32, 1, 1}, {64, 1, 1}, {1, 1, 1}, {33, 1, 1},
                                        {8, 4, 2},  {5, 3, 1},  {96, 1, 1}};
    const uint32_t *size = sizes[choice % (sizeof sizes / sizeof sizes[0])];
    struct exec_grid grid = {.kernel = kernel,
                             .device = &d->device,
                             .id = choice,
                             .grid_dim = {1 + (choice >> 8 & 1), 1, 1},
                             .block_dim = {size[0], size[1], size[2]},
                             .dynamic_shared = choice >> 9 & 1 ? 256 : 0,
                             .stack_bytes = 256};
    uint8_t *params;

    if (kernel->func->param_bytes > PARAM_BYTES ||
        kernel->shared_bytes + grid.dynamic_shared > MOST_SHARED)
        return;
    params = get(aligned_alloc(16, (kernel->func->param_bytes + 16) / 16 * 16));
    memset(params, 0, kernel->func->param_bytes);
    fill_params(d, kernel->func, choice >> 10, params);
    grid.params = params;
    run_blocks(d, &grid);
    free(params);
    for (size_t i = 0; i < MEMORY_BYTES; i++)
        if (d->range[RANGE_READ][i] != 0x5a)
            die("memory", "a kernel wrote to what it may only read");
}

static enum run_result run(struct little_device *d, uint64_t choice)
{
    d->addresses = get(calloc(d->module->nvars + 1, sizeof *d->addresses));
    if (!measure_variables(d))
        return RUN_TOO_BIG;
    make_memory(d);
    make_textures(d);
    write_variables(d);
    d->device = (struct exec_device){.print = print,
                                     .allocate = allocate,
                                     .release = release,
                                     .texture = find_texture,
                                     .surface = find_surface,
                                     .context = d,
                                     .sm_count = 4,
                                     .clock_khz = 1000000};
    for (size_t i = 0; i < exec_program_kernel_count(d->program) && i < KERNELS; i++)
        run_kernel(d, exec_program_kernel(d->program, i), choice);
    return RUN_DONE;
}

enum run_result run_module(const char *text, size_t length, uint64_t choice, uint32_t *line)
{
    struct little_device d = {0};
    struct ptx_error error = {0};
    char log[256] = "";
    enum run_result result;

    *line = 0;
    if (ptx_parse(text, length, &d.module, &error)) {
        if (!error.text[0] || !error.line || !error.column)
            die("the reader's error has no place", error.text);
        *line = error.line;
        return RUN_UNREADABLE;
    }
    if (exec_program_new(d.module, &d.program, log, sizeof log)) {
        if (!log[0])
            die("lowering", "an error without a text");
        if (sscanf(log, "%*[^,], line %u:", line) != 1)
            *line = 0;
        result = RUN_REFUSED;
    } else {
        result = run(&d, choice);
    }
    exec_program_free(d.program);
    ptx_module_free(d.module);
    for (size_t i = 0; i < RANGES; i++)
        free(d.range[i]);
    free(d.addresses);
    free(d.map);
    return result;
}
