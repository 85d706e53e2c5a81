/*
 * upgrade.h - the server goes on as the program that is installed now (SIGUSR2 to its main
 * process).
 *
 * The keeper asks the program at its own path whether that one can go on with what this one has
 * kept, kills the supervisor, and becomes that program (execve), with all descriptors. Its new
 * supervisor takes the place of the killed one (restore.h). Workers go on as the program before
 * until `gsctl restart-worker`; the next worker reads their journals.
 */
#ifndef GS_SERVER_UPGRADE_H
#define GS_SERVER_UPGRADE_H

#include <stdbool.h>

#include "server/keeper.h"

/* Counted up with each change that the sizes of struct kept_server and of common/link.h's structs
 * do not show: another meaning, another order, a new message, an entry of the journal or of the
 * code cache. */
#define UPGRADE_LAYOUT 18u

#define UPGRADE_SIGNAL SIGUSR2

/* Remembers which program this is, and its command line. */
void upgrade_init(char **arguments);
/* Whether the command line is the question of another program, which is answered by the exit
 * status. */
bool upgrade_asked(int count, char **arguments, int *status);
/* The program at this one's path can go on. Waits some seconds for its answer. */
bool upgrade_possible(void);
/* Becomes that program, which finds the descriptor of the memory in upgrade_memory(). Returns only
 * if it fails, with all as it was. */
void upgrade_now(int memory);
/* The descriptor of the memory in which the former program has kept all; -1: there was none. At the
 * start: takes the note of it away. */
int upgrade_memory(void);
/* Mends what points into the former program, which has written all of it. options: of this one's
 * command line, for its texts. In the keeper. */
bool upgrade_adopt(struct kept_server *kept, const struct server_options *options,
                   void (*on_ready)(struct server *server));

#endif
