// Frames: the activations of functions. Each frame has a register window of its own. Arguments and
// results are bytes in the lanes' local memory, where both caller and callee address them.
#include <stdlib.h>
#include <string.h>

#include "softcuda/interp/path.h"

// ---- Frames

struct frame *frame_new(struct warp *w, const struct code *code)
{
    struct exec_block *b = w->block;
    for (struct frame **at = &w->free_frames; *at; at = &(*at)->up) {
        struct frame *f = *at;
        if (f->code == code) {
            *at = f->up;
            return f;
        }
    }
    size_t bytes = ((size_t)code->frame_bytes + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
    if (!block_charge(b, bytes))
        return NULL;
    struct frame *f = malloc(sizeof *f);
    uint8_t *regs = aligned_alloc(SLOT_ALIGN, bytes);
    if (!f || !regs) {
        free(f);
        free(regs);
        return NULL;
    }
    memset(regs, 0, bytes); // the memory may contain another tenant's data
    *f = (struct frame){.code = code, .regs = regs, .bytes = bytes};
    return f;
}

void frame_free(struct warp *w, struct frame *f)
{
    f->up = w->free_frames;
    w->free_frames = f;
}

void frames_deinit(struct warp *w)
{
    while (w->free_frames) {
        struct frame *f = w->free_frames;
        w->free_frames = f->up;
        free(f->regs);
        free(f);
    }
    if (w->entry) {
        free(w->entry->regs);
        free(w->entry);
        w->entry = NULL;
    }
}

// ---- Arguments and results

static uint8_t *lane_local(const struct warp *w, unsigned lane)
{
    return w->block->local + ((uint64_t)w->index * LANES + lane) * w->block->local_bytes;
}

static void copy_local(const struct warp *w, uint32_t mask, uint64_t to, uint64_t from,
                       uint32_t bytes)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint8_t *local = lane_local(w, (unsigned)__builtin_ctz(rest));
        memcpy(local + to, local + from, bytes);
    }
}

static uint32_t least(uint32_t a, uint64_t b)
{
    return a < b ? a : (uint32_t)b;
}

void frame_copy_arguments(struct warp *w, const struct frame *f, const uint32_t *aux, uint32_t mask)
{
    const struct ptx_func *func = f->code->func;
    const uint32_t *args = aux + 2 + 2 * aux[0];
    for (uint32_t i = 0; i < aux[1] && i < func->nparams; i++) {
        const struct ptx_var *param = func->params[i];
        copy_local(w, mask, (uint64_t)f->local_base + f->code->param_at[i],
                   (uint64_t)f->up->local_base + args[2 * i],
                   least(args[2 * i + 1], param->unsized ? f->code->variadic_bytes : param->size));
    }
}

void frame_copy_results(struct warp *w, const struct frame *f, uint32_t mask)
{
    const struct ptx_func *func = f->code->func;
    const uint32_t *aux = f->ret_to;
    for (uint32_t i = 0; i < aux[0] && i < func->nrets; i++)
        copy_local(w, mask, (uint64_t)f->up->local_base + aux[2 + 2 * i],
                   (uint64_t)f->local_base + f->code->ret_at[i],
                   least(aux[2 + 2 * i + 1], func->rets[i]->size));
}
