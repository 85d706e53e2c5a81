/* prewake.h - threads that wake up before there is work for them; see prewake.c. */
#ifndef GS_WORKER_DRIVER_PREWAKE_H
#define GS_WORKER_DRIVER_PREWAKE_H

#include <stdbool.h>
#include <stdint.h>

enum prewake_target {
    PREWAKE_LINK,  /* the control thread: a message */
    PREWAKE_JOBS,  /* the dispatcher: a job, or a record */
    PREWAKE_QUIET, /* the service thread for quiet moments: a job */
    PREWAKE_TARGETS
};

/* Before any thread starts. false: no descriptor left. */
bool prewake_init(void);
/* It will be wanted soon: wakes it, and it stays awake for a millisecond. Any thread. */
void prewake(enum prewake_target who);
/* What it was to stay awake for has come: it need not any longer. The thread itself. */
void prewake_met(enum prewake_target who);
/* A tenant says that it is about to ask for another grant. `now` is clock_ns(). Dispatcher. */
void prewake_grant(uint64_t now);
/* A grant has come. Control thread. */
void prewake_grant_met(void);
/* Is it to stay awake? Any thread. */
bool prewake_pending(enum prewake_target who, uint64_t now);
/* For poll(): readable when the control thread is to wake up; -1: never. */
int prewake_descriptor(void);

#endif
