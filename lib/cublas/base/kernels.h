/* kernels.h - loads and launches the library's own kernels; each is loaded at its first use. Any
 * thread. */
#ifndef GS_CUBLAS_KERNELS_H
#define GS_CUBLAS_KERNELS_H

#include "cublas/abi.h"

enum kernel_name {
    KERNEL_NONE,
#define MODULE(module)
#define KERNEL(module, name) KERNEL_##name,
#include "cublas/base/kernels.def"
#undef KERNEL
#undef MODULE
    KERNELS
};

struct kernel_shape {
    dim3 grid, block;
};

/* Launches the kernel with one struct of parameters. */
cublasStatus_t kernel_launch(enum kernel_name name, struct kernel_shape shape, void *params,
                             cudaStream_t stream);

#endif
