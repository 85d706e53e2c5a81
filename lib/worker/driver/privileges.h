/*
 * privileges.h - the worker gives up what it does not need, before it compiles and runs anything of
 * a tenant's; see privileges.c.
 */
#ifndef GS_WORKER_DRIVER_PRIVILEGES_H
#define GS_WORKER_DRIVER_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

/* Closes all descriptors that are not the worker's. To be called before it opens any. */
void descriptors_close(void);
/* Closes all descriptors but those for messages (0 to 2) and this one. */
void descriptors_close_but(int descriptor);
/* Gives up all but the user: for a child that handles the user's files. False, with a text: it must
 * not go on. */
bool privileges_drop_all(char *text, size_t size);
/* To be called before any thread is started, since each thread has privileges of its own, and after
 * the opening of what only the supervisor's user may open. kind: of the device, as --device has it.
 * False, with a text: the worker must not go on. */
bool privileges_drop(const char *kind, char *text, size_t size);

#endif
