/*
 * assembler.h - NVIDIA's assembler, ptxas, as a process: compiles the texts of fenced sessions
 * outside of the worker, where there is one to use (assembler_choice.h). The driver's compiler
 * works inside the worker: a mistake of it there is one with everybody's memory at hand, and
 * nothing ends what it has begun. The process has a bound of memory and of CPU time, and is killed
 * where the session closes. Besides, ptxas compiles whole programs, and keeps setmaxnreg, which the
 * driver's linker leaves out.
 *
 * Its code is not checked against the text: who takes ptxas over can have any code loaded.
 */
#ifndef GS_WORKER_MODULE_ASSEMBLER_H
#define GS_WORKER_MODULE_ASSEMBLER_H

#include <stddef.h>
#include <stdint.h>

#include "gshare.h"

struct job;

/* Compiles a text of `size` bytes on up to `threads` threads, for a job that compiles, to *code, to
 * be freed. Blocks until that is done or the session closes; charges the job with the CPU time.
 * Returns the job's status: GS_ERR_BAD_IMAGE with what ptxas says, GS_ERR_INTERRUPTED,
 * GS_ERR_NO_MEMORY, GS_ERR_DRIVER where the program that the operator named cannot be run. GS_OK
 * with *code NULL: the toolkit's is gone, and the driver is to compile. Service threads. */
gs_status assembler_run(struct job *job, const char *text, size_t size, uint32_t threads,
                        unsigned char **code, size_t *code_size);

#endif
