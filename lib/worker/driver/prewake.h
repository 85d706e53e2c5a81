/* prewake.h - pre-wake: waking threads before there is work for them; see prewake.c. */
#ifndef GS_WORKER_DRIVER_PREWAKE_H
#define GS_WORKER_DRIVER_PREWAKE_H

#include <stdbool.h>
#include <stdint.h>

enum prewake_target {
    PREWAKE_LINK,  /* the control thread, for a message */
    PREWAKE_JOBS,  /* the main lane, for a job or a record */
    PREWAKE_QUIET, /* the service thread for quiet moments, for a job */
    PREWAKE_TARGETS
};

/* Called before any thread starts. Returns false when no descriptor is left. */
bool prewake_init(void);
/* Wakes the target, which will have work soon; the target then stays awake for a millisecond. Any
 * thread. */
void prewake(enum prewake_target who);
/* Ends the target's pre-wake, because the awaited work has come. Called by the target itself. */
void prewake_met(enum prewake_target who);
/* Pre-wakes all targets, because a tenant says that it is about to ask for another grant. `now` is
 * clock_ns(). Main lane. */
void prewake_grant(uint64_t now);
/* Notes that a grant has come. Control thread. */
void prewake_grant_met(void);
/* Returns whether the target is to stay awake at the time `now`. Any thread. */
bool prewake_pending(enum prewake_target who, uint64_t now);
/* Returns a descriptor for poll(), readable when the control thread is to wake up; -1: pre-wake is
 * off. */
int prewake_descriptor(void);

#endif
