/* code_file.c - see code_file.h. */
#include "worker/module/code_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/siphash.h"
#include "common/util.h"

#define MAGIC UINT64_C(0x3330646f63736725) /* "%gscod03" */

struct file {
    uint64_t magic;
    struct cache_share share;
    uint64_t checksum[2]; /* of all bytes behind it */
    uint64_t text_size, code_size;
    char made_for[CODE_MADE_FOR];
    unsigned char bytes[]; /* text, code */
};

/* Computes a hash with public keys: it detects accidents, not attacks. */
static void digest(uint64_t sum[2], const void *data, size_t size)
{
    static const uint64_t keys[2][2] = {{1, 2}, {3, 4}};

    for (unsigned i = 0; i < 2; i++)
        sum[i] = siphash(keys[i], data, size);
}

static void checksum(uint64_t sum[2], const struct file *file, size_t size)
{
    const size_t from = offsetof(struct file, text_size);

    digest(sum, (const unsigned char *)file + from, size - from);
}

void code_file_name(char name[CODE_NAME_MAX], const char *made_for, const void *text, size_t size)
{
    uint64_t of_text[2], of_device[2];

    digest(of_text, text, size);
    digest(of_device, made_for, strlen(made_for));
    snprintf(name, CODE_NAME_MAX, "%016llx%016llx", (unsigned long long)(of_text[0] ^ of_device[0]),
             (unsigned long long)(of_text[1] ^ of_device[1]));
}

int code_file_make(const char *made_for, const void *text, size_t size, const void *code,
                   size_t code_size)
{
    const size_t all = sizeof(struct file) + size + code_size;
    CLEANUP_FD int fd = memfd_create("gshare-code-file", MFD_CLOEXEC);
    struct file *file;
    int made;

    if (fd < 0 || ftruncate(fd, (off_t)all) < 0)
        return -1;
    file = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED)
        return -1;
    file->magic = MAGIC;
    file->text_size = size;
    file->code_size = code_size;
    snprintf(file->made_for, sizeof(file->made_for), "%s", made_for);
    memcpy(file->bytes, text, size);
    memcpy(file->bytes + size, code, code_size);
    checksum(file->checksum, file, all);
    munmap(file, all);
    made = fd;
    fd = -1;
    return made;
}

static bool file_good(const struct file *file, size_t all, const char *made_for, const void *text,
                      size_t size)
{
    uint64_t sum[2];

    if (file->magic != MAGIC || file->text_size != size || file->code_size == 0 ||
        file->code_size != all - sizeof(*file) - size)
        return false;
    checksum(sum, file, all);
    return memcmp(sum, file->checksum, sizeof(sum)) == 0 &&
           strncmp(file->made_for, made_for, sizeof(file->made_for)) == 0 &&
           memcmp(file->bytes, text, size) == 0;
}

unsigned char *code_file_read(int fd, const char *made_for, const void *text, size_t size,
                              size_t *code_size)
{
    unsigned char *code = NULL;
    CLEANUP_FREE struct file *file = NULL;
    struct stat status;
    size_t all;

    if (fstat(fd, &status) < 0 || status.st_size < (off_t)(sizeof(*file) + size))
        return NULL;
    all = (size_t)status.st_size;
    /* The check reads a copy, since another process may shorten or change the file during it. */
    file = malloc(all);
    if (!file || pread(fd, file, all, 0) != (ssize_t)all ||
        !file_good(file, all, made_for, text, size))
        return NULL;
    code = malloc(file->code_size);
    if (!code)
        return NULL;
    memcpy(code, file->bytes + size, file->code_size);
    *code_size = file->code_size;
    return code;
}

bool code_file_share(int fd, struct cache_share *share)
{
    struct file file;

    if (pread(fd, &file, sizeof(file), 0) != (ssize_t)sizeof(file) || file.magic != MAGIC ||
        file.share.count > CACHE_SHARE_USERS)
        return false;
    *share = file.share;
    return true;
}

void code_file_set_share(int fd, const struct cache_share *share)
{
    const ssize_t n = pwrite(fd, share, sizeof(*share), offsetof(struct file, share));

    (void)n;
}
