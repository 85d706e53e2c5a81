/*
 * log_allowance.h - how many lines of a kind a user may have in the log: a program may fail again
 * and again, and must not hide what others do. Any thread.
 */
#ifndef GS_COMMON_LOG_ALLOWANCE_H
#define GS_COMMON_LOG_ALLOWANCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define LOG_ALLOWANCE_USERS 16u /* who had a line last; of more at a time, each may have more */

/* A user is remembered longer than its last session. Begins with lock, lines and interval. */
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

/* Whether the user may have another line now; true counts the line. */
bool log_allowance_take(struct log_allowance *allowance, uint32_t uid);

#endif
