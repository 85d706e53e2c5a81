/*
 * image.h - what a module image is: PTX text, a cubin, a fatbin, or a bundle of such images
 * (common/image_bundle.h). The outer sizes in an image are checked, because the driver's loader
 * takes no length and believes them. Pure functions; any thread.
 */
#ifndef GS_WORKER_MODULE_IMAGE_H
#define GS_WORKER_MODULE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the image is machine code or a container, and not text. */
bool image_binary(const unsigned char *image, uint64_t size);
/* Returns whether a module of this image may keep something in the context that outlives a launch,
 * or hand out addresses that would differ in another load: global variables, functions called by
 * address. True for all machine code, about which ptx/cubin.h tells more. A comment in PTX can make
 * this true, too. */
bool image_has_state(const unsigned char *image, uint64_t size);
/* Returns whether the image is a bundle: several images, to be linked. */
bool image_is_bundle(const unsigned char *image, uint64_t size);
/* Returns an image of a bundle, which image_fault has passed, and its size. */
const unsigned char *image_bundled(const unsigned char *image, uint32_t index, uint64_t *size);
/* Returns whether PTX calls functions by address. */
bool image_has_pointers(const unsigned char *text, uint64_t size);
/* Returns why the image must not be given to the driver; NULL: it may be. */
const char *image_fault(const unsigned char *image, uint64_t size);

#endif
