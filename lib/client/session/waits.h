/*
 * waits.h - remembers which streams waited for which. When stream A has passed its wait for an
 * event in stream B, B is complete up to that event, even if B's own completion word says so only a
 * moment later: the device writes the words of different streams in no order. CUDA promises that
 * what a stream has waited for is complete, so gs_stream_query, gs_event_query and gs_event_elapsed
 * look here too. Any thread.
 *
 * Only the newest wait of each pair of streams is kept, so the knowledge of older waits is lost.
 */
#ifndef GS_CLIENT_WAITS_H
#define GS_CLIENT_WAITS_H

#include <pthread.h>
#include <stdbool.h>

#include "common/wire_segment.h"

struct waits {
    pthread_mutex_t lock;
    uint64_t waiting[SEG_STREAMS]; /* by stream waited for: a bit for each stream that has waited */
    struct {
        uint64_t position, end;         /* position waited for; end of the REC_WAIT in the
                                           waiting stream */
    } newest[SEG_STREAMS][SEG_STREAMS]; /* by stream waited for, then by waiting stream */
};

void waits_init(struct waits *waits);
void waits_deinit(struct waits *waits);
/* Notes that the stream's record that ends at END waits for OTHER to reach POSITION. */
void waits_note(struct waits *waits, uint32_t stream, uint64_t end, uint32_t other,
                uint64_t position);
/* Returns whether the stream is complete up to the position, by its own completion word or because
 * a stream that waited for it has gone on. */
bool waits_passed(struct waits *waits, const struct seg_complete *complete, uint32_t stream,
                  uint64_t position);

#endif
