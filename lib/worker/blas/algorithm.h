/*
 * algorithm.h - algorithms: which of cuBLASLt's kernels computes a problem (problem.h), cached for
 * all sessions; see algorithm.c.
 *
 * Jobs choose and load an algorithm; the main lane caches, finds and runs it.
 */
#ifndef GS_WORKER_BLAS_ALGORITHM_H
#define GS_WORKER_BLAS_ALGORITHM_H

#include <stdbool.h>

#include "gshare.h"
#include "worker/blas/problem.h"
#include "worker/driver/driver.h"

struct algorithm;
struct workspace;

/* Returns whether choosing an algorithm for the problem makes all launches wait for running
 * kernels, and so belongs into a quiet moment: the first choice for its type does. Any thread. */
bool algorithm_choice_loads(const struct problem *problem);
/* Asks the library, which has been started, for an algorithm. *chosen is the caller's. Any thread.
 * GS_ERR_NOT_SUPPORTED: there is none; GS_ERR_NO_MEMORY; text says why. */
gs_status algorithm_choose(const struct problem *problem, struct algorithm **chosen, char *text,
                           size_t size);
/* Has the driver load the algorithm's kernels, without running them. At a quiet moment. The record
 * is only read; the memory at its addresses is not touched. `stream` is the calling thread's own.
 * GS_ERR_NOT_SUPPORTED: the library refused; text says why. */
gs_status algorithm_load(struct algorithm *algorithm, const struct rec_gemm *record,
                         CUstream stream, char *text, size_t size);
/* Frees an algorithm. NULL is fine. */
void algorithm_free(struct algorithm *algorithm);

/* Puts the algorithm, which it takes over, into the cache, in place of one for the same problem or
 * one that was used long ago. Main lane. */
void algorithm_keep(struct algorithm *algorithm);
/* Returns the cached algorithm for the problem; NULL: there is none. Main lane. */
struct algorithm *algorithm_find(const struct problem *problem);

/* Returns the bytes of workspace that the fastest kernel needs, on the whole device or in a
 * partition; 0: it needs none. */
size_t algorithm_workspace(const struct algorithm *algorithm, bool partition);
/* Issues the product into the stream, which is of no partition. The workspace is the stream's, and
 * may be NULL. GS_ERR_DRIVER: the library or the driver refused it; text says why. Main lane. */
gs_status algorithm_run(const struct algorithm *algorithm, const struct rec_gemm *record,
                        const struct workspace *workspace, CUstream stream, char *text,
                        size_t size);
/* Makes a graph of the product, which the caller owns and launches in the stream that has the
 * workspace. `stream`, of a partition or not, is used for the capture and runs nothing. Statuses as
 * algorithm_run. Main lane. */
gs_status algorithm_capture(const struct algorithm *algorithm, const struct rec_gemm *record,
                            bool partition, const struct workspace *workspace, CUstream stream,
                            CUgraph *graph, char *text, size_t size);

#endif
