/*
 * inflight.h - the inflight tracker: tracks the work that a stream has issued to the device and
 * that is not known to have ended; see inflight.c. Called by the session's lane, except where a
 * comment says otherwise.
 *
 * A fence is a timestamped completion fence: a word in the worker's own memory that the device
 * writes after a stream's work, with a count and the time. It has nothing to do with an address
 * fence, which confines memory accesses.
 */
#ifndef GS_WORKER_SCHED_INFLIGHT_H
#define GS_WORKER_SCHED_INFLIGHT_H

#include "worker/partition/kernel_launch.h"
#include "worker/sched/inflight_lane.h"

/* Makes the tracker of stream `index`, which must have nothing on the device. NULL: no memory. */
struct inflight *inflight_new(struct session *session, uint32_t index);
/* Frees a tracker. NULL is allowed. */
void inflight_free(struct inflight *inflight);

/* Returns the number of the stream's fence (fence.h). */
size_t inflight_number(const struct inflight *inflight);
/* Return the device address of the stream's fence, and the count that its next fence will hold. */
CUdeviceptr inflight_fence_address(const struct inflight *inflight);
uint64_t inflight_fence_next(const struct inflight *inflight);

/* Returns for how many nanoseconds a graph is expected to run, judged by the stream's last
 * graphs. */
uint64_t inflight_guess_graph(const struct inflight *inflight);
/* Notes that the lane has seen the records before this ring position. NULL is allowed and means
 * that the stream has not been used yet. */
void inflight_seen(struct inflight *inflight, uint64_t position, uint64_t now);
/* Notes the time of issue of the work that is about to be issued. Called before the driver call,
 * because the device may have done the work when the call returns. */
void inflight_issue(struct inflight *inflight);
/* Notes that these launches, which have one shape, have been issued. */
void inflight_add(struct inflight *inflight, const struct launch *launches, uint32_t count);
/* Notes that a tenant's graph or product has been issued, whose record ends at this ring position.
 * It is assumed to fill the device. */
void inflight_add_graph(struct inflight *inflight, uint64_t position);
/* Notes that an event has been issued. An event takes no time on the device. */
void inflight_add_event(struct inflight *inflight);
/* Notes that a copy, memset or wait has been issued. It takes an unknown time, and counts as using
 * no SM. */
void inflight_add_other(struct inflight *inflight);
/* Notes that the device will write the fence inflight_fence_next after all work added so far. */
void inflight_fence_follows(struct inflight *inflight);
/* Notes that no fence follows the work added since the last fence. That work is charged with its
 * expected time at once, and no session waits for it. Its kernels count as possibly running until a
 * later fence or the driver says otherwise. */
void inflight_no_fence_follows(struct inflight *inflight);
/* Returns whether the work that is about to be issued may go without a fence. launch: its only
 * launch; NULL: it has none. signalled: the ring position that the device was last told to
 * write. */
bool inflight_needs_no_fence(const struct inflight *inflight, uint64_t signalled,
                             const struct launch *launch);

/* Reads the fences of all sessions of a lane, polled or not, and accounts for the ended work in the
 * order of its ends. Called by the lane or, once the lanes have stopped, by the control thread. */
void inflight_poll_all(struct inflight_lane *inflight_lane, uint64_t now);
/* Notes that the driver has said that the stream is idle: nothing is in flight, whatever the fence
 * says. NULL is allowed. */
void inflight_settle(struct inflight *inflight);
/* Returns the number of records issued since the last fence. */
uint32_t inflight_open_count(const struct inflight *inflight);
/* Return whether there are copies or waits, or kernels, among the work issued since the last
 * fence. */
bool inflight_open_others(const struct inflight *inflight);
bool inflight_open_kernels(const struct inflight *inflight);
/* Returns whether the device may have kernels of the stream: some whose fence is not written yet,
 * or some issued since the last fence. */
bool inflight_has_kernels(const struct inflight *inflight);
/* Returns the number of the stream's records in flight. NULL is allowed: 0. */
uint32_t inflight_count(const struct inflight *inflight);
/* Returns a time (clock_ns) since which at least the session's oldest kernels have been on the
 * device, without the time in which they waited for other work of their stream; 0: there are none.
 * Words that the tenant can write do not count. */
uint64_t inflight_since(const struct session *session);
/* Removes a closed session from the tracker and from its domain. */
void inflight_remove(struct session *session);
/* inflight_lane_leave takes the session, with its work in flight, out of the list of the lane that
 * it leaves; called by that lane. inflight_lane_enter adds it to the list of the lane that it
 * enters; called by that one. */
void inflight_lane_leave(struct session *session);
void inflight_lane_enter(struct session *session);

#endif
