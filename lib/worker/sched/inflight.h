/* inflight.h - what a stream has given to the device and is not known to have ended; see
 * inflight.c. Dispatcher, but where it says otherwise. */
#ifndef GS_WORKER_SCHED_INFLIGHT_H
#define GS_WORKER_SCHED_INFLIGHT_H

#include "worker/partition/kernel_launch.h"
#include "worker/sched/inflight_lane.h"

/* Once, with the context current. */
CUresult inflight_init(void);

/* NULL: no memory. The stream is quiet. */
struct inflight *inflight_new(const struct session *session, const struct stream *stream);

/* The number of the stream among all that all slots could have: LINK_SLOTS_MAX * SEG_STREAMS. */
size_t inflight_index(const struct session *session, const struct stream *stream);
/* Where the device tells the worker that a stream's work has ended, and what it is to say there
 * next. */
CUdeviceptr inflight_fence_address(const struct session *session, const struct stream *stream);
uint64_t inflight_fence_next(const struct stream *stream);

/* How long a launch is thought to run; a graph, by the stream's last ones. */
uint64_t inflight_guess(const struct kernel *kernel, const uint32_t grid[3],
                        const uint32_t block[3]);
uint64_t inflight_guess_graph(const struct stream *stream);
/* Is the launch known to be short, and does it fill so little of the device that it is in nobody's
 * way? */
bool inflight_light(const struct launch *launch);
/* Something is about to be issued: before the call, for the device may have done it when that
 * returns. */
void inflight_issue(struct stream *stream);
/* These launches have been issued. */
void inflight_add(struct stream *stream, const struct launch *launches, uint32_t count);
/* A graph has been issued: it is taken to fill the device. */
void inflight_add_graph(const struct session *session, struct stream *stream);
/* An event, which takes no time and no place in flight. */
void inflight_add_event(struct stream *stream);
/* What takes time of which nothing is known, but none of the SMs': a copy, a wait. */
void inflight_add_other(struct stream *stream);
/* After all that was added the device writes inflight_fence_next. */
void inflight_fenced(struct session *session, struct stream *stream);
/* No fence follows what was added: it counts for as long as it was guessed, and is in nobody's way.
 */
void inflight_unfenced(struct session *session, struct stream *stream);
/* May the work that is about to be issued go without a fence? `launch`: its only one; NULL: it has
 * none. */
bool inflight_may_go_unfenced(const struct session *session, const struct stream *stream,
                              const struct launch *launch);

/* Sees what has ended of all sessions of a lane, polled or not, and takes note of it in the order
 * in which it did. */
void inflight_poll_all(struct inflight_lane *inflight_lane, uint64_t now);
/* The device has finished the stream: nothing is in flight, whatever the fences say. */
void inflight_settle(struct session *session, struct stream *stream);
/* Records issued after the last fence. */
uint32_t inflight_open_count(const struct stream *stream);
/* Among what was issued after the last fence: is there what the SMs have no part in, such as copies
 * and waits; are there kernels? */
bool inflight_open_others(const struct stream *stream);
bool inflight_open_kernels(const struct stream *stream);
/* Records in flight of the stream. */
uint32_t inflight_count(const struct stream *stream);
/* The session is going. */
void inflight_remove(struct session *session);
/* The session leaves its lane for another one, with what it has in flight; and has come there. */
void inflight_lane_leave(struct session *session);
void inflight_lane_enter(struct session *session);

#endif
