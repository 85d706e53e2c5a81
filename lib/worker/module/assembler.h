/*
 * assembler.h - NVIDIA's assembler, ptxas, as a process: compiles the texts of fenced sessions
 * outside of the worker, where $GSHARE_PTXAS (gshared --ptxas) names it, or where that is "auto"
 * and the machine has one that suits the driver. The driver's compiler works inside the worker: a
 * mistake of it there is one with everybody's memory at hand, and nothing ends what it has begun.
 * The process has a bound of memory and of CPU time, and is killed where the session closes.
 * Besides, ptxas compiles whole programs, and keeps setmaxnreg, which the driver's linker leaves
 * out.
 *
 * Its code is not checked against the text: who takes ptxas over can have any code loaded.
 */
#ifndef GS_WORKER_MODULE_ASSEMBLER_H
#define GS_WORKER_MODULE_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gshare.h"

struct job;

/* Decides whether there is one to use, which may start it for its version. Once, when the device is
 * open and no other thread runs. */
void assembler_choose(void);
/* Whether one that says this for `--version` can compile for a driver of the version
 * (cuDriverGetVersion): of the same major version, or its code may not load, and not older, or it
 * refuses what the driver takes. */
bool assembler_suits(const char *said, unsigned driver);
/* Makes ptxas' option for a device of that compute capability: "-arch=sm_90a", with the letter that
 * the text's .target has. */
void assembler_architecture(const char *text, unsigned major, unsigned minor, char argument[32]);
/* Whether ptxas compiles the texts of fenced sessions. */
bool assembler_wanted(void);
/* Returns a number that differs between files of ptxas; 0: ptxas is not wanted. */
uint64_t assembler_version(void);
/* Compiles a text of `size` bytes on up to `threads` threads, for a job that compiles, to *code, to
 * be freed. Blocks until that is done or the session closes; charges the job with the CPU time.
 * Returns the job's status: GS_ERR_BAD_IMAGE with what ptxas says, GS_ERR_INTERRUPTED,
 * GS_ERR_NO_MEMORY, GS_ERR_DRIVER where it cannot be run. Service threads. */
gs_status assembler_run(struct job *job, const char *text, size_t size, uint32_t threads,
                        unsigned char **code, size_t *code_size);
/* Runs in the process for ptxas, as gshared --ptxas-run WORKER PROGRAM ARGUMENT..., and executes
 * PROGRAM. Ends the process where PROGRAM cannot be executed; returns where the worker is gone or a
 * limit cannot be set. `arguments`: from WORKER on. */
int assembler_main(char **arguments);

#endif
