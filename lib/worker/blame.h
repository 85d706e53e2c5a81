/* blame.h - the dispatcher's part in the end of a lost context; see blame.c. dispatch_lost, which
 * any thread calls, is in job.h. */
#ifndef GS_WORKER_BLAME_H
#define GS_WORKER_BLAME_H

#include <stdbool.h>

/* The calling thread is the dispatcher. */
void blame_begin(void);
/* Has another thread met the loss? Then blame_look does not return. */
bool blame_wanted(void);
void blame_look(void);

#endif
