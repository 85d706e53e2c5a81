// Divergence. The lanes of a warp that execute together are a path. A branch on which they disagree
// makes two paths, which reconverge at a join. Paths of one warp take turns, so that lanes can wait
// for one another (locks, warp barriers in different places): a loop yields after some time, and
// lanes that wait in a join continue without the others if those cannot arrive or are spinning.
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "softcuda/interp/path.h"

enum {
    SLICE = 512, // instructions before a loop yields to other paths
    // Instructions before lanes in a join continue without a loop that waits for nobody.
    PATIENCE = 4 * 1048576
};

// ---- Choosing

void warp_save_path(struct warp *w)
{
    struct path *p = &w->paths[w->current];
    p->pc = w->pc;
    p->mask = w->mask;
}

void warp_load_path(struct warp *w, uint32_t index)
{
    const struct path *p = &w->paths[index];
    w->current = index;
    w->pc = p->pc;
    w->mask = p->mask;
    w->frame = p->frame;
    w->base[0] = p->frame->regs;
    w->base[1] = p->frame->code->pool;
    w->insns = p->frame->code->insns;
}

static void remove_path(struct warp *w, uint32_t index)
{
    w->paths[index] = w->paths[--w->npaths];
    // the next search for a path begins behind this path
    w->current = index ? index - 1 : w->npaths;
}

static bool path_is_ready(struct path *p, uint64_t *now)
{
    if (p->state == PATH_SLEEPING) {
        if (!*now)
            *now = clock_ns();
        if (*now >= p->wake)
            p->state = PATH_READY;
    }
    return p->state == PATH_READY;
}

static bool find_ready(struct warp *w, uint32_t *index)
{
    uint64_t now = 0;
    for (uint32_t i = 0, at = w->current; i < w->npaths; i++) {
        at = at + 1 < w->npaths ? at + 1 : 0; // `current` may be beyond the last path
        if (path_is_ready(&w->paths[at], &now)) {
            *index = at;
            return true;
        }
    }
    return false;
}

void warp_block_path(struct warp *w, const struct insn *in, enum path_state state)
{
    struct path *p = &w->paths[w->current];
    warp_save_path(w);
    p->at = in;
    p->state = (uint8_t)state;
}

// ---- Joins

static struct join *join_new(struct warp *w)
{
    struct join *j = w->free_joins;
    if (j) {
        w->free_joins = j->up;
        return j;
    }
    return malloc(sizeof *j);
}

static void join_free(struct warp *w, struct join *j)
{
    if (j == &j->frame->done) {
        if (j->frame->up)
            frame_free(w, j->frame);
        return;
    }
    j->up = w->free_joins;
    w->free_joins = j;
}

static bool is_return(const struct join *j)
{
    return j == &j->frame->done;
}

// The lanes that arrived continue behind the join.
static void join_open(struct warp *w, struct join *j)
{
    struct path *p = &w->paths[w->npaths++];
    *p = (struct path){.mask = j->got, .pc = j->pc, .frame = j->frame, .join = j->up};
    if (is_return(j)) {
        frame_copy_results(w, j->frame, j->got);
        p->pc = j->frame->return_pc;
        p->frame = j->frame->up;
    }
    w->joined &= ~j->got;
    j->want &= ~j->got;
    j->got = 0;
    if (!j->want)
        join_free(w, j);
}

// Lets the lanes that wait in the joins of all paths continue.
static void joins_open(struct warp *w)
{
    for (uint32_t i = 0, n = w->npaths; i < n; i++) {
        for (struct join *j = w->paths[i].join, *up; j; j = up) {
            up = j->up;
            if (j->got)
                join_open(w, j);
        }
    }
}

static bool are_at_one_place(const struct path *a, const struct path *b)
{
    return a->state == PATH_READY && b->state == PATH_READY && a->pc == b->pc &&
           a->frame == b->frame && a->join == b->join;
}

// Merges paths that are at the same place. Lanes that left a join one by one thus continue together
// behind the next barrier, as on the hardware: programs rely on a warp's loads before the barrier
// coming before its stores.
static void merge_paths(struct warp *w)
{
    for (uint32_t i = 0; i + 1 < w->npaths; i++)
        for (uint32_t k = w->npaths - 1; k > i; k--) {
            if (!are_at_one_place(&w->paths[i], &w->paths[k]))
                continue;
            w->paths[i].mask |= w->paths[k].mask;
            remove_path(w, k);
        }
}

