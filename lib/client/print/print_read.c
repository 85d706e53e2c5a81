/* print_read.c - see print_read.h.
 *
 * A device thread reserves bytes, then writes its record there, or drops the reservation if there
 * is no room. So up to the reserved end there are records and gaps. A gap is either a record that
 * is still being written or a dropped reservation. The device counts the bytes that it dropped:
 * when the count equals the size of all gaps, no record will be written to them, and the reader
 * skips them. Until then the reader prints the records behind the first gap, but marks them instead
 * of freeing them. */
#include "client/print/print_read.h"

#include <stdatomic.h>
#include <string.h>

#include "common/print_ring.h"

static _Atomic uint64_t *block_word(const unsigned char *block, unsigned offset)
{
    return (_Atomic uint64_t *)(uintptr_t)(block + offset);
}

static _Atomic uint64_t *ring_word(const unsigned char *block, uint64_t position)
{
    return block_word(block, PRINT_AT_RING + (unsigned)(position % PRINT_RING_BYTES));
}

bool print_ring_empty(const unsigned char *block)
{
    /* acquire: pairs with the release in print_read, which has passed the records on before */
    uint64_t taken = atomic_load_explicit(block_word(block, PRINT_AT_TAKEN), memory_order_acquire);

    return atomic_load_explicit(block_word(block, PRINT_AT_RESERVED), memory_order_relaxed) ==
           taken;
}

uint64_t print_ring_lost(const unsigned char *block)
{
    return atomic_load_explicit(block_word(block, PRINT_AT_LOST), memory_order_relaxed);
}

/* Copies a part of the ring, which may wrap around its end. */
static void ring_copy(const unsigned char *block, uint64_t position, unsigned char *to, size_t size)
{
    size_t at = position % PRINT_RING_BYTES,
           first = size < PRINT_RING_BYTES - at ? size : PRINT_RING_BYTES - at;

    memcpy(to, block + PRINT_AT_RING + at, first);
    memcpy(to + first, block + PRINT_AT_RING, size - first);
}

static void ring_clear(unsigned char *block, uint64_t position, size_t size)
{
    size_t at = position % PRINT_RING_BYTES,
           first = size < PRINT_RING_BYTES - at ? size : PRINT_RING_BYTES - at;

    memset(block + PRINT_AT_RING + at, 0, first);
    memset(block + PRINT_AT_RING, 0, size - first);
}

/* Returns the size of the record at the position; 0 if there is none yet. Sets *fresh if it has not
 * been passed on. */
static size_t record_at(const unsigned char *block, uint64_t position, uint64_t end, bool *fresh)
{
    /* acquire: pairs with the fence before the device's stamp; the record is complete */
    uint64_t stamp = atomic_load_explicit(ring_word(block, position), memory_order_acquire);
    uint64_t size;

    if (stamp != (position ^ PRINT_STAMP) && stamp != (position ^ PRINT_STAMP_TAKEN))
        return 0;
    *fresh = stamp == (position ^ PRINT_STAMP);
    size = atomic_load_explicit(ring_word(block, position + 8), memory_order_relaxed) & 0xffffffff;
    if (size < PRINT_HEAD_BYTES || size > PRINT_RECORD_MAX || size % 8 || size > end - position)
        return 0;
    return size;
}

static void record_take(struct print_reader *reader, uint64_t position, size_t size,
                        print_take *take, void *context)
{
    ring_copy(reader->block, position, reader->record, size);
    atomic_store_explicit(ring_word(reader->block, position), position ^ PRINT_STAMP_TAKEN,
                          memory_order_relaxed);
    take(context, reader->record, size);
}

void print_read(struct print_reader *reader, print_take *take, void *context)
{
    unsigned char *block = reader->block;
    /* acquire, in this order: every dropped reservation is then among the reserved bytes */
    uint64_t dropped =
        atomic_load_explicit(block_word(block, PRINT_AT_DROPPED), memory_order_acquire);
    uint64_t reserved =
        atomic_load_explicit(block_word(block, PRINT_AT_RESERVED), memory_order_acquire);
    uint64_t taken = atomic_load_explicit(block_word(block, PRINT_AT_TAKEN), memory_order_relaxed);
    uint64_t end = reserved - taken < PRINT_RING_BYTES ? reserved : taken + PRINT_RING_BYTES;
    uint64_t gaps = reserved - end, freed;
    bool behind_gap = false;

    /* The positions are multiples of 8, unless the tenant's own code changed them. */
    taken &= ~UINT64_C(7);
    end &= ~UINT64_C(7);
    freed = taken;
    for (uint64_t at = taken; at != end;) {
        bool fresh;
        size_t size = record_at(block, at, end, &fresh);

        if (!size) {
            behind_gap = true;
            gaps += 8;
            at += 8;
            continue;
        }
        if (fresh)
            record_take(reader, at, size, take, context);
        at += size;
        if (!behind_gap)
            freed = at;
    }
    if (gaps && gaps == dropped - reader->dropped) {
        reader->dropped = dropped;
        freed = reserved;
    }
    if (freed == taken)
        return;
    ring_clear(block, taken, (size_t)((freed - taken < end - taken ? freed : end) - taken));
    /* release: the ring is zeroed before the device may reuse it; also for print_ring_empty */
    atomic_store_explicit(block_word(block, PRINT_AT_TAKEN), freed, memory_order_release);
}
