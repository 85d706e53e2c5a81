// Warps, as paths, calls and the block's loop share them.
#ifndef GS_SOFTCUDA_INTERP_PATH_H
#define GS_SOFTCUDA_INTERP_PATH_H

#include "softcuda/device/num.h"
#include "softcuda/interp/interp.h"

// Makes the path at INDEX the current one; saves the state of the former one.
void warp_load_path(struct warp *w, uint32_t index);
void warp_save_path(struct warp *w);
// Chooses a path that can run. False: none can; all wait or have ended.
bool warp_choose(struct warp *w);
// Blocks the current path in STATE, at IN.
void warp_block_path(struct warp *w, const struct insn *in, enum path_state state);
// Splits off the lanes in MASK, a part of the current path, which continue at PC. Both parts
// reconverge at JOIN_PC unless that is NO_TARGET.
int warp_split(struct warp *w, const struct insn *in, uint32_t mask, uint32_t pc, uint32_t join_pc);
// The block allows grids that depend on its grid to begin.
void block_let_go(struct exec_block *b);
int warp_start(struct warp *w);
// Frees the frames and joins of unfinished paths.
void warp_paths_free(struct warp *w);
void warp_deinit(struct warp *w);

// Charges BYTES of host memory for the state of B. False: B, or all blocks together, would exceed
// the limit.
bool block_charge(struct exec_block *b, size_t bytes);
// As block_charge, for memory that a block needs before it can begin. -EAGAIN: other blocks have it
// now. -ENOMEM.
int block_admit(struct exec_block *b, size_t bytes);
void block_discharge(struct exec_block *b); // gives all of it back

// ---- Frames (interp/frame.c)

struct frame *frame_new(struct warp *w, const struct code *code);
void frame_free(struct warp *w, struct frame *f);
// AUX: nrets, nargs, at and bytes of each result, of each argument.
void frame_copy_arguments(struct warp *w, const struct frame *f, const uint32_t *aux,
                          uint32_t mask);
void frame_copy_results(struct warp *w, const struct frame *f, uint32_t mask);
void frames_deinit(struct warp *w);

#endif
