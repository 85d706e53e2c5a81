/*
 * module_table.h - a session's tables of modules and of kernels: growing tables of pointers,
 * indexed by number. They belong to the session's job in progress.
 */
#ifndef GS_WORKER_MODULE_MODULE_TABLE_H
#define GS_WORKER_MODULE_MODULE_TABLE_H

#include "worker/session_parts.h"

struct job;

/* Returns the module with this number; NULL: there is none. */
struct module *module_find(const struct session *session, uint64_t number);
/* The prepare step of a job whose arg[0] is a module's number: finds the module and stores it in
 * job->object. On failure the job has failed. */
void module_prepare(struct job *job);
/* Returns the index of the first free entry in a table, which grows up to `max` entries.
 * UINT32_MAX: the table is full, or there is no memory. *lowest, 0 at first: no entry before it is
 * free, so that the main lane does not search a long table from its beginning for each entry. */
uint32_t table_slot(void ***table, uint32_t *capacity, uint32_t *lowest, uint32_t max);
/* Lowers *lowest for an entry that has become free. */
static inline void table_free(uint32_t *lowest, uint32_t index)
{
    *lowest = index < *lowest ? index : *lowest;
}
/* Makes the table long enough for an entry `index`. False: beyond `max`, or no memory. */
bool table_reach(void ***table, uint32_t *capacity, uint32_t index, uint32_t max);

#endif
