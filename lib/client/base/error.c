/*
 * error.c - see error.h.
 *
 * The library has no thread-local variables, because dlopen finds static TLS for a few bytes only,
 * or for none. A thread's message is the value of a key instead: a buffer that the thread's first
 * failure allocates and the thread's end frees. If there is no memory for a buffer, the value is
 * the status, with the lowest bit set, and the message is the status's own text. If a thread cannot
 * have a value either (all keys are taken), all such threads share the last status.
 */
#include "client/base/error.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/status.h"

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static _Atomic bool key_made;
static _Atomic int shared_status; /* GS_OK: every failed thread has a value of its own */

static void value_free(void *value)
{
    if (!((uintptr_t)value & 1))
        free(value);
}

static void key_make(void)
{
    atomic_store_explicit(&key_made, pthread_key_create(&key, value_free) == 0,
                          memory_order_release);
}

/* A program may unload a library that contains libgshare.a, after which a thread's end must not
 * call value_free. */
__attribute__((destructor)) static void key_delete(void)
{
    if (atomic_exchange_explicit(&key_made, false, memory_order_acq_rel))
        pthread_key_delete(key);
}

/* acquire: pairs with the release in key_make; the key is valid. */
static void *value_get(void)
{
    return atomic_load_explicit(&key_made, memory_order_acquire) ? pthread_getspecific(key) : NULL;
}

static bool value_set(const void *value)
{
    return atomic_load_explicit(&key_made, memory_order_acquire) &&
           pthread_setspecific(key, value) == 0;
}

/* Returns the calling thread's buffer; NULL: there is no memory for one. */
static char *buffer_get(void)
{
    char *buffer = value_get();

    if (buffer && !((uintptr_t)buffer & 1))
        return buffer;
    pthread_once(&key_once, key_make);
    buffer = malloc(ERROR_MESSAGE_MAX);
    if (buffer && !value_set(buffer)) {
        free(buffer);
        buffer = NULL;
    }
    return buffer;
}

gs_status error_set(gs_status status, const char *format, ...)
{
    char *buffer = buffer_get();
    va_list ap;

    if (buffer) {
        va_start(ap, format);
        vsnprintf(buffer, ERROR_MESSAGE_MAX, format, ap);
        va_end(ap);
    } else if (!value_set((void *)((uintptr_t)status << 1 | 1))) {
        atomic_store_explicit(&shared_status, status, memory_order_relaxed);
    }
    return status;
}

gs_status error_system(const char *what)
{
    int error = errno;
    gs_status status = error == ENOMEM || error == EMFILE || error == ENFILE || error == ENOSPC
                           ? GS_ERR_NO_MEMORY
                           : GS_ERR_SYSTEM;
    char text[128];

    return error_set(status, "%s: %s", what, strerror_r(error, text, sizeof(text)));
}

const char *error_last(void)
{
    uintptr_t value = (uintptr_t)value_get();
    gs_status status = (gs_status)(value >> 1);

    if (value && !(value & 1))
        return (const char *)value;
    if (!value)
        status = (gs_status)atomic_load_explicit(&shared_status, memory_order_relaxed);
    return status == GS_OK ? "" : status_text(status);
}

void error_keep(char kept[ERROR_MESSAGE_MAX])
{
    snprintf(kept, ERROR_MESSAGE_MAX, "%s", error_last());
}

gs_status error_server(gs_status status, const char *message)
{
    return error_set(status, "%s", *message ? message : status_text(status));
}
