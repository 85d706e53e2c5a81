/* image.c - see image.h. */
#include "client/base/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "client/base/error.h"
#include "common/util.h"

bool image_is_text(const void *image)
{
    const unsigned char *start = image;

    return start[0] != 0x7F && start[0] != 0x50;
}

gs_status image_size(const void *image, size_t size, size_t *bytes)
{
    const unsigned char *start = image;

    if (!image)
        return error_set(GS_ERR_INVALID_VALUE, "the image pointer is NULL");
    if (size) {
        *bytes = size;
        return GS_OK;
    }
    if (!image_is_text(image))
        return error_set(GS_ERR_INVALID_VALUE,
                         "size is 0, which is for PTX text; a cubin or a fatbin needs its size");
    if (!start[0])
        return error_set(GS_ERR_BAD_IMAGE, "the PTX text is empty");
    *bytes = strlen(image) + 1;
    return GS_OK;
}

static gs_status file_read(int fd, const char *path, unsigned char *to, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = read(fd, to + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_system(path);
        if (n == 0)
            return error_set(GS_ERR_SYSTEM, "%s became shorter while it was read: %zu of %zu bytes",
                             path, done, size);
        done += (size_t)n;
    }
    return GS_OK;
}

gs_status image_read(const char *path, void **image, size_t *size)
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    CLEANUP_FREE unsigned char *bytes = NULL;
    struct stat st;
    gs_status status;

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return error_set(GS_ERR_NOT_FOUND, "%s: no such file", path);
    if (fd < 0 || fstat(fd, &st))
        return error_system(path);
    if (!S_ISREG(st.st_mode))
        return error_set(GS_ERR_SYSTEM, "%s is not a regular file", path);
    if (st.st_size == 0)
        return error_set(GS_ERR_BAD_IMAGE, "%s is empty", path);

    bytes = malloc((size_t)st.st_size);
    if (!bytes)
        return error_set(GS_ERR_NO_MEMORY, "no memory for the %lld bytes of %s",
                         (long long)st.st_size, path);
    status = file_read(fd, path, bytes, (size_t)st.st_size);
    if (status != GS_OK)
        return status;
    *image = bytes;
    *size = (size_t)st.st_size;
    bytes = NULL;
    return GS_OK;
}
