/* module_table.c - see module_table.h. */
#include "worker/module/module_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "worker/jobs/job.h"

struct module *module_find(const struct session *session, uint64_t number)
{
    return number < session->module.module_capacity ? session->module.modules[number] : NULL;
}

void module_prepare(struct job *job)
{
    job->object = module_find(job->session, job->arg[0]);
    if (!job->object)
        job_fail(job, GS_ERR_INVALID_HANDLE, "module %" PRIu64 " does not exist", job->arg[0]);
}

/* Doubles a table of pointers, up to `max` entries. False: it has as many, or no memory. */
static bool table_grow(void ***table, uint32_t *capacity, uint32_t max)
{
    uint32_t bigger = *capacity ? *capacity * 2 : 16;

    if (bigger > max)
        bigger = max;
    void **grown = bigger > *capacity ? realloc(*table, bigger * sizeof(void *)) : NULL;
    if (!grown)
        return false;
    memset(grown + *capacity, 0, (bigger - *capacity) * sizeof(void *));
    *table = grown;
    *capacity = bigger;
    return true;
}

uint32_t table_slot(void ***table, uint32_t *capacity, uint32_t *lowest, uint32_t max)
{
    uint32_t i = *lowest;

    while (i < *capacity && (*table)[i])
        i++;
    *lowest = i;
    return i < *capacity || table_grow(table, capacity, max) ? i : UINT32_MAX;
}

bool table_reach(void ***table, uint32_t *capacity, uint32_t index, uint32_t max)
{
    while (*capacity <= index) {
        const uint32_t before = *capacity;
        if (!table_grow(table, capacity, max) || *capacity == before)
            return false;
    }
    return true;
}
