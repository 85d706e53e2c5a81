/* driver_function.h - a function of the driver, asked for by its name: DRIVER(cuMemAlloc_v3020). */
#include <cudaTypedefs.h>

#include "show.h"

static void *driver_function(const char *name, unsigned version)
{
    cudaDriverEntryPointQueryResult result;
    void *function = nullptr;

    MUST(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &result));
    if (result != cudaDriverEntryPointSuccess || function == nullptr) {
        printf("%s: not found\n", name);
        exit(1);
    }
    return function;
}

#define DRIVER(name, version)                                                                      \
    const auto name = (PFN_##name##_v##version)driver_function(#name, version)
