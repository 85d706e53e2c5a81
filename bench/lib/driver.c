/* driver.c - see driver.h. */
#include "lib/driver.h"

#include <dlfcn.h>
#include <stddef.h>

#include "lib/cell.h"

void driver_check(const struct driver *driver, const char *name, CUresult result)
{
    const char *text = "?";

    if (result == CUDA_SUCCESS)
        return;
    driver->cuGetErrorName(result, &text);
    cell_fail("%s: %s (%d)", name, text, (int)result);
}

void *driver_symbol(const struct driver *driver, const char *name)
{
    void *at = dlsym(driver->library, name);

    if (at == NULL)
        cell_fail("%s", dlerror());
    return at;
}

void driver_load(struct driver *driver, const char *path)
{
    driver->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (driver->library == NULL)
        cell_fail("%s", dlerror());
#define DRIVER_FILL(name, args) *(void **)&driver->name = driver_symbol(driver, #name);
    CUDA_ABI_FUNCTIONS(DRIVER_FILL)
#undef DRIVER_FILL
}
