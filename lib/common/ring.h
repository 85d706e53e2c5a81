/*
 * ring.h - arithmetic of a submission ring: one producer (the client), one consumer (the worker),
 * free-running 64-bit byte positions, records that are multiples of REC_ALIGN and never wrap.
 *
 *   complete <= head <= tail <= complete + SEG_RING_BYTES
 *
 * The client writes tail, the worker keeps head to itself, and the GPU writes complete; bytes
 * before complete may be overwritten. The functions are inline and work on plain numbers: they
 * access no memory.
 */
#ifndef GS_COMMON_RING_H
#define GS_COMMON_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"

/* Returns the offset of a position in the ring's bytes. */
static inline uint32_t ring_offset(uint64_t position)
{
    return (uint32_t)(position % SEG_RING_BYTES);
}

/* Returns the bytes from a position to the ring's end. */
static inline uint32_t ring_to_end(uint64_t position)
{
    return SEG_RING_BYTES - ring_offset(position);
}

static inline uint32_t ring_round(uint32_t bytes)
{
    return (bytes + REC_ALIGN - 1) / REC_ALIGN * REC_ALIGN;
}

/* Returns the bytes of padding that a record of `size` bytes written at `tail` needs before it. */
static inline uint32_t ring_pad(uint64_t tail, uint32_t size)
{
    uint32_t left = ring_to_end(tail);
    return left < size ? left : 0;
}

/* Returns true if a record of `size` bytes and its padding are together larger than the ring. The
 * client then writes the padding as a record of its own, and waits for it before it writes the
 * record. */
static inline bool ring_pads_ahead(uint64_t tail, uint32_t size)
{
    return ring_pad(tail, size) + size > SEG_RING_BYTES;
}

/* Returns true if the ring has room for a record of `size` bytes with its padding. */
static inline bool ring_fits(uint64_t tail, uint64_t complete, uint32_t size)
{
    return tail - complete + ring_pad(tail, size) + size <= SEG_RING_BYTES;
}

/* Returns true if `tail`, read from a tenant's segment, is a valid tail for this head. */
static inline bool ring_tail_valid(uint64_t tail, uint64_t head)
{
    return tail - head <= SEG_RING_BYTES && tail % REC_ALIGN == 0;
}

/* ---- The parts of a launch record after its parameters -------------------------------------- */

/* Returns the offset of the launch's struct wire_qos. */
static inline uint32_t launch_record_qos(uint32_t param_bytes)
{
    return ((uint32_t)sizeof(struct rec_launch) + param_bytes + 7) / 8 * 8;
}

/* Returns the offset of the launch's submission time. */
static inline uint32_t launch_record_time(uint32_t flags, uint32_t param_bytes)
{
    return launch_record_qos(param_bytes) +
           (flags & REC_LAUNCH_QOS ? (uint32_t)sizeof(struct wire_qos) : 0);
}

/* Returns the offset of the launch's struct wire_cluster. */
static inline uint32_t launch_record_cluster(uint32_t flags, uint32_t param_bytes)
{
    return launch_record_time(flags, param_bytes) + (flags & REC_LAUNCH_TIME ? 8 : 0);
}

/* Returns the bytes of the whole record. */
static inline uint32_t launch_record_size(uint32_t flags, uint32_t param_bytes)
{
    return ring_round(launch_record_cluster(flags, param_bytes) +
                      (flags & REC_LAUNCH_CLUSTER ? (uint32_t)sizeof(struct wire_cluster) : 0));
}

#endif
