/* print.c - see print.h. */
#include "client/print/print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "common/print_ring.h"

void printing_init(struct printing *printing)
{
    pthread_mutex_init(&printing->lock, NULL);
}

void printing_deinit(struct printing *printing)
{
    free(printing->reader.record);
    free(printing->text.bytes);
    pthread_mutex_destroy(&printing->lock);
}

/* Writes to stderr without stdio, so that a thread that holds the lock does not wait for another
 * that holds stderr's lock. */
static void error_write(const char *bytes, size_t size)
{
    while (size) {
        ssize_t written = write(STDERR_FILENO, bytes, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* the loss cannot be reported anywhere */
        bytes += written;
        size -= (size_t)written;
    }
}

/* Prints one record. The caller holds stdout's lock and the printing's. A failed write shows in
 * ferror(stdout), as for the program's own writes. */
static void record_print(void *context, const unsigned char *record, size_t bytes)
{
    struct printing *printing = context;

    switch (print_format(record, bytes, &printing->text)) {
    case PRINT_TO_OUTPUT:
        fwrite_unlocked(printing->text.bytes, 1, printing->text.size, stdout);
        break;
    case PRINT_TO_ERROR:
        error_write(printing->text.bytes, printing->text.size);
        break;
    case PRINT_NOTHING:
        log_warning("event=messages-lost reason=\"a message of a kernel, %zu bytes, is damaged or "
                    "has no memory\"",
                    bytes);
        break;
    }
}

/* Reports newly lost messages. The caller holds the lock. */
static void lost_report(struct printing *printing)
{
    unsigned long long lost = print_ring_lost(printing->reader.block);

    if (lost == printing->lost_reported)
        return;
    log_warning("event=messages-lost messages=%llu reason=\"more than %u KiB of kernels' messages "
                "came between two calls that wait for the device\"",
                lost - printing->lost_reported, PRINT_RING_BYTES >> 10);
    printing->lost_reported = lost;
}

void print_drain(struct printing *printing)
{
    const unsigned char *block = atomic_load_explicit(&printing->block, memory_order_acquire);

    /* An empty ring also means that the last record's reader has written it out. */
    if (print_ring_empty(block))
        return;
    /* stdout's lock comes first, because a caller may hold it already. It is held to the end, so
     * that nothing comes between the lines of one message. */
    flockfile(stdout);
    pthread_mutex_lock(&printing->lock);
    print_read(&printing->reader, record_print, printing);
    if (!printing->lost_reported)
        lost_report(printing); /* only once; print_farewell reports the rest */
    pthread_mutex_unlock(&printing->lock);
    funlockfile(stdout);
}

void print_farewell(struct printing *printing)
{
    print_deliver(printing);
    pthread_mutex_lock(&printing->lock);
    if (printing->reader.block)
        lost_report(printing);
    pthread_mutex_unlock(&printing->lock);
}
