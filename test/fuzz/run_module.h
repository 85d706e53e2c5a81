/* Runs the kernels of one module in a device of a few KiB, for a bounded number of steps. */
#ifndef GS_TEST_FUZZ_RUN_MODULE_H
#define GS_TEST_FUZZ_RUN_MODULE_H

#include <stddef.h>
#include <stdint.h>

enum run_result {
    RUN_UNREADABLE, /* the reader refused it: LINE says where */
    RUN_REFUSED,    /* the lowering refused it: LINE says where, 0 where no line is to blame */
    RUN_TOO_BIG,    /* more memory than this device has */
    RUN_DONE
};

/* CHOICE picks sizes of blocks and values of parameters. Ends the process where an error has no
 * text or no place, and where a kernel wrote to what it may only read. */
enum run_result run_module(const char *text, size_t length, uint64_t choice, uint32_t *line);

#endif
