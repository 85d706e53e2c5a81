// A turn: one resident block runs for a number of warp instructions, or a copy moves a few
// megabytes, without the lock. Then the task goes to the end of the queue, so that no kernel,
// however long, keeps another from advancing. A turn's result, including a fault, is handled here,
// too.
#include "softcuda/engine/turn.h"

#include <errno.h>
#include <stdio.h>

#include "common/util.h"
#include "softcuda/memory/memory.h"
#include "softcuda/sched/grid.h"
#include "softcuda/sched/sched.h"
#include "softcuda/stream/order.h"

// Warp instructions in a turn on an application's thread, which has its own work to do.
enum { HAND_BUDGET = 256 };

static CUresult fault_result(enum exec_fault_kind kind)
{
    static const CUresult results[] = {
        [EXEC_FAULT_NONE] = CUDA_ERROR_UNKNOWN,
        [EXEC_FAULT_ILLEGAL_ADDRESS] = CUDA_ERROR_ILLEGAL_ADDRESS,
        [EXEC_FAULT_MISALIGNED] = CUDA_ERROR_MISALIGNED_ADDRESS,
        [EXEC_FAULT_ILLEGAL_INSTRUCTION] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
        [EXEC_FAULT_ADDRESS_SPACE] = CUDA_ERROR_INVALID_ADDRESS_SPACE,
        [EXEC_FAULT_INVALID_PC] = CUDA_ERROR_INVALID_PC,
        [EXEC_FAULT_TRAP] = CUDA_ERROR_LAUNCH_FAILED,
        [EXEC_FAULT_ASSERT] = CUDA_ERROR_ASSERT,
        [EXEC_FAULT_STACK] = CUDA_ERROR_HARDWARE_STACK_ERROR,
        [EXEC_FAULT_DEADLOCK] = CUDA_ERROR_LAUNCH_TIMEOUT,
        // not CUDA_ERROR_OUT_OF_MEMORY, which does not end a context
        [EXEC_FAULT_NO_MEMORY] = CUDA_ERROR_LAUNCH_FAILED,
    };

    return kind < ARRAY_SIZE(results) ? results[kind] : CUDA_ERROR_UNKNOWN;
}

// Writes to stderr what compute-sanitizer would report of a fault; CUDA itself only returns a
// number.
static void fault_print(const struct grid *g, const struct exec_fault *f)
{
    static const char *const kinds[] = {
        [EXEC_FAULT_NONE] = "unknown fault",
        [EXEC_FAULT_ILLEGAL_ADDRESS] = "illegal address",
        [EXEC_FAULT_MISALIGNED] = "misaligned address",
        [EXEC_FAULT_ILLEGAL_INSTRUCTION] = "illegal instruction",
        [EXEC_FAULT_ADDRESS_SPACE] = "operation not available in this state space",
        [EXEC_FAULT_INVALID_PC] = "call or branch to an invalid address",
        [EXEC_FAULT_TRAP] = "trap",
        [EXEC_FAULT_ASSERT] = "assertion failed",
        [EXEC_FAULT_STACK] = "stack overflow",
        [EXEC_FAULT_DEADLOCK] = "no thread of the block can continue",
        [EXEC_FAULT_NO_MEMORY] = "no host memory for a block's state",
    };

    fprintf(stderr,
            "softcuda: kernel %s: %s, address 0x%llx, line %u of %s, block (%u,%u,%u), thread "
            "(%u,%u,%u)\n",
            g->exec.kernel->func->name, f->kind < ARRAY_SIZE(kinds) ? kinds[f->kind] : kinds[0],
            (unsigned long long)f->address, f->line, f->function ? f->function : "?", f->block[0],
            f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2]);
}

static enum exec_status block_turn(struct resident *r, struct mem_view *view,
                                   struct view_slot *slot, uint64_t budget,
                                   struct exec_fault *fault)
{
    enum exec_status status;

    if (atomic_load_explicit(&r->grid->exec.stop, memory_order_relaxed))
        return EXEC_DONE;
    if (!r->block) {
        const int made = exec_block_new(&r->grid->exec, &r->block);

        // The blocks of a cooperative grid wait for each other, so none of them may wait for
        // memory.
        if (made == -EAGAIN && !r->grid->cooperative)
            return EXEC_WAITING;
        if (made) {
            fault->kind = EXEC_FAULT_NO_MEMORY;
            return EXEC_FAULT;
        }
    }
    if (!r->started) {
        exec_block_start(r->block, r->index, r->sms);
        r->started = true;
    }
    mem_view_begin(view, slot);
    status = exec_block_run(r->block, view, budget, fault);
    mem_view_end(slot);
    return status;
}

static bool grid_timed_out(const struct grid *g)
{
    uint64_t limit = device_config()->timeout_ns;

    return limit && clock_ns() - g->started_ns > limit;
}

// Handles the result of the block's turn. Called with the lock held.
static void block_settle(struct resident *r, enum exec_status status,
                         const struct exec_fault *fault)
{
    struct grid *g = r->grid;

    // The turn of the block that is counted last sees the complete count here.
    if (!g->has_let_go &&
        atomic_load_explicit(&g->let_go, memory_order_relaxed) == g->total * g->cluster_size) {
        g->has_let_go = true;
        order_let_go(g->op);
    }
    if (status == EXEC_FAULT) {
        if (!atomic_load_explicit(&g->context->root->error, memory_order_relaxed))
            fault_print(g, fault);
        order_fail(g->context->root, fault_result(fault->kind));
    } else if (status != EXEC_DONE && grid_timed_out(g)) {
        order_fail(g->context->root, CUDA_ERROR_LAUNCH_TIMEOUT);
    }
    if (status == EXEC_DONE || status == EXEC_FAULT)
        order_block_done(r);
    else
        task_push(&r->task);
}

bool turn_run(struct task *task, struct view_slot *slot, uint64_t budget)
{
    struct mem_view view;
    struct exec_fault fault = {0};
    enum exec_status status = EXEC_DONE;

    if (task->is_block)
        place_take_spare((struct resident *)task);
    sched_unlock();
    if (task->is_block) {
        struct resident *r = (struct resident *)task;

        status = block_turn(r, &view, slot, budget, &fault);
        sched_lock();
        block_settle(r, status, &fault);
    } else {
        struct op *op = op_of_task(task);
        bool broken = false, done;

        mem_view_begin(&view, slot);
        done = op_move(op, &view, &broken);
        mem_view_end(slot);
        sched_lock();
        if (broken)
            order_fail(order_root(op), CUDA_ERROR_ILLEGAL_ADDRESS);
        if (done)
            order_finish(op);
        else
            task_push(task);
    }
    order_pump();
    return status == EXEC_WAITING;
}

void engine_lend_hand(void)
{
    struct view_slot *slot = view_slot_new();
    struct task *task;

    if (!slot)
        return;
    sched_lock();
    task = task_pop();
    if (task)
        turn_run(task, slot, HAND_BUDGET);
    sched_unlock();
    view_slot_free(slot);
}
