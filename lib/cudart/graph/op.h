/*
 * op.h - the operation of one graph node, with its parameters, and how it is submitted to a stream.
 * The op has its own copy of a kernel's arguments.
 */
#ifndef GS_CUDART_OP_H
#define GS_CUDART_OP_H

#include "cudart/abi.h"
#include "cudart/state/launch_attribute.h"
#include "cudart/state/stream.h"

struct condition;
struct graph;
struct graph_memory;
struct kernel;

struct op {
    enum cudaGraphNodeType type;
    /* The device for a kernel, copy or memset: the thread's device when the op was made, or the
     * device of the stream that captured it. */
    unsigned device;
    union {
        struct {
            struct kernel *kernel;
            dim3 grid, block;
            unsigned shared;
            struct launch_attributes attributes;
            void **args;             /* one block of memory: first the pointers, then the values */
            gs_gemm_params *product; /* owned; replaces the fields above; NULL: a kernel */
        } launch;
        struct cudaMemcpy3DParms copy;
        struct cudaMemsetParams set;
        struct cudaHostNodeParams host;
        struct graph *child; /* owned by the op */
        cudaEvent_t event;
        struct graph_memory *memory; /* held by the op */
        struct {
            struct condition *condition; /* held by the op */
            enum cudaGraphConditionalNodeType type;
            unsigned count;
            cudaGraph_t *handles;  /* the bodies' handles, as returned to the program */
            struct graph **bodies; /* owned; NULL: the op that was copied owns them */
        } conditional;
    };
};

/* ---- Making: fills *op, without freeing what was there; on an error it is empty -------------- */

cudaError_t op_launch(struct op *op, struct kernel *kernel, dim3 grid, dim3 block, unsigned shared,
                      void **args);
/* As above, from a node's parameters, which are checked as the runtime checks them. */
cudaError_t op_kernel_params(struct op *op, const struct cudaKernelNodeParams *params);
/* params: accepted by gs_gemm_prepare. */
cudaError_t op_product(struct op *op, const gs_gemm_params *params);
cudaError_t op_copy3d(struct op *op, const struct cudaMemcpy3DParms *params);
/* Copies one row, or several rows of a pitch. */
void op_copy_rows(struct op *op, void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                  size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t op_memset(struct op *op, const struct cudaMemsetParams *params);
cudaError_t op_host(struct op *op, const struct cudaHostNodeParams *params);
cudaError_t op_event(struct op *op, enum cudaGraphNodeType type, cudaEvent_t event);
/* *out: the address of the memory that each launch of the node allocates. */
cudaError_t op_alloc(struct op *op, size_t size, void **out);
cudaError_t op_free_memory(struct op *op, const void *ptr);
cudaError_t op_clone(struct op *op, const struct op *from);
/* Makes a conditional op that refers to the bodies of another op by their handles, and does not own
 * them. */
cudaError_t op_clone_condition(struct op *op, const struct op *from);
void op_free(struct op *op);
/* Whether the op is an allocation or a free. */
bool op_has_memory(const struct op *op);
/* Whether both ops certainly do the same. */
bool op_same(const struct op *a, const struct op *b);

/* ---- Use ------------------------------------------------------------------------------------- */

/* The only device on which the op can run; OP_ANYWHERE: it can run on any device. */
#define OP_ANYWHERE (-1)
int op_device(const struct op *op);
/* Submits the op to the stream, which does not capture and belongs to the op's device. The op is
 * not conditional, and not an allocation or a free, which exec.c does for the launch as a whole.
 * programmatic: for a kernel, as in gs_launch_config. */
cudaError_t op_issue(const struct op *op, struct stream *stream, bool programmatic);
/* Whether a graph of the session can hold the op; see gs_graph_begin. */
bool op_recordable(const struct op *op);

#endif
