/* cuda_program.h - CUDA programs that say in their own comments what they print. */
#ifndef TEST_CUDA_PROGRAM_H
#define TEST_CUDA_PROGRAM_H

/* Runs arguments[0], a path below the build folder, as a tenant of the server that
 * GSHARE_INSTANCE names; it has to print the lines that `source`, a path in the tree, has behind
 * "//>". A program that exits with 77 has said why it is skipped. Lines of gshare's libraries do
 * not count, but in a program whose file's name begins with own_. */
void cuda_program_run(const char *const *arguments, const char *source);

/* The program of that name: FOLDER/programs/NAME.cu. A skip where it was not built. */
void cuda_program_test(const char *folder, const char *name);

#endif
