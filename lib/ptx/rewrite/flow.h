/* Finds places where the compiler may make threads of a kernel wait for others of their warp to
 * catch up.
 *
 * Threads of a warp that diverge at a branch reconverge where all paths from it first come
 * together: at the branch's immediate postdominator. That does harm if the threads that wait there
 * had ended in the original text, while the others wait for them to be gone: in a barrier, which
 * counts the threads that have not ended, or in a bar.warp.sync of the whole warp. A pass that
 * leads several ends to one place creates such a postdominator.
 *
 * The function is seen as basic blocks and ends. Belongs to one call of a pass. */
#ifndef GS_PTX_REWRITE_FLOW_H
#define GS_PTX_REWRITE_FLOW_H

#include "ptx/ptx.h"

/* An exit, where control leaves the function: a ret, an exit, a branch to one, or the end behind
 * the last instruction. */
struct flow_exit {
    uint32_t inst; /* the number of the instruction; ptx_func.ninsts: behind the last one */
    uint32_t end;  /* the end (epilogue) that it leads to */
    bool held;     /* out: threads that leave here may be held while others wait for them */
};

struct flow;

enum flow_verdict {
    FLOW_FREE,    /* no thread is held that others wait for */
    FLOW_HELD,    /* some thread may be */
    FLOW_UNKNOWN, /* the control flow is too complex to decide in reasonable time */
    FLOW_NO_MEMORY
};

/* WAITS: for each instruction, whether threads wait in it for others of their block. NULL: no
 * memory. */
struct flow *flow_new(const struct ptx_func *f, const bool *waits);
void flow_free(struct flow *flow);
/* Checks the function with EXITS, which are in the order of instructions and lead to ENDS ends. */
enum flow_verdict flow_check(struct flow *flow, struct flow_exit *exits, uint32_t count,
                             uint32_t ends);

/* Whether control never continues behind the instruction. */
bool flow_stops(const struct ptx_inst *inst);
bool flow_is_exit(const struct ptx_inst *inst); /* ret or exit */
/* Whether the code from instruction AT on does nothing but end. */
bool flow_leads_to_end(const struct ptx_func *f, uint32_t at);

#endif
