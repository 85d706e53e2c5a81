/*
 * arrival.c - batch arrivals: what a tenant of the latency class writes into a stream at a time,
 * and whether all of it is in the ring. Runs on the session's lane.
 *
 * A request of 20 kernels is best issued as one graph (launch.c). But the lane mostly sees the
 * request when only its first records are written, because the client takes 0.13 us for each. So if
 * the last few arrivals had the same length, the lane takes a new one only once that length is in
 * the ring. Meanwhile it continues its rounds, and it waits for a few microseconds at most.
 *
 * An arrival begins with the first record that comes when all records before it are complete. Its
 * beginning and length come from words that the tenant writes, so they are only hints: a tenant
 * that writes wrong words has its launches wait for some microseconds, or issued in more graphs
 * than necessary. The lane never waits for an arrival of one record.
 */
#include "worker/submit/arrival.h"

#include "common/ring.h"
#include "common/util.h"
#include "worker/sched/completed.h"
#include "worker/sched/lane.h"
#include "worker/submit/launch.h"
#include "worker/submit/stream.h"

#define ARRIVAL_KNOWN      3u    /* how many arrivals of one length must have come, at first */
#define ARRIVAL_KNOWN_MOST 4096u /* the same after many waits in vain */
#define WRITE_NS           130u  /* the time that a client takes to write a record */
#define AWAIT_BASE_NS      2000u
#define AWAIT_MOST_NS      10000u

static uint32_t needed(const struct arrival *arrival)
{
    return arrival->needed > ARRIVAL_KNOWN ? arrival->needed : ARRIVAL_KNOWN;
}

/* Ends the wait. After a wait in vain, twice as many arrivals of one length must come before the
 * next wait; after a successful one, half as many. */
static void await_end(struct arrival *arrival, bool came)
{
    arrival->seen_ns = 0;
    arrival->entire = came;
    if (came) {
        arrival->needed = needed(arrival) / 2;
        return;
    }
    arrival->same = 0;
    arrival->needed = needed(arrival) * 2;
    if (arrival->needed > ARRIVAL_KNOWN_MOST)
        arrival->needed = ARRIVAL_KNOWN_MOST;
}

/* Returns the ring position up to which the tenant has written; the stream's head if the tenant has
 * written nothing or an invalid tail. */
static uint64_t written(const struct session *session, uint32_t index)
{
    const uint64_t head = session->submit.streams[index].head;
    /* acquire: makes the records before the tail visible */
    const uint64_t tail = atomic_load_explicit(&session->client->tail[index], memory_order_acquire);

    return ring_tail_valid(tail, head) ? tail : head;
}

/* Returns whether an arrival begins at the head. If so, records the length of the one before. */
static bool arrival_begins(struct session *session, uint32_t index)
{
    const uint64_t head = session->submit.streams[index].head;
    struct arrival *arrival = &session->submit.streams[index].arrival;

    if (stream_completed(session, index) < head || written(session, index) == head)
        return false;
    if (head != arrival->from) {
        const uint64_t bytes = head - arrival->from;
        arrival->same = bytes == arrival->bytes ? arrival->same + 1 : 1;
        arrival->bytes = bytes;
        arrival->records = arrival->taken;
        arrival->from = head;
        arrival->taken = 0;
    }
    return true;
}

/* Returns the size of the padding within the arrival that begins at the head; 0: there is none, or
 * it is not written yet. */
static uint32_t padding(const struct session *session, uint32_t index, uint64_t tail)
{
    const struct stream *stream = &session->submit.streams[index];
    const uint64_t end = stream->head + ring_to_end(stream->head);
    uint64_t at = stream->head;

    if (stream->arrival.bytes <= ring_to_end(stream->head))
        return 0;
    for (uint32_t i = 0; i <= LAUNCHES_MAX && at < tail && at < end; i++) {
        const struct rec_header header = ring_header(session, index, at);
        if (header.op == REC_PAD)
            return header.size;
        at += header.size;
        if (header.size < REC_ALIGN || header.size % REC_ALIGN)
            break;
    }
    return 0;
}

/* Postpones the next look at the ring until half of the missing records can be there, because each
 * look takes the tail's cache line from the client that writes it. Prefetches the records that are
 * there. */
static void look_later(struct session *session, uint32_t index, uint64_t missing, uint64_t tail,
                       uint64_t now, uint64_t until)
{
    struct arrival *arrival = &session->submit.streams[index].arrival;

    arrival->look_ns = now + missing * arrival->records * WRITE_NS / arrival->bytes / 2;
    if (arrival->look_ns > until)
        arrival->look_ns = until;
    for (; arrival->prefetched < tail; arrival->prefetched += REC_ALIGN)
        __builtin_prefetch(ring_at(session, index, arrival->prefetched));
}

bool arrival_awaited(struct session *session, uint32_t index, uint32_t allowance)
{
    struct stream *stream = &session->submit.streams[index];
    struct arrival *arrival = &stream->arrival;

    if (!stream->open || session->submit.faulted)
        return false;
    if (!arrival->seen_ns) {
        if (!arrival_begins(session, index) || arrival->same < needed(arrival) ||
            arrival->records < 2 || arrival->records > LAUNCHES_MAX || arrival->records > allowance)
            return false;
        arrival->seen_ns = clock_ns();
        arrival->look_ns = 0;
        arrival->prefetched = stream->head;
    }
    if (session->lane->now < arrival->look_ns)
        return true;
    const uint64_t most = AWAIT_BASE_NS + 3u * WRITE_NS * arrival->records;
    const uint64_t until = arrival->seen_ns + (most < AWAIT_MOST_NS ? most : AWAIT_MOST_NS);
    const uint64_t now = clock_ns(), tail = written(session, index);
    const uint64_t wanted = arrival->bytes + padding(session, index, tail);
    const uint64_t there = tail - stream->head;
    if (there >= wanted || now >= until) {
        await_end(arrival, there >= wanted);
        return false;
    }
    look_later(session, index, wanted - there, tail, now, until);
    return true;
}

void arrival_took(struct stream *stream, uint32_t records)
{
    stream->arrival.taken += records;
    stream->arrival.seen_ns = 0; /* a change of the class ends the wait too */
    stream->arrival.entire = false;
}
