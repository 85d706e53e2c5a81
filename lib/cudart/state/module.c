/*
 * module.c - see module.h. One lock guards the lists and loading; lookups of kernels and variables
 * take no lock. library.c has the images that the program loads itself.
 */
#include "cudart/state/module.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/base/address_table.h"
#include "cudart/base/fatbin.h"
#include "cudart/base/report.h"
#include "cudart/state/device.h"
#include "cudart/state/managed.h"
#include "cudart/state/managed_variable.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/module_parts.h"
#include "cudart/state/pinned.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images;
static struct address_table kernels, variables;
/* Bit mask of devices on which images have been loaded since variables_note last published
 * addresses. */
static _Atomic unsigned untold;

void images_enter(void)
{
    pthread_mutex_lock(&lock);
}

void images_leave(void)
{
    pthread_mutex_unlock(&lock);
}

/* ---- Registration ---------------------------------------------------------------------------- */

struct image *image_register(const void *wrapper)
{
    struct image *image = calloc(1, sizeof(*image));

    if (image == NULL)
        return NULL;
    image->wrapper = wrapper;
    images_enter();
    image->next = images;
    images = image;
    images_leave();
    return image;
}

struct kernel *kernel_put(struct image *image, const void *stub, const char *name)
{
    struct kernel *kernel = calloc(1, sizeof(*kernel));

    if (kernel == NULL)
        return NULL;
    kernel->stub = stub != NULL ? stub : kernel;
    kernel->name = name;
    kernel->image = image;
    atomic_init(&kernel->carveout, -1);
    if (!address_table_set(&kernels, kernel->stub, kernel) ||
        !address_table_set(&kernels, kernel, kernel)) { /* so that a cudaKernel_t is found, too */
        address_table_remove(&kernels, kernel->stub, kernel);
        free(kernel);
        return NULL;
    }
    kernel->next = image->kernels;
    image->kernels = kernel;
    return kernel;
}

bool image_add_kernel(struct image *image, const void *stub, const char *name)
{
    bool added;

    images_enter();
    added = kernel_put(image, stub, name) != NULL;
    images_leave();
    return added;
}

static bool variable_register(struct image *image, const void *shadow, const char *name,
                              size_t size, void **managed)
{
    struct variable *variable = calloc(1, sizeof(*variable));
    bool added;

    if (variable == NULL)
        return false;
    variable->shadow = shadow;
    variable->name = name;
    variable->image = image;
    variable->size = size;
    variable->managed = managed;
    images_enter();
    added = address_table_set(&variables, shadow, variable);
    variable->next = image->variables;
    image->variables = variable;
    images_leave();
    return added;
}

bool image_add_variable(struct image *image, const void *shadow, const char *name, size_t size,
                        bool constant)
{
    if (!variable_register(image, shadow, name, size, NULL))
        return false;
    images_enter();
    image->constant_bytes += constant ? size : 0;
    images_leave();
    return true;
}

bool image_add_managed(struct image *image, void **shadow, const char *name, size_t size)
{
    return variable_register(image, shadow, name, size, shadow);
}

static void kernel_free(struct kernel *kernel)
{
    for (unsigned i = 0; i < DEVICES_MAX; i++)
        free(atomic_load(&kernel->on[i]));
    free(kernel);
}

/* Forgets the variable's address on the call's device. */
static void variable_forget(struct variable *variable)
{
    void *address = variable_address(variable, device_number());

    if (address == NULL)
        return;
    if (variable->managed != NULL && *variable->managed == address) {
        managed_remove_variable(address);
        address_table_remove(&variables, address, variable);
    }
    memory_map_remove(address);
}

