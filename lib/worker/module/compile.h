/* compile.h - the driver's compiler of PTX. */
#ifndef GS_WORKER_MODULE_COMPILE_H
#define GS_WORKER_MODULE_COMPILE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "gshare.h"

struct job;

/* The most bytes of a text that is compiled among the brief jobs. Of nothing but divisions in f64,
 * each of which is a function, ptxas 13.0 takes 1.8 s and 112 MB for 16 KiB, and 33 s and 1.4 GB
 * for 128; of branches or accesses, 2.3 s for 128. */
#define COMPILE_BRIEF (UINT64_C(16) << 10)

/* What the driver says about an image. */
struct image_log {
    char text[3072];
};

/* Notes that the driver refuses an image. Returns the job's status. */
gs_status image_refused(struct job *job, CUresult result, struct image_log *log);
/* Replaces *image, PTX of *size bytes with a NUL behind it, by its machine code, where that is
 * kept. Service threads, as the next. */
bool image_find_code(const struct job *job, unsigned char **image, uint64_t *size);
/* Compiles PTX of *size bytes, with a NUL behind it, to machine code, which replaces *image and
 * *size: malloc'ed, as *image is. Code that is kept is not compiled again; a brief job compiles no
 * text beyond COMPILE_BRIEF. one_by_one: not several functions at once, for which several CPUs are
 * taken where there are many. */
gs_status image_compile(struct job *job, unsigned char **image, uint64_t *size, bool one_by_one);
/* Has the driver load its compiler, on a thread of its own: the first compilation of a process
 * takes 110 ms longer than the next, and a tenant need not wait for that. */
void compiler_load(void);

#endif
