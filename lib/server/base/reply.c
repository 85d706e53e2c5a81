/* reply.c - see reply.h. */
#include "server/base/reply.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/names.h"
#include "common/reply_socket.h"
#include "common/util.h"
#include "server/base/descriptor_notes.h"
#include "server/base/refusal.h"

/* ---- Queues ---------------------------------------------------------------------------------- */

/* Returns true for a socket, false for a message queue. */
static bool is_socket(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

pid_t reply_queue_holder(mqd_t queue)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    /* The process that made the socket need not be the one that holds it, since a child inherits
     * it. */
    if (is_socket(queue))
        return poll(&(struct pollfd){.fd = queue}, 1, 0) == 0 ? 0 : -1;
    if (fcntl(queue, F_GETLK, &lock) < 0)
        return 0;
    if (lock.l_type == F_UNLCK)
        return -1;
    return lock.l_pid > 0 ? lock.l_pid : 0;
}

enum orphan reply_queue_remove_orphan(const char *name)
{
    mqd_t queue = mq_open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    enum orphan result = ORPHAN_HELD;

    if (queue < 0)
        return ORPHAN_NONE;
    if (reply_queue_holder(queue) < 0) {
        mq_unlink(name);
        result = ORPHAN_REMOVED;
    }
    mq_close(queue);
    return result;
}

void reply_log(struct log_event *event, const struct reply *reply)
{
    log_event_user(event, "by", reply->uid);
    if (reply->pid > 0)
        log_event_number(event, "by_pid", (uint64_t)reply->pid);
}

/* ---- Replies --------------------------------------------------------------------------------- */

void reply_close(struct reply *reply)
{
    if (reply->queue >= 0) {
        descriptor_note_remove(reply->queue);
        close(reply->queue);
    }
    reply->queue = -1;
}

/* Opens the queue or socket of that name, and sets *uid to its owner. Returns -1 and errno on
 * failure. */
static int end_open(const char *name, uid_t *uid)
{
    int queue = mq_open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (queue < 0 && errno == ENOENT)
        return reply_socket_connect(name, uid);
    if (queue < 0)
        return -1;
    if (fstat(queue, &st) < 0) {
        const int error = errno;
        close(queue);
        errno = error;
        return -1;
    }
    *uid = st.st_uid;
    return queue;
}

bool reply_open(const char *instance, const struct ctl_header *request, struct reply *reply)
{
    char name[WIRE_NAME_MAX];
    uid_t uid;
    int queue;
    pid_t holder;

    name_reply(name, geteuid(), instance, request->token);
    queue = end_open(name, &uid);
    if (queue < 0) {
        if (errno == EMFILE || errno == ENFILE)
            log_error("event=reply-failed request=%u reason=%s", request->op, strerror(errno));
        else
            log_debug("request %u: reply queue %s: %s", request->op, name, strerror(errno));
        return false;
    }
    *reply = (struct reply){queue, uid, request->op, request->token, 0};
    /* The reply is noted before the name is removed, so that a next supervisor finds one of the
     * two. */
    descriptor_note_reply(queue, reply->op, reply->uid, reply->token);
    mq_unlink(name); /* the client may have done so already */
    holder = reply_queue_holder(queue);
    if (holder < 0) {
        log_debug("request %u: its client has ended", request->op);
        reply_close(reply);
        return false;
    }
    reply->pid = holder;
    return true;
}

static bool end_send(int queue, const struct ctl_header *answer, size_t size)
{
    if (is_socket(queue))
        return send(queue, answer, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
    return mq_send(queue, (const char *)answer, size, 0) == 0;
}

bool reply_send(const struct reply *reply, struct ctl_header *answer, size_t size)
{
    int error;

    *answer = (struct ctl_header){.magic = WIRE_MAGIC,
                                  .version = WIRE_VERSION,
                                  .op = reply->op,
                                  .size = (uint32_t)size,
                                  .token = reply->token};
    if (end_send(reply->queue, answer, size))
        return true;
    error = errno;
    log_debug("answer to request %u of uid %u: %s", reply->op, (unsigned)reply->uid,
              strerror(error));
    errno = error;
    return false;
}

void reply_refuse(const struct reply *reply, gs_status status, const char *format, ...)
{
    static_assert(REFUSAL_TEXT_MAX == CTL_TEXT_MAX, "a refusal fits");
    const struct ctl_refusal refusal = ctl_refusal_of(reply->op);
    union {
        struct ctl_answer head;
        char bytes[CTL_REPLY_MAX];
    } answer;
    char *text = answer.bytes + refusal.message;
    va_list ap;

    memset(&answer, 0, sizeof(answer));
    answer.head.status = status;
    va_start(ap, format);
    vsnprintf(text, CTL_TEXT_MAX, format, ap);
    va_end(ap);
    log_debug("refused request %u of uid %u: %s", reply->op, (unsigned)reply->uid, text);
    reply_send(reply, &answer.head.h, refusal.size);
}
