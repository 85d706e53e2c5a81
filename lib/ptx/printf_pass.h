/* The pass over a module that prints: its calls of CUDA's vprintf and __assertfail go to functions
 * of the house's own (print_device.cu), which leave a record in memory that the tenant reads.
 *
 * It works on tokens, not on the IR: it need not understand a module to rename two of its
 * functions, so what the reader does not know, and debug information, pass through untouched, every
 * line keeps its number, and a module costs one walk over its text. Any thread; no state. Trusts
 * nothing of the text. */
#ifndef GS_PTX_PRINTF_PASS_H
#define GS_PTX_PRINTF_PASS_H

#include <stdbool.h>
#include <stddef.h>

/* The .global .u64 variable that the pass adds: device address of a PRINT_BLOCK_BYTES block as
 * common/print_ring.h says, 0 until somebody writes it there. */
#define PRINTF_PASS_VARIABLE "gshare$print"

/* Could this text print? Costs a search for two words; true where they stand in comments too. */
bool printf_pass_maybe(const char *ptx, size_t len);

/* *OUT: the text with its calls redirected, NUL-terminated, the caller's to free(); *OUT_LEN does
 * not count the NUL. -ENOENT: the module has no such calls, or not of CUDA's functions. -ENOMEM. */
int printf_pass(const char *ptx, size_t len, char **out, size_t *out_len);

#endif
