/*
 * launch.h - gives a stream's kernels to the device in the cheapest way; see launch.c. The
 * session's lane.
 */
#ifndef GS_WORKER_SUBMIT_LAUNCH_H
#define GS_WORKER_SUBMIT_LAUNCH_H

#include "worker/partition/kernel_launch.h"
#include "worker/submit/completion.h"

/* Issues `count` (1 to LAUNCHES_MAX) kernels in order. With a completion, the device then writes
 * the ring position of the last launch's end to the stream's completion word, and may write the
 * position of an earlier launch on the way. */
CUresult launch_issue(struct session *session, struct stream *stream, const struct launch *launches,
                      uint32_t count, enum completion completion);

/* Whether the stream's kernels signal their end apart from its copies and waits. They do where
 * several sessions wait for the device: otherwise the time of copies and waits would count as
 * kernel time, and other sessions would wait for it. */
bool launch_apart(const struct session *session, const struct stream *stream);

#endif
