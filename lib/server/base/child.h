/*
 * child.h - processes of workers, by their pidfd. Some were started by a former supervisor, whose
 * place this one has taken: the keeper (keeper.h) reaps those, so that how they ended is not known
 * here.
 */
#ifndef GS_SERVER_CHILD_H
#define GS_SERVER_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#define CHILD_STATUS_UNKNOWN (-1)

/* Sends a signal. Harmless on a process that has ended. */
void child_signal(int pidfd, int signal);
/* Reaps the process if it has ended. false: it has not. *status: as waitpid's, or
 * CHILD_STATUS_UNKNOWN. */
bool child_reap(pid_t pid, int pidfd, int *status);
/* Kills a process that has not been taken into use, and closes its descriptors; -1: none. */
void child_discard(int pidfd, int link);
/* Kills the process and waits for its end. */
void child_end(pid_t pid, int pidfd);

#endif