bool warp_choose(struct warp *w)
{
    uint32_t index;
    if (!w->npaths)
        return false;
    merge_paths(w);
    if (!find_ready(w, &index)) {
        // lanes that wait in a join for lanes that are blocked go on without them
        if (!w->joined)
            return false;
        joins_open(w);
        if (!find_ready(w, &index))
            return false;
    }
    warp_load_path(w, index);
    return true;
}

// Removes the lanes in MASK from J and the joins around it, up to LAST: they will never arrive.
static void leave_joins(struct warp *w, struct join *j, const struct join *last, uint32_t mask)
{
    while (j != last) {
        struct join *up = j->up;
        j->want &= ~mask;
        if (!j->want)
            join_free(w, j);
        else if (j->want == j->got)
            join_open(w, j);
        j = up;
    }
}

int op_join(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct join *j = w->paths[w->current].join;
    (void)in;
    if (j->pc != w->pc - 1 || j->frame != w->frame)
        return STEP_NEXT;
    uint32_t index = w->current;
    j->got |= mask;
    w->joined |= mask;
    remove_path(w, index);
    if (j->got != j->want)
        return STEP_SWITCH;
    join_open(w, j);
    warp_load_path(w, w->npaths - 1);
    return STEP_NEXT;
}

// ---- Branches

// Removes joins that only this path can still reach.
static void drop_lone_joins(struct warp *w, struct path *p)
{
    while (!is_return(p->join) && p->join->want == w->mask) {
        struct join *j = p->join;
        p->join = j->up;
        join_free(w, j);
    }
}

int warp_split(struct warp *w, const struct insn *in, uint32_t mask, uint32_t pc, uint32_t join_pc)
{
    struct path *p = &w->paths[w->current];
    drop_lone_joins(w, p);
    if (join_pc != NO_TARGET && !(p->join->pc == join_pc && p->join->frame == w->frame)) {
        struct join *j = join_new(w);
        if (!j)
            return warp_fault(w, in, mask, EXEC_FAULT_NO_MEMORY, 0);
        *j = (struct join){.up = p->join, .frame = w->frame, .pc = join_pc, .want = w->mask};
        p->join = j;
    }
    struct path *other = &w->paths[w->npaths++];
    *other = *p;
    other->mask = mask;
    other->pc = pc;
    other->state = PATH_READY;
    w->mask &= ~mask;
    p->mask = w->mask;
    return STEP_NEXT;
}

// Called when loops have used up a slice, and may be waiting for other lanes of the warp. First the
// paths that can run get their turns; then, if the loops read memory as spinning ones do, lanes in
// joins continue.
static int give_way(struct warp *w)
{
    uint32_t index, self = w->current;
    w->slice = 0;
    w->patience++;
    warp_save_path(w);
    bool spins = w->strong && w->patience > w->npaths;
    if (w->joined && (spins || w->patience > PATIENCE / SLICE)) {
        w->patience = 0;
        w->strong = 0;
        joins_open(w);
        return STEP_SWITCH;
    }
    return find_ready(w, &index) && index != self ? STEP_SWITCH : STEP_NEXT;
}

static int went_back(struct warp *w)
{
    if (w->npaths == 1 && !w->joined)
        return STEP_NEXT;
    // each iteration of the loop counts about as many instructions as it has
    uint32_t from = w->back_left - w->left < SLICE ? (uint32_t)(w->back_left - w->left) : SLICE;
    w->back_left = w->left;
    w->slice += from ? from : 1;
    return w->slice >= SLICE ? give_way(w) : STEP_NEXT;
}

int op_bra(struct warp *w, const struct insn *in, uint32_t mask)
{
    bool back = in->target < w->pc;
    if (mask != w->mask) {
        uint32_t stay = w->mask & ~mask;
        // the lanes that jump stay the current path; the others wait for their turn
        int step = warp_split(w, in, stay, w->pc, in->d);
        if (step)
            return step;
    }
    w->pc = in->target;
    return back ? went_back(w) : STEP_NEXT;
}

int op_brx(struct warp *w, const struct insn *in, uint32_t mask)
{
    const u32 *pa = SLOT(u32, w, in->a);
    const uint32_t *targets = w->frame->code->aux + in->aux;
    uint32_t self = w->pc - 1;
    unsigned first = (unsigned)__builtin_ctz(mask);
    uint32_t index = pa[first], same = 0;
    if (index >= in->imm)
        return warp_fault(w, in, 1u << first, EXEC_FAULT_INVALID_PC, index);
    for (unsigned l = 0; l < LANES; l++)
        same |= (uint32_t)(pa[l] == index) << l;
    if (mask & ~same) { // lanes with other targets run this instruction again
        int step = warp_split(w, in, mask & ~same, self, in->d);
        if (step)
            return step;
    }
    w->pc = targets[index];
    return w->pc <= self ? went_back(w) : STEP_NEXT;
}

