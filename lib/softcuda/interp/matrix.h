// What a matrix instruction's aux words say, from lowering to interp/matrix.c: these, then for each
// matrix (d, a, b, c of a product, and a sparse a's metadata; one otherwise) the count of its
// registers and their slots.
#ifndef GS_SOFTCUDA_INTERP_MATRIX_H
#define GS_SOFTCUDA_INTERP_MATRIX_H

enum matrix_word {
    MATRIX_TYPE_D,
    MATRIX_TYPE_A,
    MATRIX_TYPE_B,
    MATRIX_TYPE_C,
    MATRIX_M,
    MATRIX_N,
    MATRIX_K,
    MATRIX_FLAGS,
    MATRIX_CHUNK,  // columns of a sparse a, of which half are kept; 0: a is dense
    MATRIX_HOLDER, // the first of each four lanes that holds its metadata
    MATRIX_LISTS
};

enum matrix_flag {
    MATRIX_SATFINITE = 1,
    MATRIX_AND = 2,
    MATRIX_BY_COLUMN = 4, // a, of a product
    MATRIX_B_BY_COLUMN = 8,
    MATRIX_QUADS = 16,  // four products at once, by eight lanes each
    MATRIX_NEGATE = 32, // a, of wgmma
};

#endif
