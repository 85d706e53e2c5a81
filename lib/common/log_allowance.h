/*
 * log_allowance.h - limits the lines of a kind that one user causes in the log, so that a program
 * that fails again and again does not hide other users' events. Any thread.
 */
#ifndef GS_COMMON_LOG_ALLOWANCE_H
#define GS_COMMON_LOG_ALLOWANCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define LOG_ALLOWANCE_USERS 16u /* users remembered; if more have lines, each may have more */

/* The limit and the users' counts. A user's count outlives its last session. LOG_ALLOWANCE
 * initialises it. */
struct log_allowance {
    pthread_mutex_t lock;
    uint32_t lines; /* lines of a user within interval_ns */
    uint64_t interval_ns;
    struct {
        uint64_t since_ns; /* 0: the entry is free */
        uint32_t uid, lines;
    } user[LOG_ALLOWANCE_USERS];
};
#define LOG_ALLOWANCE(lines_, interval_ns_)                                                        \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .lines = (lines_), .interval_ns = (interval_ns_)        \
    }

/* Returns whether the user may have another line now, and counts that line. */
bool log_allowance_take(struct log_allowance *allowance, uint32_t uid);

#endif