// ---- Ends

static int lanes_left(struct warp *w, uint32_t mask)
{
    if (mask == w->mask) {
        remove_path(w, w->current);
        return STEP_SWITCH;
    }
    w->mask &= ~mask;
    w->paths[w->current].mask = w->mask;
    return STEP_NEXT;
}

int op_exit(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct join *j = w->paths[w->current].join;
    (void)in;
    w->dead |= mask;
    int step = lanes_left(w, mask);
    leave_joins(w, j, NULL, mask);
    warp_recheck_members(w);
    block_recheck_barriers(w->block);
    block_recheck_wgmma(w->block);
    return step;
}

int op_ret(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct join *j = w->paths[w->current].join, *done = &w->frame->done;
    (void)in;
    if (mask == w->mask && j == done && done->want == mask) { // all at once
        struct frame *f = w->frame;
        struct path *p = &w->paths[w->current];
        frame_copy_results(w, f, mask);
        p->pc = f->return_pc;
        p->frame = f->up;
        p->join = done->up;
        warp_load_path(w, w->current);
        frame_free(w, f);
        return STEP_NEXT;
    }
    int step = lanes_left(w, mask);
    leave_joins(w, j, done, mask);
    done->got |= mask;
    w->joined |= mask;
    if (done->got == done->want)
        join_open(w, done);
    return step;
}

int op_trap(struct warp *w, const struct insn *in, uint32_t mask)
{
    return warp_fault(w, in, mask, EXEC_FAULT_TRAP, 0);
}

int op_nanosleep(struct warp *w, const struct insn *in, uint32_t mask)
{
    enum { LONGEST = 1000000 }; // the hardware's limit
    const u32 *pa = SLOT(u32, w, in->a);
    uint32_t longest = 0;
    for (unsigned l = 0; l < LANES; l++)
        if (mask >> l & 1 && pa[l] > longest)
            longest = pa[l];
    warp_block_path(w, in, PATH_SLEEPING);
    w->paths[w->current].wake = clock_ns() + (longest > LONGEST ? LONGEST : longest);
    return STEP_SWITCH;
}

// ---- Other grids

void block_let_go(struct exec_block *b)
{
    if (b->let_go || !b->grid->let_go)
        return;
    b->let_go = true;
    atomic_fetch_add_explicit(b->grid->let_go, 1, memory_order_relaxed);
}

int op_launch_dependents(struct warp *w, const struct insn *in, uint32_t mask)
{
    (void)in, (void)mask;
    block_let_go(w->block);
    return STEP_NEXT;
}

// Tries again after a while, from the same instruction.
int op_await_grids(struct warp *w, const struct insn *in, uint32_t mask)
{
    enum { PAUSE_NS = 20000 };
    (void)mask;
    if (!atomic_load_explicit(&w->block->grid->awaited, memory_order_acquire))
        return STEP_NEXT;
    w->pc--;
    warp_block_path(w, in, PATH_SLEEPING);
    w->paths[w->current].wake = clock_ns() + PAUSE_NS;
    return STEP_SWITCH;
}

// ---- The life of a warp

int warp_start(struct warp *w)
{
    uint32_t live = ~w->dead;
    w->npaths = 0;
    w->joined = 0;
    w->patience = w->slice = w->strong = 0;
    w->current = 0;
    if (!live)
        return 0;
    w->entry->done = (struct join){.frame = w->entry, .pc = NO_TARGET, .want = live};
    w->paths[w->npaths++] = (struct path){.mask = live, .frame = w->entry, .join = &w->entry->done};
    return 0;
}

// Frees frames and joins of paths that did not end.
void warp_paths_free(struct warp *w)
{
    for (uint32_t i = 0; i < w->npaths; i++) {
        struct join *j = w->paths[i].join;
        uint32_t mask = w->paths[i].mask;
        while (j) {
            struct join *up = j->up;
            mask |= j->got; // the joins around it wait for these lanes too
            j->want &= ~mask;
            j->got = 0;
            if (!j->want)
                join_free(w, j);
            j = up;
        }
    }
    w->npaths = 0;
    w->joined = 0;
}

void warp_deinit(struct warp *w)
{
    warp_paths_free(w);
    while (w->free_joins) {
        struct join *j = w->free_joins;
        w->free_joins = j->up;
        free(j);
    }
    frames_deinit(w);
}
