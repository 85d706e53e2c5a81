/*
 * wire_record.h - the records in the rings of a session's segment: launches, copies, events.
 */
#ifndef GS_COMMON_WIRE_RECORD_H
#define GS_COMMON_WIRE_RECORD_H

#include <stdbool.h>
#include <string.h>

#include "common/wire_segment.h"

/* ---- Ring records -------------------------------------------------------------------------------
 * A record begins at a multiple of REC_ALIGN with a rec_header, and its size is a multiple of
 * REC_ALIGN. A record never wraps: where the end of the ring is too short for a record, a REC_PAD
 * fills it. A table in doc/protocol.md, "Records", says which files write, check and issue each
 * kind of record. */
#define REC_ALIGN 64u

enum rec_op {
    REC_PAD = 1,
    REC_LAUNCH = 2,
    REC_COPY = 3,
    REC_MEMSET = 4,
    REC_EVENT = 5, /* record event */
    REC_WAIT = 6,  /* wait for event */
    REC_GRAPH = 7,
    REC_BOX = 8,   /* a 3D copy of a box of rows and slices */
    REC_GEMM = 9,  /* a product of matrices, by the vendor's library */
    REC_HOST = 10, /* wait for a host function that the client runs */
    REC_AFTER = 11 /* in graphs only: the steps that the next record waits for */
};

struct rec_header {
    uint16_t op;
    uint16_t flags;
    uint32_t size; /* bytes, header included */
};

struct rec_launch {
    struct rec_header h;
    uint32_t kernel;
    uint32_t param_bytes; /* size of the parameter buffer, which follows this struct in the
                             kernel's layout */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_smem;
    uint32_t report; /* 0: none; else the low 32 bits of the report's id, which is in slot
                        report % SEG_REPORTS */
    /* unsigned char params[param_bytes] */
};
/* Flags of a launch. They say which parts follow the parameters, in this order, from the next
 * multiple of 8 bytes on. */
#define REC_LAUNCH_QOS          1u /* a struct wire_qos of this launch alone */
#define REC_LAUNCH_TIME         2u /* 8 bytes: CLOCK_MONOTONIC of its submission */
/* A cooperative launch: all blocks run at once. No part follows. */
#define REC_LAUNCH_COOPERATIVE  4u
/* A programmatic dependent launch: it may begin before the launch that it waits for has ended. No
 * part follows. */
#define REC_LAUNCH_PROGRAMMATIC 8u
#define REC_LAUNCH_CLUSTER      16u /* a struct wire_cluster */

/* The size of a cluster in blocks. cluster_blocks checks it. */
struct wire_cluster {
    uint16_t dim[3];
    uint16_t reserved;
};

/* Returns a cluster of these sides, each of which is at most UINT16_MAX. */
static inline struct wire_cluster cluster_of_sides(uint32_t x, uint32_t y, uint32_t z)
{
    return (struct wire_cluster){.dim = {(uint16_t)x, (uint16_t)y, (uint16_t)z}};
}

/* Returns the number of blocks in a cluster of the grid; 0 if its sides do not divide the grid's,
 * or if it has more than GS_CLUSTER_BLOCKS blocks. */
static inline uint32_t cluster_blocks(const struct wire_cluster *cluster, const uint32_t grid[3])
{
    uint32_t blocks = 1;

    for (int i = 0; i < 3; i++) {
        const uint32_t side = cluster->dim[i];

        /* A side within the limit keeps the product from overflowing. */
        if (side == 0 || side > GS_CLUSTER_BLOCKS || grid[i] % side)
            return 0;
        blocks *= side;
    }
    return blocks <= GS_CLUSTER_BLOCKS ? blocks : 0;
}

enum rec_copy_kind { REC_HTOD = 1, REC_DTOH = 2, REC_DTOD = 3 };

struct rec_copy {
    struct rec_header h;
    uint32_t kind; /* enum rec_copy_kind */
    uint32_t host; /* host block, for HTOD and DTOH */
    uint64_t dst;  /* device address; DTOH: offset in the host block */
    uint64_t src;  /* device address; HTOD: offset in the host block */
    uint64_t bytes;
    uint64_t reserved[3];
};

struct rec_memset {
    struct rec_header h;
    uint32_t value;   /* the value of an element, in the low 8, 16 or 32 bits */
    uint32_t element; /* bytes: 1, 2 or 4 */
    uint64_t dst;
    uint64_t bytes;
    uint64_t reserved[4];
};

struct rec_event {
    struct rec_header h;
    uint32_t event;
    uint32_t reserved;
    uint64_t serial; /* grows with each record of an event in the session */
    uint32_t reserved_end[10];
};

struct rec_wait {
    struct rec_header h;
    uint32_t event;
    uint32_t stream;   /* the stream in which the event was recorded */
    uint64_t position; /* the end of the REC_EVENT in that stream */
    uint64_t reserved[5];
};

/* The records behind this one wait until seg_client.host_done has reached its end. */
struct rec_host {
    struct rec_header h;
    uint32_t reserved[14];
};

struct rec_graph {
    struct rec_header h;
    uint32_t graph;
    uint32_t changes; /* bytes of the changes that follow this struct */
    uint32_t reserved[12];
    /* struct rec_change changes[], in the order of their steps */
};

/* Replaces some bytes of a step's record for this launch of the graph only. The new bytes follow,
 * padded to a multiple of 8. The record's header cannot be changed. */
struct rec_change {
    uint32_t step;  /* counted as in rec_after */
    uint16_t at;    /* offset of the bytes in the step's record */
    uint16_t bytes; /* 0: the step is left out of the launch */
};

