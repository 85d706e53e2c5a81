/* library.c - see library.h. */
#include "worker/blas/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "worker/driver/worker.h"

static struct library table;
const struct library *const lt = &table;

static struct {
    pthread_mutex_t lock;
    bool tried;       /* protected by the lock, as the next two */
    gs_status status; /* the result of the first load */
    char text[160];
    _Atomic(lt_handle) handle;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *setting(void)
{
    const char *set = getenv("GSHARE_CUBLAS");

    return set && *set ? set : "none";
}

/* Returns the path that is set; NULL: any of the known sonames. */
static const char *path_wanted(void)
{
    return strcmp(setting(), "auto") != 0 ? setting() : NULL;
}

bool library_excluded(void)
{
    return strcmp(setting(), "none") == 0;
}

/* Returns whether a library is to be used for this device. */
static bool library_wanted(void)
{
    return path_wanted() ? !library_excluded() : worker->machine_code;
}

/* Loads the library; NULL: there is none. RTLD_LOCAL: its symbols replace no others. */
static void *library_open(void)
{
    static const char *const sonames[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
    const char *path = path_wanted();
    void *opened = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

    for (size_t i = 0; !path && !opened && i < sizeof(sonames) / sizeof(sonames[0]); i++)
        opened = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL);
    return opened;
}

static gs_status table_fill(void *opened)
{
    static const struct {
        const char *name;
        size_t offset;
    } entries[] = {
#define LIBRARY_ENTRY(name, args) {#name, offsetof(struct library, name)},
        LT_FUNCTIONS(LIBRARY_ENTRY)
#undef LIBRARY_ENTRY
    };

    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        void *function = dlsym(opened, entries[i].name);
        if (!function) {
            snprintf(library.text, sizeof(library.text), "the server's cuBLASLt lacks %s",
                     entries[i].name);
            return GS_ERR_NOT_SUPPORTED;
        }
        memcpy((char *)&table + entries[i].offset, &function, sizeof(function));
    }
    return GS_OK;
}

static gs_status first_load(void)
{
    if (!library_wanted()) {
        snprintf(library.text, sizeof(library.text), "the server uses no cuBLAS here");
        return GS_ERR_NOT_SUPPORTED;
    }
    void *opened = library_open();
    if (!opened) {
        snprintf(library.text, sizeof(library.text), "the server has no cuBLASLt: %.110s",
                 dlerror());
        return GS_ERR_NOT_SUPPORTED;
    }
    return table_fill(opened);
}

gs_status library_load(char *text, size_t size)
{
    pthread_mutex_lock(&library.lock);
    if (!library.tried) {
        library.status = first_load();
        if (library.status != GS_OK)
            log_info("event=no-cublas reason=%s", library.text);
        library.tried = true;
    }
    const gs_status status = library.status;
    if (status != GS_OK)
        snprintf(text, size, "%s", library.text);
    pthread_mutex_unlock(&library.lock);
    return status;
}

gs_status library_start(char *text, size_t size)
{
    lt_handle handle = NULL;
    gs_status status = library_load(text, size);

    if (status != GS_OK || library_handle())
        return status;
    const int result = lt->cublasLtCreate(&handle);
    if (result != LT_SUCCESS) {
        snprintf(text, size, "cublasLtCreate: cuBLAS status %d", result);
        return GS_ERR_NOT_SUPPORTED;
    }
    /* release: publishes the table, too; pairs with library_handle */
    atomic_store_explicit(&library.handle, handle, memory_order_release);
    return GS_OK;
}

lt_handle library_handle(void)
{
    return atomic_load_explicit(&library.handle, memory_order_acquire);
}
