/*
 * driver.h - a driver library that stands before the software device, makes one call fail, holds
 * calls up, hands out memory that is not clean, keeps some of it, and
 * counts what nobody should give it: libgshare-fail-driver.so. The
 * worker loads it where $GSHARE_SOFTCUDA names it; the test and the library map the same plan, a
 * file that $GSHARE_DRIVER_PLAN names.
 */
#ifndef GS_TEST_DRIVER_H
#define GS_TEST_DRIVER_H

#include <stdatomic.h>
#include <stdint.h>

#define HOST_LARGE  "large cuMemHostRegister"
#define DRIVER_DIRT 0xA5u /* each byte of memory that was just made */

struct driver_plan {
    _Atomic uint32_t armed;      /* calls are counted, and one fails */
    _Atomic uint32_t calls;      /* so many succeed before it */
    _Atomic uint32_t failures;   /* 1: it has happened */
    _Atomic uint32_t holding;    /* calls of the function `held` wait while it is not 0 */
    _Atomic uint32_t waiting;    /* so many of them do */
    _Atomic uint32_t slow_ms;    /* calls of the function `slow` take so long */
    _Atomic uint32_t slow_calls; /* so many of them have been made since */
    _Atomic uint64_t keeps; /* bytes of device memory that are not given back with a partition */
    _Atomic uint32_t containers; /* images that cuModuleLoadDataEx got and that are no text: what it
                                  * would have to unpack, and maybe compile */
    char held[48];
    char slow[48];           /* HOST_LARGE: cuMemHostRegister, of a MiB and more */
    char only[48];           /* calls of this function are counted; empty: of all */
    char crash[48];          /* the compiler crashes on texts with this word; empty: on none */
    char hungry[48];         /* it takes much memory for texts with this word, ... */
    _Atomic uint64_t hunger; /* ... so many bytes */
    char name[48];           /* of the function that failed */
};

#endif
