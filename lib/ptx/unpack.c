/* See unpack.h. The libraries stay loaded until the process ends. */
#include "ptx/unpack.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

/* The documented interfaces of the libraries, which their sonames promise to keep. */
typedef size_t zstd_decompress(void *to, size_t to_size, const void *from, size_t from_size);
typedef unsigned zstd_is_error(size_t code);
typedef int lz4_decompress(const char *from, char *to, int from_size, int to_size);

static zstd_decompress *decompress_zstd;
static zstd_is_error *is_error_zstd;
static lz4_decompress *decompress_lz4;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Tries anew as long as a library is missing: it may be installed while the process runs. */
static bool have_zstd(void)
{
    void *library;

    pthread_mutex_lock(&lock);
    if (!decompress_zstd && (library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL))) {
        is_error_zstd = (zstd_is_error *)dlsym(library, "ZSTD_isError");
        decompress_zstd = (zstd_decompress *)dlsym(library, "ZSTD_decompress");
    }
    pthread_mutex_unlock(&lock);
    return decompress_zstd && is_error_zstd;
}

static bool have_lz4(void)
{
    void *library;

    pthread_mutex_lock(&lock);
    if (!decompress_lz4 && (library = dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL)))
        decompress_lz4 = (lz4_decompress *)dlsym(library, "LZ4_decompress_safe");
    pthread_mutex_unlock(&lock);
    return decompress_lz4;
}

static int is_missing(const char *what, const char *soname, const char *packages, char err[256])
{
    snprintf(err, 256, "the fatbin's PTX is packed with %s, and this machine has no %s: install %s",
             what, soname, packages);
    return -ENOTSUP;
}

int unpack_zstd(const void *from, size_t from_size, char *to, size_t *size, char err[256])
{
    if (!have_zstd())
        return is_missing("zstd", "libzstd.so.1", "libzstd1 (Debian, Ubuntu) or libzstd", err);
    *size = decompress_zstd(to, *size, from, from_size);
    if (is_error_zstd(*size))
        *size = 0;
    return 0;
}

int unpack_lz4(const void *from, size_t from_size, char *to, size_t *size, char err[256])
{
    int n;

    if (!have_lz4())
        return is_missing("LZ4", "liblz4.so.1", "liblz4-1 (Debian, Ubuntu) or lz4-libs", err);
    n = from_size > INT_MAX || *size > INT_MAX
            ? -1
            : decompress_lz4(from, to, (int)from_size, (int)*size);
    *size = n > 0 ? (size_t)n : 0;
    return 0;
}
