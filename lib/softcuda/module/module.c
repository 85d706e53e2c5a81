// Modules: from an image to a program with its variables in device memory.
//
// Any thread. The image comes from a user: the PTX reader and the interpreter's lowering refuse
// what is wrong and say where; this file only tells text from machine code.
#include "softcuda/module/module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "ptx/fatbin.h"
#include "ptx/ptx.h"
#include "softcuda/memory/memory.h"
#include "softcuda/module/linked.h"

enum {
    CONST_BYTES = 64 << 10, // of .const variables
    // A thread is charged at most as many registers as let an SM be full: what the interpreter
    // counts are the virtual ones of PTX, several times what ptxas would give out.
    REGISTERS_CHARGED_MAX = SM_REGISTERS / SM_MAX_THREADS,
};

// ---- Reading the image

static CUresult read_error(int error, const struct ptx_error *e, char *log, size_t log_size)
{
    snprintf(log, log_size, "ptx: line %u, column %u: %s", e->line, e->column, e->text);
    if (error == -ENOMEM)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return error == -ENOTSUP ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_PTX;
}

// A text that cuLink* has compiled comes with its program, any other without.
static CUresult text_read(const char *text, size_t length, struct ptx_module **out,
                          struct exec_program **program, char *log, size_t log_size)
{
    struct ptx_error error = {0};
    int failed = linked_take(text, length, out, program) ? 0 : ptx_parse(text, length, out, &error);

    return failed ? read_error(failed, &error, log, log_size) : CUDA_SUCCESS;
}

// The image is in this process and its sizes are believed, as by the driver.
static CUresult fatbin_read(const void *image, struct ptx_module **out,
                            struct exec_program **program, char *log, size_t log_size)
{
    char error[256] = "";
    CLEANUP_FREE char *text = NULL;
    size_t length;

    switch (fatbin_find_readable(image, fatbin_total_size(image), 90, &text, &length, error)) {
    case 0:
        return text_read(text, length, out, program, log, log_size);
    case -ENOMEM:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case -ENOENT:
        snprintf(log, log_size, "fatbin: %s", error);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    default:
        snprintf(log, log_size, "fatbin: %s", error);
        return CUDA_ERROR_INVALID_IMAGE;
    }
}

static CUresult image_read(const void *image, struct ptx_module **out,
                           struct exec_program **program, char *log, size_t log_size)
{
    static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'};
    const void *unwrapped;

    // The image is compared byte by byte: a text may be shorter than any magic number.
    for (size_t i = 0; ((const unsigned char *)image)[i] == elf[i]; i++) {
        if (i == sizeof(elf) - 1) {
            snprintf(log, log_size, "a cubin is machine code: the software device needs PTX");
            return CUDA_ERROR_NO_BINARY_FOR_GPU;
        }
    }
    if (strnlen(image, 4) == 4) {
        unwrapped = fatbin_unwrap(image);
        if (fatbin_is_fatbin(unwrapped, 16))
            return fatbin_read(unwrapped, out, program, log, log_size);
    }
    return text_read(image, strnlen(image, PTX_MAX_TEXT + 1), out, program, log, log_size);
}

// ---- Variables

static bool var_in_memory(const struct ptx_var *v)
{
    return (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST) && v->size;
}

// Gives each variable an offset behind the one before; *TOTAL is the bytes that all need.
static CUresult vars_lay_out(const struct ptx_module *ptx, uint64_t *offsets, uint64_t *total,
                             char *log, size_t log_size)
{
    uint64_t at = 0, constant = 0;

    for (uint32_t i = 0; i < ptx->nvars; i++) {
        const struct ptx_var *v = ptx->vars[i];
        uint64_t align = v->align < 16 ? 16 : v->align;

        if (!var_in_memory(v))
            continue;
        if (v->linkage == PTX_LINK_EXTERN) {
            snprintf(log, log_size, "ptx: line %u: extern variable %s is not defined", v->line,
                     v->name);
            return CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
        }
        if (v->space == PTX_SPACE_CONST)
            constant += v->size;
        at = (at + align - 1) & ~(align - 1);
        offsets[i] = at;
        at += v->size;
    }
    if (constant > CONST_BYTES) {
        snprintf(log, log_size, "ptx: %llu bytes of .const variables: at most %d",
                 (unsigned long long)constant, CONST_BYTES);
        return CUDA_ERROR_INVALID_PTX;
    }
    *total = at;
    return CUDA_SUCCESS;
}

