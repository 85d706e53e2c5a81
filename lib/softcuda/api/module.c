// Driver calls about modules and functions, and occupancy.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "softcuda/api/api.h"
#include "softcuda/api/more.h"
#include "softcuda/context/context.h"
#include "softcuda/launch/launch.h"
#include "softcuda/module/module.h"

enum { LOG_BYTES = 16384, IMAGE_FILE_MAX = 256 << 20 };

// ---- Loading

// The caller's buffer for one of the two logs, from the JIT options.
struct log_buffer {
    char *text;
    size_t size;
    void **size_slot; // where the driver reports how much it wrote
};

static void log_buffers_find(unsigned int count, const CUjit_option *options, void **values,
                             struct log_buffer *info, struct log_buffer *error)
{
    for (unsigned int i = 0; i < count; i++) {
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER:
            info->text = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            info->size = (uintptr_t)values[i];
            info->size_slot = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            error->text = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            error->size = (uintptr_t)values[i];
            error->size_slot = &values[i];
            break;
        default: // the compiler's other options do not apply to an interpreter
            break;
        }
    }
}

static void log_buffer_fill(const struct log_buffer *b, const char *text)
{
    size_t length = strlen(text);

    if (b->text && b->size) {
        if (length > b->size - 1)
            length = b->size - 1;
        memcpy(b->text, text, length);
        b->text[length] = 0;
    }
    if (b->size_slot)
        *b->size_slot = (void *)(uintptr_t)(b->text && b->size ? length : 0);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int option_count,
                            CUjit_option *options, void **values)
{
    struct log_buffer info = {0}, error = {0};
    char log[LOG_BYTES] = "";
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    if (!module || !image || (option_count && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    log_buffers_find(option_count, options, values, &info, &error);
    result = module_load(context->root, image, log, sizeof(log), module);
    log_buffer_fill(&info, result ? "" : log);
    log_buffer_fill(&error, result ? log : "");
    return result;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatbin)
{
    return cuModuleLoadDataEx(module, fatbin, 0, NULL, NULL);
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    FILE *file = path ? fopen(path, "rb") : NULL;
    CLEANUP_FREE char *image = NULL;
    CUresult result = CUDA_ERROR_INVALID_IMAGE;
    long size = -1;

    if (!file)
        return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    if (fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size > 0 && size <= IMAGE_FILE_MAX && fseek(file, 0, SEEK_SET) == 0) {
        // Zeros follow the file, so that a text is terminated and a header can be read completely.
        image = calloc(1, (size_t)size + 64);
        if (!image)
            result = CUDA_ERROR_OUT_OF_MEMORY;
        else if (fread(image, 1, size, file) == (size_t)size)
            result = cuModuleLoadData(module, image);
    }
    fclose(file);
    return result;
}

static CUresult module_find(CUmodule module)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : module_check(context->root, module);
}

CUresult cuModuleUnload(CUmodule module)
{
    CUcontext context;
    CUresult result = context_current_any(&context);

    if (!result)
        result = module_check(context->root, module);
    if (result)
        return result;
    result = module_unload(module);
    return result ? result : (CUresult)atomic_load(&context->root->error);
}

// Everything is lowered when its module is loaded.
CUresult cuModuleGetLoadingMode(int *mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = 1;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUresult result = module_find(module);

    if (result)
        return result;
    return function && name ? module_function(module, name, function) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module, const char *name)
{
    CUresult result = module_find(module);
    uint64_t place;
    size_t bytes;

    if (result)
        return result;
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    result = module_global(module, name, &place, &bytes);
    if (result)
        return result;
    if (address)
        *address = place;
    if (size)
        *size = bytes;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule module)
{
    CUresult result = module_find(module);

    if (result)
        return result;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = module->function_count;
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count, CUmodule module)
{
    CUresult result = module_find(module);

    if (result)
        return result;
    if (!functions)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count && i < module->function_count; i++)
        functions[i] = &module->functions[i];
    return CUDA_SUCCESS;
}

// ---- Functions

static CUresult function_find(CUfunction function)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : function_check(function);
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    CUresult result = function_find(function);
    const struct ptx_module *ptx;

    if (result)
        return result;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    ptx = function->module->ptx;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = function->max_threads;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = function->kernel->shared_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = function->kernel->local_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = function->registers;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = ptx->sm;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 90;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = atomic_load_explicit(&function->max_dynamic_shared, memory_order_relaxed);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = atomic_load_explicit(&function->carveout, memory_order_relaxed);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = function->kernel->func->explicit_cluster;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = (int)function->kernel->func
                     ->reqnctapercluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = atomic_load_explicit(&function->large_clusters, memory_order_relaxed);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    CUresult result = function_find(function);

    if (result)
        return result;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || function->kernel->shared_bytes > BLOCK_SHARED_MAX ||
            value > (int)(BLOCK_SHARED_MAX - function->kernel->shared_bytes))
            return CUDA_ERROR_INVALID_VALUE;
        atomic_store_explicit(&function->max_dynamic_shared, value, memory_order_relaxed);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        atomic_store_explicit(&function->carveout, value, memory_order_relaxed);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        if (value != 0 && value != 1)
            return CUDA_ERROR_INVALID_VALUE;
        atomic_store_explicit(&function->large_clusters, value != 0, memory_order_relaxed);
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    CUresult result = function_find(function);

    if (result)
        return result;
    return config <= CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    CUresult result = function_check(function);

    if (result)
        return result;
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = function->kernel->func->name;
    return CUDA_SUCCESS;
}

