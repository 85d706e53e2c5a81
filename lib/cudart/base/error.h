/*
 * error.h - the runtime's errors: each thread's last error, the sticky error of a session, and the
 * error for a gs_status.
 */
#ifndef GS_CUDART_ERROR_H
#define GS_CUDART_ERROR_H

#include <stdbool.h>

#include "cudart/abi.h"
#include "gshare.h"

/* Records the error as the calling thread's last one, and returns it. cudaErrorNotReady is an
 * answer, not an error, and is not recorded. In a forked child whose parent had used a device,
 * every error becomes cudaErrorInitializationError. */
cudaError_t error_record(cudaError_t error);
/* Marks this process as such a child, and asks whether it is one. */
void error_forked_set(void);
bool error_forked(void);
/* The error for the status that a call of the session returned. A status that ends the session
 * becomes the session's sticky error, which all of its calls return from then on. session may be
 * NULL. */
cudaError_t error_of(gs_session session, gs_status status);
/* The same for a call that takes host memory of the server. The limit that refused it is reported
 * once. */
cudaError_t error_of_host(gs_session session, gs_status status);
/* The calling thread's last error. clear: it is forgotten. */
cudaError_t error_last(bool clear);
/* cudaSuccess, or the session's sticky error. */
cudaError_t error_sticky(gs_session session);
/* Returns cudaErrorNotSupported, for a call or an option that gshare does not have, and reports
 * that at its first use. */
cudaError_t error_unsupported(const char *what);
/* Forgets the session's sticky error, because the session is gone. */
void error_forget(gs_session session);

#endif
