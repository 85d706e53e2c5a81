/*
 * request.c - see request.h.
 *
 * The client announces a reply queue before it makes the queue, and holds a record lock on it. By
 * that lock the kernel tells the server which process asks, and whether the maker of an announced
 * queue still lives. A child process does not inherit a record lock. A client that cannot make a
 * queue takes the answer from a socket (reply_socket.h).
 */
#include "common/request.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/names.h"
#include "common/reply_socket.h"
#include "common/util.h"
#include "common/yield.h"

/* The longest wait without a check that the server still lives. */
#define PROBE_NS 100000000u
/* The time for which a thread polls for an answer before it sleeps, where there are CPUs to spare:
 * a program waits for the answer and goes on at once. */
#define AWAKE_NS 2000000u
/* A server that has not connected to a reply socket after this time does not find it. */
#define REACH_NS 500000000u

__attribute__((format(printf, 3, 4))) static gs_status fail(char message[REQUEST_MESSAGE_MAX],
                                                            gs_status status, const char *format,
                                                            ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(message, REQUEST_MESSAGE_MAX, format, ap);
    va_end(ap);
    return status;
}

static gs_status fail_errno(char message[REQUEST_MESSAGE_MAX], const char *what)
{
    int error = errno;
    bool resource = error == ENOMEM || error == EMFILE || error == ENFILE || error == ENOSPC;

    return fail(message, resource ? GS_ERR_NO_MEMORY : GS_ERR_SYSTEM, "%s: %s", what,
                strerror(error));
}

static gs_status fail_lost(const struct control *control, char message[REQUEST_MESSAGE_MAX])
{
    return fail(message, GS_ERR_SERVER_LOST, "the gshare server '%s' ended before it answered",
                control->instance);
}

/* ---- The control queue ----------------------------------------------------------------------- */

/* A server holds a read lock on its queue, and the kernel drops that lock at the end of the
 * process. A read lock needs the right to read the queue, which only the server's user has; a
 * stranger can take only a write lock, and only if nobody serves the queue, so the type of the lock
 * shows the difference. */
bool control_served(const struct control *control)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(control->queue, F_GETLK, &lock) < 0 || lock.l_type == F_RDLCK;
}

/* Opens the queue of that user's server. Returns GS_ERR_NO_SERVER also if another user has made a
 * queue of that name. */
static gs_status control_open_of(struct control *control, uid_t owner, const char *instance,
                                 char message[REQUEST_MESSAGE_MAX])
{
    struct control made = {.queue = -1, .owner = owner};
    char name[WIRE_NAME_MAX], user[2][USER_TEXT_MAX];
    struct stat st;
    gs_status status = GS_OK;

    name_control(name, owner, instance);
    snprintf(made.instance, sizeof(made.instance), "%s", instance);
    made.queue = mq_open(name, O_WRONLY | O_CLOEXEC);
    if (made.queue < 0 && errno == EACCES && owner != geteuid())
        return fail(message, GS_ERR_REFUSED,
                    "gshare server '%s' of %s does not serve %s (see gshared --allow-users)",
                    instance, user_text(user[0], owner), user_text(user[1], geteuid()));
    if (made.queue < 0 && errno != ENOENT && errno != EACCES)
        return fail_errno(message, "mq_open of the control queue");
    if (made.queue >= 0 && fstat(made.queue, &st) < 0)
        status = fail_errno(message, "fstat of the control queue");
    else if (made.queue < 0 ? errno == EACCES : st.st_uid != owner)
        status = fail(message, GS_ERR_NO_SERVER,
                      "no gshare server '%s' of %s runs: the queue %s is another user's", instance,
                      user_text(user[0], owner), name);
    else if ((made.queue < 0 || !control_served(&made)) && owner != geteuid())
        status = fail(message, GS_ERR_NO_SERVER,
                      "no gshare server '%s' of %s runs; only that user can start it", instance,
                      user_text(user[0], owner));
    else if (made.queue < 0 || !control_served(&made))
        status = fail(message, GS_ERR_NO_SERVER,
                      "no gshare server '%s' runs; start one: gshared -d --instance %s", instance,
                      instance);
    if (status != GS_OK) {
        control_close(&made);
        return status;
    }
    *control = made;
    return GS_OK;
}

gs_status control_open(struct control *control, const char *text, char message[REQUEST_MESSAGE_MAX])
{
    char roots[REQUEST_MESSAGE_MAX];
    struct instance instance;
    const char *wrong = instance_parse(text, &instance);
    uid_t owner = geteuid();
    gs_status status, root;

    if (wrong)
        return fail(message, GS_ERR_INVALID_VALUE, "instance name '%.40s': %s", text, wrong);
    if (instance.owned)
        owner = instance.owner;
    status = control_open_of(control, owner, instance.name, message);
    if (status != GS_ERR_NO_SERVER || instance.owned || owner == 0)
        return status;
    root = control_open_of(control, 0, instance.name, roots);
    if (root == GS_ERR_NO_SERVER) /* the message tells of the user's own */
        return status;
    if (root != GS_OK)
        memcpy(message, roots, sizeof(roots));
    return root;
}

