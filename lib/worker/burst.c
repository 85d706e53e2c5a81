/*
 * burst.c - what a tenant of the latency class writes into a stream at a time, and whether it is
 * all there. Runs on the dispatcher.
 *
 * A request of 20 kernels is best given to the device as one graph (whole.c), but the dispatcher
 * mostly sees it when its first records are written: a client writes one in 0.13 us. So where the
 * last few bursts had the same length, a new one is taken when that much is there. The dispatcher
 * goes on with its turns meanwhile, and for a few microseconds only.
 *
 * A burst begins with what comes when all before it is complete. That and the length are what the
 * tenant's own words say, and are hints: who writes others has its launches wait for some
 * microseconds, or go in more graphs than they could. A burst of one record is never waited for.
 */
#include "worker/burst.h"

#include "common/ring.h"
#include "common/util.h"
#include "worker/lane.h"
#include "worker/launch.h"
#include "worker/stream.h"

#define BURST_KNOWN      3u    /* of one length, at first */
#define BURST_KNOWN_MOST 4096u /* after many that were waited for in vain */
#define WRITE_NS         130u  /* a record */
#define AWAIT_BASE_NS    2000u
#define AWAIT_MOST_NS    10000u

static uint32_t needed(const struct burst *burst)
{
    return burst->needed > BURST_KNOWN ? burst->needed : BURST_KNOWN;
}

/* The wait was worth it, or in vain: then it takes the more bursts of one length to wait again. */
static void await_end(struct burst *burst, bool came)
{
    burst->seen_ns = 0;
    burst->whole = came;
    if (came) {
        burst->needed = needed(burst) / 2;
        return;
    }
    burst->same = 0;
    burst->needed = needed(burst) * 2;
    if (burst->needed > BURST_KNOWN_MOST)
        burst->needed = BURST_KNOWN_MOST;
}

/* How far the tenant has written; the stream's head where it has not, or says what cannot be. */
static uint64_t written(const struct session *session, uint32_t index)
{
    const uint64_t head = session->streams[index].head;
    /* acquire: the records before it */
    const uint64_t tail = atomic_load_explicit(&session->client->tail[index], memory_order_acquire);

    return ring_tail_valid(tail, head) ? tail : head;
}

/* Notes the end of the burst before, if this is the begin of one. */
static bool burst_begins(struct session *session, uint32_t index)
{
    const struct seg_complete *complete = (const void *)(session->segment + SEG_OFF_COMPLETE);
    const uint64_t head = session->streams[index].head;
    struct burst *burst = &session->streams[index].burst;

    if (atomic_load_explicit(&complete->position[index], memory_order_relaxed) < head ||
        written(session, index) == head)
        return false;
    if (head != burst->from) {
        const uint64_t bytes = head - burst->from;
        burst->same = bytes == burst->bytes ? burst->same + 1 : 1;
        burst->bytes = bytes;
        burst->records = burst->taken;
        burst->from = head;
        burst->taken = 0;
    }
    return true;
}

/* The padding that lies in the burst that begins at the head: 0 while none has been written. */
static uint32_t padding(const struct session *session, uint32_t index, uint64_t tail)
{
    const struct stream *stream = &session->streams[index];
    const uint64_t end = stream->head + ring_to_end(stream->head);
    uint64_t at = stream->head;

    if (stream->burst.bytes <= ring_to_end(stream->head))
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

/* Not looked at before half of what is missing can be there: each look takes the line of the tail
 * from who writes it. Meanwhile what is there is fetched. */
static void look_later(struct session *session, uint32_t index, uint64_t missing, uint64_t tail,
                       uint64_t now, uint64_t until)
{
    struct burst *burst = &session->streams[index].burst;

    burst->look_ns = now + missing * burst->records * WRITE_NS / burst->bytes / 2;
    if (burst->look_ns > until)
        burst->look_ns = until;
    for (; burst->prefetched < tail; burst->prefetched += REC_ALIGN)
        __builtin_prefetch(ring_at(session, index, burst->prefetched));
}

bool burst_awaited(struct session *session, uint32_t index, uint32_t room)
{
    struct stream *stream = &session->streams[index];
    struct burst *burst = &stream->burst;

    if (stream->cls != GS_CLASS_LATENCY || !stream->open || session->faulted) {
        burst->seen_ns = 0;
        return false;
    }
    if (!burst->seen_ns) {
        if (!burst_begins(session, index) || burst->same < needed(burst) || burst->records < 2 ||
            burst->records > LAUNCHES_MAX || burst->records > room)
            return false;
        burst->seen_ns = clock_ns();
        burst->look_ns = 0;
        burst->prefetched = stream->head;
    }
    if (session->lane->now < burst->look_ns)
        return true;
    const uint64_t most = AWAIT_BASE_NS + 3u * WRITE_NS * burst->records;
    const uint64_t until = burst->seen_ns + (most < AWAIT_MOST_NS ? most : AWAIT_MOST_NS);
    const uint64_t now = clock_ns(), tail = written(session, index);
    const uint64_t wanted = burst->bytes + padding(session, index, tail);
    const uint64_t there = tail - stream->head;
    if (there >= wanted || now >= until) {
        await_end(burst, there >= wanted);
        return false;
    }
    look_later(session, index, wanted - there, tail, now, until);
    return true;
}

void burst_took(struct stream *stream, uint32_t records)
{
    stream->burst.taken += records;
    stream->burst.whole = false;
}
