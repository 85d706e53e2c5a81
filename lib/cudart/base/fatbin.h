/*
 * fatbin.h - the device code that nvcc and clang put into the program: its size and its
 * architecture. The program's own image is trusted; the server checks what it is given.
 */
#ifndef GS_CUDART_FATBIN_H
#define GS_CUDART_FATBIN_H

#include <stddef.h>

/* The size of the fat binary; 0: the image is PTX text, which ends with a NUL. */
size_t image_size(const void *image);
/* The architecture, such as 80, of the newest PTX in the image that device sm runs; without such
 * PTX, of the newest machine code; without that, sm. */
unsigned image_ptx_arch(const void *image, unsigned sm);

#endif
