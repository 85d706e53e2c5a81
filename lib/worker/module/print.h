/* print.h - a session's print block, which brings the output of its kernels to the tenant; see
 * print.c. Service threads. */
#ifndef GS_WORKER_MODULE_PRINT_H
#define GS_WORKER_MODULE_PRINT_H

#include "worker/session_parts.h"

/* Makes the session's print block, unless the session has one, and puts it into the job's answer.
 * On failure the job has failed. */
gs_status print_open(struct job *job);
/* Attaches the print block that a former worker has made for the session. On failure the job has
 * failed. */
gs_status print_resume(struct job *job);
/* Finds the device address of the session's print block, which exists. */
CUresult print_block_address(const struct session *session, CUdeviceptr *address);
/* Tells a loaded module the block's address, if print_open has run for the job. */
CUresult print_bind(const struct job *job, const struct module *module);
/* Frees the print block, after the device has finished with it. */
void print_deinit(struct session *session);

#endif
