// The fragments of matrix instructions: a matrix, spread over the registers of a warp's lanes, as
// numbers. Every product is computed in double (see matrix.c).
#ifndef GS_SOFTCUDA_INTERP_FRAGMENT_H
#define GS_SOFTCUDA_INTERP_FRAGMENT_H

#include "softcuda/interp/group.h"

// A fragment is one matrix of an instruction, as it lies in the lanes.
struct fragment {
    enum ptx_type type;
    unsigned bits, rows, columns;
    uint32_t at;   // index in each lane's aux words: count, then slots
    uint32_t held; // the lanes that hold it, each an equal part
};

// The registers and aux words of each lane: lanes of one group may be in different frames.
struct lanes {
    const struct part *of[LANES];
    const uint32_t *aux[LANES];
};

// The position in the matrix, row R and column C, of a lane's element I.
typedef void position_fn(const struct fragment *f, unsigned lane, unsigned i, unsigned *r,
                         unsigned *c);

void lanes_find(const struct group *g, struct lanes *v);
struct fragment fragment_of(enum ptx_type t, unsigned rows, unsigned columns, uint32_t at);
uint64_t fragment_get(const struct lanes *v, const struct fragment *f, unsigned lane, unsigned i);
void fragment_put(const struct lanes *v, const struct fragment *f, unsigned lane, unsigned i,
                  uint64_t value);
// Reads the whole matrix, row by row.
void fragment_read(const struct lanes *v, const struct fragment *f, position_fn *position,
                   double *out);
// Writes the elements of the lanes in G: rounded or, for integers, wrapped or clamped.
void fragment_write(const struct group *g, const struct lanes *v, const struct fragment *f,
                    position_fn *position, const double *from, bool satfinite);
// Returns the number that an element's bits represent.
double element_decode(enum ptx_type t, uint64_t bits);

// Adds A * B to ACC; A is m x k, B k x n.
void product_add(const double *a, const double *b, double *acc, unsigned m, unsigned n, unsigned k);

// The layout of mma's left factor has rows g and g + 8, register pairs side by side.
position_fn position_a;
// The layout of mma's sum has eight columns after eight.
position_fn position_c;

#endif
