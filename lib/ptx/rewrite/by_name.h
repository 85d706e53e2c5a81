/*
 * by_name.h - tables of structures that begin with a name, sorted by that name. A tenant's module
 * may have tens of thousands of kernels, which are looked up one by one.
 */
#ifndef GS_PTX_REWRITE_BY_NAME_H
#define GS_PTX_REWRITE_BY_NAME_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* SIZE: the size of an entry. */
static inline void by_name_sort(void *table, size_t count, size_t size)
{
    if (count > 1)
        qsort(table, count, size, by_name);
}

/* The entry of that name in a sorted table; NULL: there is none. */
static inline const void *by_name_find(const void *table, size_t count, size_t size,
                                       const char *name)
{
    return count ? bsearch(&name, table, count, size, by_name) : NULL;
}

#endif
