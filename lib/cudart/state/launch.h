/* launch.h - the launch of a kernel on a stream. */
#ifndef GS_CUDART_LAUNCH_H
#define GS_CUDART_LAUNCH_H

#include "cudart/abi.h"
#include "cudart/state/module.h"
#include "cudart/state/stream.h"

/* Copies the arguments, whose sizes the module tells, to one block of memory; NULL: the kernel has
 * none. */
cudaError_t kernel_args_copy(struct kernel *kernel, void **args, void ***out);
/* shared: the dynamic shared memory, which may exceed the field in config. */
cudaError_t kernel_launch(struct kernel *kernel, const gs_launch_config *config, size_t shared,
                          void **args, struct stream *stream);

#endif
