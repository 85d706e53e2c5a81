/* code_store.c - see code_store.h. */
#include "worker/module/code_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/util.h"
#include "worker/module/cache_share.h"
#include "worker/module/code_file.h"

#define HALF_PREFIX  "half."
#define HALF_SECONDS 60 /* writing a file takes less */

/* ---- The directory --------------------------------------------------------------------------- */

/* Makes the directory, and its parent where that is missing, as ~/.cache may be on a new machine.
 */
static int directory_make(const char *path)
{
    char parent[PATH_MAX], *slash;

    if (mkdir(path, S_IRWXU) == 0 || errno != ENOENT)
        return 0;
    snprintf(parent, sizeof(parent), "%s", path);
    slash = strrchr(parent, '/');
    if (!slash || slash == parent)
        return -1;
    *slash = '\0';
    return mkdir(parent, S_IRWXU) == 0 ? mkdir(path, S_IRWXU) : -1;
}

int code_store_open(const char *path, char *why, size_t size)
{
    CLEANUP_FD int fd = -1;
    struct stat status;
    int opened;

    directory_make(path); /* the open below fails if this has failed */
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0) {
        snprintf(why, size, "%s", strerror(errno));
        return -1;
    }
    if (status.st_uid != geteuid()) {
        snprintf(why, size, "it belongs to uid %u, and this is uid %u", (unsigned)status.st_uid,
                 (unsigned)geteuid());
        return -1;
    }
    if (status.st_mode & (S_IRWXG | S_IRWXO)) {
        snprintf(why, size,
                 "its mode is %03o, and others than its owner must have no part in it: "
                 "chmod 700",
                 (unsigned)status.st_mode & 0777);
        return -1;
    }
    opened = fd;
    fd = -1;
    return opened;
}

bool code_store_is_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == CODE_NAME_MAX - 1 && !name[CODE_NAME_MAX - 1];
}

/* ---- One file -------------------------------------------------------------------------------- */

