/*
 * condition.h - the conditions of conditional nodes. A condition is a word of device memory, and
 * its handle is the word's address, so a kernel that sets it (cudaGraphSetConditional) stores
 * there. Any thread.
 */
#ifndef GS_CUDART_CONDITION_H
#define GS_CUDART_CONDITION_H

#include "cudart/abi.h"
#include "cudart/state/stream.h"

struct condition;

/* Makes a condition, which the caller holds. assigned: each launch starts with the value. */
cudaError_t condition_new(unsigned value, bool assigned, struct condition **out);
/* The condition for a handle, which the caller then holds; NULL: there is none. */
struct condition *condition_find(cudaGraphConditionalHandle handle);
cudaGraphConditionalHandle condition_handle(const struct condition *condition);
/* The device whose kernels can set it. */
unsigned condition_device(const struct condition *condition);
void condition_hold(struct condition *condition);
void condition_release(struct condition *condition);

/* Sets the value with which launches start; in the stream, if there is one. */
cudaError_t condition_assign(const struct condition *condition, struct stream *stream);
/* The value after the stream's work so far, for which the call waits. */
cudaError_t condition_read(const struct condition *condition, struct stream *stream,
                           unsigned *value);

#endif
