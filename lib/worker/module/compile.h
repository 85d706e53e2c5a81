/* compile.h - compiles PTX to machine code, by the driver's compiler or by ptxas (assembler.h). */
#ifndef GS_WORKER_MODULE_COMPILE_H
#define GS_WORKER_MODULE_COMPILE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "gshare.h"

struct job;

/* The most bytes of a text that a brief job compiles. For a text of nothing but divisions in f64,
 * each of which is a function, ptxas 13.0 takes 1.8 s and 112 MB for 16 KiB, and 33 s and 1.4 GB
 * for 128; for one of branches or accesses, 2.3 s for 128. */
#define COMPILE_BRIEF (UINT64_C(16) << 10)

/* The driver's messages about an image. */
struct image_log {
    char text[3072];
};

/* Fails the job, because the driver refuses an image. Returns the job's status. */
gs_status image_refused(struct job *job, CUresult result, struct image_log *log);
/* Replaces *image, PTX of *size bytes with a NUL behind it, by its machine code, if that is in the
 * code cache. False: it is not. Service threads, as the next. */
bool image_find_code(const struct job *job, unsigned char **image, uint64_t *size);
/* Compiles PTX of *size bytes, with a NUL behind it, to machine code, which replaces *image and
 * *size. *image is malloc'ed, before and after. Code from the code cache is used where there is
 * some; a brief job does not compile a text beyond COMPILE_BRIEF. one_by_one: compiles one function
 * at a time; else, on a machine with many CPUs, several at a time. */
gs_status image_compile(struct job *job, unsigned char **image, uint64_t *size, bool one_by_one);
/* Has the driver load its compiler, on a thread of its own: the first compilation of a process
 * takes 110 ms longer than the next, and so no tenant waits for that. */
void compiler_load(void);

#endif
