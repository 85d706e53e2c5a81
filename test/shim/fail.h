/*
 * fail.h - makes one call to the C library fail, in the program that loads libgshare-fail.so: the
 * N-th of those listed in fail.c. A test links the library, or preloads it into gshared; both map
 * the same plan, a file that $GSHARE_FAIL_PLAN names.
 */
#ifndef GS_TEST_FAIL_H
#define GS_TEST_FAIL_H

#include <stdatomic.h>
#include <stdint.h>

enum fail_role { FAIL_NOBODY = 0, FAIL_CLIENT = 1, FAIL_SERVER = 2, FAIL_WORKER = 3 };

struct fail_plan {
    _Atomic uint32_t role;     /* whose call fails */
    _Atomic uint32_t calls;    /* so many calls succeed before it */
    _Atomic uint32_t failures; /* 1: it has happened */
    char name[32];             /* of the function that failed */
};

/* For a program that is linked with the library: uses the plan in this file. NULL: it cannot. */
struct fail_plan *fail_plan_use(const char *path);
/* Blocks of the heap that are in use. -1: not counted, for a sanitizer has the heap. */
long fail_heap_blocks(void);

#endif
