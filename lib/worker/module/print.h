/* print.h - kernels that print; see print.c. All on service threads. */
#ifndef GS_WORKER_MODULE_PRINT_H
#define GS_WORKER_MODULE_PRINT_H

#include "worker/session_parts.h"

/* Where the image (size bytes and a NUL behind them) has PTX whose kernels print: makes it PTX
 * whose kernels print to the session's block, which is made if need be, and sets the job's answer.
 * Leaves any other image as it is. On failure the job has failed; *image is the caller's as before.
 */
gs_status print_redirect(struct job *job, unsigned char **image, uint64_t *size);
/* Tells a loaded module where the block is, if print_redirect changed its image. */
CUresult print_bind(const struct job *job, CUmodule module);
/* After the device has finished with it. */
void print_deinit(struct session *session);

#endif
