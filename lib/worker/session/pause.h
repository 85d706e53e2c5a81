/*
 * pause.h - the lengths of pauses. A pause is a time in which new work waits, so that the work on
 * the device ends: quiet.c pauses all sessions for a quiet moment, chore.c one session for a chore.
 * Running kernels may be waiting for new work, so pauses are short at first and each one is twice
 * as long as the last, with new work issued in between. So a fifth of the time is lost at most.
 */
#ifndef GS_WORKER_SESSION_PAUSE_H
#define GS_WORKER_SESSION_PAUSE_H

#define PAUSE_FIRST_NS   3000000u
#define PAUSE_LONGEST_NS 1000000000u /* pauses are not doubled beyond this */
#define PAUSE_GAP        4u          /* the time between two pauses, in lengths of the last one */

#endif
