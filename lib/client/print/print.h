/*
 * print.h - what a session's kernels print comes out here: at the calls that wait for the device,
 * on the process's stdout, or on stderr for assertions. Any thread inside the session.
 *
 * A session whose kernels do not print has no block, and a call that waits pays one load for that.
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
    pthread_mutex_t lock;         /* of the rest; taken behind stdout's */
    struct print_reader reader;
    struct text text;
    unsigned long long lost_told;
};

void printing_init(struct printing *printing);
void printing_deinit(struct printing *printing);

/* At the session's end: reports the messages that were lost since the last report. */
void print_farewell(struct printing *printing);

void print_drain(struct printing *printing);

/* Writes what kernels have printed by now. What had ended before the call is printed after it. */
static inline void print_deliver(struct printing *printing)
{
    /* acquire: pairs with print_adopt; the block is mapped */
    if (__builtin_expect(atomic_load_explicit(&printing->block, memory_order_acquire) != NULL, 0))
        print_drain(printing);
}

#endif
