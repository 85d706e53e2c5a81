/* expect.h - threads that wake up before there is work for them; see expect.c. */
#ifndef GS_WORKER_EXPECT_H
#define GS_WORKER_EXPECT_H

#include <stdbool.h>
#include <stdint.h>

enum expectant {
    EXPECT_LINK,  /* the control thread: a message */
    EXPECT_JOBS,  /* the dispatcher: a job, or a record */
    EXPECT_QUIET, /* the service thread for quiet moments: a job */
    EXPECTANTS
};

/* Before any thread starts. false: no descriptor left. */
bool expect_init(void);
/* It will be wanted soon: wakes it, and it stays awake for a millisecond. Any thread. */
void expect(enum expectant who);
/* What it was to stay awake for has come: it need not any longer. The thread itself. */
void expect_met(enum expectant who);
/* A tenant says that it is about to ask for another grant. `now` is clock_ns(). Dispatcher. */
void expect_grant(uint64_t now);
/* A grant has come. Control thread. */
void expect_grant_met(void);
/* Is it to stay awake? Any thread. */
bool expecting(enum expectant who, uint64_t now);
/* For poll(): readable when the control thread is to wake up; -1: never. */
int expect_descriptor(void);

#endif
