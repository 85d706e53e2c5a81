/*
 * table.h - the texture table of a fenced session: its rows hold the driver's objects for the
 * numbers of textures and surfaces that the session's kernels use; see table.c and
 * ptx/rewrite/texture_table.h. Service threads, in the session's job in progress.
 */
#ifndef GS_WORKER_TEXTURE_TABLE_H
#define GS_WORKER_TEXTURE_TABLE_H

#include "ptx/rewrite/texture_table.h"
#include "worker/jobs/job.h"

/* Gives the session a table of null objects, unless it has one. The driver may delay this as it
 * does an allocation. On failure the job has failed. */
gs_status texture_table_open(struct job *job);
/* Returns the table's device address. */
CUdeviceptr texture_table_address(const struct session *session);
/* Stores the driver's object in a row, in the columns of its geometry. */
CUresult texture_table_put(struct session *session, uint32_t row, uint64_t object,
                           enum texture_column column);
/* Stores null objects in a row. Called before the driver's object is destroyed, when the device has
 * finished with the session's work. On failure the row may still contain the object. */
CUresult texture_table_remove(struct session *session, uint32_t row);
/* Takes the table from the session, after the device has finished with its work. Harmless without
 * one. */
void texture_table_deinit(struct session *session);

#endif
