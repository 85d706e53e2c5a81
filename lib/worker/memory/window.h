/*
 * window.h - a session's window: its reserved range of device addresses, a power of two in size,
 * 4 GiB or more. Chunks lie in it. Service threads, in the session's job in progress.
 *
 * Kernels that are fenced are kept to the window's *open part*: its first 4 GiB, and twice as much
 * whenever the session's memory does not fit. Whatever they may reach there without the session
 * having memory is covered with sinks; all of a window of 256 GiB would take 60 ms to cover, and 30
 * to close. A launch has the size of the open part as a parameter (record.c), and a module in a
 * constant, which is written anew when that grows. What was issued before keeps the former size,
 * which holds all memory that the tenant had when it asked for the launch.
 */
#ifndef GS_WORKER_MEMORY_WINDOW_H
#define GS_WORKER_MEMORY_WINDOW_H

#include "ptx/rewrite/rewrite.h"
#include "worker/jobs/job.h"

/* Reserves the addresses; may lower mem_limit to what fits. On failure the job has failed. */
gs_status window_init(struct job *job);
/* Reserves a window's addresses again, and what belongs to it at its ends. *there: they were free;
 * else, without an error, nothing is reserved. */
CUresult window_reserve_at(uint64_t base, uint64_t size, bool fenced, bool *there);
/* Gives the addresses up. places: once host memory is gone from them, which was given to the
 * deferred release. */
void window_unreserve(uint64_t base, uint64_t size, bool fenced, bool places);
/* All addresses that are reserved for a window. */
struct window_range window_range(uint64_t base, uint64_t size, bool fenced);
/* Frees the window, which has no chunks any more. Safe when window_init failed. */
void window_deinit(struct session *session);
/* How many bytes of chunks the window can hold; 0: it is not open yet. */
uint64_t window_capacity(const struct session *session);

/* The size of the open part. Any thread. */
static inline uint64_t window_open_size(const struct session *session)
{
    /* acquire: pairs with window_open in open_part.c */
    return atomic_load_explicit(&session->memory.window_open, memory_order_acquire);
}

/* Returns what fences the kernels of a module, whose variables lie at that address, into the open
 * part. Any thread. */
static inline struct fence_window window_of(const struct session *session, uint64_t variables)
{
    return fence_window(session->memory.window_base, window_open_size(session), variables);
}

/* Finds a place for a chunk, in a wider open part if need be. NULL: the job has failed. */
struct place *window_take(struct job *job, uint64_t size);
/* Takes the place of a former worker's chunk. false: it is not free. */
bool window_put(struct session *session, uint64_t address, uint64_t size, void *tag);

/* From now on covers with sinks all of the open part that has no memory. Called before the
 * session's first fenced kernel runs. reach: also covers what indices and strides reach beyond its
 * ends, which takes 3 ms. On failure the job has failed, and what was covered before stays covered.
 * A job_unshare may be done beside the job (session/chore.c). */
gs_status window_cover(struct job *job, bool reach);

/* ---- Beside kernels ----
 *
 * A sink that makes way for memory leaves a hole for a moment, where a kernel that strays would
 * fault. So memory is mapped in the covered part while no kernel of the session runs. But a kernel
 * may wait for a program that allocates. If the session's kernels run on, memory comes behind the
 * covered part instead, where no kernel is let that is running; then the open part is widened. A
 * part that is open stays open, so a window has such places only a few times, and the sessions of a
 * user together only as long as they have little open. */

/* Called in the prepare of a job that needs a place for so many bytes. If the session is covered,
 * the job waits until none of its kernels runs; where the window has a place that no kernel
 * reaches, the job waits for a while only. */
void window_await(struct job *job, uint64_t size);
/* Called by the main lane for a job that has waited for that while: the job goes on beside the
 * session's kernels, unless the user's sessions would have too much open. */
void window_go_beside(struct job *job);
/* Lets kernels come to all chunks, once the last one is mapped and has the session's content. */
CUresult window_follow(struct session *session);
/* Whether kernels reach that address of the window. */
bool window_reached(const struct session *session, uint64_t address);

/* ---- Modules ---- */

/* Has a module's struct fence_window follow the open part until it is unbound. */
CUresult window_bind(struct session *session, CUdeviceptr constant);
/* Harmless for what was not bound. */
void window_unbind(struct session *session, CUdeviceptr constant);

#endif
