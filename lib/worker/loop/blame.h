/* blame.h - finds the session whose work lost the context; see blame.c. */
#ifndef GS_WORKER_LOOP_BLAME_H
#define GS_WORKER_LOOP_BLAME_H

/* Ends the process after a thread has met the loss (lost.h). Names to the supervisor the session
 * with unfinished work, if only one has any. Control thread. */
_Noreturn void blame(void);

#endif
