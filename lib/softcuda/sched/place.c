// The virtual SMs: which grids are admitted, and which SM a block goes to.
//
// State under the scheduling lock. A block is placed where its context's partition and an SM's
// threads, registers, shared memory and block slots allow, as on the hardware; when a block leaves,
// its SM is offered to the grids in order of priority and arrival. A resident block only takes part
// in the turns: threads of the engine run those.
#include <stdlib.h>

#include "common/util.h"
#include "softcuda/module/module.h"
#include "softcuda/sched/grid.h"

struct sm {
    uint32_t threads, blocks, registers, shared; // that are free
};

struct grid_list {
    struct grid *head, *tail;
};

static struct sm sms[DEVICE_MAX_SMS];
static uint32_t sm_count;
static uint32_t sm_cursor; // where the search for the next block's SM begins

static struct grid_list pending[TASK_LEVELS]; // not admitted, each in order of arrival
static struct grid *admitted;                 // highest level first, then in order of arrival
static uint32_t admitted_count;
static uint64_t slots_used[DEVICE_MAX_GRIDS / 64];
static uint64_t unplaced_grids; // admitted ones with blocks still to place

void place_init(void)
{
    sm_count = device_config()->sm_count;
    for (uint32_t i = 0; i < sm_count; i++)
        sms[i] = (struct sm){SM_MAX_THREADS, SM_MAX_BLOCKS, SM_REGISTERS, SM_SHARED_BYTES};
}

void grid_free(struct grid *grid)
{
    if (!grid)
        return;
    for (uint32_t i = 0; i < grid->spare_count; i++)
        exec_block_free(grid->spares[i]);
    module_release(grid->module);
    free(grid);
}

uint32_t place_occupancy(const struct block_cost *cost)
{
    uint32_t blocks = SM_MAX_BLOCKS;

    if (cost->threads && SM_MAX_THREADS / cost->threads < blocks)
        blocks = SM_MAX_THREADS / cost->threads;
    if (cost->registers && SM_REGISTERS / cost->registers < blocks)
        blocks = SM_REGISTERS / cost->registers;
    if (cost->shared && SM_SHARED_BYTES / cost->shared < blocks)
        blocks = SM_SHARED_BYTES / cost->shared;
    return blocks;
}

static bool sm_fits(const struct sm *sm, const struct block_cost *cost)
{
    return sm->blocks > 0 && sm->threads >= cost->threads && sm->registers >= cost->registers &&
           sm->shared >= cost->shared;
}

static void sm_take(struct sm *sm, const struct block_cost *cost)
{
    sm->blocks--;
    sm->threads -= cost->threads;
    sm->registers -= cost->registers;
    sm->shared -= cost->shared;
}

static void sm_give(struct sm *sm, const struct block_cost *cost)
{
    sm->blocks++;
    sm->threads += cost->threads;
    sm->registers += cost->registers;
    sm->shared += cost->shared;
}

// Finds the emptiest SM of the partition for the first clusters of a grid, as many as there are
// SMs, so that small grids spread; after them the next SM that has room.
static uint32_t sm_find(const struct grid *g)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < sm_count; i++) {
        uint32_t sm = (sm_cursor + i) % sm_count;

        if (!sm_set_has(&g->context->sms, sm) || !sm_fits(&sms[sm], &g->cost))
            continue;
        if (g->next_block >= sm_count)
            return sm;
        if (best == UINT32_MAX || sms[sm].threads > sms[best].threads)
            best = sm;
        if (sms[best].threads == SM_MAX_THREADS)
            break;
    }
    return best;
}

static bool grid_has_unplaced(const struct grid *g)
{
    return g->next_block < g->total;
}

static void grid_block_taken(struct grid *g)
{
    if (++g->next_block == g->total)
        unplaced_grids--;
}

// Finds an SM for each block of the grid's next cluster: takes them one after the other, as sm_find
// chooses them, and gives all back. False: there is no room for the whole cluster.
static bool cluster_find(const struct grid *g, uint32_t *found)
{
    uint32_t count = 0;

    while (count < g->cluster_size && (found[count] = sm_find(g)) != UINT32_MAX)
        sm_take(&sms[found[count++]], &g->cost);
    for (uint32_t i = 0; i < count; i++)
        sm_give(&sms[found[i]], &g->cost);
    return count == g->cluster_size;
}

// Puts the grid's next cluster on the SMs of FOUND. SPARE: a resident of the same grid to use
// again, or NULL.
static bool grid_place(struct grid *g, const uint32_t *found, struct resident *spare)
{
    struct resident *r = spare ? spare : calloc(1, sizeof(*r));

    if (!r)
        return false;
    r->task.is_block = true;
    r->task.level = g->level;
    r->grid = g;
    r->index = g->next_block;
    r->started = false;
    g->resident++;
    for (uint32_t i = 0; i < g->cluster_size; i++) {
        r->sms[i] = found[i];
        sm_take(&sms[found[i]], &g->cost);
        sm_cursor = (found[i] + 1) % sm_count;
    }
    grid_block_taken(g);
    task_push(&r->task);
    return true;
}

// All blocks of a cooperative grid wait for one another, so either all fit or none is placed.
static bool grid_fits_whole(const struct grid *g)
{
    uint64_t room = 0, blocks = g->total * g->cluster_size;

    for (uint32_t i = 0; i < sm_count && room < blocks; i++) {
        struct sm trial = sms[i];

        if (!sm_set_has(&g->context->sms, i))
            continue;
        while (room < blocks && sm_fits(&trial, &g->cost)) {
            sm_take(&trial, &g->cost);
            room++;
        }
    }
    return room >= blocks;
}