// ptxas puts the parameters of a kernel for sm_90 at this offset in the constant bank, and aligns
// them there, so that the first one may not begin at 0 (cuobjdump shows it).
#define PARAMETERS_BEGIN 0x210

// The parameter's offset from there.
static size_t bank_offset(const struct ptx_func *f, size_t index)
{
    size_t at = PARAMETERS_BEGIN;

    for (size_t i = 0;; at += f->params[i++]->size) {
        at = (at + f->params[i]->align - 1) / f->params[i]->align * f->params[i]->align;
        if (i == index)
            return at - PARAMETERS_BEGIN;
    }
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    CUresult result = function_check(function);
    const struct ptx_func *f;

    if (result)
        return result;
    f = function->kernel->func;
    if (!offset || index >= f->nparams)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = bank_offset(f, index);
    if (size)
        *size = f->params[index]->size;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    CUresult result = function_check(function);

    if (result)
        return result;
    if (!module)
        return CUDA_ERROR_INVALID_VALUE;
    *module = function->module;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function)
{
    return function_check(function);
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    CUresult result = function_check(function);

    if (result)
        return result;
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

// ---- Occupancy

static uint32_t occupancy(CUfunction function, uint32_t threads, uint64_t dynamic_shared)
{
    struct block_cost cost;

    if (threads > function->max_threads || dynamic_shared > BLOCK_SHARED_MAX ||
        dynamic_shared + function->kernel->shared_bytes > BLOCK_SHARED_MAX)
        return 0;
    launch_cost(function, threads, dynamic_shared, &cost);
    return place_occupancy(&cost);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                              int block_size, size_t dynamic_shared,
                                                              unsigned int flags)
{
    CUresult result = function_find(function);

    if (result)
        return result;
    if (!blocks || block_size <= 0 || flags & ~CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = occupancy(function, block_size, dynamic_shared);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                     int block_size, size_t dynamic_shared)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                dynamic_shared, 0);
}

// The largest block size with which the most threads fit on an SM.
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid_size, int *block_size,
                                                   CUfunction function,
                                                   CUoccupancyB2DSize shared_of,
                                                   size_t dynamic_shared, int block_size_limit,
                                                   unsigned int flags)
{
    CUcontext context;
    CUresult result = context_current(&context);
    uint32_t limit, best_threads = 0, best_size = 0, best_blocks = 0;

    if (!result)
        result = function_check(function);
    if (result)
        return result;
    if (!min_grid_size || !block_size || flags & ~CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    limit = function->max_threads;
    if (block_size_limit > 0 && (uint32_t)block_size_limit < limit)
        limit = block_size_limit;
    for (uint32_t step = (limit + WARP_SIZE - 1) / WARP_SIZE; step > 0; step--) {
        uint32_t size = step * WARP_SIZE > limit ? limit : step * WARP_SIZE;
        uint32_t blocks = occupancy(function, size, shared_of ? shared_of(size) : dynamic_shared);

        if (blocks * size > best_threads) {
            best_threads = blocks * size;
            best_size = size;
            best_blocks = blocks;
        }
    }
    if (!best_size)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    *block_size = best_size;
    *min_grid_size = best_blocks * context->sm_count;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size, CUfunction function,
                                          CUoccupancyB2DSize shared_of, size_t dynamic_shared,
                                          int block_size_limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid_size, block_size, function, shared_of,
                                                     dynamic_shared, block_size_limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_shared, CUfunction function,
                                                 int blocks, int block_size)
{
    CUresult result = function_find(function);
    uint32_t each;

    if (result)
        return result;
    if (!dynamic_shared || blocks <= 0 || block_size <= 0 ||
        occupancy(function, block_size, 0) < (uint32_t)blocks)
        return CUDA_ERROR_INVALID_VALUE;
    each = (SM_SHARED_BYTES / blocks & ~127u) - BLOCK_SHARED_RESERVED;
    if (each > BLOCK_SHARED_MAX)
        each = BLOCK_SHARED_MAX;
    *dynamic_shared = each - function->kernel->shared_bytes;
    return CUDA_SUCCESS;
}
