// A block from start to end: its state, its warps in turns, its faults. Only the engine thread that
// holds the block accesses it.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/interp/path.h"

enum {
    QUANTUM = 4096,        // instructions before the next warp's turn
    LOCAL_LIMIT = 1 << 20, // all blocks share the memory that block_charge hands out
    STACK_SCALE = 4,       // parameters are in memory here, in registers on the hardware
};

// ---- The holder

static uint32_t product(const uint32_t d[3])
{
    return d[0] * d[1] * d[2];
}

// The most bytes of local memory that one thread needs.
static uint64_t thread_local_bytes(const struct exec_grid *grid, const struct code *code,
                                   const struct kernel_layout *layout)
{
    uint64_t bytes = code->local_bytes;
    if (grid->kernel->uses_dynamic_stack)
        bytes += (uint64_t)grid->stack_bytes * STACK_SCALE;
    else
        bytes += layout->stack_static;
    bytes = (bytes + 15) / 16 * 16;
    return bytes > LOCAL_LIMIT ? LOCAL_LIMIT : bytes;
}

static int warp_init(struct warp *w, struct exec_block *b, uint32_t index)
{
    w->block = b;
    w->index = index;
    w->entry = frame_new(w, b->code);
    uint32_t *tid = aligned_alloc(SLOT_ALIGN, 3 * LANES * sizeof *tid);
    w->tid[0] = tid;
    if (!w->entry || !tid)
        return -1;
    w->entry->up = NULL;
    const uint32_t *dim = b->grid->block_dim;
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t t = index * LANES + l;
        tid[l] = t % dim[0];
        tid[LANES + l] = t / dim[0] % dim[1];
        tid[2 * LANES + l] = t / dim[0] / dim[1];
    }
    w->tid[1] = tid + LANES;
    w->tid[2] = tid + 2 * LANES;
    return 0;
}

static void block_free(struct exec_block *b)
{
    for (uint32_t i = 0; b->warps && i < b->nwarps; i++) {
        warp_deinit(&b->warps[i]);
        free(b->warps[i].tid[0]);
    }
    block_discharge(b);
    free(b->warps);
    free(b->shared);
    free(b->local);
    free(b);
}

static void cluster_free(struct exec_block **cluster, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        block_free(cluster[k]);
    free(cluster);
}

static int block_new(const struct exec_grid *grid, struct exec_block **out)
{
    const struct exec_program *p = grid->kernel->program;
    struct exec_block *b = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    b->grid = grid;
    b->program = p;
    b->code = p->codes[grid->kernel->func->id];
    b->layout = &p->layouts[grid->kernel - p->kernels];
    b->nthreads = product(grid->block_dim);
    b->nwarps = (b->nthreads + LANES - 1) / LANES;
    b->shared_bytes = b->layout->dynamic_shared + grid->dynamic_shared;
    b->local_bytes = (uint32_t)thread_local_bytes(grid, b->code, b->layout);
    int status = block_admit(b, b->shared_bytes + (size_t)b->nwarps * LANES * b->local_bytes);
    if (status) {
        block_free(b);
        return status;
    }
    // cleared, since it may contain another tenant's data
    b->shared = aligned_alloc(1024, (b->shared_bytes + 1024) / 1024 * 1024);
    b->local = calloc((size_t)b->nwarps * LANES + 1, b->local_bytes + 1u);
    b->warps = calloc(b->nwarps, sizeof *b->warps);
    if (!b->shared || !b->local || !b->warps || b->nwarps > BLOCK_WARPS) {
        block_free(b);
        return -ENOMEM;
    }
    memset(b->shared, 0, b->shared_bytes);
    for (uint32_t i = 0; i < b->nwarps; i++)
        if (warp_init(&b->warps[i], b, i)) {
            block_free(b);
            return -ENOMEM;
        }
    *out = b;
    return 0;
}

int exec_block_new(const struct exec_grid *grid, struct exec_block **out)
{
    uint32_t size = exec_cluster_size(grid);
    struct exec_block **cluster = calloc(size, sizeof(struct exec_block *));
    if (!cluster)
        return -ENOMEM;
    for (uint32_t k = 0; k < size; k++) {
        int status = block_new(grid, &cluster[k]);
        if (status) {
            cluster_free(cluster, k);
            return status;
        }
        cluster[k]->cluster = cluster;
        cluster[k]->cluster_size = size;
        cluster[k]->rank = k;
    }
    *out = cluster[0];
    return 0;
}

void exec_block_free(struct exec_block *b)
{
    if (b)
        cluster_free(b->cluster, b->cluster_size);
}

static void block_start(struct exec_block *b, uint64_t cluster, uint32_t smid)
{
    uint64_t clusters = cluster, rank = b->rank;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t of = exec_cluster_dim(b->grid, i), many = b->grid->grid_dim[i] / of;
        b->index[i] = (uint32_t)(clusters % many * of + rank % of);
        clusters /= many;
        rank /= of;
    }
    b->smid = smid;
    b->next_warp = b->turn_used = 0;
    b->let_go = false;
    b->barriers_used = 0;
    b->wgmma_waits = false;
    memset(b->barriers, 0, sizeof b->barriers);
    for (uint32_t i = 0; i < b->nwarps; i++) {
        struct warp *w = &b->warps[i];
        uint32_t lanes = b->nthreads - i * LANES;
        warp_paths_free(w);
        w->faulted = false;
        w->at_cluster = 0;
        memset(w->wgmma, 0, sizeof w->wgmma);
        w->dead = lanes >= LANES ? 0 : ALL_LANES << lanes;
        w->entry->local_base = 0;
        w->entry->local_top = b->code->local_bytes;
        warp_start(w);
    }
}

