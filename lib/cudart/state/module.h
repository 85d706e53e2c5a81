/*
 * module.h - what the compiler registered: images (fat binaries), their kernels by the address of
 * the stub, their variables by the address of the shadow. A stub is the host function that
 * kernel<<<>>> calls; a shadow is the host variable that stands for a device variable. Registration
 * runs before main() and during dlopen. An image is loaded at the first use of one of its kernels
 * or variables.
 */
#ifndef GS_CUDART_MODULE_H
#define GS_CUDART_MODULE_H

#include <stdatomic.h>

#include "cudart/abi.h"
#include "cudart/state/device.h"
#include "gshare.h"

struct image; /* see module.c */

/* A kernel on one device. */
struct kernel_on {
    _Atomic(gs_kernel) handle; /* NULL: not loaded */
    gs_kernel_desc desc;       /* valid once loaded */
};

struct kernel {
    const void *stub; /* the stub, see above */
    const char *name; /* mangled */
    struct image *image;
    struct kernel *next; /* the next kernel of the image */
    /* By device number, owned by the kernel; NULL: never loaded there. */
    _Atomic(struct kernel_on *) on[DEVICES_MAX];
    /* The dynamic shared memory that a launch may have, set by cudaFuncSetAttribute; 0: the default
     * limit, 48 KiB less the static shared memory. */
    _Atomic unsigned dynamic_smem_max;
    _Atomic int carveout;
    _Atomic bool large_clusters; /* cudaFuncAttributeNonPortableClusterSizeAllowed is set */
    _Atomic int cluster_policy;  /* enum cudaClusterSchedulingPolicy, a hint */
};

struct variable {
    const void *shadow; /* the shadow, see above */
    const char *name;
    struct image *image;
    struct variable *next;
    _Atomic gs_devptr address[DEVICES_MAX]; /* by device number; 0: not loaded there */
    size_t size;
    /* Of a __managed__ variable, the pointer that host code follows; otherwise NULL. The variable
     * belongs to the first device that loads it. */
    void **managed;
};

/* ---- Registration: false or NULL where memory ran out ---------------------------------------- */

struct image *image_register(const void *wrapper);
bool image_add_kernel(struct image *image, const void *stub, const char *name);
bool image_add_variable(struct image *image, const void *shadow, const char *name, size_t size,
                        bool constant);
bool image_add_managed(struct image *image, void **shadow, const char *name, size_t size);
/* Forgets the image with its kernels and variables, and unloads it from the session. */
void image_unregister(struct image *image);
/* The session of the call's device is gone: images are loaded again at their next use. */
void images_forget(void);

/* ---- Libraries (library.c): images that the program loads itself, of which it asks by name --- */

/* Loads a copy of a fat binary or of PTX text. */
cudaError_t library_load(const void *code, struct image **out);
/* cudaErrorInvalidResourceHandle: there is no such library. */
cudaError_t library_unload(struct image *library);
/* cudaErrorSymbolNotFound: the library has no kernel, or variable, with that name. */
cudaError_t library_kernel(struct image *library, const char *name, struct kernel **out);
cudaError_t library_kernel_count(struct image *library, unsigned *count);
/* Returns the library's first kernels, at most `count`. */
cudaError_t library_kernels(struct image *library, struct kernel **kernels, unsigned count);
cudaError_t library_variable(struct image *library, const char *name, struct variable **out);

/* ---- Use ------------------------------------------------------------------------------------- */

/* By the address of the stub, or by a handle that is a kernel itself; NULL: there is no such
 * kernel. */
struct kernel *kernel_find(const void *stub);
/* By the address of its shadow or, for a managed variable, by its own address. */
struct variable *variable_find(const void *shadow);

/* The architecture, such as 80, that the kernel's PTX was compiled for. */
unsigned kernel_ptx_arch(const struct kernel *kernel);
/* The total size of the __constant__ variables that are registered with the kernel. */
size_t kernel_constant_bytes(const struct kernel *kernel);

/* The functions below concern the call's device. Loads the image, if necessary; its managed
 * variables have their addresses afterwards. */
cudaError_t image_use(struct image *image);
cudaError_t kernel_load(struct kernel *kernel);
cudaError_t variable_load(struct variable *variable);
/* Called before an address is looked up for a copy: a kernel may have passed the program the
 * address of a variable that no call has named. If the address is unknown, publishes the addresses
 * of all variables in loaded images. */
void variables_note(const void *address);

/* The address of a variable on a device; NULL: it is not loaded there. */
static inline void *variable_address(struct variable *variable, unsigned number)
{
    return (void *)(uintptr_t)atomic_load(&variable->address[number]); // NOLINT: a device address
}

/* The address that calls which name the variable use; for a managed variable, the host's address on
 * all devices. */
static inline void *variable_symbol_address(struct variable *variable, unsigned number)
{
    void *managed = variable->managed != NULL ? *variable->managed : NULL;

    return managed != NULL ? managed : variable_address(variable, number);
}

/* The kernel's handle; loads the image if necessary. */
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

/* The kernel's description on some device that has loaded it, as at least one has. Its parameters
 * are the same on all devices. */
static inline const gs_kernel_desc *kernel_signature(const struct kernel *kernel)
{
    const struct kernel_on *on = NULL;

    for (unsigned i = 0; i < DEVICES_MAX && on == NULL; i++)
        on = atomic_load_explicit(&kernel->on[i], memory_order_acquire);
    return &on->desc;
}

/* The description of a kernel that is loaded on the call's device. */
static inline const gs_kernel_desc *kernel_desc(const struct kernel *kernel)
{
    return &atomic_load_explicit(&kernel->on[device_number()], memory_order_relaxed)->desc;
}

/* The most bytes of dynamic shared memory that a launch of the kernel may have: what the program
 * has set, or what its static shared memory leaves of the default. */
static inline unsigned kernel_dynamic_smem_max(const struct kernel *kernel)
{
    const unsigned set = atomic_load_explicit(&kernel->dynamic_smem_max, memory_order_relaxed);
    const unsigned used = kernel_desc(kernel)->static_smem;

    if (set != 0)
        return set;
    return used < DEVICE_SMEM_DEFAULT ? DEVICE_SMEM_DEFAULT - used : 0;
}

/* The largest cluster, in blocks, that a launch of the kernel may use. */
static inline unsigned kernel_cluster_blocks(const struct kernel *kernel)
{
    return atomic_load_explicit(&kernel->large_clusters, memory_order_relaxed)
               ? GS_CLUSTER_BLOCKS
               : PORTABLE_CLUSTER_BLOCKS;
}

#endif
