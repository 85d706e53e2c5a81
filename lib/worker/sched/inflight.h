/*
 * inflight.h - the inflight tracker: the work that a stream has given to the device and that is not
 * known to have ended; see inflight.c. The session's lane, except where a comment says otherwise.
 *
 * A fence is a timestamped completion fence: a word in memory of the worker's own that the device
 * writes behind a stream's work, with a count and the time. It has nothing to do with an address
 * fence, which confines memory accesses.
 */
#ifndef GS_WORKER_SCHED_INFLIGHT_H
#define GS_WORKER_SCHED_INFLIGHT_H

#include "worker/partition/kernel_launch.h"
#include "worker/sched/inflight_lane.h"

/* Makes the tracker of stream `index`, which has nothing on the device. NULL: no memory. */
struct inflight *inflight_new(struct session *session, uint32_t index);
/* NULL is fine. */
void inflight_free(struct inflight *inflight);

/* The number of the stream's fence (fence.h). */
size_t inflight_number(const struct inflight *inflight);
/* The device address of the stream's fence, and the count that the next fence is to hold. */
CUdeviceptr inflight_fence_address(const struct inflight *inflight);
uint64_t inflight_fence_next(const struct inflight *inflight);

/* How long a graph is thought to run, by the stream's last graphs. */
uint64_t inflight_guess_graph(const struct inflight *inflight);
/* Notes that the lane has seen the records before that ring position. NULL is fine: the stream has
 * not been used yet. */
void inflight_seen(struct inflight *inflight, uint64_t position, uint64_t now);
/* Notes that work is about to be issued. Called before the driver call, because the device may have
 * done the work when the call returns. */
void inflight_issue(struct inflight *inflight);
/* Notes that these launches, which have one shape, have been issued. */
void inflight_add(struct inflight *inflight, const struct launch *launches, uint32_t count);
/* Notes that a tenant's graph or product has been issued, whose record ends at that ring position.
 * It is taken to fill the device. */
void inflight_add_graph(struct inflight *inflight, uint64_t position);
/* Notes that an event has been issued, which takes no time and no place in flight. */
void inflight_add_event(struct inflight *inflight);
/* Notes that a copy, memset or wait has been issued. It takes an unknown time, and counts as using
 * no SM. */
void inflight_add_other(struct inflight *inflight);
/* Notes that the device writes the fence inflight_fence_next behind all that was added. */
void inflight_fence_follows(struct inflight *inflight);
/* Notes that no fence follows what was added. That work counts with the time that it is thought to
 * take, and no session waits for it; its kernels may run until a fence or the driver tells. */
void inflight_no_fence_follows(struct inflight *inflight);
/* Whether the work that is about to be issued may go without a fence. `launch` is its only launch;
 * NULL: there is none. signalled: the position that the device was last told to write. */
bool inflight_needs_no_fence(const struct inflight *inflight, uint64_t signalled,
                             const struct launch *launch);

/* Reads the fences of all sessions of a lane, polled or not, and accounts for the work that has
 * ended in the order of the ends. The lane or, once the lanes have stopped, the control thread. */
void inflight_poll_all(struct inflight_lane *inflight_lane, uint64_t now);
/* Notes that the device has finished the stream: nothing is in flight, whatever the fence says. */
void inflight_settle(struct inflight *inflight);
/* The number of records issued after the last fence. */
uint32_t inflight_open_count(const struct inflight *inflight);
/* Whether there are copies or waits, or kernels, among the work issued after the last fence. */
bool inflight_open_others(const struct inflight *inflight);
bool inflight_open_kernels(const struct inflight *inflight);
/* Whether the device may have kernels that a fence, or no signal yet, follows. */
bool inflight_has_kernels(const struct inflight *inflight);
/* The number of the stream's records in flight. */
uint32_t inflight_count(const struct inflight *inflight);
/* Since when (clock_ns) at least the session's oldest kernels are on the device, not counting the
 * time behind other work of their stream; 0: there are none. Nothing that the tenant writes counts.
 */
uint64_t inflight_since(const struct session *session);
/* Forgets the session, which is going. */
void inflight_remove(struct session *session);
/* Takes the session, with its work in flight, out of the tracker of the lane that it leaves, or
 * adds it to that of the lane that it has come to. Called by that lane. */
void inflight_lane_leave(struct session *session);
void inflight_lane_enter(struct session *session);

#endif
