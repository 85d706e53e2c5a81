/*
 * fatbin.h - device code that nvcc and clang left in the program, or that the program loads: how
 * long it is, and for which architecture. An image in memory is believed; the server checks what it
 * is given.
 */
#ifndef GS_CUDART_FATBIN_H
#define GS_CUDART_FATBIN_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of a fat binary or a cubin; 0: the image is PTX text, which ends with a NUL. */
size_t image_bytes(const void *image);
/* Whether a file of `bytes` bytes has all of the image that begins there. */
bool image_is_whole(const void *image, size_t bytes);
/* The architecture, such as 80, of the newest PTX in the image that device sm runs; of the newest
 * machine code where there is no such PTX; sm where there is neither. */
unsigned image_ptx_arch(const void *image, unsigned sm);

#endif
