/* params.c - see params.h. */
#include "client/base/params.h"

#include <string.h>

#include "client/base/error.h"

static gs_status size_check(size_t size, size_t least, size_t known, const char *name)
{
    if (size >= least && size <= PARAMS_SIZE_MAX)
        return GS_OK;
    return error_set(GS_ERR_INVALID_VALUE,
                     "%s.size is %zu; this version takes %zu to %u, and its own is %zu", name, size,
                     least, PARAMS_SIZE_MAX, known);
}

gs_status params_read(void *known_struct, size_t known, size_t least, const void *given,
                      const char *name)
{
    const unsigned char *bytes = given;
    size_t size;
    gs_status status;

    memcpy(&size, given, sizeof(size));
    status = size_check(size, least, known, name);
    if (status != GS_OK)
        return status;
    for (size_t i = known; i < size; i++) {
        if (bytes[i])
            return error_set(GS_ERR_INVALID_VALUE,
                             "%s sets byte %zu, beyond the %zu bytes that this version knows", name,
                             i, known);
    }
    memcpy(known_struct, given, size < known ? size : known);
    memcpy(known_struct, &known, sizeof(known));
    return GS_OK;
}

gs_status params_write(void *given, size_t least, const void *known_struct, size_t known,
                       const char *name)
{
    size_t size;
    gs_status status;

    if (!given)
        return error_set(GS_ERR_INVALID_VALUE, "the %s pointer is NULL", name);
    memcpy(&size, given, sizeof(size));
    status = size_check(size, least, known, name);
    if (status != GS_OK)
        return status;
    memcpy(given, known_struct, size < known ? size : known);
    if (size > known)
        memset((unsigned char *)given + known, 0, size - known);
    memcpy(given, &size, sizeof(size));
    return GS_OK;
}