void image_unregister(struct image *image)
{
    images_enter();
    for (struct image **link = &images; *link != NULL; link = &(*link)->next) {
        if (*link == image) {
            *link = image->next;
            break;
        }
    }
    for (struct kernel *kernel = image->kernels, *next; kernel != NULL; kernel = next) {
        next = kernel->next;
        address_table_remove(&kernels, kernel->stub, kernel);
        address_table_remove(&kernels, kernel, kernel);
        if (image->library)
            free((char *)(uintptr_t)kernel->name); // NOLINT: its own copy
        kernel_free(kernel);
    }
    for (struct variable *variable = image->variables, *next; variable != NULL; variable = next) {
        next = variable->next;
        address_table_remove(&variables, variable->shadow, variable);
        for (unsigned i = 0; i < DEVICES_MAX; i++) {
            device_enter(i);
            variable_forget(variable);
        }
        if (image->library)
            free((char *)(uintptr_t)variable->name); // NOLINT: its own copy
        free(variable);
    }
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        if (image->on[i].module != NULL)
            gs_module_unload(image->on[i].module);
    }
    if (image->library)
        free((void *)(uintptr_t)image->wrapper); // NOLINT: likewise
    free(image);
    images_leave();
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* The number of fat binaries that a device link has linked; 0: the image does not come from one. */
static unsigned image_parts(const struct image *image)
{
    unsigned count = 0;

    if (image->wrapper->version != 2 || image->wrapper->parts == NULL)
        return 0;
    while (image->wrapper->parts[count] != NULL)
        count++;
    return count;
}

/* The functions of NVIDIA's device runtime that kernels call. The handle of a condition is the
 * address of its value: see condition.h. */
