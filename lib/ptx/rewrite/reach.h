/* Which functions of a module can reach one that has a property, by calls. Belongs to one pass. */
#ifndef GS_PTX_REWRITE_REACH_H
#define GS_PTX_REWRITE_REACH_H

#include "ptx/ptx.h"

#define REACH_NONE    UINT32_MAX
#define REACH_SEVERAL (UINT32_MAX - 1)

struct reach_call {
    uint32_t from, to; /* ptx_func.id */
};

/* The calls of a module. An indirect call counts as one of each function of the module whose
 * address is taken: nothing tells more. */
struct reach {
    uint32_t nodes;
    struct reach_call *calls;
    size_t count, room;
    bool *taken; /* by ptx_func.id: its address is used as a value */
    bool failed; /* no memory */
};

void reach_init(struct reach *reach, const struct ptx_module *m);
void reach_deinit(struct reach *reach);
/* CAUSE, by ptx_func.id: a function that has the property holds its own id, the others REACH_NONE.
 * Afterwards those that can call one that has it hold that one's id. */
void reach_spread(struct reach *reach, uint32_t *cause);
/* OWNER, by ptx_func.id: some functions hold an id of their own, the others REACH_NONE. Afterwards
 * each holds the id of the only one of them that can call it, REACH_SEVERAL, or REACH_NONE. */
void reach_owner(struct reach *reach, uint32_t *owner);
/* Whether some chain of calls has no length that the text tells: one by address, or recursion. Of
 * chains of more than 64 calls that is taken for granted. */
bool reach_is_deep(struct reach *reach);

#endif
