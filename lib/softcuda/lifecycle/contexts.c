// Opens and closes contexts: roots, of which the primary one is never freed, and green contexts,
// which share the primary one's memory, errors and modules. Any thread.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "softcuda/engine/engine.h"
#include "softcuda/lifecycle/lifecycle.h"
#include "softcuda/memory/heap.h"
#include "softcuda/memory/memory.h"
#include "softcuda/module/module.h"
#include "softcuda/sched/sched.h"
#include "softcuda/stream/order.h"
#include "softcuda/stream/stream.h"
#include "softcuda/texture/object.h"
#include "softcuda/texture/texture.h"

// The primary context, under a lock of its own, since opening and closing take the others.
static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st primary;
static bool primary_listed;
static uint32_t primary_retained, primary_flags;

// ---- What kernels ask of their context

static void device_print(void *context, const char *text, size_t length)
{
    (void)context;
    fwrite(text, 1, length, stdout);
    fflush(stdout);
}

static uint64_t device_allocate(void *context, uint64_t size)
{
    return heap_allocate(((CUcontext)context)->heap, size);
}

static bool device_release(void *context, uint64_t address)
{
    return heap_release(((CUcontext)context)->heap, address);
}

// ---- Life

static CUresult streams_make(CUcontext c)
{
    CUresult result = stream_new(c, CU_STREAM_DEFAULT, 0, &c->legacy);

    if (result)
        return result;
    result = stream_new(c, CU_STREAM_DEFAULT, 0, &c->per_thread);
    if (result)
        stream_free(c->legacy);
    return result;
}

// Makes C, which is allocated, a new live root.
static CUresult root_open(CUcontext c, uint32_t flags)
{
    static const uint64_t limits[CONTEXT_LIMITS] = {
        [CU_LIMIT_STACK_SIZE] = 1024,
        [CU_LIMIT_PRINTF_FIFO_SIZE] = 6836224,
        [CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
        [CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 0,
        [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
        [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 128,
        [CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = 0,
    };
    CUresult result = engine_start();

    if (result)
        return result;
    c->root = c;
    c->flags = flags;
    sm_set_fill(&c->sms);
    c->sm_count = sm_set_count(&c->sms);
    atomic_store(&c->error, CUDA_SUCCESS);
    for (int i = 0; i < CONTEXT_LIMITS; i++)
        c->limits[i] = limits[i];
    c->exec = (struct exec_device){
        .print = device_print,
        .allocate = device_allocate,
        .release = device_release,
        .texture = texture_look_up,
        .surface = surface_look_up,
        .context = c,
        .thread_instructions = device_counter(),
        .sm_count = c->sm_count,
        .clock_khz = device_config()->clock_khz,
        .turn = device_config()->turn,
    };
    result = streams_make(c);
    if (!result)
        __atomic_store_n(&c->magic, MAGIC_CONTEXT, __ATOMIC_RELEASE);
    return result;
}

// Closes a root: stops its grids and frees everything that it owns. The handle can still be
// recognised.
static void root_close(CUcontext c)
{
    __atomic_store_n(&c->magic, MAGIC_DEAD, __ATOMIC_RELEASE);
    sched_lock();
    order_fail(c, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    order_pump();
    sched_unlock();
    engine_wait_context(c, false);
    module_unload_all(c);
    stream_free(c->legacy);
    stream_free(c->per_thread);
    c->legacy = c->per_thread = NULL;
    object_release_owner(c);
    alloc_release_owner(c);
    host_release_owner(c);
    context_region_free(c);
}

CUresult context_new(CUcontext *context, uint32_t flags)
{
    CUcontext c = calloc(1, sizeof(*c));
    CUresult result;

    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = root_open(c, flags);
    if (!result)
        context_add(c);
    if (!result)
        result = context_push(c);
    if (result) {
        free(c);
        return result;
    }
    *context = c;
    return CUDA_SUCCESS;
}

CUresult context_free(CUcontext context)
{
    CUresult result = context_check(context);

    if (result)
        return result;
    if (context->root != context || context == &primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    root_close(context);
    context_remove(context);
    return CUDA_SUCCESS;
}

// ---- The primary context

CUresult context_primary_retain(CUcontext *context)
{
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&primary_lock);
    if (primary_retained == 0) {
        result = root_open(&primary, primary_flags);
        if (!result && !primary_listed) {
            context_add(&primary);
            primary_listed = true;
        }
    }
    if (!result) {
        primary_retained++;
        *context = &primary;
    }
    pthread_mutex_unlock(&primary_lock);
    return result;
}

CUresult context_primary_release(void)
{
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&primary_lock);
    if (primary_retained == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (--primary_retained == 0)
        root_close(&primary);
    pthread_mutex_unlock(&primary_lock);
    return result;
}

CUresult context_primary_reset(void)
{
    pthread_mutex_lock(&primary_lock);
    if (primary_retained)
        root_close(&primary);
    primary_retained = 0;
    pthread_mutex_unlock(&primary_lock);
    return CUDA_SUCCESS;
}

CUresult context_primary_set_flags(uint32_t flags)
{
    if (flags & ~CU_CTX_FLAGS_MASK || (flags & CU_CTX_SCHED_MASK) == 3 ||
        (flags & CU_CTX_SCHED_MASK) > 4)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&primary_lock);
    primary_flags = flags;
    primary.flags = flags;
    pthread_mutex_unlock(&primary_lock);
    return CUDA_SUCCESS;
}

void context_primary_state(uint32_t *flags, bool *active)
{
    pthread_mutex_lock(&primary_lock);
    *flags = primary_flags;
    *active = primary_retained > 0;
    pthread_mutex_unlock(&primary_lock);
}

// ---- Green contexts

CUresult context_new_green(CUcontext *context, CUgreenCtx green, const struct sm_set *sms)
{
    CUcontext c = calloc(1, sizeof(*c));
    CUresult result;

    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    c->root = &primary;
    c->green = green;
    c->sms = *sms;
    c->sm_count = sm_set_count(sms);
    c->magic = MAGIC_CONTEXT;
    result = streams_make(c);
    if (result) {
        free(c);
        return result;
    }
    context_add(c);
    *context = c;
    return CUDA_SUCCESS;
}

void context_retire_green(CUcontext context)
{
    __atomic_store_n(&context->magic, MAGIC_DEAD, __ATOMIC_RELEASE);
    engine_wait_context(context, false);
    stream_free(context->legacy);
    stream_free(context->per_thread);
}