static const char device_runtime[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                                     ".visible .func cudaGraphSetConditional\n"
                                     "    (.param .b64 handle, .param .b32 value)\n"
                                     "{\n"
                                     "    .reg .b64 %at;\n"
                                     "    .reg .b32 %value;\n"
                                     "    ld.param.b64 %at, [handle];\n"
                                     "    ld.param.b32 %value, [value];\n"
                                     "    st.volatile.global.b32 [%at], %value;\n"
                                     "    ret;\n"
                                     "}\n";

/* The result of a device link is only machine code, whose kernels would print where only the server
 * sees it. So the PTX of the objects is linked again. */
static gs_status parts_load(struct image *image, unsigned count)
{
    const void **parts = calloc(count + 1, sizeof(*parts));
    size_t *sizes = calloc(count + 1, sizeof(*sizes));
    gs_status status = GS_ERR_NO_MEMORY;

    if (parts != NULL && sizes != NULL) {
        for (unsigned i = 0; i < count; i++) {
            parts[i] = image->wrapper->parts[i];
            sizes[i] = image_bytes(parts[i]);
        }
        parts[count] = device_runtime;
        sizes[count] = sizeof(device_runtime);
        status =
            gs_module_link(device_session(), parts, sizes, count + 1, &image_here(image)->module);
    }
    free(parts);
    free(sizes);
    return status;
}

/* lock is held here and in the functions below. */
static cudaError_t variable_find_address(struct variable *variable, enum memory_kind kind)
{
    gs_devptr address;
    gs_status status =
        gs_global_get(image_here(variable->image)->module, variable->name, &address, NULL);

    if (status != GS_OK)
        return status == GS_ERR_NOT_FOUND ? cudaErrorInvalidSymbol : device_error(status);
    /* In an unfenced session, the driver may have put the variables outside of the session's
     * window. */
    if (!memory_map_add((const void *)(uintptr_t)address, variable->size, kind, 0)) // NOLINT
        return cudaErrorMemoryAllocation;
    atomic_store(&variable->address[device_number()], address);
    return cudaSuccess;
}

/* The call's device has the variable at the address. If no earlier address is to be shared, the
 * host uses this one: host code follows the pointer *managed, and passes it to calls to name the
 * variable. */
static cudaError_t variable_share(struct variable *variable, void *address)
{
    cudaError_t error;

    if (*variable->managed != NULL && managed_has(*variable->managed))
        return managed_copy_variable(*variable->managed, (gs_devptr)(uintptr_t)address);
    error = managed_add_variable(address, variable->size);
    if (error == cudaSuccess && !address_table_set(&variables, address, variable))
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        *variable->managed = address;
    return error;
}

static cudaError_t variable_manage(struct variable *variable)
{
    cudaError_t error = variable_find_address(variable, MEMORY_MANAGED);

    if (error == cudaSuccess)
        error = variable_share(variable, variable_address(variable, device_number()));
    if (error != cudaSuccess)
        report_error("__managed__ variable %s cannot be shared%s", variable->name,
                     error == cudaErrorNotSupported ? ": its module has to come with PTX" : "");
    return error;
}

/* Makes the pointers of managed variables valid without a module, since host code follows them in
 * any case. */
static void managed_stand_in(struct image *image)
{
    for (struct variable *v = image->variables; v != NULL; v = v->next) {
        if (v->managed != NULL && *v->managed == NULL)
            *v->managed = calloc(1, v->size);
    }
}

/* A failure is reported once, with the server's reason, which CUDA's errors cannot express, and is
 * kept; but where other sessions' kernels were in the way, the next use tries again. */
cudaError_t image_load(struct image *image)
{
    struct image_on *here = image_here(image);
    cudaError_t error = cudaSuccess;
    const void *data = image->wrapper->data;
    const unsigned parts = image_parts(image);
    char *parts_why = NULL; /* the reason why linking them failed */
    gs_status status;

    if (here->module != NULL || here->failed != cudaSuccess)
        return here->failed;
    status = parts > 0 ? parts_load(image, parts) : GS_ERR_BAD_IMAGE;
    /* There is no PTX, too much of it, or too many files. */
    if (status == GS_ERR_BAD_IMAGE || status == GS_ERR_LIMIT || status == GS_ERR_INVALID_VALUE) {
        parts_why = parts > 0 ? strdup(gs_last_error_message()) : NULL;
        status = gs_module_load(device_session(), data, image_bytes(data), &here->module);
    }
    if (status != GS_OK) {
        report_error(
            "the program's kernels cannot be loaded: %s%s%s", parts_why != NULL ? parts_why : "",
            parts_why != NULL ? "; what their device link made: " : "", gs_last_error_message());
        if (status == GS_ERR_TIMEOUT)
            error = cudaErrorSystemNotReady;
        else
            error = here->failed = device_error(status);
    }
    free(parts_why);
    if (error != cudaSuccess)
        return error;
    if (image->variables != NULL)
        atomic_fetch_or(&untold, 1u << device_number());
    for (struct variable *v = image->variables; v != NULL && here->failed == cudaSuccess;
         v = v->next) {
        if (v->managed != NULL)
            here->failed = variable_manage(v);
    }
    return here->failed;
}

cudaError_t image_use(struct image *image)
{
    cudaError_t error = device_use();

    images_enter();
    if (error == cudaSuccess)
        error = image_load(image);
    if (error != cudaSuccess)
        managed_stand_in(image);
    images_leave();
    return error;
}

/* The address of a variable that the call's device loaded first becomes invalid. The devices that
 * have copies share the variable from then on; the first of them has the value
 * (managed_variables_give). */
static void variable_hand_over(struct variable *variable)
{
    const unsigned gone = device_number();

    address_table_remove(&variables, *variable->managed, variable);
    *variable->managed = NULL;
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        if (i == gone || variable_address(variable, i) == NULL)
            continue;
        device_enter(i);
        variable_share(variable, variable_address(variable, i));
    }
    device_enter(gone);
}

void images_forget(void)
{
    images_enter();
    for (struct image *image = images; image != NULL; image = image->next) {
        *image_here(image) = (struct image_on){NULL, cudaSuccess};
        for (struct kernel *kernel = image->kernels; kernel != NULL; kernel = kernel->next) {
            struct kernel_on *on = atomic_load(&kernel->on[device_number()]);

            if (on != NULL)
                atomic_store(&on->handle, NULL);
        }
        for (struct variable *v = image->variables; v != NULL; v = v->next) {
            void *const address = variable_address(v, device_number());

            if (v->managed != NULL && address != NULL && *v->managed == address)
                variable_hand_over(v);
            atomic_store(&v->address[device_number()], 0);
        }
    }
    images_leave();
}

