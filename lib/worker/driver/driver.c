/* driver.c - see driver.h. The driver is loaded once, before any thread starts. */
#include "worker/driver/driver.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct driver table;
const struct driver *const cu = &table;

static bool table_fill(void *library, char *text, size_t text_size)
{
    static const struct {
        const char *name;
        size_t offset;
        bool needed;
    } entries[] = {
#define DRIVER_ENTRY(name, args)    {#name, offsetof(struct driver, name), true},
#define DRIVER_OPTIONAL(name, args) {#name, offsetof(struct driver, name), false},
        CUDA_ABI_FUNCTIONS(DRIVER_ENTRY) CUDA_ABI_OPTIONAL_FUNCTIONS(DRIVER_OPTIONAL)
#undef DRIVER_ENTRY
#undef DRIVER_OPTIONAL
    };

    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        void *function = dlsym(library, entries[i].name);
        if (!function && entries[i].needed) {
            snprintf(text, text_size, "the driver lacks %s: it is too old (12.4 is needed)",
                     entries[i].name);
            return false;
        }
        memcpy((char *)&table + entries[i].offset, &function, sizeof(function));
    }
    return true;
}

/* Loads one library, and checks that it has a device. The library stays loaded until the process
 * ends. */
static bool library_open(const char *path, char name[32], char *text, size_t text_size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int count = 0, version = 0;

    if (!library) {
        snprintf(text, text_size, "%s", dlerror());
        return false;
    }
    if (!table_fill(library, text, text_size))
        return false;
    if (DRV(cuInit, 0) || DRV(cuDriverGetVersion, &version) || DRV(cuDeviceGetCount, &count)) {
        driver_describe(text, text_size);
        return false;
    }
    if (count == 0) {
        snprintf(text, text_size, "%s finds no device", path);
        return false;
    }
    const char *slash = strrchr(path, '/');
    snprintf(name, 32, "%.22s %u.%u", slash ? slash + 1 : path, (unsigned)version / 1000 % 100,
             (unsigned)version % 1000 / 10);
    return true;
}

/* The software device's library lies beside the installed or built server: BIN/../lib. */
static void soft_path(char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    const char *given = getenv("GSHARE_SOFTCUDA");

    if (given) {
        snprintf(path, size, "%s", given);
        return;
    }
    self[n > 0 ? n : 0] = '\0';
    snprintf(path, size, "%s/../lib/libgshare-softcuda.so", dirname(self));
}

static bool soft;

/* Writes why "auto" chose the software device. A machine without a driver is told from one whose
 * driver does not work, which its operator will want to repair. */
static void fallback_describe(const char *reason, char *text, size_t size)
{
    if (strstr(reason, "libcuda.so.1: cannot open"))
        snprintf(text, size,
                 "there is no NVIDIA driver (libcuda.so.1): the software device runs kernels");
    else if (strstr(reason, "finds no device") || strstr(reason, "NO_DEVICE"))
        snprintf(text, size, "the NVIDIA driver finds no GPU: the software device runs kernels");
    else
        snprintf(text, size,
                 "the NVIDIA driver does not work (%.90s): the software device runs kernels",
                 reason);
}

bool driver_open(const char *kind, char name[32], char *text, size_t text_size)
{
    char path[PATH_MAX + 64], reason[192] = "";

    text[0] = 0;
    if (strcmp(kind, "soft") && library_open("libcuda.so.1", name, reason, sizeof(reason)))
        return true;
    if (!strcmp(kind, "cuda")) {
        snprintf(text, text_size, "%s", reason);
        return false;
    }
    soft_path(path, sizeof(path));
    soft = library_open(path, name, text, text_size);
    if (soft && strcmp(kind, "soft") != 0)
        fallback_describe(reason, text, text_size);
    return soft;
}

bool driver_takes_machine_code(void)
{
    return !soft;
}
