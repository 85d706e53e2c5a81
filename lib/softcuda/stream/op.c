// Operations that move memory; and the functions that make and free any operation. Operations that
// move memory run on engine threads with an open view. Addresses were checked when the operation
// was made, and are checked again, since memory may have been unmapped meanwhile.
#include "softcuda/stream/op.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softcuda/sched/grid.h"
#include "softcuda/stream/run.h"

// Bytes moved in one turn: at most a millisecond, so that other tasks get their turn soon.
enum { TURN_BYTES = 4 << 20 };

struct op *op_new(enum op_kind kind)
{
    struct op *op = calloc(1, sizeof(*op));

    if (op)
        op->kind = kind;
    return op;
}

void op_free(struct op *op)
{
    if (!op)
        return;
    switch (op->kind) {
    case OP_KERNEL:
        grid_free(op->grid);
        break;
    case OP_COPY:
        free(op->copy.staging);
        break;
    case OP_MEM:
        free(op->mem.params);
        break;
    case OP_GRAPH:
        graph_run_free(op->graph);
        break;
    default:
        break;
    }
    free(op);
}

static bool copy_move(struct copy *c, struct mem_view *view, bool *fault)
{
    uint64_t moved = 0;

    while (c->z < c->depth) {
        uint64_t dst = c->dst.address + c->z * c->dst.slice + c->y * c->dst.pitch + c->x;
        uint64_t src = c->src.address + c->z * c->src.slice + c->y * c->src.pitch + c->x;
        uint64_t bytes = c->width - c->x;

        if (bytes > TURN_BYTES - moved)
            bytes = TURN_BYTES - moved;
        if ((c->dst.checked && !mem_allows(view, dst, bytes, MEM_WRITE)) ||
            (c->src.checked && !mem_allows(view, src, bytes, MEM_READ))) {
            *fault = true;
            return true;
        }
        memmove(mem_pointer(dst), mem_pointer(src), bytes);
        moved += bytes;
        c->x += bytes;
        if (c->x == c->width) {
            c->x = 0;
            if (++c->y == c->height) {
                c->y = 0;
                c->z++;
            }
        }
        if (moved == TURN_BYTES)
            break;
    }
    return c->z == c->depth;
}

// Device memory is a file. Zeros can be a hole in it: nothing is written, and unused memory takes
// none of the machine's. So the sinks of a fenced session's window cost next to nothing. Host
// memory keeps its pages, or other memory could take their place. Small allocations share a file,
// and are written.
static bool hole_make(const struct fill *f, uint8_t *p, uint64_t bytes)
{
    return f->device && f->value == 0 && (uintptr_t)p % MEMORY_GRANULARITY == 0 &&
           bytes % MEMORY_GRANULARITY == 0 && !madvise(p, bytes, MADV_REMOVE);
}

static void fill_row(uint8_t *p, uint64_t bytes, uint32_t value, uint32_t element)
{
    if (element == 1) {
        memset(p, value, bytes);
    } else if (element == 2) {
        for (uint64_t i = 0; i < bytes / 2; i++)
            ((uint16_t *)p)[i] = value;
    } else {
        for (uint64_t i = 0; i < bytes / 4; i++)
            ((uint32_t *)p)[i] = value;
    }
}

static bool fill_move(struct fill *f, struct mem_view *view, bool *fault)
{
    uint64_t moved = 0;

    while (f->y < f->height) {
        uint64_t at = f->address + f->y * f->pitch + f->x, bytes = f->width - f->x;

        if (bytes > TURN_BYTES - moved)
            bytes = TURN_BYTES - moved;
        if (!mem_allows(view, at, bytes, MEM_WRITE)) {
            *fault = true;
            return true;
        }
        if (!hole_make(f, mem_pointer(at), bytes))
            fill_row(mem_pointer(at), bytes, f->value, f->element);
        moved += bytes;
        f->x += bytes;
        if (f->x == f->width) {
            f->x = 0;
            f->y++;
        }
        if (moved == TURN_BYTES)
            break;
    }
    return f->y == f->height;
}

bool op_move(struct op *op, struct mem_view *view, bool *fault)
{
    return op->kind == OP_COPY ? copy_move(&op->copy, view, fault)
                               : fill_move(&op->fill, view, fault);
}

static bool wait_holds(uint64_t now, uint64_t value, uint32_t flags, bool wide)
{
    switch (flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        // The comparison is cyclic, as the driver documents: only the difference counts, so a
        // counter may wrap.
        return wide ? (int64_t)(now - value) >= 0 : (int32_t)(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return now & value;
    default: {
        uint64_t nor = ~(now | value);

        return wide ? nor != 0 : (uint32_t)nor != 0;
    }
    }
}

// Release: an observer of the value sees the writes of earlier work. Pairs with the acquire of a
// host thread or kernel that polls the word.
static bool mem_op_run(const CUstreamBatchMemOpParams *p, struct mem_view *view, bool *fault)
{
    bool wide = p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64 ||
                p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    uint64_t now;

    switch (p->operation) {
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        if (!mem_allows(view, p->writeValue.address, wide ? 8 : 4, MEM_WRITE)) {
            *fault = true;
            return true;
        }
        if (wide)
            atomic_store_explicit((_Atomic uint64_t *)mem_pointer(p->writeValue.address),
                                  p->writeValue.value64, memory_order_release);
        else
            atomic_store_explicit((_Atomic uint32_t *)mem_pointer(p->writeValue.address),
                                  p->writeValue.value, memory_order_release);
        return true;
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        if (!mem_allows(view, p->waitValue.address, wide ? 8 : 4, MEM_READ)) {
            *fault = true;
            return true;
        }
        now = wide ? atomic_load_explicit((_Atomic uint64_t *)mem_pointer(p->waitValue.address),
                                          memory_order_acquire)
                   : atomic_load_explicit((_Atomic uint32_t *)mem_pointer(p->waitValue.address),
                                          memory_order_acquire);
        return wait_holds(now, wide ? p->waitValue.value64 : p->waitValue.value, p->waitValue.flags,
                          wide);
    default: // barrier: nothing to do, since the stores of a stream are ordered; each is a release
        return true;
    }
}

bool op_mem_advance(struct op *op, struct mem_view *view, bool *fault)
{
    while (op->mem.at < op->mem.count) {
        if (!mem_op_run(&op->mem.params[op->mem.at], view, fault))
            return false;
        if (*fault)
            return true;
        op->mem.at++;
    }
    return true;
}
