/*
 * error.h - the calling thread's last error message. The function that detects a failure sets the
 * message once; its callers pass the status on unchanged. Any thread; each thread has a message of
 * its own.
 */
#ifndef GS_CLIENT_ERROR_H
#define GS_CLIENT_ERROR_H

#include "gshare.h"

#define ERROR_MESSAGE_MAX 4096u

/* Sets the message and returns status, so that a check reads `return error_set(...)`. */
gs_status error_set(gs_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
/* Sets the message of a failed system call: `what`, then the text of errno. Errors that mean a lack
 * of memory or descriptors give GS_ERR_NO_MEMORY, all others GS_ERR_SYSTEM. */
gs_status error_system(const char *what) __attribute__((cold));
/* Returns the message; "" before the thread's first failure. Valid until the thread's next
 * failure. */
const char *error_last(void);
/* Copies the message, for callers whose clean-up may overwrite it. error_server(status, kept)
 * restores the message afterwards. */
void error_keep(char kept[ERROR_MESSAGE_MAX]);
/* Sets the message that the server sent, or the status's text if the server sent none. Returns
 * status. */
gs_status error_server(gs_status status, const char *message) __attribute__((cold));

#endif
