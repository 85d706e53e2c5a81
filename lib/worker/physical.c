/*
 * physical.c - see physical.h.
 */
#include "worker/physical.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

struct physical {
    CUmemGenericAllocationHandle handle;
    uint64_t size;
    struct holder *first; /* oldest first */
};

/* Of every piece's holders. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

CUmemGenericAllocationHandle physical_handle(const struct physical *memory)
{
    return memory->handle;
}

uint64_t physical_size(const struct physical *memory)
{
    return memory->size;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static gs_status charge(struct job *job, uint64_t size)
{
    struct session *session = job->session;

    if (size > session->mem_limit - session->mem_used)
        return job_fail(job, GS_ERR_QUOTA,
                        "%" PRIu64 " bytes wanted, %" PRIu64 " of the session's %" PRIu64
                        " are in use",
                        size, session->mem_used, session->mem_limit);
    session->mem_used += size;
    return GS_OK;
}

/* What the device has in use shows under the oldest holder. Under the lock. */
static void shown_add(const struct holder *holder, uint64_t size)
{
    atomic_fetch_add_explicit(&holder->session->stats->memory_used, size, memory_order_relaxed);
}

static void shown_take(const struct holder *holder, uint64_t size)
{
    atomic_fetch_sub_explicit(&holder->session->stats->memory_used, size, memory_order_relaxed);
}

/* ---- Holding --------------------------------------------------------------------------------- */

gs_status physical_new(struct job *job, uint64_t size, struct holder *holder)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes =
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, worker.device}};
    struct physical *memory;
    CUresult result;

    if (charge(job, size) != GS_OK)
        return job->status;
    memory = calloc(1, sizeof(*memory));
    if (!memory) {
        job->session->mem_used -= size;
        return job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an allocation's record");
    }
    result = DRV(cuMemCreate, &memory->handle, size, &prop, 0);
    if (result) {
        free(memory);
        job->session->mem_used -= size;
        return job_fail_driver(job, result);
    }
    memory->size = size;
    memory->first = holder;
    *holder = (struct holder){.memory = memory, .session = job->session};
    shown_add(holder, size);
    return GS_OK;
}

gs_status physical_join(struct job *job, struct physical *memory, struct holder *holder)
{
    struct holder **end = &memory->first;

    if (charge(job, memory->size) != GS_OK)
        return job->status;
    *holder = (struct holder){.memory = memory, .session = job->session};
    pthread_mutex_lock(&lock);
    while (*end)
        end = &(*end)->next;
    *end = holder;
    pthread_mutex_unlock(&lock);
    return GS_OK;
}

void physical_leave(struct holder *holder)
{
    struct physical *memory = holder->memory;
    struct holder **at = &memory->first;
    bool last;

    pthread_mutex_lock(&lock);
    while (*at != holder)
        at = &(*at)->next;
    *at = holder->next;
    last = !memory->first;
    if (at == &memory->first) {
        shown_take(holder, memory->size);
        if (!last)
            shown_add(memory->first, memory->size);
    }
    pthread_mutex_unlock(&lock);
    holder->session->mem_used -= memory->size;
    *holder = (struct holder){0};
    if (last) {
        DRV_MUST(cuMemRelease, memory->handle);
        free(memory);
    }
}

/* ---- Revoking -------------------------------------------------------------------------------- */

static void jobs_free(struct job *first)
{
    while (first) {
        struct job *job = first;
        first = job->next;
        job_free(job);
    }
}

gs_status physical_revoke(struct job *job, const struct holder *owner)
{
    struct job *first = NULL;
    bool enough = true;

    /* All jobs are made before anybody is told: it must not fail half way. */
    pthread_mutex_lock(&lock);
    for (const struct holder *h = owner->memory->first; h && enough; h = h->next) {
        struct job *unshare = h != owner && !h->revoked ? job_new(NULL, &job_unshare) : NULL;
        enough = unshare || h == owner || h->revoked;
        if (!unshare)
            continue;
        unshare->index = h->session->slot;
        unshare->arg[0] = h->session->id;
        unshare->next = first;
        first = unshare;
    }
    for (struct holder *h = owner->memory->first; h && enough; h = h->next)
        h->revoked = h != owner;
    pthread_mutex_unlock(&lock);
    if (!enough) {
        jobs_free(first);
        return job_fail(job, GS_ERR_NO_MEMORY, "no host memory to tell those who hold it");
    }
    while (first) {
        struct job *unshare = first;
        first = unshare->next;
        dispatch_push(unshare);
    }
    return GS_OK;
}

bool physical_revoked(const struct holder *holder)
{
    bool revoked;

    pthread_mutex_lock(&lock);
    revoked = holder->revoked;
    pthread_mutex_unlock(&lock);
    return revoked;
}
