/*
 * error.h - the runtime's error codes: each thread's last error, the error that stays, and which
 * code stands for a gs_status.
 */
#ifndef GS_CUDART_ERROR_H
#define GS_CUDART_ERROR_H

#include <stdbool.h>

#include "cudart/abi.h"
#include "gshare.h"

/* Notes an error as the calling thread's last one, and returns it; cudaErrorNotReady, an answer and
 * no error, is not noted. In a child of a fork whose parent had used a device, whatever is noted is
 * cudaErrorInitializationError. */
cudaError_t error_record(cudaError_t error);
/* Notes that this process is such a child, and tells whether it is one. */
void error_forked_set(void);
bool error_forked(void);
/* The code for what a call of the session returned. A status that ends the session becomes the
 * session's sticky error, which all of its calls return from then on. session may be NULL. */
cudaError_t error_of(gs_session session, gs_status status);
/* The same for a call that takes host memory of the server's: what has refused it is said once. */
cudaError_t error_of_host(gs_session session, gs_status status);
/* The calling thread's last error, which is then forgotten where clear is set. */
cudaError_t error_last(bool clear);
/* cudaSuccess, or the session's sticky error. */
cudaError_t error_sticky(gs_session session);
/* Returns cudaErrorNotSupported, for a call or an option that gshare does not have, and writes a
 * line at its first use. */
cudaError_t error_unsupported(const char *what);
/* Ends the session's sticky error: the session is gone. */
void error_forget(gs_session session);

#endif
