/* params.c - see params.h. */
#include "client/params.h"

#include <string.h>

#include "client/error.h"

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

gs_status qos_read(gs_qos *qos, const gs_qos *given)
{
    gs_qos read = GS_QOS_INIT;
    gs_status status;

    if (!given)
        return GS_OK;
    status = params_read(&read, sizeof(read), PARAMS_UP_TO(gs_qos, priority), given, "gs_qos");
    if (status != GS_OK)
        return status;
    if ((unsigned)read.cls > GS_CLASS_BEST_EFFORT)
        return error_set(GS_ERR_INVALID_VALUE, "gs_qos.cls is %d, not 0 to %d", (int)read.cls,
                         GS_CLASS_BEST_EFFORT);
    if ((unsigned)read.affinity.type > GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE)
        return error_set(GS_ERR_INVALID_VALUE, "gs_qos.affinity.type is %d, not 0 to %d",
                         (int)read.affinity.type, GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE);
    if (read.affinity.type != GS_EXEC_AFFINITY_NONE)
        return error_set(GS_ERR_NOT_SUPPORTED,
                         "gs_qos.affinity.type is %d; this version has no partitions",
                         (int)read.affinity.type);
    if (read.weight)
        return error_set(GS_ERR_NOT_SUPPORTED, "gs_qos.weight is %u; this version has no weights",
                         read.weight);
    if (read.deadline_ns)
        return error_set(GS_ERR_NOT_SUPPORTED,
                         "gs_qos.deadline_ns is %llu; this version has no deadlines",
                         (unsigned long long)read.deadline_ns);
    *qos = read;
    return GS_OK;
}

gs_status qos_check_launch(const gs_qos *given)
{
    gs_qos read = GS_QOS_INIT;
    gs_status status = qos_read(&read, given);

    if (status == GS_OK && (read.cls != GS_CLASS_NORMAL || read.priority))
        status = error_set(GS_ERR_NOT_SUPPORTED,
                           "gs_qos of one launch sets class %d, priority %d; this version takes "
                           "them for sessions and streams only",
                           (int)read.cls, read.priority);
    return status;
}
