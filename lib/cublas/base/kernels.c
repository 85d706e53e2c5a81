/* kernels.c - see kernels.h. */
#include "cublas/base/kernels.h"

#include <pthread.h>
#include <stdatomic.h>

#include "cublas/base/runtime.h"

/* Embeds a module's text, with a NUL behind it. */
#define MODULE(module)                                                                             \
    extern const char module##_ptx[];                                                              \
    __asm__(".section .rodata\n"                                                                   \
            ".global " #module "_ptx\n"                                                            \
            ".hidden " #module "_ptx\n"                                                            \
            ".type " #module "_ptx, @object\n" #module "_ptx:\n"                                   \
            ".incbin \"" KERNELS_DIR "/" #module ".ptx\"\n"                                        \
            ".byte 0\n"                                                                            \
            ".size " #module "_ptx, . - " #module "_ptx\n"                                         \
            ".previous\n");
#define KERNEL(module, name)
#include "cublas/base/kernels.def"
#undef KERNEL
#undef MODULE

enum module_name {
#define MODULE(module) MODULE_##module,
#define KERNEL(module, name)
#include "cublas/base/kernels.def"
#undef KERNEL
#undef MODULE
    MODULES
};

static const char *const module_text[MODULES] = {
#define MODULE(module) [MODULE_##module] = module##_ptx,
#define KERNEL(module, name)
#include "cublas/base/kernels.def"
#undef KERNEL
#undef MODULE
};

static const struct {
    const char *name;
    enum module_name module;
} kernel_source[KERNELS] = {
#define MODULE(module)
#define KERNEL(module, name) [KERNEL_##name] = {#name, MODULE_##module},
#include "cublas/base/kernels.def"
#undef KERNEL
#undef MODULE
};

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static cudaLibrary_t library[MODULES];        /* under load_lock */
static _Atomic(cudaKernel_t) kernel[KERNELS]; /* written under load_lock */

static cudaError_t kernel_load(enum kernel_name name)
{
    enum module_name module = kernel_source[name].module;
    cudaError_t error = cudaSuccess;
    cudaKernel_t found = NULL;

    pthread_mutex_lock(&load_lock);
    if (library[module] == NULL)
        error = cudaLibraryLoadData(&library[module], module_text[module], NULL, NULL, 0, NULL,
                                    NULL, 0);
    if (error == cudaSuccess)
        error = cudaLibraryGetKernel(&found, library[module], kernel_source[name].name);
    if (error == cudaSuccess)
        atomic_store_explicit(&kernel[name], found, memory_order_release);
    pthread_mutex_unlock(&load_lock);
    return error;
}

cublasStatus_t kernel_launch(enum kernel_name name, struct kernel_shape shape, void *params,
                             cudaStream_t stream)
{
    /* Acquire: pairs with kernel_load, for what the handle points to. */
    cudaKernel_t found = atomic_load_explicit(&kernel[name], memory_order_acquire);

    if (found == NULL && kernel_load(name) != cudaSuccess)
        return CUBLAS_STATUS_INTERNAL_ERROR;
    found = atomic_load_explicit(&kernel[name], memory_order_acquire);
    if (cudaLaunchKernel(found, shape.grid, shape.block, &params, 0, stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    return CUBLAS_STATUS_SUCCESS;
}
