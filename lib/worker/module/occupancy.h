/*
 * occupancy.h - a second block on each SM, for kernels that would lose it by how their PTX is
 * compiled.
 *
 * The driver's linker compiles as `ptxas -c` does, and gives a kernel of a known block size more
 * registers than the compiler of whole programs does, which takes fewer where more blocks then fit
 * on an SM and nothing is spilled. (That compiler, cuModuleLoadData, would hold up all launches.)
 * It costs most where the registers leave room for one block only: a matrix product of f16 ran at
 * 0.61 of its rate. So such a text is compiled once more, with these kernels asked for two blocks.
 */
#ifndef GS_WORKER_MODULE_OCCUPANCY_H
#define GS_WORKER_MODULE_OCCUPANCY_H

/* Returns a copy of the PTX in which each kernel that its registers keep at one block an SM asks
 * for two (`.minnctapersm 2`); NULL: there is none, or no memory. `log` is what the compiler has
 * said of the kernels (CU_JIT_LOG_VERBOSE). `tried` is the same of the text with all of them asked,
 * or NULL: those that spill more by it stay as they are. Strings; what is returned is malloc'ed. */
char *occupancy_ask(const char *text, const char *log, const char *tried);

/* Returns how many of a log's kernels spill more by the log `tried`. */
unsigned occupancy_spilling(const char *log, const char *tried);

#endif