void exec_block_start(struct exec_block *b, uint64_t index, const uint32_t *smids)
{
    b->cluster_waits = false;
    for (uint32_t k = 0; k < b->cluster_size; k++)
        block_start(b->cluster[k], index, smids[k]);
}

// ---- Running

// Runs instructions of the current path until it ends, blocks, faults or has used its turn.
static inline __attribute__((always_inline)) int steps(struct warp *w, bool counting)
{
    uint64_t lanes = 0;
    int step = STEP_NEXT;
    while (w->left) {
        const struct insn *in = &w->insns[w->pc++];
        uint32_t mask = w->mask;
        w->left--;
        if (in->guard != NO_GUARD) {
            uint32_t p = *(const u32 *)(const void *)(w->base[0] + (in->guard & ~1u));
            mask &= in->guard & 1 ? ~p : p;
            if (!mask)
                continue;
        }
        if (counting && in->flags & INSN_COUNTS)
            lanes += (uint64_t)__builtin_popcount(mask);
        step = in->run(w, in, mask);
        if (step)
            break;
    }
    if (counting)
        w->block->counted += lanes;
    return step;
}

static int warp_steps(struct warp *w)
{
    return steps(w, false);
}

static int warp_steps_counted(struct warp *w)
{
    return steps(w, true);
}

enum turn { TURN_OVER, TURN_IDLE, TURN_FAULT };

// Runs up to *LEFT instructions of one warp, at most MOST. TURN_IDLE: no path of it could run.
static enum turn warp_turn(struct warp *w, struct mem_view *view, uint64_t most, uint64_t *left)
{
    uint64_t granted = *left < most ? *left : most;
    bool ran = false, counting = w->block->grid->device->thread_instructions;
    w->view = view;
    w->left = w->back_left = granted;
    while (w->left && warp_choose(w)) {
        ran = true;
        int step = counting ? warp_steps_counted(w) : warp_steps(w);
        if (step == STEP_FAULT || w->faulted)
            return TURN_FAULT;
        if (step == STEP_NEXT)
            warp_save_path(w); // the turn is over, and the warp's next turn goes on with this path
    }
    *left -= granted - w->left;
    return ran ? TURN_OVER : TURN_IDLE;
}

// Finds warp INDEX, counted over all blocks of the cluster.
static struct warp *cluster_warp(const struct exec_block *b, uint32_t index)
{
    return &b->cluster[index / b->nwarps]->warps[index % b->nwarps];
}

static bool any_sleeping(const struct exec_block *b)
{
    for (uint32_t i = 0; i < b->nwarps * b->cluster_size; i++) {
        const struct warp *w = cluster_warp(b, i);
        for (uint32_t k = 0; k < w->npaths; k++)
            if (w->paths[k].state == PATH_SLEEPING)
                return true;
    }
    return false;
}

static enum exec_status stuck(struct exec_block *b, struct exec_fault *fault)
{
    for (uint32_t i = 0; i < b->nwarps * b->cluster_size; i++) {
        struct warp *w = cluster_warp(b, i);
        if (!w->npaths)
            continue;
        w->frame = w->paths[0].frame;
        warp_fault(w, w->paths[0].at ? w->paths[0].at : w->frame->code->insns, w->paths[0].mask,
                   EXEC_FAULT_DEADLOCK, 0);
        *fault = w->block->fault;
        return EXEC_FAULT;
    }
    return EXEC_DONE;
}

// A warp whose turn the budget cuts short continues with the next budget. Otherwise other warps
// would get far ahead of it, which never happens on hardware, and programs that lack a barrier
// (between two uses of a buffer, say) would compute something else.
enum exec_status exec_block_run(struct exec_block *b, struct mem_view *view, uint64_t budget,
                                struct exec_fault *fault)
{
    uint64_t left = budget;
    const uint32_t quantum = b->grid->device->turn ? b->grid->device->turn : QUANTUM;
    uint32_t idle = 0; // warps in a row that could not run
    const uint32_t warps = b->nwarps * b->cluster_size;
    enum exec_status status = EXEC_YIELD;
    while (left && !atomic_load_explicit(&b->grid->stop, memory_order_relaxed)) {
        struct warp *w =
            b->cluster_size == 1 ? &b->warps[b->next_warp] : cluster_warp(b, b->next_warp);
        uint64_t before = left;
        enum turn turn = w->npaths ? warp_turn(w, view, quantum - b->turn_used, &left) : TURN_IDLE;
        b->turn_used += (uint32_t)(before - left);
        if (left || turn == TURN_IDLE || b->turn_used >= quantum) {
            b->next_warp = b->next_warp + 1 == warps ? 0 : b->next_warp + 1;
            b->turn_used = 0;
        }
        if (turn == TURN_FAULT) {
            *fault = w->block->fault;
            status = EXEC_FAULT;
            break;
        }
        idle = turn == TURN_IDLE ? idle + 1 : 0;
        if (idle < warps)
            continue;
        status = any_sleeping(b) ? EXEC_WAITING : stuck(b, fault);
        break;
    }
    for (uint32_t k = 0; k < b->cluster_size; k++) {
        if (status == EXEC_DONE)
            block_let_go(b->cluster[k]);
        if (!b->cluster[k]->counted)
            continue;
        atomic_fetch_add_explicit(b->grid->device->thread_instructions, b->cluster[k]->counted,
                                  memory_order_relaxed);
        b->cluster[k]->counted = 0;
    }
    return status;
}
