/* image.h - the bytes of a module before they go to the server. Any thread. */
#ifndef GS_CLIENT_IMAGE_H
#define GS_CLIENT_IMAGE_H

#include <stddef.h>

#include "gshare.h"

/* Bytes of an image of which the caller gave `size`: 0 means PTX text, whose NUL is counted.
 * GS_ERR_INVALID_VALUE, GS_ERR_BAD_IMAGE (it is empty, or no text). */
gs_status image_size(const void *image, size_t size, size_t *bytes);
/* The whole of a file, to be freed by the caller. GS_ERR_NOT_FOUND, GS_ERR_BAD_IMAGE (empty),
 * GS_ERR_NO_MEMORY, GS_ERR_SYSTEM. */
gs_status image_read(const char *path, void **image, size_t *size);

#endif
