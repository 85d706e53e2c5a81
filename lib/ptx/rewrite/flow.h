/* Where a compiler may hold threads of a kernel until others of their warp catch up.
 *
 * Threads of a warp that part at a branch are made to meet again where all ways from it first come
 * together: at the branch's immediate postdominator. That is no harm, unless the threads that are
 * held there had ended in the text as it was written, and the others wait for them to be gone: in a
 * barrier, which counts the threads that have not ended, or in a bar.warp.sync of the whole warp.
 * Ends that a pass leads to one place make such a place to meet.
 *
 * The function is seen as blocks of instructions that run one after the other, and ends. Belongs to
 * one call of a pass. */
#ifndef GS_PTX_REWRITE_FLOW_H
#define GS_PTX_REWRITE_FLOW_H

#include "ptx/ptx.h"

/* An instruction that leads to an end: ret, exit, a branch to one; or ptx_func.ninsts, for control
 * that falls off the last instruction. */
struct flow_way {
    uint32_t inst;
    uint32_t end; /* which end it is led to */
    bool held;    /* out: threads that take it may be held for threads that wait for them */
};

struct flow;

enum flow_verdict {
    FLOW_FREE,    /* nobody is held who is waited for */
    FLOW_HELD,    /* somebody may be */
    FLOW_UNKNOWN, /* the branches are too tangled to tell in reasonable time */
    FLOW_NO_MEMORY
};

/* WAITS: by instruction, whether threads wait for others of their block in it. NULL: no memory. */
struct flow *flow_new(const struct ptx_func *f, const bool *waits);
void flow_free(struct flow *flow);
/* With WAYS, in the order of instructions, leading to ENDS ends. */
enum flow_verdict flow_check(struct flow *flow, struct flow_way *ways, uint32_t count,
                             uint32_t ends);

/* Whether control does not pass the instruction. */
bool flow_stops(const struct ptx_inst *inst);
bool flow_is_exit(const struct ptx_inst *inst); /* ret or exit */
/* Whether nothing but an end follows from instruction AT on. */
bool flow_leads_to_end(const struct ptx_func *f, uint32_t at);

#endif
