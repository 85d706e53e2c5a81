/* Modules with PTX_PASS_FENCE behind them, loaded into any driver: their variables are placed and
 * the window is written. One at a time. Also for bench/fence. */
#ifndef GS_TEST_CORPUS_FENCING_H
#define GS_TEST_CORPUS_FENCING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "ptx/rewrite/texture_table.h"

/* What the helper needs of a driver. */
struct fencing_driver {
    int (*allocate)(uint64_t *at, size_t bytes); /* zeroed, aligned to 256 or more; 0: done */
    CUresult (*write)(CUdeviceptr to, const void *from, size_t bytes);
    CUresult (*read)(void *to, CUdeviceptr from, size_t bytes);
    CUresult (*find)(CUdeviceptr *at, size_t *bytes, CUmodule module, const char *name);
    CUmodule module; /* that is loaded */
};

/* The fenced text, to free(); NULL where the pass refuses: fencing_reason says why. */
char *fencing_begin(const char *text);
/* The same with PTX_PASS_VARIABLES alone; NULL where the module keeps its variables. */
char *fencing_begin_variables(const char *text);
const char *fencing_reason(void);
void fencing_end(void);
/* Behind the loading of the module: the window is SIZE bytes from BASE. NULL, or what failed. */
const char *fencing_place(const struct fencing_driver *driver, uint64_t base, uint64_t size);
/* What the module's kernels take for the driver's texture or surface of that geometry, which is
 * shown in the texture table of fencing_place; OBJECT itself where the module has none. */
uint64_t fencing_object(const struct fencing_driver *driver, uint64_t object,
                        enum texture_column column);
/* The pointers to KERNEL's parameters with that to the window behind them, where it has one: until
 * the next call. */
void **fencing_args(const char *kernel, void **args);
/* Where a .global variable of the module lies now; 0: it has none of that name. */
uint64_t fencing_address(const char *name);

#endif
