/*
 * rewrite.h - rewrites a tenant's PTX by the passes of ptx/rewrite when it is loaded; see
 * rewrite.c. Service threads.
 */
#ifndef GS_WORKER_MODULE_REWRITE_H
#define GS_WORKER_MODULE_REWRITE_H

#include "worker/session_parts.h"

struct grid_sync;
struct job;
struct ptx_rewrite_report;

/* Turns the image (*size bytes and a NUL behind them) into PTX text or machine code, and rewrites
 * PTX. A fatbin is replaced by its PTX if the kernels print or allocate, or if it has no machine
 * code for this device. If kernels print, the print block goes into the job's answer. *report tells
 * what the passes did, and the caller frees it with report_release; NULL: nothing was rewritten.
 * *grid, the caller's to free, holds the kernels that synchronise their grid; it is empty for
 * machine code alone. *state: as image_has_state for the tenant's PTX, true for machine code alone;
 * false in a fenced session, whose variables lie in its window. On failure the job has failed,
 * *image is the caller's as before, and *report is NULL. */
gs_status image_rewrite(struct job *job, unsigned char **image, uint64_t *size,
                        struct ptx_rewrite_report **report, struct grid_sync *grid, bool *state);
/* Returns whether machine code, or the machine code of a fatbin that is to be loaded, keeps nothing
 * in the context (ptx/cubin.h). */
bool image_code_is_pure(const unsigned char *image, uint64_t size);

#endif
