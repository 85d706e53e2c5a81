/* segment_mapping.c - see segment_mapping.h. */
#include "worker/memory/segment_mapping.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>

#include "worker/memory/deferred_release.h"

#define COMPLETE_BYTES (SEG_OFF_SERVER - SEG_OFF_COMPLETE)

/* The supervisor keeps few segments, so a list will do. */
static struct {
    pthread_mutex_t lock; /* guards `first`, which service threads and the control thread use */
    struct segment_mapping *first;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Takes the mapping out of the list of kept ones. NULL: it is not in the list. */
static struct segment_mapping *kept_take(int id)
{
    struct segment_mapping *mapping = NULL;

    pthread_mutex_lock(&kept.lock);
    for (struct segment_mapping **link = &kept.first; *link; link = &(*link)->next) {
        if ((*link)->id != id)
            continue;
        mapping = *link;
        *link = mapping->next;
        break;
    }
    pthread_mutex_unlock(&kept.lock);
    return mapping;
}

static gs_status completion_register(struct job *job, struct segment_mapping *mapping)
{
    unsigned char *page = mapping->memory + SEG_OFF_COMPLETE;
    CUresult result = DRV(cuMemHostRegister_v2, page, COMPLETE_BYTES, CU_MEMHOSTREGISTER_DEVICEMAP);

    if (result) {
        shmdt(mapping->memory);
        return job_fail_driver(job, result);
    }
    result = DRV(cuMemHostGetDevicePointer_v2, &mapping->complete, page, 0);
    if (result) {
        job_fail_driver(job, result);
        deferred_release_add(mapping->memory, page, SEG_SIZE, (struct deferred_end){0});
    }
    return job->status;
}

static gs_status mapping_init(struct job *job, struct segment_mapping *mapping)
{
    void *memory = shmat(mapping->id, NULL, 0);

    if (memory == (void *)-1)
        return job_fail(job, GS_ERR_SYSTEM, "shmat of a session's segment: %s", strerror(errno));
    mapping->memory = memory;
    return completion_register(job, mapping);
}

struct segment_mapping *segment_mapping_get(struct job *job, int id)
{
    struct segment_mapping *mapping = kept_take(id);

    if (mapping)
        return mapping;
    mapping = calloc(1, sizeof(*mapping));
    if (!mapping) {
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for a segment's record");
        return NULL;
    }
    mapping->id = id;
    if (mapping_init(job, mapping) != GS_OK) {
        free(mapping);
        return NULL;
    }
    return mapping;
}

void segment_mapping_keep(struct segment_mapping *mapping)
{
    if (!mapping)
        return;
    pthread_mutex_lock(&kept.lock);
    mapping->next = kept.first;
    kept.first = mapping;
    pthread_mutex_unlock(&kept.lock);
}

void segment_mapping_remove(int id)
{
    struct segment_mapping *mapping = kept_take(id);

    if (!mapping)
        return;
    deferred_release_add(mapping->memory, mapping->memory + SEG_OFF_COMPLETE, SEG_SIZE,
                         (struct deferred_end){0});
    free(mapping);
}
