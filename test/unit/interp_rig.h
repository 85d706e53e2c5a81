/* A device small enough to hold in one hand, for tests of the interpreter: one arena of memory,
 * blocks run one after another by the calling thread. */
#ifndef GS_TEST_UNIT_INTERP_RIG_H
#define GS_TEST_UNIT_INTERP_RIG_H

#include "ptx/ptx.h"
#include "softcuda/interp/exec.h"
#include "softcuda/lower/program.h"

struct rig {
    struct ptx_module *module;
    struct exec_program *program;
    uint8_t *arena;
    size_t arena_bytes, used;
    uint64_t *addresses; /* of the module's variables */
    struct mem_map *map;
    struct exec_device device;
    struct exec_fault fault;
    uint64_t turn;                        /* warp instructions of a block's turn; 0: many */
    _Atomic uint64_t thread_instructions; /* of all launches */
    char printed[8192];
    size_t nprinted;
    char log[512];
};

/* Reads and binds TEXT. NULL with a message on stderr where the reader or the lowering refuses it.
 */
struct rig *rig_new(const char *text, size_t length);
void rig_free(struct rig *r);
/* BYTES of device memory, zeroed. */
void *rig_alloc(struct rig *r, size_t bytes);
/* The status of the first block that did not end, or EXEC_DONE. BLOCKS of THREADS, one dimension.
 */
enum exec_status rig_launch(struct rig *r, const char *kernel, uint32_t blocks, uint32_t threads,
                            uint32_t shared, const void *params);
enum exec_status rig_launch3(struct rig *r, const char *kernel, const uint32_t grid[3],
                             const uint32_t block[3], uint32_t shared, const void *params);

#endif
