/* Requests for memory that fail when a test says so, and a count of what is not given back. The C
 * library's own names are defined here, in front of its own: for one file of a program, and not
 * under a sanitizer, which has an allocator of its own (OWN_ALLOCATOR is 0 then). */
#ifndef GS_TEST_UNIT_FAILING_ALLOC_H
#define GS_TEST_UNIT_FAILING_ALLOC_H

#include <stdlib.h>

#include "common/sanitizers.h"

#define OWN_ALLOCATOR !(ADDRESS_SANITIZER || THREAD_SANITIZER)

#if OWN_ALLOCATOR
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *mem);

static long fail_at = -1; /* requests until one fails; below zero: none does */
static long live;

static int fails(void)
{
    return fail_at >= 0 && fail_at-- == 0;
}

static void *counted(void *mem)
{
    live += mem != NULL;
    return mem;
}

void *malloc(size_t size)
{
    return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    if (fails())
        return NULL;
    return old ? __libc_realloc(old, size) : counted(__libc_malloc(size));
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : counted(__libc_memalign(align, size));
}

void free(void *mem)
{
    live -= mem != NULL;
    __libc_free(mem);
}
#endif

#endif
