/*
 * params.h - exchanges parameter structs with callers that were compiled with another version of
 * the header. Each struct begins with its size. Pure functions; any thread.
 */
#ifndef GS_CLIENT_PARAMS_H
#define GS_CLIENT_PARAMS_H

#include <stddef.h>

#include "gshare.h"

/* No struct will ever be larger; a larger size was never initialised. */
#define PARAMS_SIZE_MAX 4096u

/* The end of a field, as the smallest size that a struct may have. */
#define PARAMS_UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* Copies the caller's struct over *known_struct, which holds this version's defaults. A smaller
 * struct, of an older header, leaves its missing fields at their defaults; a larger struct, of a
 * newer header, must have zeros beyond this version's fields. `name` is the type's, for messages.
 * GS_ERR_INVALID_VALUE. */
gs_status params_read(void *known_struct, size_t known, size_t least, const void *given,
                      const char *name);
/* Fills the caller's struct from *known_struct as far as its size reaches, and sets fields that
 * this version does not know to zero. The size member is kept. GS_ERR_INVALID_VALUE, also for
 * NULL. */
gs_status params_write(void *given, size_t least, const void *known_struct, size_t known,
                       const char *name);

#endif
