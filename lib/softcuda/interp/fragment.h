// The fragments of matrix instructions: a matrix, spread over the registers of a warp's lanes, as
// numbers. Every product is computed in double (see matrix.c).
#ifndef GS_SOFTCUDA_INTERP_FRAGMENT_H
#define GS_SOFTCUDA_INTERP_FRAGMENT_H

#include "softcuda/interp/group.h"

// A fragment is one matrix of an instruction, as it lies in the lanes.
struct fragment {
    enum ptx_type type;
    unsigned bits, rows, columns;
    uint32_t at;   // in the aux words of each lane: count, then slots
    uint32_t held; // by these lanes, each a like part of it
};

// Where each lane's registers and aux words are: lanes of one group may be in different frames.
struct lanes {
    const struct part *of[LANES];
    const uint32_t *aux[LANES];
};

// Which element of the matrix, row R and column C, is the I-th of a lane.
typedef void position_fn(const struct fragment *f, unsigned lane, unsigned i, unsigned *r,
                         unsigned *c);

void lanes_find(const struct group *g, struct lanes *v);
struct fragment fragment_of(enum ptx_type t, unsigned rows, unsigned columns, uint32_t at);
uint64_t fragment_get(const struct lanes *v, const struct fragment *f, unsigned lane, unsigned i);
void fragment_put(const struct lanes *v, const struct fragment *f, unsigned lane, unsigned i,
                  uint64_t value);
// Reads all of the matrix, row by row.
void fragment_read(const struct lanes *v, const struct fragment *f, position_fn *position,
                   double *out);
// Writes the elements of the lanes in G: rounded, or of whole numbers wrapped or clamped.
void fragment_write(const struct group *g, const struct lanes *v, const struct fragment *f,
                    position_fn *position, const double *from, bool satfinite);
// Returns the number that an element's bits stand for.
double element_decode(enum ptx_type t, uint64_t bits);

// Adds A * B to ACC; A is m x k, B k x n.
void product_add(const double *a, const double *b, double *acc, unsigned m, unsigned n, unsigned k);

// The layout of mma's left factor has rows g and g + 8, register pairs side by side.
position_fn position_a;
// The layout of mma's sum has eight columns after eight.
position_fn position_c;

#endif
