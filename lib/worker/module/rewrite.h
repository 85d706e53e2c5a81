/* rewrite.h - a tenant's PTX as it is loaded: rewritten by the passes of ptx/rewrite; see
 * rewrite.c. Service threads. */
#ifndef GS_WORKER_MODULE_REWRITE_H
#define GS_WORKER_MODULE_REWRITE_H

#include "worker/session_parts.h"

struct job;
struct ptx_rewrite_report;

/* Rewrites the image (*size bytes and a NUL behind them) where it is PTX, and PTX in a fatbin where
 * its kernels print, and says so in the job's answer. Leaves any other image as it is. *report:
 * what the passes did, the caller's to free with image_report_free; NULL: nothing. On failure the
 * job has failed; *image is the caller's as before, and *report is NULL. */
gs_status image_rewrite(struct job *job, unsigned char **image, uint64_t *size,
                        struct ptx_rewrite_report **report);
/* NULL is fine. */
void image_report_free(struct ptx_rewrite_report *report);

#endif
