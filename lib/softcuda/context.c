// Contexts and the calling thread's stack of them. State under `lock` where context.h says so.
#include "softcuda/context.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "softcuda/engine/engine.h"
#include "softcuda/heap.h"
#include "softcuda/memory.h"
#include "softcuda/module.h"
#include "softcuda/object.h"
#include "softcuda/sched/sched.h"
#include "softcuda/stream/order.h"
#include "softcuda/stream/stream.h"
#include "softcuda/texture.h"

enum {
    STACK_DEPTH = 64,
    WORKSPACE_BYTES = 256, // of one cooperative grid
    WORKSPACES_BYTES = WORKSPACE_BYTES * DEVICE_MAX_GRIDS,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext contexts; // every one ever made
static struct CUctx_st primary;
static bool primary_listed;
static uint32_t primary_retained;

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

CUresult context_check(CUcontext context)
{
    const struct CUctx_st *known;
    bool alive = false;

    // The handle is compared before it is looked at: it may be anything.
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
        stream_destroy(c->legacy);
    return result;
}

// Makes C, whose memory is there, a fresh live root.
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
        .thread_instructions = device_config()->counting ? &device_thread_instructions : NULL,
        .sm_count = c->sm_count,
        .clock_khz = device_config()->clock_khz,
    };
    result = streams_make(c);
    if (!result)
        __atomic_store_n(&c->magic, MAGIC_CONTEXT, __ATOMIC_RELEASE);
    return result;
}

static void region_free(CUcontext c)
{
    uint64_t size = WORKSPACES_BYTES + c->limits[CU_LIMIT_MALLOC_HEAP_SIZE];

    if (!c->region)
        return;
    memory_lock();
    range_remove(c->region);
    address_release(c->region, (size + MEMORY_GRANULARITY - 1) & ~(MEMORY_GRANULARITY - 1));
    memory_unlock();
    heap_free(c->heap);
    c->heap = NULL;
    c->region = 0;
}

// Ends a root: what runs is stopped, everything it made is given back. The handle stays
// recognisable.
static void root_close(CUcontext c)
{
    __atomic_store_n(&c->magic, MAGIC_DEAD, __ATOMIC_RELEASE);
    sched_lock();
    order_fail(c, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    order_pump();
    sched_unlock();
    engine_wait_context(c, false);
    module_unload_all(c);
    stream_destroy(c->legacy);
    stream_destroy(c->per_thread);
    c->legacy = c->per_thread = NULL;
    object_release_owner(c);
    alloc_release_owner(c);
    host_release_owner(c);
    region_free(c);
}

static void context_list(CUcontext c)
{
    context_lock();
    c->next = contexts;
    contexts = c;
    context_unlock();
}

CUresult context_new(CUcontext *context, uint32_t flags)
{
    CUcontext c = calloc(1, sizeof(*c));
    CUresult result;

    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = root_open(c, flags);
    if (!result)
        context_list(c);
    if (!result)
        result = context_push(c);
    if (result) {
        free(c);
        return result;
    }
    *context = c;
    return CUDA_SUCCESS;
}

CUresult context_destroy(CUcontext context)
{
    CUresult result = context_check(context);

    if (result)
        return result;
    if (context->root != context || context == &primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    root_close(context);
    if (stack_count && stack[stack_count - 1] == context)
        stack_count--;
    return CUDA_SUCCESS;
}

// ---- The primary context, under a lock of its own: opening and closing take others

static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t primary_flags;

CUresult context_primary_retain(CUcontext *context)
{
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&primary_lock);
    if (primary_retained == 0) {
        result = root_open(&primary, primary_flags);
        if (!result && !primary_listed) {
            context_list(&primary);
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
    context_list(c);
    *context = c;
    return CUDA_SUCCESS;
}

void context_retire_green(CUcontext context)
{
    __atomic_store_n(&context->magic, MAGIC_DEAD, __ATOMIC_RELEASE);
    engine_wait_context(context, false);
    stream_destroy(context->legacy);
    stream_destroy(context->per_thread);
}

// ---- Limits and the region

CUresult context_set_limit(CUcontext root, CUlimit limit, uint64_t value)
{
    CUresult result = CUDA_SUCCESS;

    if ((unsigned)limit >= CONTEXT_LIMITS)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    context_lock();
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE && (root->region || value > (uint64_t)1 << 34))
        result = CUDA_ERROR_INVALID_VALUE; // fixed once a kernel has run
    else if (limit == CU_LIMIT_STACK_SIZE && value > 512 << 10)
        result = CUDA_ERROR_INVALID_VALUE;
    else
        root->limits[limit] = value;
    context_unlock();
    return result;
}

CUresult context_get_limit(CUcontext root, CUlimit limit, uint64_t *value)
{
    if ((unsigned)limit >= CONTEXT_LIMITS)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    context_lock();
    *value = root->limits[limit];
    context_unlock();
    return CUDA_SUCCESS;
}

// The driver's own memory, not the application's: no quota.
static CUresult region_make(CUcontext root)
{
    uint64_t heap_bytes = root->limits[CU_LIMIT_MALLOC_HEAP_SIZE];
    uint64_t size =
        (WORKSPACES_BYTES + heap_bytes + MEMORY_GRANULARITY - 1) & ~(MEMORY_GRANULARITY - 1);
    uint64_t base;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    root->heap = NULL;
    memory_lock();
    base = address_reserve(size, MEMORY_GRANULARITY, 0);
    if (base) {
        root->heap = heap_new(base + WORKSPACES_BYTES, heap_bytes);
        if (root->heap && !mprotect(mem_pointer(base), size, PROT_READ | PROT_WRITE))
            result = range_insert(&(struct range){.base = base,
                                                  .size = size,
                                                  .kind = RANGE_CHUNK,
                                                  .access = MEM_READ | MEM_WRITE,
                                                  .owner = NULL});
        if (result) {
            heap_free(root->heap);
            address_release(base, size);
        }
    }
    memory_unlock();
    if (!result)
        root->region = base;
    return result;
}

CUresult context_prepare(CUcontext root)
{
    CUresult result = CUDA_SUCCESS;

    context_lock();
    root->exec.stack_bytes = root->limits[CU_LIMIT_STACK_SIZE];
    if (!root->region)
        result = region_make(root);
    context_unlock();
    return result;
}

// Two words: the size of the workspace, then the barrier, which must start at zero.
uint64_t context_workspace(CUcontext root, uint32_t slot)
{
    uint64_t address = root->region + (uint64_t)slot * WORKSPACE_BYTES;
    uint32_t *words = mem_pointer(address);

    words[0] = WORKSPACE_BYTES;
    for (size_t i = 1; i < WORKSPACE_BYTES / sizeof(words[0]); i++)
        words[i] = 0;
    return address;
}