void control_close(struct control *control)
{
    if (control->queue >= 0)
        mq_close(control->queue);
    control->queue = -1;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Returns the time to the next check on the server, or to the deadline if that is nearer. */
static uint64_t wait_ns(uint64_t deadline_ns)
{
    uint64_t now = clock_ns();
    uint64_t left = deadline_ns > now ? deadline_ns - now : 0;

    return left < PROBE_NS ? left : PROBE_NS;
}

/* Returns the end of that time on the clock of the mq_timed calls. */
static struct timespec wait_until(uint64_t deadline_ns)
{
    uint64_t left = wait_ns(deadline_ns);
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    left += (uint64_t)t.tv_nsec;
    t.tv_sec += (time_t)(left / 1000000000u);
    t.tv_nsec = (long)(left % 1000000000u);
    return t;
}

/* Judges a wait that ended without success. Returns GS_OK if the caller should wait on, else the
 * reason why it should not. */
static gs_status wait_verdict(const struct control *control, uint64_t deadline_ns, const char *what,
                              char message[REQUEST_MESSAGE_MAX])
{
    if (errno == EINTR)
        return GS_OK;
    if (errno != ETIMEDOUT)
        return fail_errno(message, what);
    if (!control_served(control))
        return fail_lost(control, message);
    if (clock_ns() >= deadline_ns)
        return fail(message, GS_ERR_TIMEOUT, "the gshare server '%s' did not answer in time",
                    control->instance);
    return GS_OK;
}

gs_status control_send(const struct control *control, struct ctl_header *request, uint16_t op,
                       size_t size, uint64_t token, uint64_t deadline_ns,
                       char message[REQUEST_MESSAGE_MAX])
{
    *request = (struct ctl_header){.magic = WIRE_MAGIC,
                                   .version = WIRE_VERSION,
                                   .op = op,
                                   .size = (uint32_t)size,
                                   .token = token};
    for (;;) {
        struct timespec until = wait_until(deadline_ns);

        if (mq_timedsend(control->queue, (const char *)request, size, CTL_QUEUE_PRIORITY, &until) ==
            0)
            return GS_OK;
        gs_status status = wait_verdict(control, deadline_ns, "mq_send to the server", message);
        if (status != GS_OK)
            return status;
    }
}

/* ---- The reply queue, or socket -------------------------------------------------------------- */

/* The client's end of an answer to one request: a queue or a socket. */
struct reply_end {
    mqd_t queue; /* -1: none */
    int error;   /* why there is none */
    struct reply_socket socket;
    uint64_t token;
    char name[WIRE_NAME_MAX];
};

static void reply_end_deinit(struct reply_end *end)
{
    reply_socket_close(&end->socket);
    if (end->queue < 0)
        return;
    mq_unlink(end->name); /* usually the server has done that before */
    mq_close(end->queue);
    end->queue = -1;
}

static gs_status fail_queue(const struct reply_end *end, char message[REQUEST_MESSAGE_MAX])
{
    errno = end->error;
    return fail_errno(message, "mq_open of a reply queue");
}

static gs_status announce(const struct control *control, struct reply_end *end,
                          uint64_t deadline_ns, char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_header h;

    if (getrandom(&end->token, sizeof(end->token), 0) != sizeof(end->token))
        return fail_errno(message, "getrandom");
    name_reply(end->name, control->owner, control->instance, end->token);
    return control_send(control, &h, CTL_ANNOUNCE, sizeof(h), end->token, deadline_ns, message);
}

static gs_status reply_end_init(const struct control *control, struct reply_end *end,
                                size_t message_size, uint64_t deadline_ns,
                                char message[REQUEST_MESSAGE_MAX])
{
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = (long)message_size};
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET}; /* the whole queue */
    gs_status status = announce(control, end, deadline_ns, message);

    if (status != GS_OK)
        return status;
    end->queue =
        mq_open(end->name, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR, &attr);
    end->error = errno;
    if (end->queue < 0 && reply_socket_listen(&end->socket, end->name) == 0)
        return GS_OK;
    if (end->queue < 0)
        return fail_queue(end, message);
    /* A user's server could not open a queue of root, so root gives the queue to that user. */
    if (fcntl(end->queue, F_SETLK, &lock) < 0 ||
        (geteuid() == 0 && control->owner != 0 && fchown(end->queue, control->owner, -1) < 0))
        return fail_errno(message, "preparing the reply queue");
    return GS_OK;
}

/* Returns whether the answer is to come by a socket to which the server has not connected. */
static bool unreached(const struct reply_end *end)
{
    return end->socket.listener >= 0 && end->socket.connection < 0;
}

/* Takes the answer. With `awake` it does not wait, else it waits until the next check on the
 * server. */
