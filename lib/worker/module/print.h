/* print.h - kernels that print; see print.c. All on service threads. */
#ifndef GS_WORKER_MODULE_PRINT_H
#define GS_WORKER_MODULE_PRINT_H

#include "worker/session_parts.h"

/* Could PTX of this text print? */
bool print_maybe(const char *text, size_t length);
/* Makes the session's block, if need be, and sets the job's answer. On failure the job has failed.
 */
gs_status print_open(struct job *job);
/* Tells a loaded module where the block is, if print_open has set it. */
CUresult print_bind(const struct job *job, CUmodule module);
/* After the device has finished with it. */
void print_deinit(struct session *session);

#endif
