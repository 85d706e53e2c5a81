// Driver calls that look driver calls up.
#include <stdbool.h>
#include <string.h>

#include "common/util.h"
#include "softcuda/api/api.h"
#include "softcuda/api/more.h"
#include "softcuda/device/device.h"

struct entry {
    const char *name;
    void *function;
};

CUAPI CUresult cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);

static const struct entry entries[] = {
#define ENTRY(name, arguments) {#name, (void *)name},
    CUDA_ABI_FUNCTIONS(ENTRY) CUDA_ABI_FUNCTIONS_NEWER(ENTRY) CUDA_ABI_TEXTURE_FUNCTIONS(ENTRY)
        API_MORE_FUNCTIONS(ENTRY)
#undef ENTRY
};

// For a function with several versions: the CUDA version from which on the plain name means this
// one. Functions that are not listed have not changed since before 12.4.
static const struct {
    const char *name;
    int since;
} versions[] = {
    {"cuCtxCreate_v3", 11040},
    {"cuCtxCreate_v4", 12050},
    {"cuEventElapsedTime_v2", 12080},
    {"cuGraphAddDependencies_v2", 12030},
};

static int entry_since(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
        if (strcmp(versions[i].name, name) == 0)
            return versions[i].since;
    }
    return 0;
}

// Whether NAME is the symbol, perhaps followed by a version.
static bool entry_matches(const char *name, const char *symbol)
{
    size_t length = strlen(symbol);

    return strncmp(name, symbol, length) == 0 &&
           (name[length] == 0 ||
            (strncmp(name + length, "_v", 2) == 0 && strlen(name + length) == 3));
}

static const struct entry *entry_find(const char *symbol, int version, bool *too_new)
{
    const struct entry *best = NULL;

    *too_new = false;
    for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
        if (!entry_matches(entries[i].name, symbol))
            continue;
        if (entry_since(entries[i].name) > version)
            *too_new = true;
        else if (!best || strcmp(entries[i].name, best->name) > 0)
            best = &entries[i];
    }
    return best;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult *result)
{
    const struct entry *found;
    bool too_new;

    if (!symbol || !function || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    found = entry_find(symbol, version, &too_new);
    *function = found ? found->function : NULL;
    if (result)
        *result = found     ? CU_GET_PROC_ADDRESS_SUCCESS
                  : too_new ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                            : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}
