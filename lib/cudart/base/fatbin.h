/*
 * fatbin.h - the device code that nvcc and clang left in the program: how long it is, and for which
 * architecture. The program's own image is believed; the server checks what it is given.
 */
#ifndef GS_CUDART_FATBIN_H
#define GS_CUDART_FATBIN_H

#include <stddef.h>

/* The fat binary's bytes; 0: the image is PTX text, which ends with a NUL. */
size_t image_size(const void *image);
/* The architecture, such as 80, of the newest PTX in the image that device sm runs; of the newest
 * machine code where there is no such PTX; sm where there is neither. */
unsigned image_ptx_arch(const void *image, unsigned sm);

#endif
