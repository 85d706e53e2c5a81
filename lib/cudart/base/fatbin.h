/*
 * fatbin.h - the device code that nvcc and clang put into the program, or that the program loads:
 * its size and its architecture. An image in memory is trusted; the server checks what it is given.
 */
#ifndef GS_CUDART_FATBIN_H
#define GS_CUDART_FATBIN_H

#include <stdbool.h>
#include <stddef.h>

/* The size of the fat binary or cubin; 0: the image is PTX text, which ends with a NUL. */
size_t image_bytes(const void *image);
/* Whether a file of `bytes` bytes contains the whole image that begins there. */
bool image_is_whole(const void *image, size_t bytes);
/* The architecture, such as 80, of the newest PTX in the image that device sm runs; without such
 * PTX, of the newest machine code; without that, sm. */
unsigned image_ptx_arch(const void *image, unsigned sm);

#endif
