/*
 * algorithm.h - cuBLASLt's algorithms by problem, kept for all sessions; see algorithm.c.
 *
 * A job makes one (algorithm_make), the main lane keeps, finds and runs them.
 */
#ifndef GS_WORKER_BLAS_ALGORITHM_H
#define GS_WORKER_BLAS_ALGORITHM_H

#include "gshare.h"
#include "worker/blas/problem.h"
#include "worker/driver/driver.h"

struct algorithm;

/* Asks the library for an algorithm and has its kernels loaded, without running them; the library
 * has been started. At a quiet moment. The record is only read, what its addresses mean is not
 * touched. `stream` is the calling thread's own.
 * GS_ERR_NOT_SUPPORTED: there is none; GS_ERR_NO_MEMORY;
 * text says why. */
gs_status algorithm_make(const struct problem *problem, const struct rec_gemm *record,
                         CUstream stream, struct algorithm **made, char *text, size_t size);
/* NULL is fine. */
void algorithm_free(struct algorithm *algorithm);

/* Keeps it, in place of one of the same problem or one that was used long ago. Main lane. */
void algorithm_keep(struct algorithm *algorithm);
/* NULL: none is kept. Main lane. */
struct algorithm *algorithm_find(const struct problem *problem);

/* Gives the product to the stream. GS_ERR_DRIVER: the library, or the driver, refused it; text says
 * why. Main lane. */
gs_status algorithm_run(const struct algorithm *algorithm, const struct rec_gemm *record,
                        CUstream stream, char *text, size_t size);

#endif
