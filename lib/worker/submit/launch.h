/*
 * launch.h - issues a stream's kernels in the cheapest way; see launch.c. Called by the session's
 * lane.
 */
#ifndef GS_WORKER_SUBMIT_LAUNCH_H
#define GS_WORKER_SUBMIT_LAUNCH_H

#include "worker/partition/kernel_launch.h"
#include "worker/submit/completion.h"

/* Issues `count` (1 to LAUNCHES_MAX) kernels in order. With a completion, the device then writes
 * the ring position after the last launch to the stream's completion word; it may write positions
 * of earlier launches on the way. */
CUresult launch_issue(struct session *session, struct stream *stream, const struct launch *launches,
                      uint32_t count, enum completion completion);

/* Returns whether the stream's kernels must signal their end separately from its copies and waits.
 * They must if several sessions wait for the device: otherwise the time of copies and waits would
 * count as kernel time, for which other sessions would wait. */
bool launch_apart(const struct session *session, const struct stream *stream);

#endif
