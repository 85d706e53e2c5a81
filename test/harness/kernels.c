/* kernels.c - the tests' kernels, as the PTX of kernels.ptx inside the program. */
#include "internal.h"

__asm__(".section .rodata\n"
        ".global kernels_ptx\n"
        ".type kernels_ptx, @object\n"
        "kernels_ptx:\n"
        ".incbin \"" PTX_FILE "\"\n"
        ".byte 0\n"
        ".size kernels_ptx, . - kernels_ptx\n"
        ".previous\n");

gs_module kernels_load(gs_session session)
{
    gs_module module;

    CHECK_OK(gs_module_load(session, kernels_ptx, 0, &module));
    return module;
}

gs_kernel kernels_get(gs_module module, const char *name)
{
    gs_kernel kernel;

    CHECK_OK(gs_kernel_get(module, name, &kernel));
    return kernel;
}

gs_status kernels_launch(gs_stream stream, gs_kernel kernel, unsigned blocks, unsigned threads,
                         void **args)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(blocks, threads);

    return gs_launch(stream, kernel, &config, args);
}
