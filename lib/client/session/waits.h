/*
 * waits.h - which streams have waited for which. A stream that has come past its wait for another
 * one tells that the other has come to where the event was recorded, though that stream's own
 * completion word may say so a moment later: the device writes the words in no order. CUDA promises
 * that what has been waited for is complete, so the calls that ask (gs_stream_query,
 * gs_event_query, gs_event_elapsed) look here too. Any thread.
 *
 * Of each two streams the newest wait is kept. Where an older one would tell, it is not known.
 */
#ifndef GS_CLIENT_WAITS_H
#define GS_CLIENT_WAITS_H

#include <pthread.h>
#include <stdbool.h>

#include "common/wire_segment.h"

struct waits {
    pthread_mutex_t lock;
    uint64_t waiting[SEG_STREAMS]; /* by stream: a bit for each that has waited for it */
    struct {
        uint64_t position, end;         /* waited for; of the record, in the stream that waits */
    } newest[SEG_STREAMS][SEG_STREAMS]; /* by the stream waited for, then by the one that waits */
};

void waits_init(struct waits *waits);
void waits_deinit(struct waits *waits);
/* The record that ends at END of the stream waits for OTHER to come to POSITION. */
void waits_note(struct waits *waits, uint32_t stream, uint64_t end, uint32_t other,
                uint64_t position);
/* Whether the stream has come to the position, by its word or by what has waited for it. */
bool waits_passed(struct waits *waits, const struct seg_complete *complete, uint32_t stream,
                  uint64_t position);

#endif
