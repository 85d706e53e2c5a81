/* module_parts.h - the parts of an image that module.c and library.c share. The images' lock guards
 * all of it. */
#ifndef GS_CUDART_MODULE_PARTS_H
#define GS_CUDART_MODULE_PARTS_H

#include "cudart/state/module.h"

/* What the compiler makes of the device code: nvcc, a fat binary; clang, the file that it was
 * given. */
struct image_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *parts; /* in version 2, which a device link makes: the fat binaries of the
                                 objects, ended by NULL */
};

struct image {
    const struct image_wrapper *wrapper;
    bool library; /* loaded by the program: the image owns its wrapper, code and names */
    struct image *next;
    struct kernel *kernels;
    struct variable *variables;
    size_t constant_bytes; /* total size of the __constant__ variables */
    struct image_on {
        gs_module module;   /* NULL: not loaded */
        cudaError_t failed; /* why loading it failed; the next session tries again */
    } on[DEVICES_MAX];      /* by device number */
};

/* Lock and unlock all images. */
void images_enter(void);
void images_leave(void);

/* The image on the call's device. */
static inline struct image_on *image_here(struct image *image)
{
    return &image->on[device_number()];
}

/* ---- With the lock held ---------------------------------------------------------------------- */

/* Loads the image on the call's device, if necessary. */
cudaError_t image_load(struct image *image);
/* Adds a kernel to the image. stub NULL: the kernel is its own stub. NULL: no memory. */
struct kernel *kernel_put(struct image *image, const void *stub, const char *name);
/* Whether the pointer is an image that the program has loaded itself. */
bool image_is_library(const struct image *library);

#endif
