/*
 * print_read.h - takes records out of the ring to which a session's kernels print. One thread at a
 * time uses a reader. A record that the device has not finished stays for the next call.
 *
 * Trust: the tenant's kernels write the block. The reader checks positions and sizes, and copies a
 * record before its contents are read.
 */
#ifndef GS_CLIENT_PRINT_READ_H
#define GS_CLIENT_PRINT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The reader of one block, from its first record on. */
struct print_reader {
    unsigned char *block;
    unsigned char *record; /* PRINT_RECORD_MAX bytes */
    uint64_t dropped;      /* the part of PRINT_AT_DROPPED that the reader has skipped */
};

/* Receives each record once, in the order of the reservations; a late record comes out of order. */
typedef void print_take(void *context, const unsigned char *record, size_t bytes);

/* Returns true if every reserved byte has been taken. Any thread. */
bool print_ring_empty(const unsigned char *block);
/* Returns the number of messages that have found no room so far. Any thread. */
uint64_t print_ring_lost(const unsigned char *block);
/* Passes every finished record to `take`, and frees the ring up to the first unfinished one. */
void print_read(struct print_reader *reader, print_take *take, void *context);

#endif
