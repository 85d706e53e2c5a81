/* code_disk.c - see code_disk.h. */
#include "worker/module/code_disk.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/link.h"
#include "common/log.h"
#include "common/util.h"
#include "worker/driver/privileges.h"
#include "worker/module/code_file.h"
#include "worker/module/code_store.h"

#define ANSWER_MS 2000 /* a disk that takes longer is left alone for PAUSE_NS */
#define PAUSE_NS  60000000000u

/* After this many bytes written, in the sizes that files count as, the directory is trimmed. */
#define TRIM_BYTES (CODE_STORE_BYTES / 16)

enum request { CODE_FIND = 1, CODE_PUT = 2 };

/* A request, or its answer. A CODE_PUT brings a descriptor, and so does the answer to a CODE_FIND,
 * if the code was found. */
struct message {
    uint32_t request, number, uid;
    char name[CODE_NAME_MAX];
};

static struct {
    pthread_mutex_t lock;
    int socket;  /* -1: nothing is kept */
    pid_t child; /* 0: none, or it has been reaped */
    uint32_t asked;
    uint64_t paused_until; /* in the time of clock_ns() */
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1};

/* ---- Messages -------------------------------------------------------------------------------- */

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static bool message_send(int socket, const struct message *message, int descriptor)
{
    struct iovec part = {(void *)(uintptr_t)message, sizeof(*message)};
    union control control = {.bytes = {0}};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

    if (descriptor >= 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = sizeof(control.bytes);
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(int));
    }
    return sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*message);
}

/* Waits for a message. *descriptor: the caller's, or -1. False: the other end is closed. */
static bool message_receive(int socket, struct message *message, int *descriptor)
{
    struct iovec part = {message, sizeof(*message)};
    union control control;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof(control.bytes)};
    ssize_t n;

    do
        n = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    *descriptor = -1;
    if (n > 0 && header.msg_controllen >= CMSG_LEN(sizeof(int)) &&
        control.header.cmsg_type == SCM_RIGHTS)
        memcpy(descriptor, CMSG_DATA(&control.header), sizeof(int));
    return n == (ssize_t)sizeof(*message);
}

/* ---- The child ------------------------------------------------------------------------------- */

static void trim_when_due(int directory, uint64_t bytes)
{
    static uint64_t written = TRIM_BYTES; /* trims at the first file: there may be too many */

    written += bytes < CODE_STORE_LEAST ? CODE_STORE_LEAST : bytes;
    if (written <= TRIM_BYTES)
        return;
    code_store_trim(directory, CODE_STORE_BYTES);
    written = 0;
}

static void put_serve(int directory, const struct message *message, int from)
{
    const off_t size = lseek(from, 0, SEEK_END);

    if (size > 0 && code_store_write(directory, message->name, from, message->uid))
        trim_when_due(directory, (uint64_t)size);
}

/* Serves the worker's requests. The messages are checked, so that a worker that a tenant has taken
 * over could only read and write the store. */
static void serve(int socket, int directory)
{
    struct message message;
    int descriptor;

    while (message_receive(socket, &message, &descriptor)) {
        CLEANUP_FD int came = descriptor;
        CLEANUP_FD int found = -1;

        message.name[CODE_NAME_MAX - 1] = '\0';
        if (!code_store_is_name(message.name))
            return;
        if (message.request == CODE_PUT && came >= 0) {
            put_serve(directory, &message, came);
        } else if (message.request == CODE_FIND) {
            found = code_store_read(directory, message.name, message.uid);
            message_send(socket, &message, found);
        }
    }
}

static void __attribute__((noreturn)) child_run(int socket, const char *path)
{
    char why[128];
    int directory;

    prctl(PR_SET_NAME, "gshare-code");
    descriptors_close_but(socket);
    if (!privileges_drop_all(why, sizeof(why))) {
        log_info("event=no-code-cache folder=%s reason=\"no machine code is kept: %s\"", path, why);
        _exit(1);
    }
    directory = code_store_open(path, why, sizeof(why));
    if (directory < 0) {
        log_info("event=no-code-cache folder=%s reason=\"no machine code is kept: %s\"", path, why);
        _exit(1);
    }
    serve(socket, directory);
    _exit(0);
}

/* ---- The worker ------------------------------------------------------------------------------ */

