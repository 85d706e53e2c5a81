/*
 * orphans.h - exit statuses of workers whose supervisor was killed. The keeper (keeper.h) becomes
 * their parent and reaps them, while the next supervisor has only their pidfds. So the keeper notes
 * each status in the memory that both share.
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
    _Atomic uint64_t end[ORPHANS_MOST]; /* the pid in the high half, the status in the low half;
                                           0: none */
    uint32_t next;                      /* the index at which the keeper writes next */
};

/* Notes a status, as waitpid's. Called by the keeper before it reaps the process. */
void orphan_add(struct orphans *orphans, pid_t pid, int status);
/* Takes the note of a process that has ended. Returns false if there is none. Called by the
 * supervisor. */
bool orphan_take(struct orphans *orphans, pid_t pid, int *status);
/* Removes the note of a former process of the pid, which a new process has. Called by the
 * supervisor. */
void orphan_remove(struct orphans *orphans, pid_t pid);

#endif