/* Returns whether only this user may have written the file. */
static bool file_own(const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
           !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* Copies the first `size` bytes of one file to the beginning of another. */
static bool bytes_copy(int from, int to, uint64_t size)
{
    static unsigned char bytes[1 << 16];
    uint64_t at = 0;

    while (at < size) {
        const ssize_t n = pread(from, bytes, sizeof(bytes), (off_t)at);
        if (n <= 0 || pwrite(to, bytes, (size_t)n, (off_t)at) != n)
            return false;
        at += (uint64_t)n;
    }
    return at == size;
}

/* Returns the time by which uses are ordered, also across restarts of the machine. */
static uint64_t use_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Opens a file of the directory; -1: it is missing, another user's or too large, or others can
 * write it. */
static int file_open(int directory, const char *name, int flags)
{
    /* O_NONBLOCK: opening a FIFO does not wait. */
    const int file =
        openat(directory, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;

    if (file < 0 || (fstat(file, &status) == 0 && file_own(&status) &&
                     (uint64_t)status.st_size <= CODE_STORE_FILE))
        return file;
    close(file);
    return -1;
}

/* Notes that the user uses the file. When two servers do so at the same time, one note may be lost.
 */
static void use_note(int file, uint32_t uid)
{
    struct cache_share share;

    if (!code_file_share(file, &share))
        return;
    cache_share_note(&share, uid, use_clock());
    code_file_set_share(file, &share);
}

int code_store_read(int directory, const char *name, uint32_t uid)
{
    CLEANUP_FD int file = file_open(directory, name, O_RDONLY);
    CLEANUP_FD int used = -1;
    CLEANUP_FD int memory = -1;
    struct stat status;
    int read;

    if (file < 0 || fstat(file, &status) < 0)
        return -1;
    memory = memfd_create("gshare-code-file", MFD_CLOEXEC);
    if (memory < 0 || !bytes_copy(file, memory, (uint64_t)status.st_size))
        return -1;
    used = file_open(directory, name, O_RDWR); /* fails on a read-only disk */
    if (used >= 0)
        use_note(used, uid);
    read = memory;
    memory = -1;
    return read;
}

bool code_store_write(int directory, const char *name, int from, uint32_t uid)
{
    char half[NAME_MAX];
    struct stat status;
    bool good;
    int fd;

    if (fstat(from, &status) < 0 || (uint64_t)status.st_size > CODE_STORE_FILE)
        return false;
    snprintf(half, sizeof(half), HALF_PREFIX "%d", (int)getpid());
    unlinkat(directory, half, 0); /* a former process with the same id may have left it */
    fd = openat(directory, half, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                S_IRUSR | S_IWUSR);
    if (fd < 0)
        return false;
    good = bytes_copy(from, fd, (uint64_t)status.st_size);
    use_note(fd, uid);
    good = close(fd) == 0 && good && renameat(directory, half, directory, name) == 0;
    if (!good)
        unlinkat(directory, half, 0);
    return good;
}

/* ---- All files ------------------------------------------------------------------------------- */

struct kept_file {
    struct cache_share share; /* count 0: the file is removed first */
    uint64_t bytes;           /* the size that the file counts as */
    char name[CODE_NAME_MAX];
};

struct kept_files {
    struct kept_file *file;
    size_t count, capacity;
    uint64_t bytes;
};

static bool file_add(struct kept_files *files, int directory, const char *name, uint64_t size)
{
    CLEANUP_FD int fd = file_open(directory, name, O_RDONLY);

    if (files->count == files->capacity) {
        const size_t capacity = files->capacity ? 2 * files->capacity : 256;
        struct kept_file *file = reallocarray(files->file, capacity, sizeof(*file));
        if (!file)
            return false;
        files->file = file;
        files->capacity = capacity;
    }
    struct kept_file *added = &files->file[files->count++];
    *added = (struct kept_file){.bytes = size < CODE_STORE_LEAST ? CODE_STORE_LEAST : size};
    memcpy(added->name, name, sizeof(added->name));
    if (fd < 0 || !code_file_share(fd, &added->share))
        added->share.count = 0;
    files->bytes += added->bytes;
    return true;
}

/* Adds the file to the list, or removes it if it was left half-written. False: no memory. */
static bool file_take(int directory, struct kept_files *files, const char *name)
{
    struct stat status;

    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
        return true;
    if (code_store_is_name(name))
        return file_add(files, directory, name, (uint64_t)status.st_size);
    if (strncmp(name, HALF_PREFIX, strlen(HALF_PREFIX)) == 0 &&
        status.st_mtim.tv_sec + HALF_SECONDS < time(NULL))
        unlinkat(directory, name, 0);
    return true;
}

/* Removes files until the others take `most` bytes, and writes back the users of those that lost
 * some. */
static void files_evict(int directory, struct kept_files *files, uint64_t most)
{
    CLEANUP_FREE struct cache_item *items = calloc(files->count + 1, sizeof(*items));
    CLEANUP_FREE uint32_t *users = calloc(files->count + 1, sizeof(*users));

    if (!items || !users)
        return;
    for (size_t i = 0; i < files->count; i++) {
        items[i] = (struct cache_item){&files->file[i].share, files->file[i].bytes};
        users[i] = files->file[i].share.count;
    }
    cache_share_evict(items, files->count, 0, 0, most);
    for (size_t i = 0; i < files->count; i++) {
        const struct kept_file *file = &files->file[i];
        if (file->share.count == 0) {
            unlinkat(directory, file->name, 0);
        } else if (file->share.count != users[i]) {
            CLEANUP_FD int fd = file_open(directory, file->name, O_RDWR);
            if (fd >= 0)
                code_file_set_share(fd, &file->share);
        }
    }
}

void code_store_trim(int directory, uint64_t limit)
{
    const int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = again < 0 ? NULL : fdopendir(again);
    struct kept_files files = {0};
    const struct dirent *entry;

    if (!names) {
        if (again >= 0)
            close(again);
        return;
    }
    while ((entry = readdir(names)) && file_take(directory, &files, entry->d_name))
        continue;
    closedir(names);
    if (files.bytes > limit)
        files_evict(directory, &files, limit / 4 * 3);
    free(files.file);
}
