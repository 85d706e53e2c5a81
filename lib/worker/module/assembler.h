/*
 * assembler.h - NVIDIA's assembler, ptxas, as a process that compiles PTX outside of the worker, on
 * machines that have one to use (assembler_choice.h). The driver's compiler works inside the
 * worker: a mistake of it there has everybody's memory at hand, and nothing can end a compilation
 * that has begun. The process has limits of memory and CPU time, and is killed when the session
 * closes. Besides, ptxas compiles whole programs: it gives kernels fewer registers than the
 * driver's linker (254 kernels of foreign programs have 0.9 more in the mean than as their authors
 * compile them, instead of 5.2; one has 48 instead of 90), and keeps setmaxnreg, which that leaves
 * out.
 *
 * The machine code is not checked against the text: a text that takes ptxas over can have any code
 * loaded.
 */
#ifndef GS_WORKER_MODULE_ASSEMBLER_H
#define GS_WORKER_MODULE_ASSEMBLER_H

#include <stddef.h>
#include <stdint.h>

#include "gshare.h"

struct job;

/* Compiles a text of `size` bytes on up to `threads` threads, for a job that compiles; *code is the
 * caller's to free. Blocks until that is done or the session closes; charges the job with the CPU
 * time. Returns the job's status: GS_ERR_BAD_IMAGE with the message of ptxas, GS_ERR_INTERRUPTED,
 * GS_ERR_NO_MEMORY, or GS_ERR_DRIVER where a program that the operator named cannot be run. GS_OK
 * with *code NULL: the toolkit's ptxas is gone, and the driver is to compile. Service threads. */
gs_status assembler_run(struct job *job, const char *text, size_t size, uint32_t threads,
                        unsigned char **code, size_t *code_size);

#endif
