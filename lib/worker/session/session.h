/* session.h - see session.c. */
#ifndef GS_WORKER_SESSION_SESSION_H
#define GS_WORKER_SESSION_SESSION_H

#include "worker/jobs/job.h"

/* A session before its open job; NULL without memory. Any thread. */
struct session *session_new(uint32_t slot, const struct link_open *open);
/* Tells the supervisor how an open job ended. Dispatcher, once the session is in its list. */
void session_opened(const struct job *job);

#endif