/* The kernel's data for the call's device, allocated at the first use; NULL: no memory. lock is
 * held. */
static struct kernel_on *kernel_slot(struct kernel *kernel)
{
    struct kernel_on *on = atomic_load(&kernel->on[device_number()]);

    if (on == NULL) {
        on = calloc(1, sizeof(*on));
        /* Release: the contents of *on. */
        atomic_store_explicit(&kernel->on[device_number()], on, memory_order_release);
    }
    return on;
}

/* lock is held. */
static cudaError_t kernel_get(struct kernel *kernel)
{
    struct kernel_on *on = kernel_slot(kernel);
    gs_kernel handle;
    gs_status status;

    if (on == NULL)
        return cudaErrorMemoryAllocation;
    if (atomic_load(&on->handle) != NULL)
        return cudaSuccess;
    status = gs_kernel_get(image_here(kernel->image)->module, kernel->name, &handle);
    on->desc = (gs_kernel_desc)GS_KERNEL_DESC_INIT;
    if (status == GS_OK)
        status = gs_kernel_info(handle, &on->desc);
    if (status == GS_OK)
        atomic_store_explicit(&on->handle, handle, memory_order_release);
    else if (status == GS_ERR_PERMISSION || status == GS_ERR_BAD_IMAGE)
        report_once("%s", gs_last_error_message());
    return device_error(status);
}

/* A call that only copies a graph's nodes may be the first call after cudaDeviceReset. */
cudaError_t kernel_load(struct kernel *kernel)
{
    cudaError_t error = device_session() != NULL ? cudaSuccess : device_use();

    if (error != cudaSuccess)
        return error;
    pinned_begin(); /* without the lock, since joining may wait, but before another thread's launch
                     */
    images_enter();
    error = image_load(kernel->image);
    if (error == cudaSuccess)
        error = kernel_get(kernel);
    images_leave();
    return error;
}

cudaError_t variable_load(struct variable *variable)
{
    cudaError_t error;

    images_enter();
    error = image_load(variable->image);
    if (error == cudaSuccess && variable_address(variable, device_number()) == NULL)
        error = variable_find_address(variable, MEMORY_DEVICE);
    images_leave();
    return error;
}

/* A variable that the compiler has optimised away has no address, which is no error here. */
void variables_note(const void *address)
{
    const unsigned here = 1u << device_number();
    struct memory_range range;

    if (!(atomic_load(&untold) & here) || memory_map_find(address, &range) ||
        memory_map_in_arena(address))
        return;
    images_enter();
    for (struct image *image = images; image != NULL; image = image->next) {
        for (struct variable *v = image->variables; v != NULL; v = v->next) {
            if (image_here(image)->module != NULL && variable_address(v, device_number()) == NULL)
                variable_find_address(v, MEMORY_DEVICE);
        }
    }
    atomic_fetch_and(&untold, ~here);
    images_leave();
}

/* lock is held. */
bool image_is_library(const struct image *library)
{
    const struct image *image = images;

    while (image != NULL && image != library)
        image = image->next;
    return image != NULL && image->library;
}

/* ---- Use ------------------------------------------------------------------------------------- */

struct kernel *kernel_find(const void *stub)
{
    return address_table_find(&kernels, stub);
}

struct variable *variable_find(const void *shadow)
{
    return address_table_find(&variables, shadow);
}

unsigned kernel_ptx_arch(const struct kernel *kernel)
{
    const struct image *image = kernel->image;

    return image_ptx_arch(image_parts(image) > 0 ? image->wrapper->parts[0] : image->wrapper->data,
                          device_here()->desc.compute_major * 10 +
                              device_here()->desc.compute_minor);
}

size_t kernel_constant_bytes(const struct kernel *kernel)
{
    size_t bytes;

    images_enter();
    bytes = kernel->image->constant_bytes;
    images_leave();
    return bytes;
}