static inline uint32_t rec_change_size(uint32_t bytes)
{
    return (uint32_t)sizeof(struct rec_change) + (bytes + 7) / 8 * 8;
}

/* A rec_after makes the record behind it wait for the steps that it names, and not for the step
 * before it. Several rec_afters in front of one record add up. A step is a launch, a copy or a
 * memset of the graph, counted from 0. */
#define REC_AFTER_STEPS 13u

struct rec_after {
    struct rec_header h;
    uint32_t count;
    uint32_t step[REC_AFTER_STEPS];
};

enum rec_box_memory { REC_BOX_HOST = 1, REC_BOX_DEVICE = 2, REC_BOX_ARRAY = 3 };

/* One side of a box: memory of the host or the device in rows, or a CUDA array. */
struct rec_box_side {
    uint32_t memory; /* enum rec_box_memory */
    uint32_t object; /* host block or array */
    uint64_t at;    /* offset in the host block, or device address; array: byte offset in its row */
    uint64_t pitch; /* bytes from row to row; array: the first row */
    uint64_t rows;  /* rows from slice to slice; array: the first slice or layer */
};

struct rec_box {
    struct rec_header h;
    uint32_t height, depth; /* rows of a slice, slices; at least 1 */
    uint64_t width;         /* bytes */
    struct rec_box_side dst, src;
    uint64_t reserved[5];
};

/* The types of a product's elements, as gs_gemm_type. */
enum rec_gemm_type { REC_F16 = 1, REC_BF16 = 2, REC_F32 = 3, REC_F64 = 4, REC_S8 = 5, REC_S32 = 6 };
/* How a product computes its sums, as gs_gemm_compute. */
enum rec_gemm_compute {
    REC_COMPUTE_F32 = 1,
    REC_COMPUTE_TF32 = 2,
    REC_COMPUTE_F64 = 3,
    REC_COMPUTE_S32 = 4
};

/* A matrix in column-major order; the batch has one for each product. */
struct rec_gemm_matrix {
    uint64_t at;     /* device address */
    uint64_t ld;     /* elements from column to column */
    uint64_t stride; /* elements from one matrix of the batch to the next */
};

/* C = alpha A B + beta C: A of m by k, B of k by n. */
struct rec_gemm {
    struct rec_header h;
    uint32_t inputs, output; /* enum rec_gemm_type of A and B, and of C */
    uint32_t compute;        /* enum rec_gemm_compute */
    uint32_t batch;
    uint32_t m, n, k;
    uint32_t reserved;
    struct rec_gemm_matrix a, b, c;
    uint64_t alpha, beta; /* a double's bits, or device addresses */
};
/* Flags of a product. */
#define REC_GEMM_TRANS_A 1u /* A is stored transposed: k by m */
#define REC_GEMM_TRANS_B 2u
#define REC_GEMM_DEVICE_SCALARS                                                                    \
    4u /* alpha and beta are device addresses of scalars of compute's type */
#define REC_GEMM_FLAGS 7u

/* Returns whether a scalar is an integer that an s32 can hold. */
static inline bool rec_gemm_whole(double scalar)
{
    return scalar >= INT32_MIN && scalar <= INT32_MAX && scalar == (double)(int32_t)scalar;
}

/* Returns which scalars of a product are 0 in compute's type, as a sum of 1 for alpha and 2 for
 * beta. The vendor's library has other kernels for such products. Returns 0 if the scalars are in
 * device memory, where the library does not know them. */
static inline uint32_t rec_gemm_zeros(const struct rec_gemm *r)
{
    double alpha, beta;

    if (r->h.flags & REC_GEMM_DEVICE_SCALARS)
        return 0;
    memcpy(&alpha, &r->alpha, sizeof(alpha));
    memcpy(&beta, &r->beta, sizeof(beta));
    if (r->compute == REC_COMPUTE_F64)
        return (alpha == 0) | (uint32_t)(beta == 0) << 1;
    return ((float)alpha == 0) | (uint32_t)((float)beta == 0) << 1;
}

#define REC_SIZE_MAX                                                                               \
    ((uint32_t)(sizeof(struct rec_launch) + (REQ_PARAM_BYTES_MAX + 7) / 8 * 8 +                    \
                sizeof(struct wire_qos) + 8 + sizeof(struct wire_cluster) + REC_ALIGN - 1) /       \
     REC_ALIGN * REC_ALIGN)

static_assert(sizeof(struct rec_header) == 8, "rec_header");
static_assert(sizeof(struct rec_launch) == 48,
              "rec_launch: 16 bytes of parameters still fit the first line");
static_assert(sizeof(struct wire_cluster) == 8, "wire_cluster");
static_assert(sizeof(struct rec_copy) == 64, "rec_copy");
static_assert(sizeof(struct rec_memset) == 64, "rec_memset");
static_assert(sizeof(struct rec_event) == 64, "rec_event");
static_assert(sizeof(struct rec_wait) == 64, "rec_wait");
static_assert(sizeof(struct rec_host) == 64, "rec_host");
static_assert(sizeof(struct rec_graph) == 64, "rec_graph");
static_assert(sizeof(struct rec_change) == 8, "rec_change");
static_assert(sizeof(struct rec_after) == 64, "rec_after");
static_assert(sizeof(struct rec_box_side) == 32, "rec_box_side");
static_assert(sizeof(struct rec_box) == 128, "rec_box");
static_assert(sizeof(struct rec_gemm_matrix) == 24, "rec_gemm_matrix");
static_assert(sizeof(struct rec_gemm) == 128, "rec_gemm");
static_assert(REC_SIZE_MAX <= SEG_RING_BYTES, "a ring holds the largest record");
static_assert(REC_SIZE_MAX <= UINT16_MAX, "a change can name any byte of a record");

#endif
