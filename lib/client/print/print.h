/*
 * print.h - prints the output of a session's kernels. Calls that wait for the device write it to
 * this process's stdout, and assertions' messages to stderr. Any thread inside the session.
 *
 * A session whose kernels do not print has no print block; a call that waits then costs one load
 * here.
 */
#ifndef GS_CLIENT_PRINT_H
#define GS_CLIENT_PRINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "client/print/print_format.h"
#include "client/print/print_read.h"

struct printing {
    unsigned char *_Atomic block; /* NULL: no kernel prints; set once */
    pthread_mutex_t lock;         /* guards the members below; taken after stdout's lock */
    struct print_reader reader;
    struct text text;
    unsigned long long lost_reported;
};

void printing_init(struct printing *printing);
void printing_deinit(struct printing *printing);

/* Reports, at the session's end, the messages that were lost since the last report. */
void print_farewell(struct printing *printing);

void print_drain(struct printing *printing);

/* Writes what kernels have printed so far, at least everything of kernels that ended before the
 * call. */
static inline void print_deliver(struct printing *printing)
{
    /* acquire: pairs with print_adopt, which has mapped the block before */
    if (__builtin_expect(atomic_load_explicit(&printing->block, memory_order_acquire) != NULL, 0))
        print_drain(printing);
}

#endif
