/* A device on which leaving a window is seen: the window and its guard are mapped, what indices
 * reach where the module's report says so, and nothing else that a tenant could reach, so an access
 * anywhere else is a fault. Its texture table can be read only, and all that textures and surfaces
 * show lies in the window; an object that is not from the table is an access elsewhere. */
#ifndef GS_TEST_UNIT_FENCE_RIG_H
#define GS_TEST_UNIT_FENCE_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/rewrite/rewrite.h"

enum fence_end {
    FENCE_RAN,     /* to its end, or to a fault that hits nobody: misaligned, trap, shared memory */
    FENCE_REFUSED, /* by the reader or the lowering */
    FENCE_ESCAPED
};

struct fence_rig {
    uint64_t base, size; /* of the window */
    char what[512];      /* of an escape, or the last fault */
    unsigned faults;     /* blocks of the last run that ended so */
    uint32_t columns;    /* of the texture table from which the last run took objects, a set */
};

void fence_rig_init(struct fence_rig *rig);
void fence_rig_deinit(struct fence_rig *rig);
/* Gives back what kernels wrote. */
void fence_rig_clear(struct fence_rig *rig);
/* Runs kernel "k" of TEXT, whose report REPORT is. Its first parameters are PARAMS, 8 bytes each;
 * all others are 0. */
enum fence_end fence_rig_run(struct fence_rig *rig, const char *text,
                             const struct ptx_fence_report *report, unsigned blocks,
                             unsigned threads, const uint64_t *params, unsigned nparams);

#endif
