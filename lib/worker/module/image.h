/*
 * image.h - what a module image is: PTX text, a cubin, a fatbin, or a bundle of such
 * (common/image_bundle.h). The outer sizes of an image are checked, because the driver's loader
 * takes no length and believes the sizes in the image. Pure functions; any thread.
 */
#ifndef GS_WORKER_MODULE_IMAGE_H
#define GS_WORKER_MODULE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the image is machine code or a container, and not text. */
bool image_binary(const unsigned char *image, uint64_t size);
/* Whether a module of this image may keep in the context what outlives a launch, or give out
 * addresses that another load would change: global variables, functions called by address. Whether
 * machine code does so says ptx/cubin.h; here it counts. A comment in PTX can make it count too. */
bool image_has_state(const unsigned char *image, uint64_t size);
/* Whether it is several images, to be linked. */
bool image_is_bundle(const unsigned char *image, uint64_t size);
/* An image of a bundle in which image_fault has found none. */
const unsigned char *image_bundled(const unsigned char *image, uint32_t index, uint64_t *size);
/* Whether PTX calls functions by address. */
bool image_has_pointers(const unsigned char *text, uint64_t size);
/* The reason why the image cannot be given to the driver; NULL: it can. */
const char *image_fault(const unsigned char *image, uint64_t size);

#endif
