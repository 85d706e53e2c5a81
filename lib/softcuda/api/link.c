// Driver calls about linking: PTX in, an image for cuModuleLoadData out.
//
// The software device's machine code is PTX, with the program kept for it (module/linked.h), so
// linking one text means compiling it. Several texts are refused, since their symbols would have to
// be merged.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "softcuda/api/api.h"
#include "softcuda/module/linked.h"

struct CUlinkState_st {
    char *text; // the only input; NULL: none yet
    size_t size;
    struct ptx_module *module; // the parsed text; NULL: none, or the program was made from it
    char *log;                 // the caller's buffer
    size_t log_size;
};

CUresult cuLinkCreate_v2(unsigned int option_count, CUjit_option *options, void **values,
                         CUlinkState *state)
{
    if (!state || (option_count && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    CUlinkState made = calloc(1, sizeof(*made));
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < option_count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            made->log = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            made->log_size = (size_t)values[i];
    }
    *state = made;
    return CUDA_SUCCESS;
}

static CUresult text_read(struct CUlinkState_st *state, const char *text, size_t size)
{
    struct ptx_error error = {0};

    if (ptx_parse(text, strnlen(text, size), &state->module, &error)) {
        if (state->log && state->log_size)
            snprintf(state->log, state->log_size, "ptx: line %u, column %u: %s", error.line,
                     error.column, error.text);
        return CUDA_ERROR_INVALID_PTX;
    }
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                          const char *name, unsigned int option_count, CUjit_option *options,
                          void **values)
{
    (void)name;
    (void)option_count;
    (void)options;
    (void)values;
    if (!state || !data || !size)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_JIT_INPUT_PTX || state->text)
        return CUDA_ERROR_NOT_SUPPORTED;
    state->text = malloc(size + 1);
    if (!state->text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = text_read(state, data, size);
    if (result) {
        free(state->text);
        state->text = NULL;
        return result;
    }
    memcpy(state->text, data, size);
    state->text[size] = '\0';
    state->size = size + 1;
    return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *size)
{
    if (!state || !cubin || !state->text)
        return CUDA_ERROR_INVALID_VALUE;
    if (state->module)
        linked_put(state->text, strlen(state->text), state->module);
    state->module = NULL;
    *cubin = state->text;
    if (size)
        *size = state->size;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state)
{
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    ptx_module_free(state->module);
    free(state->text);
    free(state);
    return CUDA_SUCCESS;
}
