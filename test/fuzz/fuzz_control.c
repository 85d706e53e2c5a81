/* Any bytes as what the supervisor reads: requests of tenants and operators, and messages of a
 * worker, which it believes no more. Its worker is this program; nothing is started, and no time
 * passes. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"
#include "server/control/control.h"
#include "server/link/worker_link.h"
#include "server/session/close.h"
#include "server/workers/ending.h"
#include "server/workers/messages.h"
#include "server/workers/process.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SLOTS    4u
#define MESSAGES 24u

static struct server server;
static struct device *const device = &server.device[0];
static struct status_page page;
static int worker_end; /* of the socketpair */

/* What the input chooses from, byte by byte; zeros behind its end. */
static const uint8_t *input;
static size_t left;

static void take(void *to, size_t bytes)
{
    const size_t there = bytes < left ? bytes : left;

    memset(to, 0, bytes);
    memcpy(to, input, there);
    input += there;
    left -= there;
}

static uint8_t byte(void)
{
    uint8_t value;

    take(&value, 1);
    return value;
}

static void must(bool so)
{
    if (!so)
        abort();
}

/* There must be a process to be killed. */
static pid_t sleeper(void)
{
    const pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return pid;
}

static void worker_says(const struct link_message *message, int descriptor)
{
    char heard[sizeof(struct link_message)];

    if (link_write(worker_end, message, descriptor))
        worker_receive(device);
    while (recv(worker_end, heard, sizeof(heard), MSG_DONTWAIT) > 0)
        continue;
}

static void server_begin(void)
{
    struct link_message ready = {.op = LINK_READY, .slot = LINK_SLOT_NONE};
    int pair[2];

    log_init("fuzz", "error");
    memset(&server, 0, sizeof(server));
    server.options.instance = "fuzz";
    server.options.no_standby = true;
    server.options.served.all = true;
    server.phase = PHASE_SERVING;
    server.status.page = &page;
    server.device_count = 1;
    server.descriptors_max = 1024;
    server.segments_max = 4096;
    device_init(device, &server, 0);
    announcements_init(&server.announcements, &server.loop, server.options.instance);
    must(loop_init(&server.loop) == 0 && registry_init(&server.registry, SLOTS, NULL) &&
         socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0 &&
         watch_add(&server.loop, &device->worker.child.link, pair[0], EPOLLIN, worker_link_ready) ==
             0);
    worker_end = pair[1];
    device->worker.state = WORKER_STARTING;
    device->worker.child.pid = sleeper();
    device->worker.child.process.fd = (int)syscall(SYS_pidfd_open, device->worker.child.pid, 0);
    ready.u.device =
        (struct link_device){.sm_count = 16, .memory_total = UINT64_C(1) << 30, .sm_groups = 0};
    worker_says(&ready, -1);
}

static void server_finish(void)
{
    for (struct session *s = NULL; (s = registry_next(&server.registry, s));)
        server_session_end(s);
    worker_kill(device);
    device_deinit(device);
    close(worker_end);
    registry_deinit(&server.registry);
    loop_deinit(&server.loop);
}

/* Its answer goes nowhere. */
static void request_take(void)
{
    union control_request request;
    const uint16_t op = byte() % (CONTROL_OPS + 1);
    const uint32_t size = control_size(op);
    struct reply reply = {
        .queue = open("/dev/null", O_WRONLY | O_CLOEXEC), .uid = byte() % 3 * 1000, .op = op};

    memset(&request, 0, sizeof(request));
    take(request.bytes, size > sizeof(request.h) ? size : sizeof(request.h));
    request.h.magic = WIRE_MAGIC;
    request.h.version = WIRE_VERSION;
    request.h.op = op;
    request.h.size = size ? size : byte();
    /* A session that there is: a stranger would have to guess its cookie. */
    if (op == CTL_CONFIRM || op == CTL_DETACH || op == CTL_SET_QOS) {
        const struct session *s = registry_by_slot(&server.registry, byte() % SLOTS);
        if (s && op != CTL_SET_QOS)
            request.h.token = s->cookie;
    }
    memcpy(server.asked, &request, sizeof(request));
    control_again(&server, &reply);
}

static void message_take(void)
{
    struct link_message message;
    const uint8_t how = byte();
    int fd = how & 1 ? memfd_create("memory", MFD_CLOEXEC) : -1;

    memset(&message, 0, sizeof(message));
    message.op = byte() % 40;
    message.slot = how & 2 ? byte() % SLOTS : byte() * 0x01010101u;
    take(&message.u, how & 4 ? sizeof(message.u) : 40);
    take(message.text, how & 8 ? sizeof(message.text) : 4);
    worker_says(&message, fd);
    if (fd >= 0)
        close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input = data;
    left = size;
    server_begin();
    for (unsigned i = 0; i < MESSAGES && left; i++) {
        if (byte() & 1)
            message_take();
        else
            request_take();
    }
    server_finish();
    return 0;
}
