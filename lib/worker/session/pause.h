/*
 * pause.h - how long pauses are. A pause is a time in which new work waits, so that what the device
 * has ends: quiet.c pauses all sessions for a quiet moment, chore.c one session for a chore.
 * Kernels that run may wait for new work, so pauses are short at first, each next one is twice as
 * long, and work goes out in between: a fifth of the time is lost at most.
 */
#ifndef GS_WORKER_SESSION_PAUSE_H
#define GS_WORKER_SESSION_PAUSE_H

#define PAUSE_FIRST_NS   3000000u
#define PAUSE_LONGEST_NS 1000000000u /* no pause is doubled beyond this */
#define PAUSE_GAP        4u          /* the time between two pauses, in lengths of the last one */

#endif
