/*
 * occupancy.h - asks the compiler for a second block on each SM, for kernels that would lose it by
 * the way in which the driver's linker compiles.
 *
 * The linker compiles as `ptxas -c` does: it gives a kernel of a known block size more registers
 * than the compiler of whole programs does, which uses fewer if more blocks then fit on an SM and
 * nothing is spilled. (That compiler, cuModuleLoadData, would hold up all launches.) The loss is
 * largest where the registers leave room for one block only: a matrix product of f16 ran at 0.61 of
 * its rate. So such a text is compiled once more, with these kernels asked for two blocks.
 */
#ifndef GS_WORKER_MODULE_OCCUPANCY_H
#define GS_WORKER_MODULE_OCCUPANCY_H

/* Returns a copy of the PTX in which each kernel that its registers keep at one block an SM has the
 * directive `.minnctapersm 2`; NULL: there is no such kernel, or no memory. `log` is the compiler's
 * report on the kernels (CU_JIT_LOG_VERBOSE). `tried` is its report on the text with all of these
 * kernels asked, or NULL: kernels that spill more there stay as they are. All are strings; the copy
 * is malloc'ed. */
char *occupancy_ask(const char *text, const char *log, const char *tried);

/* Returns how many kernels spill more by the log `tried` than by `log`. */
unsigned occupancy_spilling(const char *log, const char *tried);

#endif