static bool reloc_value(const struct CUmod_st *m, const struct ptx_reloc *r, uint64_t *value)
{
    if (r->func)
        *value = exec_program_function(m->program, r->func);
    else if (!r->var->func && r->var->id < m->ptx->nvars && m->addresses[r->var->id])
        *value = m->addresses[r->var->id];
    else
        return false;
    *value = (*value + (uint64_t)r->addend) >> r->shift;
    return true;
}

static CUresult var_initialise(const struct CUmod_st *m, const struct ptx_var *v, char *log,
                               size_t log_size)
{
    uint8_t *at = mem_pointer(m->addresses[v->id]);

    if (v->init && v->ninit)
        memcpy(at, v->init, v->ninit);
    for (uint32_t i = 0; i < v->nrelocs; i++) {
        const struct ptx_reloc *r = &v->relocs[i];
        uint64_t value;

        if (!reloc_value(m, r, &value) || r->offset > v->size || r->size > v->size - r->offset) {
            snprintf(log, log_size, "ptx: line %u: %s: cannot hold this address", v->line, v->name);
            return CUDA_ERROR_INVALID_PTX;
        }
        memcpy(at + r->offset, &value, r->size);
    }
    return CUDA_SUCCESS;
}

static CUresult vars_make(struct CUmod_st *m, char *log, size_t log_size)
{
    uint32_t count = m->ptx->nvars;
    CLEANUP_FREE uint64_t *offsets = calloc(count + 1, sizeof(*offsets));
    uint64_t total = 0;
    CUresult result;

    m->addresses = calloc(count + 1, sizeof(*m->addresses));
    if (!offsets || !m->addresses)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = vars_lay_out(m->ptx, offsets, &total, log, log_size);
    if (!result && total)
        result = alloc_new(m->root, total, &m->storage);
    if (result)
        return result;
    // The memory may be recycled: none of its last user's data may show.
    if (total)
        memset(mem_pointer(m->storage), 0, total);
    for (uint32_t i = 0; i < count; i++) {
        if (var_in_memory(m->ptx->vars[i]))
            m->addresses[i] = m->storage + offsets[i];
    }
    exec_program_bind(m->program, m->addresses);
    for (uint32_t i = 0; i < count && !result; i++) {
        if (m->addresses[i])
            result = var_initialise(m, m->ptx->vars[i], log, log_size);
    }
    return result;
}

// ---- Functions

// Dimensions that a directive leaves out are 1.
static uint32_t block_threads(const uint32_t *dimensions)
{
    uint64_t threads = dimensions[0];

    for (int i = 1; i < 3; i++)
        threads *= dimensions[i] ? dimensions[i] : 1;
    return threads < BLOCK_MAX_THREADS ? threads : BLOCK_MAX_THREADS;
}

static void function_init(CUfunction f, CUmodule module, const struct exec_kernel *kernel)
{
    const struct ptx_func *func = kernel->func;
    uint32_t bound = BLOCK_MAX_THREADS, registers = kernel->registers;

    if (func->reqntid[0])
        bound = block_threads(func->reqntid);
    else if (func->maxntid[0])
        bound = block_threads(func->maxntid);
    if (registers > REGISTERS_CHARGED_MAX)
        registers = REGISTERS_CHARGED_MAX;
    *f = (struct CUfunc_st){
        .magic = MAGIC_FUNCTION,
        .module = module,
        .kernel = kernel,
        .registers = registers,
        .max_threads = bound,
        .max_dynamic_shared = kernel->shared_bytes < BLOCK_SHARED_DEFAULT
                                  ? BLOCK_SHARED_DEFAULT - kernel->shared_bytes
                                  : 0,
        .carveout = -1,
    };
}

