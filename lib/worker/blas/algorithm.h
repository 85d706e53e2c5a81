/*
 * algorithm.h - cuBLASLt's algorithms by problem, kept for all sessions; see algorithm.c.
 *
 * Jobs choose and load one, the main lane keeps, finds and runs them.
 */
#ifndef GS_WORKER_BLAS_ALGORITHM_H
#define GS_WORKER_BLAS_ALGORITHM_H

#include <stdbool.h>

#include "gshare.h"
#include "worker/blas/problem.h"
#include "worker/driver/driver.h"

struct algorithm;
struct workspace;

/* Whether the choice for the problem makes all launches wait for kernels, and so belongs into a
 * quiet moment: the first of its type. Any thread. */
bool algorithm_choice_loads(const struct problem *problem);
/* Asks the library for an algorithm; the library has been started. Any thread.
 * GS_ERR_NOT_SUPPORTED: there is none; GS_ERR_NO_MEMORY; text says why. */
gs_status algorithm_choose(const struct problem *problem, struct algorithm **chosen, char *text,
                           size_t size);
/* Has its kernels loaded, without running them. At a quiet moment. The record is only read, what
 * its addresses mean is not touched. `stream` is the calling thread's own. GS_ERR_NOT_SUPPORTED:
 * the library refused; text says why. */
gs_status algorithm_load(struct algorithm *algorithm, const struct rec_gemm *record,
                         CUstream stream, char *text, size_t size);
/* NULL is fine. */
void algorithm_free(struct algorithm *algorithm);

/* Keeps it, in place of one of the same problem or one that was used long ago. Main lane. */
void algorithm_keep(struct algorithm *algorithm);
/* NULL: none is kept. Main lane. */
struct algorithm *algorithm_find(const struct problem *problem);

/* The bytes of a workspace that the fastest kernel needs, on the whole device or in a partition. 0:
 * it needs none. */
size_t algorithm_workspace(const struct algorithm *algorithm, bool partition);
/* Gives the product to the stream, which is of no partition. The workspace is the stream's, and may
 * be NULL. GS_ERR_DRIVER: the library, or the driver, refused it; text says why. Main lane. */
gs_status algorithm_run(const struct algorithm *algorithm, const struct rec_gemm *record,
                        const struct workspace *workspace, CUstream stream, char *text,
                        size_t size);
/* The same as a graph, which is the caller's, and to be launched in the stream that has the
 * workspace; `stream`, of a partition or not, runs nothing. Main lane. */
gs_status algorithm_capture(const struct algorithm *algorithm, const struct rec_gemm *record,
                            bool partition, const struct workspace *workspace, CUstream stream,
                            CUgraph *graph, char *text, size_t size);

#endif
