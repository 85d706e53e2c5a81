// An operation: what a stream or a graph does as one step, from its submission to its completion.
//
// Any thread makes one with op_new and hands it over with stream_submit, which owns it from then
// on; order.c frees it when it is complete.
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
    OP_WAIT,  // until another stream has reached a position
    OP_GRAPH, // a whole graph launch
};

// A box of bytes. A side that is `checked` is device or registered memory and is looked up when the
// copy runs; the other is the caller's own.
struct copy_side {
    uint64_t address;
    uint64_t pitch, slice; // bytes from row to row, from layer to layer
    bool checked;
};

struct copy {
    struct copy_side dst, src;
    uint64_t width, height, depth;
    uint64_t x, y, z; // of the next byte to move
    void *staging;    // freed with the operation: the source of a copy from pageable memory
};

struct fill {
    uint64_t address, pitch;
    uint64_t width, height; // width in bytes
    uint32_t value, element;
    bool device; // no part of it is host memory
    uint64_t x, y;
};

struct op_mem {
    uint32_t count, at;
    CUstreamBatchMemOpParams *params; // freed with the operation
};

struct op {
    struct op *next;  // in the stream
    struct op *link;  // in the one list that it waits in
    struct task task; // while it is in the run queue or among the callbacks
    enum op_kind kind;
    CUstream stream; // that it runs in, or that its graph was launched in
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
            uint64_t recording; // its number among those of the event
        } event;
        struct {
            CUstream stream;
            uint64_t position;
        } wait;
        struct graph_run *graph;
    };
};

// An op_list is operations in a row, by `link`.
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
// Frees one that was never submitted, with what it holds but references (wait, event).
void op_free(struct op *op);

// Advances a copy or a fill by one turn. True when it is complete; *FAULT when an address is not
// mapped.
bool op_move(struct op *op, struct mem_view *view, bool *fault);

// Runs value writes and waits from the first that is not done. False when a wait does not hold yet.
bool op_mem_advance(struct op *op, struct mem_view *view, bool *fault);

#endif
