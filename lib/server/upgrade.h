/*
 * upgrade.h - an upgrade: the server continues as the program that is installed now (SIGUSR2 to its
 * main process).
 *
 * The keeper asks the program at its own path whether it can take over the server's memory, kills
 * the supervisor, and becomes that program (execve), with all descriptors. Its new supervisor takes
 * the place of the killed one (restore.h). Workers continue to run the previous program until
 * `gsctl restart-worker`; the next worker reads their journals.
 */
#ifndef GS_SERVER_UPGRADE_H
#define GS_SERVER_UPGRADE_H

#include <stdbool.h>

#include "server/keeper.h"

/* Incremented with each incompatible change that does not show in the sizes of struct server_memory
 * and of common/link.h's structs: another meaning or order of members, a new message, an entry of
 * the journal or of the code cache. */
#define UPGRADE_LAYOUT 18u

#define UPGRADE_SIGNAL SIGUSR2

/* Remembers this program's path and command line. */
void upgrade_init(char **arguments);
/* Returns whether the command line is another program's question whether this one can take over;
 * *status is then the exit status that answers it. */
bool upgrade_asked(int count, char **arguments, int *status);
/* Returns whether the program at this one's path can take over. Waits some seconds for its
 * answer. */
bool upgrade_possible(void);
/* Becomes that program, which gets the descriptor of the memory by upgrade_memory(). Returns only
 * on failure, with nothing changed. */
void upgrade_now(int memory);
/* Returns the descriptor of the memory that the former program has kept; -1: there was none. Called
 * at the start; removes the note of it from the environment. */
int upgrade_memory(void);
/* Replaces the pointers in the server's memory that point into the former program. `options` are
 * those of this program's command line, for their texts. Called in the keeper. */
bool upgrade_adopt(struct server_memory *memory, const struct server_options *options,
                   void (*on_ready)(struct server *server));

#endif
