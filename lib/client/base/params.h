/*
 * params.h - parameter structs that begin with their size, across versions of the header. Pure
 * checks; any thread.
 */
#ifndef GS_CLIENT_PARAMS_H
#define GS_CLIENT_PARAMS_H

#include <stddef.h>

#include "gshare.h"

/* What no struct of this library will ever reach: a size beyond it was never initialised. */
#define PARAMS_SIZE_MAX 4096u

/* End of a field, for the smallest size that a struct may have. */
#define PARAMS_UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* Copies the caller's struct over *known_struct, which holds this version's defaults. A smaller one
 * (an older header) leaves the fields that it lacks at their defaults; a larger one (a newer
 * header) may set nothing that this version does not know. name: of the type.
 * GS_ERR_INVALID_VALUE. */
gs_status params_read(void *known_struct, size_t known, size_t least, const void *given,
                      const char *name);
/* Fills the caller's struct from *known_struct as far as its size goes, the unknown rest with
 * zeroes; its size stays. GS_ERR_INVALID_VALUE, also for NULL. */
gs_status params_write(void *given, size_t least, const void *known_struct, size_t known,
                       const char *name);

#endif
