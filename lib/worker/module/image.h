/*
 * image.h - what a module image is: PTX text, a cubin or a fatbin. Its outer sizes are checked,
 * because the driver's loader takes no length and believes the sizes in the image. Pure functions;
 * any thread.
 */
#ifndef GS_WORKER_MODULE_IMAGE_H
#define GS_WORKER_MODULE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the image is machine code or a container, and not text. */
bool image_binary(const unsigned char *image, uint64_t size);
/* The reason why the image cannot be given to the driver; NULL: it can. */
const char *image_fault(const unsigned char *image, uint64_t size);

#endif
