// An operation: one step of a stream or a graph, from submission to completion.
//
// Any thread makes one with op_new and submits it with stream_submit, which owns it from then on;
// order.c frees it when it is complete.
#ifndef GS_SOFTCUDA_STREAM_OP_H
#define GS_SOFTCUDA_STREAM_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/memory/view.h"
#include "softcuda/sched/queue.h"

struct grid;
struct graph_run;

enum op_kind {
    OP_EMPTY,
    OP_KERNEL,
    OP_COPY,
    OP_FILL,
    OP_MEM,   // value writes and waits
    OP_HOST,  // a function of the host, on the callback thread
    OP_EVENT, // an event's recording
    OP_WAIT,  // waits until another stream has reached a position
    OP_GRAPH, // a whole graph launch
};

// A box of bytes. A side that is `checked` is device or registered memory, which is looked up when
// the copy runs; the other is the caller's own memory.
struct copy_side {
    uint64_t address;
    uint64_t pitch, slice; // distance between rows, and between layers, in bytes
    bool checked;
};

struct copy {
    struct copy_side dst, src;
    uint64_t width, height, depth;
    uint64_t x, y, z; // position of the next byte to move
    void *staging;    // freed with the operation: the source of a copy from pageable memory
};

struct fill {
    uint64_t address, pitch;
    uint64_t width, height; // width in bytes
    uint32_t value, element;
    bool device; // neither side is host memory
    uint64_t x, y;
};

struct op_mem {
    uint32_t count, at;
    CUstreamBatchMemOpParams *params; // freed with the operation
};

struct op {
    struct op *next;  // in the stream
    struct op *link;  // in the only list in which it waits
    struct task task; // while it is in the run queue or among the callbacks
    enum op_kind kind;
    CUstream stream; // the stream in which it runs, or in which its graph was launched
    struct graph_run *run;
    uint32_t node; // in the graph
    union {
        struct grid *grid;
        struct copy copy;
        struct fill fill;
        struct op_mem mem;
        struct {
            CUhostFn function;
            void *data;
        } host;
        struct {
            CUevent event;
            uint64_t recording; // the number of this recording of the event
        } event;
        struct {
            CUstream stream;
            uint64_t position;
        } wait;
        struct graph_run *graph;
    };
};

// An op_list links operations by `link`.
struct op_list {
    struct op *head, *tail;
};

static inline void op_list_push(struct op_list *list, struct op *op)
{
    op->link = NULL;
    if (list->head)
        list->tail->link = op;
    else
        list->head = op;
    list->tail = op;
}

static inline struct op *op_list_pop(struct op_list *list)
{
    struct op *op = list->head;

    if (op)
        list->head = op->link;
    return op;
}

static inline struct op *op_of_task(struct task *task)
{
    return (struct op *)((char *)task - offsetof(struct op, task));
}

struct op *op_new(enum op_kind kind); // NULL: no memory
// Frees an operation that was never submitted, but not the references it holds (wait, event).
void op_free(struct op *op);

// Advances a copy or a fill by one turn. True when it is complete; *FAULT when an address is not
// mapped.
bool op_move(struct op *op, struct mem_view *view, bool *fault);

// Runs value writes and waits from the first that is not done. False when a wait does not hold yet.
bool op_mem_advance(struct op *op, struct mem_view *view, bool *fault);

#endif
