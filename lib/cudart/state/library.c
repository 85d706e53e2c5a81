/* library.c - images that the program loads itself (cudaLibraryLoadData): see module.h. */
#include <stdlib.h>
#include <string.h>

#include "cudart/base/fatbin.h"
#include "cudart/state/module_parts.h"

cudaError_t library_load(const void *code, struct image **out)
{
    size_t size = image_bytes(code);
    const bool text = size == 0;
    struct image_wrapper *wrapper;
    struct image *image;
    cudaError_t error = device_use();

    if (error != cudaSuccess)
        return error;
    if (text)
        size = strlen(code) + 1;
    wrapper = malloc(sizeof(*wrapper) + size);
    image = wrapper != NULL ? image_register(wrapper) : NULL;
    if (image == NULL) {
        free(wrapper);
        return cudaErrorMemoryAllocation;
    }
    *wrapper = (struct image_wrapper){.data = memcpy(wrapper + 1, code, size)};
    images_enter();
    image->library = true;
    error = image_load(image);
    images_leave();
    if (error == cudaSuccess) {
        *out = image;
        return cudaSuccess;
    }
    image_unregister(image);
    /* Text needs no image for the device, if it is PTX at all. */
    return text && error == cudaErrorNoKernelImageForDevice ? cudaErrorInvalidPtx : error;
}

cudaError_t library_unload(struct image *library)
{
    bool found;

    images_enter();
    found = image_is_library(library);
    images_leave();
    if (!found)
        return cudaErrorInvalidResourceHandle;
    image_unregister(library);
    return cudaSuccess;
}

/* No host symbol stands for a library's kernels and variables: each is its own stub or shadow. The
 * images' lock is held. */
static cudaError_t kernel_add(struct image *library, const char *name, struct kernel **out)
{
    struct kernel *kernel = library->kernels;
    gs_kernel handle;
    gs_status status;
    char *own_name;

    while (kernel != NULL && strcmp(kernel->name, name) != 0)
        kernel = kernel->next;
    *out = kernel;
    if (kernel != NULL)
        return cudaSuccess;
    status = gs_kernel_get(image_here(library)->module, name, &handle);
    if (status != GS_OK)
        return status == GS_ERR_NOT_FOUND ? cudaErrorSymbolNotFound : device_error(status);
    own_name = strdup(name);
    kernel = own_name != NULL ? kernel_put(library, NULL, own_name) : NULL;
    if (kernel == NULL) {
        free(own_name);
        return cudaErrorMemoryAllocation;
    }
    *out = kernel;
    return cudaSuccess;
}

static cudaError_t variable_add(struct image *library, const char *name, struct variable **out)
{
    struct variable *variable = library->variables;
    gs_devptr address;
    gs_status status;
    size_t size;

    while (variable != NULL && strcmp(variable->name, name) != 0)
        variable = variable->next;
    *out = variable;
    if (variable != NULL)
        return cudaSuccess;
    status = gs_global_get(image_here(library)->module, name, &address, &size);
    if (status != GS_OK)
        return status == GS_ERR_NOT_FOUND ? cudaErrorSymbolNotFound : device_error(status);
    variable = calloc(1, sizeof(*variable));
    if (variable != NULL)
        variable->name = strdup(name);
    if (variable == NULL || variable->name == NULL) {
        free(variable);
        return cudaErrorMemoryAllocation;
    }
    variable->shadow = variable;
    variable->image = library;
    variable->size = size;
    variable->next = library->variables;
    library->variables = variable;
    *out = variable;
    return cudaSuccess;
}

/* Takes the images' lock, and loads the library if necessary. */
static cudaError_t library_lock(struct image *library)
{
    cudaError_t error = device_use();

    images_enter();
    if (error != cudaSuccess)
        return error;
    return image_is_library(library) ? image_load(library) : cudaErrorInvalidResourceHandle;
}

cudaError_t library_kernel(struct image *library, const char *name, struct kernel **out)
{
    cudaError_t error = library_lock(library);

    if (error == cudaSuccess)
        error = kernel_add(library, name, out);
    images_leave();
    return error;
}

cudaError_t library_kernel_count(struct image *library, unsigned *count)
{
    cudaError_t error = library_lock(library);

    if (error == cudaSuccess)
        error = device_error(gs_module_kernel_count(image_here(library)->module, count));
    images_leave();
    return error;
}

cudaError_t library_kernels(struct image *library, struct kernel **found, unsigned count)
{
    cudaError_t error = library_lock(library);
    unsigned there = 0;
    char name[8192];

    if (error == cudaSuccess)
        error = device_error(gs_module_kernel_count(image_here(library)->module, &there));
    for (unsigned i = 0; i < count && i < there && error == cudaSuccess; i++) {
        error =
            device_error(gs_module_kernel_name(image_here(library)->module, i, name, sizeof(name)));
        if (error == cudaSuccess)
            error = kernel_add(library, name, &found[i]);
    }
    images_leave();
    return error;
}

cudaError_t library_variable(struct image *library, const char *name, struct variable **out)
{
    cudaError_t error = library_lock(library);

    if (error == cudaSuccess)
        error = variable_add(library, name, out);
    images_leave();
    return error == cudaSuccess ? variable_load(*out) : error;
}
