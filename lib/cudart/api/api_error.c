/* api_error.c - errors: the last one, names and texts. */
#include "cudart/abi.h"
#include "cudart/base/error.h"

static const struct {
    const char *name, *text;
    int value;
} errors[] = {
#define ERROR(name, value, text) {#name, text, value},
#include "cudart/base/errors.def"
#undef ERROR
};

static int error_find(cudaError_t error)
{
    for (int i = 0; i < (int)(sizeof(errors) / sizeof(errors[0])); i++) {
        if (errors[i].value == (int)error)
            return i;
    }
    return -1;
}

CUDART_API cudaError_t cudaPeekAtLastError(void)
{
    return error_last(false);
}

CUDART_API cudaError_t cudaGetLastError(void)
{
    return error_last(true);
}

CUDART_API const char *cudaGetErrorName(cudaError_t error)
{
    int i = error_find(error);

    return i >= 0 ? errors[i].name : "unrecognized error code";
}

CUDART_API const char *cudaGetErrorString(cudaError_t error)
{
    int i = error_find(error);

    return i >= 0 ? errors[i].text : "unrecognized error code";
}
