/* module_parts.h - what module.c and library.c know of an image. The images' lock guards it all. */
#ifndef GS_CUDART_MODULE_PARTS_H
#define GS_CUDART_MODULE_PARTS_H

#include "cudart/state/module.h"

/* What the compiler leaves of the device code: nvcc a fat binary, clang the file it was given. */
struct image_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *parts; /* of version 2, which a device link makes: the fat binaries of the
                                 objects, ended by NULL */
};

struct image {
    const struct image_wrapper *wrapper;
    bool library; /* loaded by the program: wrapper, code and names are the image's own */
    struct image *next;
    struct kernel *kernels;
    struct variable *variables;
    size_t constant_bytes; /* of those that are __constant__ */
    struct image_on {
        gs_module module;   /* NULL: not loaded */
        cudaError_t failed; /* why it could not be loaded; the next session tries again */
    } on[DEVICES_MAX];      /* by the device's number */
};

/* Take and give the lock of all images. */
void images_enter(void);
void images_leave(void);

/* The image on the call's device. */
static inline struct image_on *image_here(struct image *image)
{
    return &image->on[device_number()];
}

/* ---- With the lock held ---------------------------------------------------------------------- */

/* Loads the image on the call's device, if it was not. */
cudaError_t image_load(struct image *image);
/* Adds a kernel to the image. stub NULL: the kernel is its own. NULL: no memory. */
struct kernel *kernel_put(struct image *image, const void *stub, const char *name);
/* Whether it is an image, and one that the program has loaded. */
bool image_is_library(const struct image *library);

#endif
