/*
 * module.h - what the compiler registered: images (fat binaries), their kernels by stub address,
 * their variables by shadow address. Registration runs before main() and by dlopen; an image is
 * loaded at the first use of one of its kernels or variables.
 */
#ifndef GS_CUDART_MODULE_H
#define GS_CUDART_MODULE_H

#include <stdatomic.h>

#include "cudart/abi.h"
#include "gshare.h"

struct image; /* see module.c */

struct kernel {
    const void *stub; /* the host function that kernel<<<>>> calls */
    const char *name; /* mangled */
    struct image *image;
    struct kernel *next;       /* of the image */
    _Atomic(gs_kernel) handle; /* NULL: not loaded */
    gs_kernel_desc desc;       /* valid once loaded */
    /* Dynamic shared memory that a launch may have; 0: the default limit, 48 KiB less what is
     * static. Set by cudaFuncSetAttribute. */
    _Atomic unsigned dynamic_smem_max;
    _Atomic int carveout;
};

struct variable {
    const void *shadow; /* what the host's code means by its name */
    const char *name;
    struct image *image;
    struct variable *next;
    _Atomic gs_devptr address; /* 0: not loaded */
    size_t size;
    void **managed; /* of a __managed__ one: the pointer that the host's code follows; else NULL */
};

/* ---- Registration: false or NULL where memory ran out ---------------------------------------- */

struct image *image_register(const void *wrapper);
bool image_add_kernel(struct image *image, const void *stub, const char *name);
bool image_add_variable(struct image *image, const void *shadow, const char *name, size_t size);
bool image_add_managed(struct image *image, void **shadow, const char *name, size_t size);
/* Forgets the image and what belongs to it, and unloads it from the session. */
void image_unregister(struct image *image);
/* The session is gone: images are loaded again at their next use. */
void images_forget(void);

/* ---- Libraries: images that the program loads itself, of which it asks by name --------------- */

/* A fat binary, or PTX text; copied. */
cudaError_t library_load(const void *code, struct image **out);
/* cudaErrorInvalidResourceHandle: no such library. */
cudaError_t library_unload(struct image *library);
/* cudaErrorSymbolNotFound: it has none of that name. */
cudaError_t library_kernel(struct image *library, const char *name, struct kernel **out);
cudaError_t library_kernel_count(struct image *library, unsigned *count);
/* Its first kernels, `count` of them at most. */
cudaError_t library_kernels(struct image *library, struct kernel **kernels, unsigned count);
cudaError_t library_variable(struct image *library, const char *name, struct variable **out);

/* ---- Use ------------------------------------------------------------------------------------- */

/* By the stub's address, or by a handle that is such a kernel; NULL: no such kernel. */
struct kernel *kernel_find(const void *stub);
/* By its shadow's address, or by its own if it is managed. */
struct variable *variable_find(const void *shadow);

/* The architecture, such as 80, that the kernel's PTX was compiled for. */
unsigned kernel_ptx_arch(const struct kernel *kernel);

/* Loads the image if it was not: its managed variables have their addresses then. */
cudaError_t image_use(struct image *image);
cudaError_t kernel_load(struct kernel *kernel);
cudaError_t variable_load(struct variable *variable);

/* The kernel's handle, of an image that is loaded now if it was not. */
static inline cudaError_t kernel_use(struct kernel *kernel, gs_kernel *handle)
{
    cudaError_t error;

    /* Acquire: kernel->desc. */
    *handle = atomic_load_explicit(&kernel->handle, memory_order_acquire);
    if (*handle != NULL)
        return cudaSuccess;
    error = kernel_load(kernel);
    *handle = atomic_load_explicit(&kernel->handle, memory_order_acquire);
    return error;
}

#endif
