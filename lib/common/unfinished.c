/* unfinished.c - see unfinished.h. */
#include "common/unfinished.h"

#include <string.h>

#include "common/ring.h"

/* The most records of a session that are counted. A tenant can fill all its rings, and the
 * supervisor must not spend long on each session that a fault ends. */
#define RECORDS_MAX 16384u

/* The kinds of record whose members are read here. */
union record {
    struct rec_header h;
    struct rec_launch launch;
    struct rec_copy copy;
    struct rec_memset set;
    struct rec_box box;
};

/* Copies the record at the position. Returns its size, or 0 if there is no record or an invalid
 * one. */
static uint32_t record_at(const unsigned char *segment, uint32_t stream, uint64_t position,
                          uint64_t to, union record *record)
{
    const unsigned char *at =
        segment + SEG_OFF_RINGS + (size_t)stream * SEG_RING_BYTES + ring_offset(position);
    struct rec_header header;

    if (position == to || position % REC_ALIGN || !ring_tail_valid(to, position))
        return 0;
    memcpy(&header, at, sizeof(header));
    if (header.size < REC_ALIGN || header.size % REC_ALIGN || header.size > ring_to_end(position) ||
        header.size > to - position)
        return 0;
    memset(record, 0, sizeof(*record));
    memcpy(record, at, header.size < sizeof(*record) ? header.size : sizeof(*record));
    record->h = header; /* the tenant may have changed it in between; the first read was checked */
    return header.size;
}

static void record_add(struct seg_fault *fault, const union record *record)
{
    switch (record->h.op) {
    case REC_LAUNCH:
    case REC_GRAPH:
    case REC_GEMM:
        fault->lost_launches++;
        break;
    case REC_COPY:
        fault->lost_copies++;
        fault->lost_bytes += record->copy.bytes;
        break;
    case REC_MEMSET:
        fault->lost_copies++;
        fault->lost_bytes += record->set.bytes;
        break;
    case REC_BOX:
        fault->lost_copies++;
        fault->lost_bytes += record->box.width * record->box.height * record->box.depth;
        break;
    default:
        break;
    }
}

void unfinished_tell(const unsigned char *segment, struct seg_fault *fault)
{
    const struct seg_complete *complete = (const void *)(segment + SEG_OFF_COMPLETE);
    const struct seg_client *client = (const void *)(segment + SEG_OFF_CLIENT);
    uint32_t left = RECORDS_MAX;

    for (uint32_t i = 0; i < SEG_STREAMS; i++) {
        /* acquire: makes the records before the tail visible; pairs with the client's store */
        const uint64_t to = atomic_load_explicit(&client->tail[i], memory_order_acquire);
        uint64_t at = atomic_load_explicit(&complete->position[i], memory_order_relaxed);
        union record record;
        uint32_t size;

        while (left && (size = record_at(segment, i, at, to, &record))) {
            record_add(fault, &record);
            at += size;
            left--;
        }
    }
}

uint64_t unfinished_launches(const unsigned char *segment, uint32_t stream, uint64_t from,
                             uint64_t to)
{
    uint64_t count = 0;
    union record record;
    uint32_t size;

    for (; (size = record_at(segment, stream, from, to, &record)); from += size)
        count += record.h.op == REC_LAUNCH;
    return count;
}

static bool can_fault(uint32_t op)
{
    return op != REC_PAD && op != REC_COPY && op != REC_MEMSET && op != REC_BOX &&
           op != REC_EVENT && op != REC_WAIT && op != REC_HOST;
}

bool unfinished_first_launch(const unsigned char *segment, uint32_t stream, uint64_t *position,
                             uint64_t to, struct rec_launch *launch)
{
    union record record;
    uint32_t size;

    while ((size = record_at(segment, stream, *position, to, &record))) {
        *launch = record.launch;
        if (can_fault(record.h.op))
            return record.h.op == REC_LAUNCH;
        *position += size;
    }
    return false;
}
