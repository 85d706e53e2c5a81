/*
 * problem.h - problems: a problem is a matrix product without the addresses of its matrices and the
 * values of its scalars. Algorithms are chosen and cached by problem. Functions of a record alone;
 * any thread.
 */
#ifndef GS_WORKER_BLAS_PROBLEM_H
#define GS_WORKER_BLAS_PROBLEM_H

#include "common/wire.h"

/* Compared as bytes: it has no padding. */
struct problem {
    uint32_t inputs, output, compute, flags;
    uint32_t m, n, k, batch;
    uint64_t ld[3], stride[3]; /* of A, B and C */
    uint32_t align[3];         /* the power of two, in bytes, that the addresses are multiples of */
    uint32_t zeros;            /* as rec_gemm_zeros */
};

/* The bytes from the first to the last of each matrix, all matrices of a batch included. */
struct extents {
    uint64_t a, b, c, scalar;
};

/* Checks a record, except that its addresses are the session's memory. Fills *problem and *extents.
 * Returns what is wrong with the record, for people; NULL: nothing. */
const char *problem_of(const struct rec_gemm *record, struct problem *problem,
                       struct extents *extents);

#endif
