// Contexts: the device's primary one, green contexts that share its memory, errors and modules, and
// contexts of their own. The root of a green context is the primary one, and every other context is
// its own root.
//
// Owns the list of contexts, each thread's stack of contexts, their limits and the driver's own
// device memory (region.c). `lifecycle` opens and closes contexts. Any thread may call this; each
// field says which lock guards it.
//
// May include: interp, memory, device.
#ifndef GS_SOFTCUDA_CONTEXT_CONTEXT_H
#define GS_SOFTCUDA_CONTEXT_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/device/device.h"
#include "softcuda/interp/exec.h"

// The first word of everything to which a handle points, so that a wrong handle is an error and not
// a crash.
enum handle_magic {
    MAGIC_DEAD = 0,
    MAGIC_CONTEXT = 0x63747831,
    MAGIC_GREEN,
    MAGIC_STREAM,
    MAGIC_EVENT,
    MAGIC_MODULE,
    MAGIC_FUNCTION,
    MAGIC_GRAPH,
    MAGIC_NODE,
    MAGIC_GRAPH_EXEC,
};

enum { CONTEXT_LIMITS = 7 };

struct heap;

struct CUctx_st {
    uint32_t magic;
    CUcontext root;   // the context whose memory, modules and errors count: the primary one for a
                      // green context, otherwise itself
    CUgreenCtx green; // NULL unless it is a green context
    struct sm_set sms;
    uint32_t sm_count;
    uint32_t flags;

    // The sticky error of a root: order_fail sets it once, and every later call of the context
    // returns it.
    _Atomic int error;

    // Roots have these, under context.c's lock.
    uint64_t limits[CONTEXT_LIMITS];
    uint64_t region; // device memory of the context: workspaces, then the heap; 0 before the first
                     // launch
    struct heap *heap;
    struct exec_device exec;
    CUmodule modules;
    struct CUctx_st
        *next; // all contexts ever made: none is freed, so that a stale handle is detected

    // Both are under the scheduling lock.
    CUstream legacy, per_thread;
    uint64_t blocking_ops; // incomplete operations in streams for which the default stream waits
};

// The calling thread's context. CUDA_ERROR_NOT_INITIALIZED, _INVALID_CONTEXT, or its sticky error.
CUresult context_current(CUcontext *context);
// As above, without the sticky error, for calls that destroy and free.
CUresult context_current_any(CUcontext *context);
// Whether it is a live context. CUDA_ERROR_INVALID_CONTEXT or _CONTEXT_IS_DESTROYED.
CUresult context_check(CUcontext context);

CUresult context_set(CUcontext context); // NULL: none
CUresult context_push(CUcontext context);
CUresult context_pop(CUcontext *context);
// Removes CONTEXT from the calling thread's stack if it is the current one.
void context_remove(CUcontext context);
// Adds a context to the list, permanently: context_check finds it from now on.
void context_add(CUcontext context);

CUresult context_set_limit(CUcontext root, CUlimit limit, uint64_t value);
CUresult context_get_limit(CUcontext root, CUlimit limit, uint64_t *value);

// Called before a launch: makes the region and the heap, once. *STACK becomes CU_LIMIT_STACK_SIZE.
CUresult context_prepare(CUcontext root, uint32_t *stack);
// Device memory for the grid barrier of the cooperative grid that is resident in place SLOT.
uint64_t context_workspace(CUcontext root, uint32_t slot);
// Frees the region and the heap; nothing of the context runs any more.
void context_region_free(CUcontext root);

void context_lock(void);
void context_unlock(void);

#endif
