/* Which functions of a module can reach, by calls, a function that has some property. Belongs to
 * one pass. */
#ifndef GS_PTX_REWRITE_REACH_H
#define GS_PTX_REWRITE_REACH_H

#include "ptx/ptx.h"

#define REACH_NONE    UINT32_MAX
#define REACH_SEVERAL (UINT32_MAX - 1)

struct reach_call {
    uint32_t from, to; /* ptx_func.id */
};

/* The calls of a module. An indirect call may reach each function of the module whose address is
 * taken. */
struct reach {
    uint32_t nodes;
    struct reach_call *calls;
    size_t count, room;
    bool *taken; /* by ptx_func.id: its address is used as a value */
    bool failed; /* no memory */
};

void reach_init(struct reach *reach, const struct ptx_module *m);
void reach_deinit(struct reach *reach);
/* CAUSE, by ptx_func.id: on entry, functions that have the property hold their own id, the others
 * REACH_NONE. On return, each function that can call such a function holds that function's id. */
void reach_spread(struct reach *reach, uint32_t *cause);
/* OWNER, by ptx_func.id: on entry, some functions hold their own id, the others REACH_NONE. On
 * return, each function holds the id of the only one of them that can call it, REACH_SEVERAL, or
 * REACH_NONE. */
void reach_owner(struct reach *reach, uint32_t *owner);
/* Whether the depth of some chain of calls is unknown, because of an indirect call or recursion. A
 * chain of more than 64 calls counts as unknown. */
bool reach_is_deep(struct reach *reach);

#endif
