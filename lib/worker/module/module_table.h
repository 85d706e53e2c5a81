/*
 * module_table.h - a session's tables of modules and of kernels: tables of pointers, by number,
 * which grow. They belong to the session's job in progress.
 */
#ifndef GS_WORKER_MODULE_MODULE_TABLE_H
#define GS_WORKER_MODULE_MODULE_TABLE_H

#include "worker/session_parts.h"

struct job;

/* NULL: there is no such module. */
struct module *module_find(const struct session *session, uint64_t number);
/* The prepare step of a job whose arg[0] is a module's number: job->object is the module. On
 * failure the job has failed. */
void module_prepare(struct job *job);
/* The index of the first free entry in a table, which grows up to `max` entries. UINT32_MAX: the
 * table is full, or there is no memory. *lowest: no entry before it is free, so that a tenant with
 * a long table does not have the main lane look through it for each entry; 0 at first. */
uint32_t table_slot(void ***table, uint32_t *capacity, uint32_t *lowest, uint32_t max);
/* Notes that the entry is free now. */
static inline void table_free(uint32_t *lowest, uint32_t index)
{
    *lowest = index < *lowest ? index : *lowest;
}
/* Makes the table long enough for an entry `index`. */
bool table_reach(void ***table, uint32_t *capacity, uint32_t index, uint32_t max);

#endif
