// The list of contexts, and the calling thread's stack of contexts. The list is guarded by `lock`;
// each thread has its own stack.
#include "softcuda/context/context.h"

#include <pthread.h>

enum { STACK_DEPTH = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext contexts; // all contexts ever made

static _Thread_local CUcontext stack[STACK_DEPTH];
static _Thread_local uint32_t stack_count;

void context_lock(void)
{
    pthread_mutex_lock(&lock);
}

void context_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void context_add(CUcontext context)
{
    context_lock();
    context->next = contexts;
    contexts = context;
    context_unlock();
}

CUresult context_check(CUcontext context)
{
    const struct CUctx_st *known;
    bool alive = false;

    // The handle is compared before it is dereferenced, since it may be invalid.
    context_lock();
    for (known = contexts; known && known != context; known = known->next)
        ;
    if (known)
        alive = known->magic == MAGIC_CONTEXT;
    context_unlock();
    return !known  ? CUDA_ERROR_INVALID_CONTEXT
           : alive ? CUDA_SUCCESS
                   : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult context_current_any(CUcontext *context)
{
    CUresult result = device_ready();
    CUcontext top = stack_count ? stack[stack_count - 1] : NULL;

    if (result)
        return result;
    if (!top)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (__atomic_load_n(&top->magic, __ATOMIC_ACQUIRE) != MAGIC_CONTEXT)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *context = top;
    return CUDA_SUCCESS;
}

CUresult context_current(CUcontext *context)
{
    CUcontext found;
    CUresult result = context_current_any(&found);

    if (!result)
        // Acquire: pairs with order_fail.
        result = atomic_load_explicit(&found->root->error, memory_order_acquire);
    if (!result)
        *context = found;
    return result;
}

CUresult context_set(CUcontext context)
{
    CUresult result = device_ready();

    if (result)
        return result;
    if (!context) {
        if (stack_count)
            stack_count--;
        return CUDA_SUCCESS;
    }
    result = context_check(context);
    if (result)
        return result;
    if (!stack_count)
        stack_count = 1;
    stack[stack_count - 1] = context;
    return CUDA_SUCCESS;
}

CUresult context_push(CUcontext context)
{
    CUresult result = device_ready();

    if (!result)
        result = context ? context_check(context) : CUDA_ERROR_INVALID_CONTEXT;
    if (result)
        return result;
    if (stack_count == STACK_DEPTH)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack[stack_count++] = context;
    return CUDA_SUCCESS;
}

CUresult context_pop(CUcontext *context)
{
    CUresult result = device_ready();

    if (result)
        return result;
    if (!stack_count)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack_count--;
    if (context)
        *context = stack[stack_count];
    return CUDA_SUCCESS;
}

void context_remove(CUcontext context)
{
    if (stack_count && stack[stack_count - 1] == context)
        stack_count--;
}
