/*
 * problem.h - what a product is, but for where its matrices lie and its scalars' values: by it
 * algorithms are chosen and kept. Functions of a record alone; any thread.
 */
#ifndef GS_WORKER_BLAS_PROBLEM_H
#define GS_WORKER_BLAS_PROBLEM_H

#include "common/wire.h"

/* Compared as bytes: it has no holes. */
struct problem {
    uint32_t inputs, output, compute, flags;
    uint32_t m, n, k, batch;
    uint64_t ld[3], stride[3]; /* of A, B and C */
    uint32_t align[3];         /* bytes: the power of two that the addresses are multiples of */
    uint32_t zeros;            /* as rec_gemm_zeros */
};

/* The bytes from each matrix's first to its last, those of a batch together. */
struct extents {
    uint64_t a, b, c, scalar;
};

/* Checks all of a record but whose memory its addresses mean. Returns what is wrong with it, for
 * people; NULL: nothing is. */
const char *problem_of(const struct rec_gemm *record, struct problem *problem,
                       struct extents *extents);

#endif