// ---- Admission

static void slot_take(struct grid *g)
{
    for (uint32_t i = 0;; i++) {
        uint64_t *word = &slots_used[i / 64], bit = (uint64_t)1 << (i % 64);

        if (!(*word & bit)) {
            *word |= bit;
            g->slot = i;
            return;
        }
    }
}

static void grid_admit(struct grid *g)
{
    struct grid **at = &admitted;

    while (*at && (*at)->level >= g->level)
        at = &(*at)->next;
    g->next = *at;
    *at = g;
    admitted_count++;
    unplaced_grids++;
    slot_take(g);
    g->started_ns = clock_ns();
    if (g->cooperative)
        g->exec.workspace = context_workspace(g->context->root, g->slot);
}

static void admit_pending(void)
{
    for (int level = TASK_LEVELS - 1; level >= 0; level--) {
        struct grid_list *list = &pending[level];

        while (list->head && admitted_count < DEVICE_MAX_GRIDS) {
            struct grid *g = list->head;

            list->head = g->next;
            grid_admit(g);
        }
    }
}

void place_submit(struct grid *g)
{
    struct grid_list *list = &pending[g->level];

    g->next = NULL;
    if (list->head)
        list->tail->next = g;
    else
        list->head = g;
    list->tail = g;
    admit_pending();
}

static void grid_done(struct grid *g, struct placed *placed)
{
    struct grid **at = &admitted;

    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    admitted_count--;
    slots_used[g->slot / 64] &= ~((uint64_t)1 << (g->slot % 64));
    g->next = NULL;
    if (placed->done)
        placed->last->next = g;
    else
        placed->done = g;
    placed->last = g;
    admit_pending();
}

// A stopped grid has no more blocks to place.
static void grid_forget_unplaced(struct grid *g)
{
    if (grid_has_unplaced(g)) {
        g->next_block = g->total;
        unplaced_grids--;
    }
}

void place_all(struct placed *placed)
{
    struct grid *next;

    for (struct grid *g = admitted; g && unplaced_grids; g = next) {
        next = g->next;
        if (!grid_has_unplaced(g))
            continue;
        if (atomic_load_explicit(&g->exec.stop, memory_order_relaxed)) {
            grid_forget_unplaced(g);
            if (!g->resident) {
                grid_done(g, placed);
                next = admitted; // finishing one may have admitted others anywhere in the list
            }
            continue;
        }
        if (g->cooperative && !grid_fits_whole(g))
            continue;
        while (grid_has_unplaced(g)) {
            uint32_t found[EXEC_CLUSTER_BLOCKS];

            if (!cluster_find(g, found))
                break;
            if (!grid_place(g, found, NULL)) {
                placed->starved = g->context->root;
                return;
            }
        }
    }
}

static void resident_free(struct resident *r)
{
    exec_block_free(r->block);
    free(r);
}

// A new holder costs more than a block of a short kernel. The next block that begins takes this
// holder, whose registers are still in the cache; the block that follows on this SM may begin
// later.
static void keep_spare(struct resident *r)
{
    struct grid *g = r->grid;

    if (r->block && g->spare_count < GRID_SPARES) {
        g->spares[g->spare_count++] = r->block;
        r->block = NULL;
    }
}

void place_take_spare(struct resident *r)
{
    struct grid *g = r->grid;

    if (!r->block && g->spare_count)
        r->block = g->spares[--g->spare_count];
}

// Offers SM to the grids whose blocks need no other SM. Grids whose blocks are placed together wait
// for place_all. Reuses R if R's own grid places a block, and returns NULL then; otherwise R.
static struct resident *sm_offer(uint32_t sm, struct resident *r, struct placed *placed)
{
    const struct grid *g = r->grid;

    for (struct grid *other = admitted; other && unplaced_grids; other = other->next) {
        if (!grid_has_unplaced(other) || other->cooperative || other->cluster_size > 1 ||
            !sm_set_has(&other->context->sms, sm))
            continue;
        while (grid_has_unplaced(other) && sm_fits(&sms[sm], &other->cost)) {
            if (!grid_place(other, &sm, other == g ? r : NULL)) {
                // The caller learns of one root; place_all finds the grid of any other again.
                placed->starved = other->context->root;
                break;
            }
            if (other == g)
                r = NULL;
        }
    }
    return r;
}

void place_block_done(struct resident *r, struct placed *placed)
{
    struct grid *g = r->grid;

    keep_spare(r);
    for (uint32_t i = 0; i < g->cluster_size; i++)
        sm_give(&sms[r->sms[i]], &g->cost);
    g->resident--;
    if (atomic_load_explicit(&g->exec.stop, memory_order_relaxed))
        grid_forget_unplaced(g);
    if (g->cluster_size == 1)
        r = sm_offer(r->sms[0], r, placed);
    if (r)
        resident_free(r);
    if (!g->resident && !grid_has_unplaced(g))
        grid_done(g, placed);
}

void place_stop(CUcontext root)
{
    for (struct grid *g = admitted; g; g = g->next) {
        if (g->context->root == root)
            atomic_store_explicit(&g->exec.stop, true, memory_order_relaxed);
    }
    for (int level = 0; level < TASK_LEVELS; level++) {
        for (struct grid *g = pending[level].head; g; g = g->next) {
            if (g->context->root == root)
                atomic_store_explicit(&g->exec.stop, true, memory_order_relaxed);
        }
    }
}
