// One line of table.txt: an instruction, what goes into it and what comes out. For the programs in
// this folder.
#ifndef INSTRUCTIONS_H
#define INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/rewrite/texture_table.h"

enum { COUNT = 512, MAX_LINE = 2048, MAX_OPERANDS = 16, MAX_RESULTS = 8, MAX_OBJECTS = 48 };

struct instruction {
    char name[128], result[16], operands[MAX_OPERANDS][16], ptx[MAX_LINE];
    unsigned noperands, nresults;
    int tolerance; // see make_table
    bool is_relative, is_known;
};

// ---- operands.c

unsigned type_bits(const char *type);
// The value of operand K of thread I: edges and random bits, the same at every call.
uint64_t operand(const char *type, unsigned k, unsigned i);

// ---- objects.c

// Textures and surfaces that an instruction may name as %NAME: in the kernel, a register with the
// handle.
unsigned object_count(void);
const char *object_name(unsigned k);
enum texture_column object_column(unsigned k);
// Makes them all with the driver LIBRARY, in the current context; they stay. One that the driver
// refuses has the handle 0. NULL, or the function that the library lacks.
const char *objects_make(void *library, uint64_t handles[MAX_OBJECTS]);

// ---- kernel.c

// Whether the instruction names the object.
bool instruction_names(const struct instruction *i, const char *object);
// Takes LINE apart, which it changes. False where that is no line of a table.
bool instruction_read(struct instruction *i, char *line);
// The name of the register with result K, without the per cent sign.
const char *result_name(unsigned k);
// PTX of a kernel k(input, output) in which thread I takes operand K from input[K * COUNT + I] and
// puts result K there in the output, each 8 bytes apart. Where objects are named, their handles are
// a third parameter.
void kernel_write(const struct instruction *i, char *out, size_t size);

#endif
