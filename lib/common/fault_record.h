/*
 * fault_record.h - where the kernels of a fenced session say what went wrong in them: in the print
 * block (print_ring.h), since both are the session's own. Functions of the house in the rewritten
 * module write it (ptx/rewrite/fault_text.c), the client looks at it whenever the session's work is
 * complete, and the worker reads it when the client asks.
 *
 * Trust: the tenant can write the block, and with it only a fault of its own.
 */
#ifndef GS_COMMON_FAULT_RECORD_H
#define GS_COMMON_FAULT_RECORD_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "common/print_ring.h"

/* The first of its kind, and how many came. Zeros: none came. */
struct fault_record {
    _Atomic uint64_t count;
    _Atomic uint64_t module;  /* its number in the session */
    _Atomic uint64_t address; /* that the kernel meant to access; 0: no address is known */
    /* enum fault_what << 56 | function << 32 | line of the module's PTX; written last. The function
     * counts as ptx_fault_names does. */
    _Atomic uint64_t where;
};

enum fault_what { FAULT_NOTHING = 0, FAULT_TRAP = 1, FAULT_ASSERT = 2, FAULT_STRAY = 3 };

#define FAULT_FUNCTIONS_MAX (1u << 24)

struct fault_records {
    struct fault_record end; /* what ended threads: a trap, an assertion */
    struct fault_record stray;
};

#define PRINT_AT_FAULT 2048u /* in the print block */

static_assert(sizeof(struct fault_record) == 32 && offsetof(struct fault_record, module) == 8 &&
                  offsetof(struct fault_record, address) == 16 &&
                  offsetof(struct fault_record, where) == 24,
              "as the text of fault_text.c");
static_assert(PRINT_AT_FAULT > PRINT_AT_TAKEN &&
                  PRINT_AT_FAULT + sizeof(struct fault_records) <= PRINT_AT_RING,
              "in the block's head");

static inline struct fault_records *fault_records_of(unsigned char *print_block)
{
    return (void *)(print_block + PRINT_AT_FAULT);
}

static inline enum fault_what fault_what(uint64_t where)
{
    return (enum fault_what)(where >> 56);
}

static inline uint32_t fault_function(uint64_t where)
{
    return where >> 32 & (FAULT_FUNCTIONS_MAX - 1);
}

static inline uint32_t fault_line(uint64_t where)
{
    return (uint32_t)where;
}

#endif
