/* api_library.c - device code that the program loads itself: a fat binary, a cubin or PTX text. */
#include <stdio.h>
#include <stdlib.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/base/fatbin.h"
#include "cudart/state/module.h"

/* The options of the compiler and the library are ignored; the server decides. */
CUDART_API cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                           enum cudaJitOption *jit_options, void **jit_values,
                                           unsigned jit_count,
                                           enum cudaLibraryOption *library_options,
                                           void **library_values, unsigned library_count)
{
    (void)jit_options, (void)jit_values, (void)jit_count;
    (void)library_options, (void)library_values, (void)library_count;
    if (library == NULL || code == NULL)
        return error_record(cudaErrorInvalidValue);
    return error_record(library_load(code, (struct image **)library));
}

/* Reads the whole file of *bytes bytes, and appends a NUL. */
static char *file_read(const char *name, size_t *bytes)
{
    FILE *file = fopen(name, "rb");
    char *text = NULL;
    long size = -1;

    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        text = calloc(1, (size_t)size + 1);
    if (text != NULL && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    fclose(file);
    *bytes = (size_t)size;
    return text;
}

CUDART_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *name,
                                               enum cudaJitOption *jit_options, void **jit_values,
                                               unsigned jit_count,
                                               enum cudaLibraryOption *library_options,
                                               void **library_values, unsigned library_count)
{
    size_t bytes = 0;
    char *code = name != NULL ? file_read(name, &bytes) : NULL;
    cudaError_t error;

    if (code == NULL)
        return error_record(name != NULL ? cudaErrorFileNotFound : cudaErrorInvalidValue);
    if (!image_is_whole(code, bytes))
        error = error_record(cudaErrorInvalidKernelImage);
    else
        error = cudaLibraryLoadData(library, code, jit_options, jit_values, jit_count,
                                    library_options, library_values, library_count);
    free(code);
    return error;
}

CUDART_API cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    return error_record(library_unload((struct image *)library));
}

CUDART_API cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                            const char *name)
{
    if (kernel == NULL || name == NULL)
        return error_record(cudaErrorInvalidValue);
    return error_record(library_kernel((struct image *)library, name, (struct kernel **)kernel));
}

CUDART_API cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
    if (count == NULL)
        return error_record(cudaErrorInvalidValue);
    return error_record(library_kernel_count((struct image *)library, count));
}

CUDART_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned count,
                                                   cudaLibrary_t library)
{
    if (kernels == NULL && count > 0)
        return error_record(cudaErrorInvalidValue);
    return error_record(library_kernels((struct image *)library, (struct kernel **)kernels, count));
}

CUDART_API cudaError_t cudaLibraryGetGlobal(void **address, size_t *size, cudaLibrary_t library,
                                            const char *name)
{
    struct variable *variable;
    cudaError_t error = cudaErrorInvalidValue;

    if (name != NULL && (address != NULL || size != NULL))
        error = library_variable((struct image *)library, name, &variable);
    if (error == cudaSuccess && address != NULL)
        *address = variable_address(variable, device_number());
    if (error == cudaSuccess && size != NULL)
        *size = variable->size;
    return error_record(error);
}