void code_disk_start(const char *path)
{
    int ends[2];
    pid_t child;

    if (!*path)
        return;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        log_info("event=no-code-cache folder=%s reason=\"no machine code is kept: %s\"", path,
                 strerror(errno));
        return;
    }
    child = fork();
    if (child == 0) {
        /* These are closed one by one, because the kernel may lack the call that closes all others
         * at once. If one stayed open, neither the supervisor nor the child would notice the
         * worker's end. */
        close(ends[0]);
        close(LINK_FD);
        close(LINK_STATS_FD);
        close(LINK_CODE_FD);
        child_run(ends[1], path);
    }
    close(ends[1]);
    if (child > 0) {
        disk.socket = ends[0];
        disk.child = child;
        return;
    }
    log_info("event=no-code-cache folder=%s reason=\"no machine code is kept: fork: %s\"", path,
             strerror(errno));
    close(ends[0]);
}

/* Closes the socket. The child, which may be waiting for the disk, ends when it notices that. The
 * caller holds the lock. */
static void disk_close(void)
{
    close(disk.socket);
    disk.socket = -1;
}

/* Returns whether the socket is closed, and reaps the child in that case. The caller holds the
 * lock. */
static bool disk_closed(void)
{
    if (disk.socket >= 0)
        return false;
    if (disk.child && waitpid(disk.child, NULL, WNOHANG) != 0)
        disk.child = 0;
    return true;
}

/* Asks the child for a file. Returns its descriptor, or -1. The caller holds the lock. */
static int disk_ask(const char *name, uint32_t uid)
{
    struct message message = {.request = CODE_FIND, .number = ++disk.asked, .uid = uid};
    struct pollfd answer = {disk.socket, POLLIN, 0};
    const uint32_t number = message.number;
    int descriptor = -1;

    memcpy(message.name, name, sizeof(message.name));
    if (disk_closed() || clock_ns() < disk.paused_until)
        return -1;
    /* EAGAIN: the child has not yet handled earlier messages. EPIPE: it has ended, and logged why.
     */
    if (!message_send(disk.socket, &message, -1)) {
        if (errno != EAGAIN)
            disk_close();
        return -1;
    }
    for (;;) {
        if (poll(&answer, 1, ANSWER_MS) <= 0) {
            log_warning("event=no-code-cache seconds=60 reason=\"the disk does not answer\"");
            disk.paused_until = clock_ns() + PAUSE_NS;
            return -1;
        }
        if (!message_receive(disk.socket, &message, &descriptor)) {
            disk_close();
            return -1;
        }
        if (message.number == number)
            return descriptor;
        if (descriptor >= 0) /* the answer to an earlier request, which timed out */
            close(descriptor);
    }
}

unsigned char *code_disk_find(const char *made_for, const void *text, size_t size,
                              size_t *code_size, uint32_t uid)
{
    CLEANUP_FD int fd = -1;
    char name[CODE_NAME_MAX];
    unsigned char *code;

    code_file_name(name, made_for, text, size);
    pthread_mutex_lock(&disk.lock);
    fd = disk_ask(name, uid);
    pthread_mutex_unlock(&disk.lock);
    if (fd < 0)
        return NULL;
    code = code_file_read(fd, made_for, text, size, code_size);
    log_debug("machine code %s of the disk is %s", name, code ? "used" : "damaged or another's");
    return code;
}

/* Returns whether the child has not read the last message yet. A message holds as much memory as
 * its text and code, so the child is given at most two: the one that it writes, and the next. The
 * caller holds the lock. */
static bool child_behind(void)
{
    int unread = 0;

    return ioctl(disk.socket, SIOCOUTQ, &unread) < 0 || unread > 0;
}

void code_disk_put(const char *made_for, const void *text, size_t size, const void *code,
                   size_t code_size, uint32_t uid)
{
    struct message message = {.request = CODE_PUT, .uid = uid};
    CLEANUP_FD int fd = -1;
    bool taken;

    pthread_mutex_lock(&disk.lock);
    taken = disk.socket >= 0 && clock_ns() >= disk.paused_until && !child_behind();
    pthread_mutex_unlock(&disk.lock);
    if (taken)
        fd = code_file_make(made_for, text, size, code, code_size);
    if (fd < 0)
        return;
    code_file_name(message.name, made_for, text, size);
    pthread_mutex_lock(&disk.lock);
    if (disk.socket >= 0 && !child_behind())
        message_send(disk.socket, &message, fd);
    pthread_mutex_unlock(&disk.lock);
}
