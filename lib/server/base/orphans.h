/*
 * orphans.h - how processes of workers ended whose supervisor was killed. The keeper (keeper.h) is
 * their parent then, and reaps them; the next supervisor has their pidfds alone. So the keeper
 * notes each status in the memory that both have.
 */
#ifndef GS_SERVER_ORPHANS_H
#define GS_SERVER_ORPHANS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A device has three processes at most: its worker, a standby, a former worker. */
#define ORPHANS_MOST 32u

/* All zero: none has ended. */
struct orphans {
    _Atomic uint64_t end[ORPHANS_MOST]; /* the pid, and as the low half the status; 0: none */
    uint32_t next;                      /* where the keeper writes */
};

/* The keeper's, before it reaps the process. status: as waitpid's. */
void orphan_note(struct orphans *orphans, pid_t pid, int status);
/* The supervisor's: takes the note of a process that has ended. False: there is none. */
bool orphan_take(struct orphans *orphans, pid_t pid, int *status);
/* The supervisor's: a new process has the pid, so a note of a former one says nothing. */
void orphan_forget(struct orphans *orphans, pid_t pid);

#endif