// ---- Life

static void module_free(CUmodule m)
{
    exec_program_free(m->program);
    if (m->storage)
        alloc_free(m->storage);
    free(m->addresses);
    ptx_module_free(m->ptx);
    free(m);
}

void module_reference(CUmodule module)
{
    atomic_fetch_add_explicit(&module->references, 1, memory_order_relaxed);
}

void module_release(CUmodule module)
{
    // Acquire and release: who drops the last reference sees what the others did.
    if (module && atomic_fetch_sub_explicit(&module->references, 1, memory_order_acq_rel) == 1)
        module_free(module);
}

static CUresult lower_error(int failed)
{
    switch (failed) {
    case -ENOMEM:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case -ENOTSUP:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_PTX;
    }
}

// Takes PTX and PROGRAM, which may be NULL.
static CUresult module_build(CUcontext root, struct ptx_module *ptx, struct exec_program *program,
                             char *log, size_t log_size, CUmodule *out)
{
    int failed = program ? 0 : exec_program_new(ptx, &program, log, log_size);
    size_t count = failed ? 0 : exec_program_kernel_count(program);
    CUmodule m = failed ? NULL : calloc(1, sizeof(*m) + count * sizeof(m->functions[0]));
    CUresult result;

    if (!m) {
        exec_program_free(program);
        ptx_module_free(ptx);
        return failed ? lower_error(failed) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    m->magic = MAGIC_MODULE;
    m->root = root;
    m->references = 1;
    m->ptx = ptx;
    m->program = program;
    m->function_count = count;
    for (size_t i = 0; i < count; i++)
        function_init(&m->functions[i], m, exec_program_kernel(program, i));
    result = vars_make(m, log, log_size);
    if (result)
        module_free(m);
    else
        *out = m;
    return result;
}

CUresult module_load(CUcontext root, const void *image, char *log, size_t log_size, CUmodule *out)
{
    struct exec_program *program = NULL;
    struct ptx_module *ptx;
    CUresult result;

    log[0] = 0;
    result = image_read(image, &ptx, &program, log, log_size);
    if (!result)
        result = module_build(root, ptx, program, log, log_size, out);
    if (result)
        return result;
    context_lock();
    (*out)->next = root->modules;
    root->modules = *out;
    context_unlock();
    return CUDA_SUCCESS;
}

CUresult module_check(CUcontext root, CUmodule module)
{
    CUmodule known;

    context_lock();
    for (known = root->modules; known && known != module; known = known->next)
        ;
    context_unlock();
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult module_unload(CUmodule module)
{
    CUmodule *at = &module->root->modules;

    context_lock();
    while (*at && *at != module)
        at = &(*at)->next;
    if (*at)
        *at = module->next;
    context_unlock();
    module->magic = MAGIC_DEAD;
    for (uint32_t i = 0; i < module->function_count; i++)
        module->functions[i].magic = MAGIC_DEAD;
    module_release(module);
    return CUDA_SUCCESS;
}

void module_unload_all(CUcontext root)
{
    for (;;) {
        CUmodule first;

        context_lock();
        first = root->modules;
        context_unlock();
        if (!first)
            return;
        module_unload(first);
    }
}

CUresult function_check(CUfunction function)
{
    return function && function->magic == MAGIC_FUNCTION ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult module_function(CUmodule module, const char *name, CUfunction *out)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (strcmp(module->functions[i].kernel->func->name, name) == 0) {
            *out = &module->functions[i];
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult module_global(CUmodule module, const char *name, uint64_t *address, size_t *size)
{
    const struct ptx_var *v = ptx_module_var(module->ptx, name);

    if (!v || !module->addresses[v->id])
        return CUDA_ERROR_NOT_FOUND;
    *address = module->addresses[v->id];
    *size = v->size;
    return CUDA_SUCCESS;
}
