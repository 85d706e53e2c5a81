/* heap.h - the layout of the heap that kernels allocate from. Both the device's functions
 * (heap_device.cu) and the host compile this file, so it includes nothing and uses plain types.
 *
 *     base                                          base + pages * HEAP_PAGE
 *     | page 0 | page 1 | ...                       | hints | states | maps |
 *
 *   states   one word for each page: what the page holds, and how many blocks of it are in use
 *   maps     HEAP_MAP words for each page: a bit for each block, or the length of a run
 *   hints    where threads begin to look for a page with room
 *
 * All zero is an empty heap. */
#ifndef GS_PTX_REWRITE_HEAP_H
#define GS_PTX_REWRITE_HEAP_H

/* The prefix of the functions' names. */
#define HEAP_FUNCTIONS "gshare_heap"

#define HEAP_PAGE  4096u
#define HEAP_UNIT  16u /* alignment of addresses, and granularity of sizes */
#define HEAP_MAP   (HEAP_PAGE / HEAP_UNIT / 32u)
#define HEAP_HINTS 256u

#define HEAP_CONTROL_BYTES(pages) (4 * (HEAP_HINTS + (1 + HEAP_MAP) * (unsigned long long)(pages)))

/* The number of pages that fit into so many bytes together with their control data. */
#define HEAP_PAGES(bytes)                                                                          \
    ((bytes) < HEAP_CONTROL_BYTES(0)                                                               \
         ? 0                                                                                       \
         : ((bytes)-HEAP_CONTROL_BYTES(0)) / (HEAP_PAGE + 4 * (1 + HEAP_MAP)))

#endif
