/*
 * honest.h - the eight honest tenants of the chaos suite, whose results are checked against known
 * answers. Four are at rest while harm is done: they must not be lost, whatever it is. Two of them
 * share memory: what one has written before the harm the other reads after it. Four compute all the
 * time: their results are right, or they are told that they were interrupted, and attach anew. Two
 * of the latter have their unfinished work run again (GS_ON_FAULT_REPLAY): they are seldom
 * interrupted.
 *
 * Each runs in a process of its own and counts in `struct honest`, in memory that all share; the
 * test's process reads it.
 */
#ifndef GS_TEST_CHAOS_HONEST_H
#define GS_TEST_CHAOS_HONEST_H

#include <stdint.h>

#include "harness/harness.h"

#define RESTING 4u
#define WORKING 4u
#define HONEST  (RESTING + WORKING)

struct honest {
    _Atomic uint32_t
        round;             /* a futex; whoever is at rest looks at its memory when it has changed */
    _Atomic uint32_t hold; /* those who work are at rest too while this is set */
    _Atomic uint32_t stop;
    struct gate exported;
    gs_mem_handle handle;    /* of the memory that two of those at rest share */
    _Atomic uint32_t looked; /* the last round for which the one that does not write has looked */
    struct {
        _Alignas(64) _Atomic uint32_t seen; /* the last round for which it has looked */
        _Atomic uint32_t held;              /* it is at rest because of `hold` */
        _Atomic uint32_t lost;              /* the status that it should not have got; 0: none */
        _Atomic uint64_t checked;
        _Atomic uint64_t interrupted;
        _Atomic uint64_t wrong;      /* words */
        _Atomic uint64_t longest_ns; /* from one result to the next; the test sets it to 0 */
    } row[HONEST];
};

struct honest_self {
    struct honest *all;
    unsigned number; /* those below RESTING are at rest */
};

/* Every other one of those who work. */
bool honest_replays(unsigned number);
/* Body of a tenant; takes a struct honest_self. */
void honest_run(void *self);

/* Milliseconds times the time scale. */
unsigned scaled_ms(unsigned milliseconds);

#endif
