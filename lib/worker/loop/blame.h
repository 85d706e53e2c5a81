/* blame.h - whose work a lost context was; see blame.c. */
#ifndef GS_WORKER_LOOP_BLAME_H
#define GS_WORKER_LOOP_BLAME_H

/* A thread has met the loss (lost.h): names the only session with unfinished work, if it is only
 * one, to the supervisor, and ends the process. Control thread. */
_Noreturn void blame(void);

#endif
