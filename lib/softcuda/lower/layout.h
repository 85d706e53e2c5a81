// The layout: the places of .shared variables, and how much shared memory and call stack a kernel
// can reach.
#ifndef GS_SOFTCUDA_LOWER_LAYOUT_H
#define GS_SOFTCUDA_LOWER_LAYOUT_H

#include "softcuda/interp/interp.h"

struct shared_layout;

// Returns 0, -ENOMEM, or -E2BIG with LOG filled where static shared memory exceeds a block's.
int shared_layout_new(const struct ptx_module *m, struct shared_layout **out, char *log,
                      size_t log_size);
void shared_layout_free(struct shared_layout *s);
// The places of the module's .shared variables, by index; the caller then owns them.
uint64_t *shared_layout_take(struct shared_layout *s);
// Stores the places of F's own .shared variables in AT, by index in f->vars.
void shared_layout_func(const struct shared_layout *s, const struct ptx_func *f, uint64_t *at);
// The most bytes that calls of F pass for its parameter without a size (variable arguments).
uint32_t shared_layout_variadic(const struct shared_layout *s, const struct ptx_func *f);
void shared_layout_kernel(const struct shared_layout *s, const struct ptx_func *f,
                          struct kernel_layout *out);
// WHOM has, for each function, the function whose code it lacks. Spreads that to callers; a
// function with an indirect call may call any other.
enum { LACKS_NOTHING = UINT32_MAX };
void shared_layout_spread(const struct shared_layout *s, uint32_t *whom);
// Sums up the stack of calls, when all functions of P are lowered.
void shared_layout_close_stacks(struct shared_layout *s, const struct exec_program *p);
// The most call stack that F needs. False: it is unbounded, because of recursion, alloca or
// indirect calls.
bool shared_layout_stack(const struct shared_layout *s, const struct ptx_func *f, uint32_t *bytes);

#endif
