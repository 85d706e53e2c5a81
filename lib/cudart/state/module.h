/*
 * module.h - what the compiler registered: images (fat binaries), their kernels by stub address,
 * their variables by shadow address. Registration runs before main() and by dlopen; an image is
 * loaded at the first use of one of its kernels or variables.
 */
#ifndef GS_CUDART_MODULE_H
#define GS_CUDART_MODULE_H

#include <stdatomic.h>

#include "cudart/abi.h"
#include "cudart/state/device.h"
#include "gshare.h"

struct image; /* see module.c */

/* A kernel on a device. */
struct kernel_on {
    _Atomic(gs_kernel) handle; /* NULL: not loaded */
    gs_kernel_desc desc;       /* valid once loaded */
};

struct kernel {
    const void *stub; /* the host function that kernel<<<>>> calls */
    const char *name; /* mangled */
    struct image *image;
    struct kernel *next; /* of the image */
    /* By the device's number, and owned by the kernel; NULL: never loaded there. */
    _Atomic(struct kernel_on *) on[DEVICES_MAX];
    /* Dynamic shared memory that a launch may have; 0: the default limit, 48 KiB less what is
     * static. Set by cudaFuncSetAttribute. */
    _Atomic unsigned dynamic_smem_max;
    _Atomic int carveout;
    _Atomic bool large_clusters; /* cudaFuncAttributeNonPortableClusterSizeAllowed */
    _Atomic int cluster_policy;  /* enum cudaClusterSchedulingPolicy, a hint */
};

struct variable {
    const void *shadow; /* what the host's code means by its name */
    const char *name;
    struct image *image;
    struct variable *next;
    _Atomic gs_devptr address[DEVICES_MAX]; /* by the device's number; 0: not loaded there */
    size_t size;
    /* Of a __managed__ one: the pointer that the host's code follows; else NULL. The variable is
     * the first device's that loads it. */
    void **managed;
};

/* ---- Registration: false or NULL where memory ran out ---------------------------------------- */

struct image *image_register(const void *wrapper);
bool image_add_kernel(struct image *image, const void *stub, const char *name);
bool image_add_variable(struct image *image, const void *shadow, const char *name, size_t size,
                        bool constant);
bool image_add_managed(struct image *image, void **shadow, const char *name, size_t size);
/* Forgets the image and what belongs to it, and unloads it from the session. */
void image_unregister(struct image *image);
/* The session of the call's device is gone: images are loaded again at their next use. */
void images_forget(void);

/* ---- Libraries (library.c): images that the program loads itself, of which it asks by name --- */

/* A fat binary, or PTX text; copied. */
cudaError_t library_load(const void *code, struct image **out);
/* cudaErrorInvalidResourceHandle: no such library. */
cudaError_t library_unload(struct image *library);
/* cudaErrorSymbolNotFound: the library has no kernel, or variable, of that name. */
cudaError_t library_kernel(struct image *library, const char *name, struct kernel **out);
cudaError_t library_kernel_count(struct image *library, unsigned *count);
/* Gives the library's first kernels, `count` of them at most. */
cudaError_t library_kernels(struct image *library, struct kernel **kernels, unsigned count);
cudaError_t library_variable(struct image *library, const char *name, struct variable **out);

/* ---- Use ------------------------------------------------------------------------------------- */

/* By the stub's address, or by a handle that is such a kernel; NULL: no such kernel. */
struct kernel *kernel_find(const void *stub);
/* By its shadow's address, or by its own if it is managed. */
struct variable *variable_find(const void *shadow);

/* The architecture, such as 80, that the kernel's PTX was compiled for. */
unsigned kernel_ptx_arch(const struct kernel *kernel);
/* The bytes of the __constant__ variables that are registered with the kernel. */
size_t kernel_constant_bytes(const struct kernel *kernel);

/* These are on the call's device. Loads the image if it was not: its managed variables have their
 * addresses then. */
cudaError_t image_use(struct image *image);
cudaError_t kernel_load(struct kernel *kernel);
cudaError_t variable_load(struct variable *variable);
/* Before an address is looked up for a copy: a kernel may have told the program the address of a
 * variable that no call has named. If the address is unknown, those of all variables in loaded
 * images get known. */
void variables_note(const void *address);

/* The address of a variable on a device; NULL: it is not loaded there. */
static inline void *variable_address(struct variable *variable, unsigned number)
{
    return (void *)(uintptr_t)atomic_load(&variable->address[number]); // NOLINT: a device address
}

/* Where calls that name the variable find it: a managed one where the host does, on all devices. */
static inline void *variable_symbol_address(struct variable *variable, unsigned number)
{
    void *managed = variable->managed != NULL ? *variable->managed : NULL;

    return managed != NULL ? managed : variable_address(variable, number);
}

/* The kernel's handle, of an image that is loaded now if it was not. */
static inline cudaError_t kernel_use(struct kernel *kernel, gs_kernel *handle)
{
    struct kernel_on *on;
    cudaError_t error;

    /* Acquire: *on. */
    on = atomic_load_explicit(&kernel->on[device_number()], memory_order_acquire);
    /* Acquire: on->desc. */
    *handle = on != NULL ? atomic_load_explicit(&on->handle, memory_order_acquire) : NULL;
    if (*handle != NULL)
        return cudaSuccess;
    error = kernel_load(kernel);
    if (error == cudaSuccess)
        *handle = atomic_load(&atomic_load(&kernel->on[device_number()])->handle);
    return error;
}

/* What a kernel is by a device that has loaded it, as one has: its parameters are the same on
 * all. */
static inline const gs_kernel_desc *kernel_signature(const struct kernel *kernel)
{
    const struct kernel_on *on = NULL;

    for (unsigned i = 0; i < DEVICES_MAX && on == NULL; i++)
        on = atomic_load_explicit(&kernel->on[i], memory_order_acquire);
    return &on->desc;
}

/* What a kernel that is loaded is. */
static inline const gs_kernel_desc *kernel_desc(const struct kernel *kernel)
{
    return &atomic_load_explicit(&kernel->on[device_number()], memory_order_relaxed)->desc;
}

/* The most blocks that a cluster of the kernel may have. */
static inline unsigned kernel_cluster_blocks(const struct kernel *kernel)
{
    return atomic_load_explicit(&kernel->large_clusters, memory_order_relaxed)
               ? GS_CLUSTER_BLOCKS
               : PORTABLE_CLUSTER_BLOCKS;
}

#endif
