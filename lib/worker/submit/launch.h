/* launch.h - the cheapest way to give a stream its kernels; see launch.c. Dispatcher. */
#ifndef GS_WORKER_SUBMIT_LAUNCH_H
#define GS_WORKER_SUBMIT_LAUNCH_H

#include "worker/partition/kernel_launch.h"

enum completion {
    COMPLETION_NONE = 0,
    COMPLETION_WRITTEN, /* by the device's front end: the shortest round trip */
    COMPLETION_FENCED   /* by a kernel, which also writes the stream's fence (inflight.c), and takes
                           the   least of the dispatcher's time */
};

/* Issues `count` (1 to LAUNCHES_MAX) kernels in order. With a completion, the device then writes
 * the last one's end to the stream's completion word; it may write an earlier one's on the way. */
CUresult launch_issue(struct session *session, struct stream *stream, const struct launch *launches,
                      uint32_t count, enum completion completion);

/* Do the stream's kernels tell their end apart from its copies and waits? Where several sessions
 * wait for the device: else the time of those would count as the kernels', and others would wait
 * for it. */
bool launch_apart(const struct session *session, const struct stream *stream);

/* Destroys the executable graphs in a partition. NULL is fine. */
void launcher_evict(struct launcher *launcher, const struct partition *partition);
/* Destroys the executable graphs. NULL is fine. Session quiet. */
void launcher_deinit(struct launcher *launcher);
void launcher_free(struct launcher *launcher);

#endif
