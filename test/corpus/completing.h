/* Kernels of the corpus with the completion pass behind them: the hidden parameter, and whether the
 * end of a kernel is signalled as it should be. One at a time. */
#ifndef GS_TEST_CORPUS_COMPLETING_H
#define GS_TEST_CORPUS_COMPLETING_H

#include <stdbool.h>
#include <stdint.h>

#include "corpus.h"
#include "ptx/rewrite/completion_params.h"

/* Rewrites TEXT. Its new text, to free(); NULL where the pass takes none of its kernels. */
char *completing_begin(const char *text);
void completing_end(void);
/* Takes the place of 24 bytes that host and device share: word, fence, and the counter's, which is
 * zero. All addresses are the device's, WORDS is the host's of the first two. */
void completing_at(_Atomic uint64_t *words, device_ptr device_words, device_ptr counter);
/* The arguments of a launch of KERNEL, with the hidden one where the kernel has it. */
void **completing_args(const char *kernel, struct size3 grid, struct size3 block, void **args);
/* After the launch: waits until the end is signalled. NULL, or what is wrong. Nothing to wait for
 * where the kernel was not taken. */
const char *completing_wait(void);
bool completing_signalled(void); /* the last launch was of a kernel that signals */

#endif
