/*
 * window.h - a session's window: its reserved range of device addresses, a power of two in size, 4
 * GiB or more. The session's chunks lie in it. Service threads, in the session's job in progress.
 *
 * Fenced kernels are confined to the *open part* of the window: at first its first 4 GiB, and twice
 * as much whenever the session's memory does not fit. Wherever they can reach and the session has
 * no memory, sinks are mapped; to cover a whole window of 256 GiB would take 60 ms, and 30 to close
 * it. A launch has the size of the open part as a parameter (record.c), and a module has it in a
 * constant, which is rewritten when the open part grows. Launches that were issued before keep the
 * former size, in which all memory lies that the tenant had when it asked for the launch.
 */
#ifndef GS_WORKER_MEMORY_WINDOW_H
#define GS_WORKER_MEMORY_WINDOW_H

#include "ptx/rewrite/rewrite.h"
#include "worker/jobs/job.h"

/* Reserves the session's window; may lower its memory limit to what fits. On failure the job has
 * failed. */
gs_status window_init(struct job *job);
/* Reserves a window, with its margins, at a given base. *there: whether the addresses were free; if
 * not, nothing is reserved, and that is no error. */
CUresult window_reserve_at(uint64_t base, uint64_t size, bool fenced, bool *there);
/* Frees a window's addresses. places: host memory in the window waits for its deferred release, and
 * the addresses are freed after it. */
void window_unreserve(uint64_t base, uint64_t size, bool fenced, bool places);
/* Returns all addresses that are reserved for a window, margins included. */
struct window_range window_range(uint64_t base, uint64_t size, bool fenced);
/* Frees the window, which has no chunks any more. Safe when window_init failed. */
void window_deinit(struct session *session);
/* Returns how many bytes of chunks the window can hold; 0: it is not reserved yet. */
uint64_t window_capacity(const struct session *session);

/* Returns the size of the open part. Any thread. */
static inline uint64_t window_open_size(const struct session *session)
{
    /* acquire: pairs with window_open in open_part.c */
    return atomic_load_explicit(&session->memory.window_open, memory_order_acquire);
}

/* Returns the fence that confines kernels of a module to the open part. variables: the address of
 * the module's variables. Any thread. */
static inline struct fence_window window_of(const struct session *session, uint64_t variables)
{
    return fence_window(session->memory.window_base, window_open_size(session), variables);
}

/* Takes a place for a chunk, and widens the open part for it where necessary. NULL: the job has
 * failed. */
struct place *window_take(struct job *job, uint64_t size);
/* Takes the place of a former worker's chunk. false: the place is not free. */
bool window_put(struct session *session, uint64_t address, uint64_t size, void *tag);

/* Covers all of the open part that has no memory with sinks, and keeps it covered from now on.
 * Called before the session's first fenced kernel runs. reach: also covers as far beyond both ends
 * as indices and strides reach, which takes 3 ms. On failure the job has failed, and what was
 * covered before stays covered. A job_unshare may run at the same time (session/chore.c). */
gs_status window_cover(struct job *job, bool reach);

/* ---- Beside kernels ----
 *
 * Where a chunk replaces a sink there is a hole for a moment, in which a stray access would fault.
 * So memory is mapped in the covered part only while no kernel of the session runs. But a kernel
 * may wait for a program that allocates. If the session's kernels run on, the chunk is placed
 * behind the covered part instead, which no running kernel can reach, and the open part is widened
 * afterwards. An open part never shrinks, so a window has room for this only a few times, and the
 * sessions of a user together only while they have little open. */

/* Called in the prepare of a job that needs a place for `size` bytes. If the session is covered,
 * the job will wait until none of the session's kernels runs; where the window has room beyond the
 * reach of kernels, the job will wait for a limited time only. */
void window_await(struct job *job, uint64_t size);
/* Called by the main lane when that time is over: lets the job go on beside the session's kernels,
 * unless the user's sessions would have too much open. */
void window_go_beside(struct job *job);
/* Widens the open part so that kernels reach all chunks. Called once the last chunk is mapped and
 * holds nothing of another session. */
CUresult window_follow(struct session *session);
/* Returns whether kernels reach that address of the window. */
bool window_reached(const struct session *session, uint64_t address);

/* ---- Modules ---- */

/* Registers a module's struct fence_window, at the device address `constant`, to be rewritten
 * whenever the open part grows, until window_unbind. */
CUresult window_bind(struct session *session, CUdeviceptr constant);
/* Ends the registration; does nothing for an address that was not registered. */
void window_unbind(struct session *session, CUdeviceptr constant);

#endif
