/*
 * busy.h - tenants that use all of the API without pause and check what comes of it, while a test
 * replaces parts of the server below them. Each is a process of its own.
 */
#ifndef GS_TEST_BUSY_H
#define GS_TEST_BUSY_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define BUSY_TENANTS 4u

enum busy_with {
    BUSY_WORKING,  /* launches, copies, allocations and QoS requests in one session */
    BUSY_ATTACHING /* one session after the other */
};

struct busy {
    _Atomic uint32_t stop;
    _Atomic uint32_t rounds[BUSY_TENANTS];
    pid_t pid[BUSY_TENANTS];
};

/* Returns when each has done a round. */
struct busy *busy_start(enum busy_with with);
/* Waits until each has done another round. */
void busy_go_on(struct busy *busy);
/* Fails the test unless all that they have done was right. */
void busy_stop(struct busy *busy);

#endif
