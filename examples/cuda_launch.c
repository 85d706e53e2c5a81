/*
 * cuda_launch.c - see cuda_launch.h. The functions below are called by code that nvcc and clang
 * generate: registration before main(), launches from main()'s thread.
 */
#include "cuda_launch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS_MAX   64
#define VARIABLES_MAX 64
#define IMAGES_MAX    16

/* What the compiler leaves of the device code: clang the file it was given, nvcc a fatbin. */
struct image_wrapper {
    int magic, version;
    const void *data;
    const void *unused;
};
struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* without the header */
};
#define FATBIN_MAGIC 0xba55ed50u

struct kernel {
    const void *stub; /* the host function that kernel<<<>>> calls */
    const char *name;
    const struct image_wrapper *image;
    gs_kernel kernel; /* NULL before cuda_launch_use */
};

struct variable {
    const void *shadow; /* what the host's code means by its name */
    const char *name;
    const struct image_wrapper *image;
    gs_devptr ptr; /* 0 before cuda_launch_use */
    size_t size;
};

struct configuration {
    gs_dim3 grid, block;
    size_t shared;
    void *stream;
};

static const struct image_wrapper *images[IMAGES_MAX];
static struct kernel kernels[KERNELS_MAX];
static struct variable variables[VARIABLES_MAX];
static unsigned image_count, kernel_count, variable_count;
static struct configuration pushed;
static gs_status first_failure = GS_OK;

/* The generated code's own words; nothing declares them for C. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_function,
                            const char *name, int thread_limit, void *tid, void *bid, void *bdim,
                            void *gdim, int *warp_size);
void __cudaRegisterVar(void **handle, char *shadow, char *address, const char *name, int external,
                       size_t size, int constant, int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(gs_dim3 grid, gs_dim3 block, size_t shared, void *stream);
int __cudaPopCallConfiguration(gs_dim3 *grid, gs_dim3 *block, size_t *shared, void *stream);
int __cudaGetKernel(void **kernel, const void *stub);
int __cudaLaunchKernel(void *kernel, gs_dim3 grid, gs_dim3 block, void **args, size_t shared,
                       void *stream);
int cudaLaunchKernel(const void *stub, gs_dim3 grid, gs_dim3 block, void **args, size_t shared,
                     void *stream);

/* ---- Registration ---------------------------------------------------------------------------- */

void **__cudaRegisterFatBinary(void *wrapper)
{
    if (image_count == IMAGES_MAX)
        abort();
    images[image_count] = wrapper;
    return (void **)&images[image_count++];
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device_function,
                            const char *name, int thread_limit, void *tid, void *bid, void *bdim,
                            void *gdim, int *warp_size)
{
    (void)device_function, (void)thread_limit, (void)tid, (void)bid, (void)bdim, (void)gdim,
        (void)warp_size;
    if (kernel_count == KERNELS_MAX)
        abort();
    kernels[kernel_count++] =
        (struct kernel){stub, name, *(const struct image_wrapper **)handle, NULL};
}

void __cudaRegisterVar(void **handle, char *shadow, char *address, const char *name, int external,
                       size_t size, int constant, int global)
{
    (void)address, (void)external, (void)constant, (void)global;
    if (variable_count == VARIABLES_MAX)
        abort();
    variables[variable_count++] =
        (struct variable){shadow, name, *(const struct image_wrapper **)handle, 0, size};
}

/* Called for managed variables, of which there are none here. */
char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static gs_status image_load(gs_session session, const struct image_wrapper *image,
                            gs_module *module)
{
    struct fatbin_header header;

    memcpy(&header, image->data, sizeof(header));
    if (header.magic == FATBIN_MAGIC)
        return gs_module_load(session, image->data, header.header_size + header.size, module);
    return gs_module_load(session, image->data, 0, module); /* PTX with a NUL after it */
}

gs_status cuda_launch_use(gs_session session)
{
    for (unsigned i = 0; i < image_count; i++) {
        gs_module module;
        gs_status status = image_load(session, images[i], &module);

        for (unsigned k = 0; k < kernel_count && status == GS_OK; k++) {
            if (kernels[k].image == images[i])
                status = gs_kernel_get(module, kernels[k].name, &kernels[k].kernel);
        }
        for (unsigned v = 0; v < variable_count && status == GS_OK; v++) {
            if (variables[v].image == images[i])
                status = gs_global_get(module, variables[v].name, &variables[v].ptr, NULL);
        }
        if (status != GS_OK)
            return status;
    }
    return GS_OK;
}

gs_status cuda_launch_variable(const void *variable, gs_devptr *ptr, size_t *size)
{
    for (unsigned v = 0; v < variable_count; v++) {
        if (variables[v].shadow == variable && variables[v].ptr) {
            *ptr = variables[v].ptr;
            *size = variables[v].size;
            return GS_OK;
        }
    }
    return GS_ERR_NOT_FOUND;
}

gs_status cuda_launch_status(void)
{
    gs_status status = first_failure;

    first_failure = GS_OK;
    return status;
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* kernel<<<...>>>(...) pushes its configuration, and the stub that it calls pops it again. */
unsigned __cudaPushCallConfiguration(gs_dim3 grid, gs_dim3 block, size_t shared, void *stream)
{
    pushed = (struct configuration){grid, block, shared, stream};
    return 0;
}

int __cudaPopCallConfiguration(gs_dim3 *grid, gs_dim3 *block, size_t *shared, void *stream)
{
    *grid = pushed.grid;
    *block = pushed.block;
    *shared = pushed.shared;
    *(void **)stream = pushed.stream;
    return 0;
}

static struct kernel *kernel_find(const void *stub)
{
    for (unsigned i = 0; i < kernel_count; i++) {
        if (kernels[i].stub == stub)
            return &kernels[i];
    }
    return NULL;
}

int __cudaGetKernel(void **kernel, const void *stub)
{
    *kernel = kernel_find(stub);
    return 0;
}

/* Only the default stream exists here; its handle is NULL on both sides. */
int __cudaLaunchKernel(void *kernel, gs_dim3 grid, gs_dim3 block, void **args, size_t shared,
                       void *stream)
{
    const struct kernel *k = kernel;
    gs_launch_config config = GS_LAUNCH_CONFIG_INIT;
    gs_status status;

    config.grid = grid;
    config.block = block;
    config.dynamic_smem = (unsigned)shared;
    if (k == NULL || stream != NULL)
        status = GS_ERR_INVALID_HANDLE;
    else
        status = gs_launch(NULL, k->kernel, &config, args);
    if (first_failure == GS_OK)
        first_failure = status;
    return status == GS_OK ? 0 : 1;
}

int cudaLaunchKernel(const void *stub, gs_dim3 grid, gs_dim3 block, void **args, size_t shared,
                     void *stream)
{
    return __cudaLaunchKernel(kernel_find(stub), grid, block, args, shared, stream);
}
