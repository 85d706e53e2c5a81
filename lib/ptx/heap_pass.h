/* What callers of ptx_rewrite need to know of PTX_PASS_HEAP: see ptx/rewrite/rewrite.h. */
#ifndef GS_PTX_HEAP_PASS_H
#define GS_PTX_HEAP_PASS_H

#include "ptx/rewrite/rewrite.h"

/* The .const variable that PTX_PASS_HEAP adds: a struct ptx_heap. Whoever loads the module writes
 * it before the first launch; as loaded it is zero, and malloc returns NULL. */
#define PTX_HEAP_VARIABLE "gshare$heap"

struct ptx_heap {
    uint64_t base;  /* a multiple of 4 KiB */
    uint64_t pages; /* of 4 KiB that kernels allocate from */
};

/* The heap in memory that begins as zeros. One heap serves any number of modules. */
struct ptx_heap ptx_heap(uint64_t base, uint64_t bytes);

/* True where the text could allocate: it has one of the names, be it in a comment. */
bool heap_pass_maybe(const char *ptx, size_t len);

#endif
