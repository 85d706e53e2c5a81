/*
 * image_bundle.h - a bundle: several images that are linked into one module when it is loaded, as
 * gs_module_link sends them. The head is followed by the images, each at a multiple of
 * BUNDLE_ALIGN from the bundle's begin. doc/protocol.md draws it.
 *
 * Trust: the client writes it; the worker checks every size before it looks at an image.
 */
#ifndef GS_COMMON_IMAGE_BUNDLE_H
#define GS_COMMON_IMAGE_BUNDLE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define BUNDLE_MAGIC  0x42475347u /* "GSGB" */
#define BUNDLE_ALIGN  8u          /* as a fatbin's header needs */
#define BUNDLE_IMAGES 1024u       /* the most images */

struct image_bundle {
    uint32_t magic;
    uint32_t count;  /* from 1 to BUNDLE_IMAGES */
    uint64_t size[]; /* of each image; of PTX text without its NUL */
};
static_assert(sizeof(struct image_bundle) == 8 && offsetof(struct image_bundle, size) == 8,
              "crosses a process boundary");

/* Return the offset of the first image, and of the image behind one of `size` bytes at `at`. */
static inline uint64_t bundle_head(uint32_t count)
{
    return sizeof(struct image_bundle) + (uint64_t)count * sizeof(uint64_t);
}
static inline uint64_t bundle_next(uint64_t at, uint64_t size)
{
    return (at + size + BUNDLE_ALIGN - 1) / BUNDLE_ALIGN * BUNDLE_ALIGN;
}

#endif