static ssize_t reply_receive(const struct control *control, struct reply_end *end, void *bytes,
                             size_t size, bool awake, uint64_t deadline_ns)
{
    /* A time in the past makes the call return at once, with an answer or ETIMEDOUT. */
    struct timespec until = awake ? (struct timespec){0, 0} : wait_until(deadline_ns);

    if (end->queue >= 0)
        return mq_timedreceive(end->queue, bytes, size, NULL, &until);
    return reply_socket_receive(&end->socket, control->owner, bytes, size,
                                awake ? 0 : (int)(wait_ns(deadline_ns) / 1000000u) + 1);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static gs_status answer_check(const unsigned char *bytes, size_t size, size_t want, uint16_t op,
                              uint64_t token, char message[REQUEST_MESSAGE_MAX])
{
    const size_t text = ctl_refusal_of(op).message;
    struct ctl_answer head;

    if (size < sizeof(head))
        return fail(message, GS_ERR_PROTOCOL, "the server's answer has %zu bytes, of %zu", size,
                    want);
    memcpy(&head, bytes, sizeof(head));
    if (head.h.magic != WIRE_MAGIC || head.h.token != token)
        return fail(message, GS_ERR_PROTOCOL, "the server's answer is not to this request");
    if (head.h.version != WIRE_VERSION)
        return fail(message, GS_ERR_VERSION,
                    "the server speaks protocol version %u, this library version %u",
                    head.h.version, WIRE_VERSION);
    if (head.h.op != op || head.h.size != size || (head.status == GS_OK && size != want))
        return fail(message, GS_ERR_PROTOCOL,
                    "the server's answer to request %u has %zu bytes, of %zu", op, size, want);
    if (head.status == GS_OK)
        return GS_OK;
    if (size < text + CTL_TEXT_MAX)
        return fail(message, head.status, "the server refused, and did not say why");
    return fail(message, head.status, "%.*s", (int)CTL_TEXT_MAX, (const char *)bytes + text);
}

/* Returns the time until which the thread polls for the answer; 0: it sleeps at once, as for all
 * operators' requests. */
static uint64_t awake_until(uint16_t op, uint64_t deadline_ns)
{
    uint64_t until = clock_ns() + AWAKE_NS;

    if ((op != CTL_ATTACH && op != CTL_SET_QOS) || !cpus_to_spare())
        return 0;
    return until < deadline_ns ? until : deadline_ns;
}

/* Returns whether the answer says that the request was lost with a killed supervisor. */
static bool answer_again(const unsigned char *bytes, size_t size, uint64_t token)
{
    struct ctl_header h;

    if (size < sizeof(h))
        return false;
    memcpy(&h, bytes, sizeof(h));
    return h.magic == WIRE_MAGIC && h.token == token && h.op == CTL_AGAIN;
}

/* Sends the request and receives its answer once. Sets *again if the caller should ask again. */
static gs_status ask_once(const struct control *control, struct ctl_header *request, uint16_t op,
                          size_t size, void *reply, size_t reply_size, uint64_t deadline_ns,
                          char message[REQUEST_MESSAGE_MAX], bool *again)
{
    size_t end_size = reply_size > CTL_MESSAGE_MAX ? CTL_REPLY_MAX : CTL_MESSAGE_MAX;
    __attribute__((cleanup(reply_end_deinit))) struct reply_end end = {
        .queue = -1, .socket = REPLY_SOCKET_CLOSED};
    unsigned char bytes[CTL_REPLY_MAX];
    uint64_t asked_ns, awake_ns;
    gs_status status;

    status = reply_end_init(control, &end, end_size, deadline_ns, message);
    if (status == GS_OK)
        status = control_send(control, request, op, size, end.token, deadline_ns, message);
    asked_ns = clock_ns();
    awake_ns = awake_until(op, deadline_ns);
    while (status == GS_OK) {
        const uint64_t now = clock_ns();
        const bool awake = now < awake_ns && !yields_late(now);
        ssize_t n = reply_receive(control, &end, bytes, end_size, awake, deadline_ns);

        if (n >= 0) {
            *again = answer_again(bytes, (size_t)n, end.token);
            if (*again)
                return GS_OK;
            status = answer_check(bytes, (size_t)n, reply_size, op, end.token, message);
            if (status == GS_OK)
                memcpy(reply, bytes, reply_size);
            return status;
        }
        if (awake && errno == ETIMEDOUT)
            yield_timed();
        else
            status = wait_verdict(control, deadline_ns, "receiving the answer", message);
        if (status == GS_ERR_TIMEOUT && unreached(&end))
            return fail_queue(&end, message);
        if (status == GS_OK && unreached(&end) && clock_ns() - asked_ns > REACH_NS) {
            *again = true; /* a queue may be free by now */
            return GS_OK;
        }
    }
    return status;
}

gs_status control_ask(const struct control *control, struct ctl_header *request, uint16_t op,
                      size_t size, void *reply, size_t reply_size, uint64_t deadline_ns,
                      char message[REQUEST_MESSAGE_MAX])
{
    gs_status status;
    bool again;

    do {
        again = false;
        status =
            ask_once(control, request, op, size, reply, reply_size, deadline_ns, message, &again);
    } while (again);
    return status;
}
