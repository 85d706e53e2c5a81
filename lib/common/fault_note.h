/*
 * fault_note.h - what the kernels of a fenced session note of their faults (a trap, a failed
 * assertion, a stray access), in the print block (print_ring.h), since both are the session's own.
 * Functions of gshare in the rewritten module write it (ptx/rewrite/fault_text.c), the client
 * looks at it whenever the session's work is complete, and the worker reads it when the client
 * asks.
 *
 * Trust: the tenant can write the block, and with it only a fault of its own.
 */
#ifndef GS_COMMON_FAULT_NOTE_H
#define GS_COMMON_FAULT_NOTE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/print_ring.h"

/* The first fault of a kind, and how many came. All zero: none came. */
struct fault_note {
    _Atomic uint64_t count;
    _Atomic uint64_t module;  /* its number in the session */
    _Atomic uint64_t address; /* the one that the kernel meant; 0: none is known */
    /* enum fault_what << 56 | function << 32 | line of the module's PTX; written last. The function
     * counts as ptx_fault_names does. */
    _Atomic uint64_t where;
};

enum fault_what { FAULT_NOTHING = 0, FAULT_TRAP = 1, FAULT_ASSERT = 2, FAULT_STRAY = 3 };

#define FAULT_FUNCTIONS_MAX (1u << 24)

struct fault_notes {
    struct fault_note end; /* what ended threads: a trap, an assertion */
    struct fault_note stray;
};

#define PRINT_AT_FAULT 2048u /* in the print block */

static_assert(sizeof(struct fault_note) == 32 && offsetof(struct fault_note, module) == 8 &&
                  offsetof(struct fault_note, address) == 16 &&
                  offsetof(struct fault_note, where) == 24,
              "as the text of fault_text.c");
static_assert(PRINT_AT_FAULT > PRINT_AT_TAKEN &&
                  PRINT_AT_FAULT + sizeof(struct fault_notes) <= PRINT_AT_RING,
              "in the block's head");

static inline struct fault_notes *fault_notes_of(unsigned char *print_block)
{
    return (void *)(print_block + PRINT_AT_FAULT);
}

/* Whether the note is there, whole. Relaxed: who reads the rest of it acquires. */
static inline bool fault_noted(const struct fault_note *note)
{
    return atomic_load_explicit(&note->where, memory_order_relaxed) != 0;
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
