/* kernels.c - the tests' kernels, as the PTX of kernels.ptx inside the program. */
#include <string.h>

#include "common/embed.h"
#include "internal.h"

EMBED_TEXT(kernels_ptx, PTX_FILE)

gs_module kernels_load_bound(gs_session session)
{
    static const char ptx[] =
        ".version 6.4\n.target sm_70\n.address_size 64\n.func five() { ret; }\n"
        ".visible .global .align 8 .u64 table = five;\n"
        ".visible .entry look(.param .u64 to)\n"
        "{ .reg .b64 %rd<2>; ld.param.u64 %rd0, [to];\n"
        "  ld.global.u64 %rd1, [table]; st.global.u64 [%rd0], %rd1; ret; }\n";
    gs_module module;

    CHECK_OK(gs_module_load(session, ptx, strlen(ptx), &module));
    return module;
}

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
