/* image.h - reading the image of a module before it is sent to the server. Any thread. */
#ifndef GS_CLIENT_IMAGE_H
#define GS_CLIENT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "gshare.h"

/* Returns whether an image is text, which ends at its first NUL: it begins neither like ELF, as a
 * cubin does, nor with 0xBA55ED50, as a fatbin does. */
bool image_is_text(const void *image);
/* Sets *bytes to the size of an image for which the caller gave `size`; 0 means PTX text, whose NUL
 * counts. GS_ERR_INVALID_VALUE: the size is 0 and the image is not PTX text. GS_ERR_BAD_IMAGE:
 * empty. */
gs_status image_size(const void *image, size_t size, size_t *bytes);
/* Reads a whole file into memory that the caller frees. GS_ERR_NOT_FOUND, GS_ERR_BAD_IMAGE (empty),
 * GS_ERR_NO_MEMORY, GS_ERR_SYSTEM. */
gs_status image_read(const char *path, void **image, size_t *size);

#endif
