/*
 * fault_note.h - the fault notes of a fenced session, in which its kernels note their faults (a
 * trap, a failed assertion, a stray access). They are in the session's print block (print_ring.h).
 * Functions that gshare adds to the rewritten module write them (ptx/rewrite/fault_text.c), the
 * client checks for them whenever the session's work is complete, and the worker reads them when
 * the client asks (REQ_FAULT).
 *
 * Trust: the tenant can write the block, but can thereby only forge faults of its own session.
 */
#ifndef GS_COMMON_FAULT_NOTE_H
#define GS_COMMON_FAULT_NOTE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/print_ring.h"

/* The first fault of a kind and the number of such faults. All zero: there was none. */
struct fault_note {
    _Atomic uint64_t count;
    _Atomic uint64_t module;  /* the module's number in the session */
    _Atomic uint64_t address; /* the address that the kernel tried to access; 0: unknown */
    /* enum fault_what << 56 | function << 32 | line of the module's PTX; written last. The
     * function's number is that of ptx_fault_names. */
    _Atomic uint64_t where;
};

enum fault_what { FAULT_NOTHING = 0, FAULT_TRAP = 1, FAULT_ASSERT = 2, FAULT_STRAY = 3 };

#define FAULT_FUNCTIONS_MAX (1u << 24)

struct fault_notes {
    struct fault_note end; /* the fault that ended threads: a trap or an assertion */
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

/* Returns whether the note has been written completely. Relaxed: a caller that reads the other
 * members loads `where` with acquire. */
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
