/*
 * api_registration.c - what code that nvcc and clang generate calls before main(): registration of
 * the program's device code; and the launch configuration between <<<...>>> and the stub.
 */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/state/module.h"

/* ---- Registration ---------------------------------------------------------------------------- */

CUDART_API void **__cudaRegisterFatBinary(void *wrapper)
{
    return (void **)image_register(wrapper);
}

CUDART_API void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

CUDART_API void __cudaUnregisterFatBinary(void **handle)
{
    if (handle != NULL)
        image_unregister((struct image *)handle);
}

CUDART_API void __cudaRegisterFunction(void **handle, const char *stub, char *device_function,
                                       const char *name, int thread_limit, void *tid, void *bid,
                                       void *bdim, void *gdim, int *warp_size)
{
    (void)device_function, (void)thread_limit, (void)tid, (void)bid, (void)bdim, (void)gdim,
        (void)warp_size;
    if (handle == NULL || !image_add_kernel((struct image *)handle, stub, name))
        report_error("no memory to register kernel %s", name);
}

CUDART_API void __cudaRegisterVar(void **handle, char *shadow, char *address, const char *name,
                                  int external, size_t size, int constant, int global)
{
    (void)address, (void)external, (void)global;
    if (handle == NULL ||
        !image_add_variable((struct image *)handle, shadow, name, size, constant != 0))
        report_error("no memory to register variable %s", name);
}

/* The host's code follows the pointer in *shadow, once it has called __cudaInitModule. */
CUDART_API void __cudaRegisterManagedVar(void **handle, void **shadow, char *address,
                                         const char *name, int external, size_t size, int constant,
                                         int global)
{
    (void)address, (void)external, (void)constant, (void)global;
    if (handle == NULL || !image_add_managed((struct image *)handle, shadow, name, size))
        report_error("no memory to register variable %s", name);
}

/* Called before the first use of managed variables, until it returns 1. */
CUDART_API char __cudaInitModule(void **handle)
{
    error_record(handle != NULL ? image_use((struct image *)handle) : cudaErrorInvalidValue);
    return 1;
}

/* ---- The launch configuration ----------------------------------------------------------------
 *
 * kernel<<<...>>>(arguments) pushes its configuration, evaluates the arguments, and calls the stub,
 * which pops it. An argument may launch kernels itself, so there is a stack. */

#define NESTED_MAX 16u

static _Thread_local struct {
    dim3 grid, block;
    size_t shared;
    struct CUstream_st *stream;
} pushed[NESTED_MAX];
static _Thread_local unsigned pushed_count;

CUDART_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                struct CUstream_st *stream)
{
    if (pushed_count == NESTED_MAX)
        return error_record(cudaErrorLaunchOutOfResources);
    pushed[pushed_count].grid = grid;
    pushed[pushed_count].block = block;
    pushed[pushed_count].shared = shared;
    pushed[pushed_count].stream = stream;
    pushed_count++;
    return 0; /* another value skips the call of the stub */
}

CUDART_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                                  void *stream)
{
    if (pushed_count == 0)
        return error_record(cudaErrorMissingConfiguration);
    pushed_count--;
    *grid = pushed[pushed_count].grid;
    *block = pushed[pushed_count].block;
    *shared = pushed[pushed_count].shared;
    *(struct CUstream_st **)stream = pushed[pushed_count].stream;
    return cudaSuccess;
}

/* A stub asks once and keeps the handle, which therefore says nothing of the session. */
CUDART_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
    struct kernel *found = kernel_find(stub);

    *kernel = (cudaKernel_t)found;
    return found != NULL ? cudaSuccess : error_record(cudaErrorInvalidDeviceFunction);
}
