/*
 * error.h - the calling thread's last error message. The first to see a problem sets it, once;
 * those above pass the status on in silence. Any thread, each has its own text.
 */
#ifndef GS_CLIENT_ERROR_H
#define GS_CLIENT_ERROR_H

#include "gshare.h"

#define ERROR_MESSAGE_MAX 4096u

/* Keeps the message and returns status, so that a check reads `return error_set(...)`. */
gs_status error_set(gs_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
/* The same for a failed system call: appends the text of errno. ENOMEM and its like become
 * GS_ERR_NO_MEMORY, the rest GS_ERR_SYSTEM. */
gs_status error_system(const char *what) __attribute__((cold));
/* Keeps the message over the undoing of what failed; error_server(status, kept) brings it back. */
void error_keep(char kept[ERROR_MESSAGE_MAX]);
/* A message from the server, as it is; the status's own text where it sent none. */
gs_status error_server(gs_status status, const char *message) __attribute__((cold));

#endif
