/* See fencing.h: what the worker does with a fenced module, in its shortest form. */
#include "fencing.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/heap_pass.h"
#include "ptx/ptx.h"
#include "ptx/rewrite/heap.h"
#include "ptx/rewrite/rewrite.h"

#define HEAP_BYTES ((size_t)1 << 20)

static struct ptx_rewrite_report report;
static uint64_t block, table; /* of variables, of textures */
static struct fence_window window;
static uint32_t rows; /* of the table that are in use */

char *fencing_begin(const char *text)
{
    char *out = NULL;
    size_t len;

    fencing_end();
    return ptx_rewrite(text, strlen(text),
                       PTX_PASS_HEAP | PTX_PASS_FENCE | PTX_PASS_GRID | PTX_PASS_WINDOW, &out, &len,
                       &report)
               ? NULL
               : out;
}

char *fencing_begin_variables(const char *text)
{
    char *out = NULL;
    size_t len;

    fencing_end();
    if (ptx_rewrite(text, strlen(text), PTX_PASS_HEAP | PTX_PASS_VARIABLES, &out, &len, &report) ||
        report.fence.moved)
        return out;
    free(out);
    return NULL;
}

const char *fencing_reason(void)
{
    return report.fence.reason;
}

void fencing_end(void)
{
    ptx_rewrite_report_deinit(&report);
    block = table = 0;
    rows = 0;
}

static int write_address(const struct fencing_driver *driver, const struct ptx_fence_address *a,
                         uint64_t functions)
{
    uint64_t value = block;

    if (a->is_function && driver->read(&value, functions + 8 * a->function, 8))
        return -1;
    value = (value + a->value) >> a->shift;
    return driver->write(block + a->offset, &value, a->size) ? -1 : 0;
}

static bool place_heap(const struct fencing_driver *driver)
{
    struct ptx_heap heap;
    CUdeviceptr at;
    uint64_t base;
    size_t bytes;

    if (!report.allocates)
        return true;
    if (driver->allocate(&base, HEAP_BYTES + HEAP_PAGE) ||
        driver->find(&at, &bytes, driver->module, PTX_HEAP_VARIABLE))
        return false;
    heap = ptx_heap((base + HEAP_PAGE - 1) / HEAP_PAGE * HEAP_PAGE, HEAP_BYTES);
    return !driver->write(at, &heap, sizeof(heap));
}

static bool place_table(const struct fencing_driver *driver)
{
    CUdeviceptr at;
    size_t bytes;

    return !report.fence.textures ||
           (!driver->allocate(&table, TEXTURE_ROWS * sizeof(struct texture_row)) &&
            !driver->find(&at, &bytes, driver->module, FENCE_TEXTURES) &&
            !driver->write(at, &table, sizeof(table)));
}

uint64_t fencing_object(const struct fencing_driver *driver, uint64_t object,
                        enum texture_column column)
{
    struct texture_row row = {{0}};

    if (!table || rows == TEXTURE_ROWS)
        return object;
    row.object[column < SURFACE_ANY ? TEXTURE_ANY : SURFACE_ANY] = row.object[column] = object;
    if (column == TEXTURE_1D)
        row.object[TEXTURE_LINE] = object;
    driver->write(table + rows * sizeof(row), &row, sizeof(row));
    return (object * 0x9e3779b97f4a7c15u & ~(uint64_t)(TEXTURE_ROWS - 1)) | rows++;
}

const char *fencing_place(const struct fencing_driver *driver, uint64_t base, uint64_t size)
{
    const struct ptx_fence_report *r = &report.fence;
    CUdeviceptr at, functions = 0;
    size_t bytes;

    if (r->bytes && driver->allocate(&block, r->bytes))
        return "no memory for the module's variables";
    for (uint32_t i = 0; i < r->nvariables; i++)
        if (r->variables[i].nbytes && driver->write(block + r->variables[i].offset,
                                                    r->variables[i].bytes, r->variables[i].nbytes))
            return r->variables[i].name;
    if (r->nfunctions && driver->find(&functions, &bytes, driver->module, FENCE_FUNCTIONS))
        return FENCE_FUNCTIONS;
    for (uint32_t i = 0; i < r->naddresses; i++)
        if (write_address(driver, &r->addresses[i], functions))
            return "an address among the initial values";
    if (!place_heap(driver))
        return PTX_HEAP_VARIABLE;
    if (!place_table(driver))
        return FENCE_TEXTURES;
    window = fence_window(base, size, block);
    if (!driver->find(&at, &bytes, driver->module, FENCE_VARIABLE) &&
        driver->write(at, &window, sizeof(window)))
        return FENCE_VARIABLE;
    return NULL;
}

void **fencing_args(const char *kernel, void **args)
{
    static void *all[PTX_MAX_PARAMS + 1];
    const struct ptx_fence_kernel *windowed = ptx_fence_report_kernel(&report.fence, kernel);

    if (!windowed)
        return args;
    memcpy(all, args, windowed->index * sizeof(*all));
    all[windowed->index] = &window;
    return all;
}

uint64_t fencing_address(const char *name)
{
    for (uint32_t i = 0; i < report.fence.nvariables; i++)
        if (!strcmp(report.fence.variables[i].name, name))
            return block + report.fence.variables[i].offset;
    return 0;
}
