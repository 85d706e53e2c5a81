// Instructions that address memory by %own: those lines of table.txt that do, and further ways to
// write them. For tests that run each of them with addresses that it should not reach.
#ifndef ADDRESSING_H
#define ADDRESSING_H

#include "instructions/instructions.h"

// The form N of those that are not in table.txt. False: there are no more.
bool addressing_form(unsigned n, struct instruction *in);
// Whether this instruction of table.txt addresses memory so.
bool addressing_is(const struct instruction *in);
// PTX of a kernel k(u64 *addresses) whose block I does it with addresses[I].
void addressing_kernel_write(const struct instruction *in, char *out, size_t size);

#endif
