/* blame.h - finds the session whose work lost the context; see blame.c. */
#ifndef GS_WORKER_LOOP_BLAME_H
#define GS_WORKER_LOOP_BLAME_H

/* Ends the process after a thread has met the loss (lost.h). Tells the supervisor which session is
 * to blame, or which sessions are suspects. Called by the control thread. */
_Noreturn void blame(void);

#endif
