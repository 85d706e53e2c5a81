/*
 * privileges.h - the worker's privileges, which it gives up as far as it does not need them, before
 * it compiles and runs anything of a tenant's; see privileges.c.
 */
#ifndef GS_WORKER_DRIVER_PRIVILEGES_H
#define GS_WORKER_DRIVER_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

/* Closes all descriptors that the supervisor has not given to the worker. Called before the worker
 * opens any. */
void descriptors_close(void);
/* Closes all descriptors except those for messages (0 to 2) and `descriptor`. */
void descriptors_close_but(int descriptor);
/* Gives up everything but the user, in a child that handles the user's files. False, with a text:
 * the child must not go on. */
bool privileges_drop_all(char *text, size_t size);
/* Gives up the worker's privileges. Called before any thread is started, since each thread has its
 * own privileges, and after the files that only the supervisor's user may open were opened. kind:
 * the device's, as --device has it. False, with a text: the worker must not go on. */
bool privileges_drop(const char *kind, char *text, size_t size);

#endif
