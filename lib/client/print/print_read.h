/*
 * print_read.h - taking records out of the ring that a session's kernels print to. One thread at a
 * time per reader. What the device has not finished writing stays for the next time.
 *
 * Trust: the block is the tenant's own memory, written by its kernels. Positions and sizes are
 * checked; a record is copied before anyone looks into it.
 */
#ifndef GS_CLIENT_PRINT_READ_H
#define GS_CLIENT_PRINT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one block, from its first record on. */
struct print_reader {
    unsigned char *block;
    unsigned char *record; /* PRINT_RECORD_MAX bytes */
    uint64_t dropped;      /* of the device's PRINT_AT_DROPPED, what was passed over */
};

/* Gets each record once, in the order in which room was reserved for them. */
typedef void print_take(void *context, const unsigned char *record, size_t bytes);

/* Is there nothing reserved that was not taken? Any thread. */
bool print_ring_empty(const unsigned char *block);
/* Messages that found no room so far. Any thread. */
uint64_t print_ring_lost(const unsigned char *block);
/* Hands every finished record to take, and frees the room up to the first unfinished one. */
void print_read(struct print_reader *reader, print_take *take, void *context);

#endif
