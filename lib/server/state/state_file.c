/* state_file.c - see state_file.h. */
#include "server/state/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/setting_text.h"
#include "common/util.h"

/* ---- Writing --------------------------------------------------------------------------------- */

static void settings_print(FILE *out, const struct ctl_settings *settings)
{
    char value[SETTING_TEXT_MAX];

    for (size_t i = 0; i < setting_field_count; i++) {
        const struct setting_field *field = &setting_fields[i];

        if (settings->fields & field->bit)
            fprintf(out, "%s = %s\n", field->name, setting_print(value, settings, field));
    }
}

static void reservation_print(FILE *out, const struct reservation *reservation)
{
    char mask[SM_MASK_TEXT_MAX];

    fprintf(out, "\n[reservation %s]\ndevice = %d\n", reservation->name, reservation->device);
    if (reservation->sms)
        fprintf(out, "sms = %u\n", reservation->sms);
    else
        fprintf(out, "mask = %s\n", sm_mask_print(mask, sizeof(mask), &reservation->wanted));
}

char *state_print(const struct settings *settings, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    if (!out)
        return NULL;
    fputs("# Written by gshared at every change; read when it starts. See gsctl(1).\n", out);
    if (settings->everybody.fields) {
        fputs("\n[default]\n", out);
        settings_print(out, &settings->everybody);
    }
    for (uint32_t i = 0; i < settings->user_count; i++) {
        if (settings->user[i].uid == CTL_OTHERS)
            fputs("\n[others]\n", out);
        else
            fprintf(out, "\n[user %u]\n", (unsigned)settings->user[i].uid);
        settings_print(out, &settings->user[i].set);
    }
    for (uint32_t i = 0; i < SETTINGS_DEVICES_MAX; i++) {
        if (settings->device[i].fields == 0)
            continue;
        fprintf(out, "\n[device %u]\n", i);
        settings_print(out, &settings->device[i]);
    }
    for (uint32_t i = 0; i < SETTINGS_RESERVATIONS_MAX; i++) {
        if (settings->reservation[i].name[0])
            reservation_print(out, &settings->reservation[i]);
    }
    if (settings->provision != CTL_PROVISION_EXACT)
        fprintf(out, "\n[provision]\nmode = %s\n", provision_name(settings->provision));
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- The file -------------------------------------------------------------------------------- */

static bool failed(char error[STATE_ERROR_MAX], const char *what)
{
    snprintf(error, STATE_ERROR_MAX, "%.60s: %s", what, strerror(errno));
    return false;
}

/* Opens the path's folder. Returns -1 with errno if there is no such folder. */
static int folder_open(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = slash ? (int)(slash - path) + (slash == path) : 1;

    snprintf(folder, sizeof(folder), "%.*s", n, slash ? path : ".");
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Returns whether the path still leads to the file that was opened. The file's holder may have
 * replaced it since. */
static bool file_current(int fd, const char *path)
{
    struct stat ours, named;

    return fstat(fd, &ours) == 0 && stat(path, &named) == 0 && ours.st_ino == named.st_ino &&
           ours.st_dev == named.st_dev;
}

static int file_open(const char *path, char error[STATE_ERROR_MAX])
{
    /* The file is opened for writing too, without which NFS gives no exclusive lock. */
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);

    if (fd < 0 && (errno == EACCES || errno == EROFS))
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        CLEANUP_FD int folder = folder_open(path);

        failed(error, folder < 0 ? "opening its folder" : "making it");
    } else if (fd < 0) {
        failed(error, "opening or making it");
    }
    return fd;
}

int state_take(const char *path, char error[STATE_ERROR_MAX])
{
    for (;;) {
        int fd = file_open(path, error);

        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            const int reason = errno;

            if (reason == EWOULDBLOCK)
                snprintf(error, STATE_ERROR_MAX, "another server uses it: each needs its own");
            else
                failed(error, "locking it");
            close(fd);
            errno = reason;
            return -1;
        }
        if (file_current(fd, path))
            return fd;
        close(fd);
    }
}

/* Reads a file. On true *st describes it, and *text is its text, which the caller frees. */
static bool file_read(const char *path, struct stat *st, char **text, size_t *size,
                      char error[STATE_ERROR_MAX])
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fstat(fd, st) < 0)
        return failed(error, "cannot be opened");
    if (!S_ISREG(st->st_mode) || st->st_size > (off_t)STATE_SIZE_MAX) {
        snprintf(error, STATE_ERROR_MAX, "not a file of at most %u bytes", STATE_SIZE_MAX);
        return false;
    }
    *text = malloc((size_t)st->st_size + 1);
    if (!*text)
        return failed(error, "reading it");
    *size = 0;
    while (*size < (size_t)st->st_size) {
        ssize_t n = read(fd, *text + *size, (size_t)st->st_size - *size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed(error, "reading it");
        if (n == 0)
            break;
        *size += (size_t)n;
    }
    return true;
}

bool policy_load(struct settings *settings, struct policy *policy, const char *path,
                 void (*said)(const char *error), char error[STATE_ERROR_MAX])
{
    CLEANUP_FREE char *text = NULL;
    struct stat st;
    size_t size;

    if (!file_read(path, &st, &text, &size, error))
        return false;
    /* The policy says who is served, so only root and the server's user may write it. */
    if ((st.st_uid != 0 && st.st_uid != geteuid()) || st.st_mode & (S_IWGRP | S_IWOTH)) {
        snprintf(error, STATE_ERROR_MAX, "others than root and uid %u can write it",
                 (unsigned)geteuid());
        return false;
    }
    return settings_read(settings, policy, text, size, said, error);
}

bool state_load(struct settings *settings, const char *path, char error[STATE_ERROR_MAX])
{
    CLEANUP_FREE char *text = NULL;
    struct stat st;
    size_t size;

    return file_read(path, &st, &text, &size, error) &&
           settings_read(settings, NULL, text, size, NULL, error);
}

static bool write_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t n = write(fd, text, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        text += n;
        length -= (size_t)n;
    }
    return true;
}

/* Writes the folder to the disk, so that the new name is there too. */
static bool folder_sync(const char *path)
{
    CLEANUP_FD int fd = folder_open(path);

    return fd >= 0 && fsync(fd) == 0;
}

bool state_save(const char *path, int *held, const char *text, size_t length,
                char error[STATE_ERROR_MAX])
{
    char temporary[PATH_MAX];
    bool good;
    int fd;

    if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary)) {
        errno = ENAMETOOLONG;
        return failed(error, "naming a new file");
    }
    /* A temporary file that a killed server left is overwritten; a link of that name is not
     * followed. */
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return failed(error, "making a new file beside it");
    good = write_all(fd, text, length) && fsync(fd) == 0;
    if (!good)
        failed(error, "writing");
    /* The new file is locked before it gets the name, so that the file of that name is locked at
     * every moment. */
    if (good && flock(fd, LOCK_EX | LOCK_NB) < 0)
        good = failed(error, "locking the new file");
    if (good && rename(temporary, path) < 0)
        good = failed(error, "renaming");
    if (!good) {
        unlink(temporary);
        close(fd);
        return false;
    }
    close(*held);
    *held = fd;
    return folder_sync(path) || failed(error, "syncing its folder");
}
