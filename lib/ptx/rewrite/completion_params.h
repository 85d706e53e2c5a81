/* The hidden last parameter of a kernel that signals its own end; see completion_pass.c. Whoever
 * launches the kernel fills it; the code that the pass adds reads it at these offsets. */
#ifndef GS_PTX_REWRITE_COMPLETION_PARAMS_H
#define GS_PTX_REWRITE_COMPLETION_PARAMS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* All zeros: the kernel signals nothing and behaves as it did without the pass. */
struct completion_params {
    uint64_t word;     /* device address of a u64, 0: signal nothing */
    uint64_t position; /* the value stored at word */
    uint64_t fence;    /* device address of a u64 */
    uint64_t sequence; /* the value stored at fence: a number below 2^24, combined with %globaltimer
                          << 24 */
    uint64_t counter;  /* device address of a u32 that is 0 between kernels; kernels that may run at
                          the same time need different ones */
    uint32_t threads;  /* threads in the whole grid */
    uint32_t reserved; /* 0 */
};

#define COMPLETION_PARAMS_BYTES 48

static_assert(sizeof(struct completion_params) == COMPLETION_PARAMS_BYTES, "as the parameter");
static_assert(offsetof(struct completion_params, word) == 0, "as the added text");
static_assert(offsetof(struct completion_params, position) == 8, "as the added text");
static_assert(offsetof(struct completion_params, fence) == 16, "as the added text");
static_assert(offsetof(struct completion_params, sequence) == 24, "as the added text");
static_assert(offsetof(struct completion_params, counter) == 32, "as the added text");
static_assert(offsetof(struct completion_params, threads) == 40, "as the added text");

#endif
