/*
 * test_queues.c - message queues are few, and one user can use them up: others attach, work and ask
 * all the same, with an answer that comes by a socket. The control queue is everybody's to write
 * to.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/names.h"
#include "common/wire.h"
#include "gsctl_run.h"
#include "harness/harness.h"

#define STRANGER 65534u
#define HOSTILE  65533u
#define HOARD    4096u /* more than there are by default */

static void become(uid_t uid)
{
    CHECK(setgid(uid) == 0 && setuid(uid) == 0);
}

/* This process and those that it starts can make no queue from now on. */
static void queues_forbid(void)
{
    CHECK(setrlimit(RLIMIT_MSGQUEUE, &(struct rlimit){0, 0}) == 0);
    CHECK(mq_open("/test-queues-none", O_RDWR | O_CREAT | O_EXCL, 0600, NULL) < 0);
}

/* All that a tenant asks of the server, and a launch that finds the worker asleep. */
static void tenant_work(gs_session session)
{
    gs_kernel increment = kernels_get(kernels_load(session), "increment");
    gs_qos qos = GS_QOS_INIT;
    uint32_t counter = 0;
    gs_devptr memory;

    CHECK_OK(gs_malloc(session, sizeof(counter), &memory));
    CHECK_OK(gs_memset(session, memory, 0, sizeof(counter)));
    for (unsigned i = 0; i < 8; i++) {
        CHECK_OK(kernels_launch(NULL, increment, 1, 1, (void *[]){&memory}));
        CHECK_OK(gs_sync(session));
        test_pause();
    }
    qos.weight = 200;
    CHECK_OK(gs_set_qos(session, &qos));
    CHECK_OK(gs_memcpy_dtoh(session, &counter, memory, sizeof(counter)));
    CHECK_EQUAL(counter, 8);
}

/* ---- Tenants that may make none ---- */

struct tenant {
    uid_t uid;
    struct gate attached;
};

static void tenant_run(void *argument)
{
    struct tenant *tenant = argument;
    gs_session session;

    if (tenant->uid != geteuid())
        become(tenant->uid);
    queues_forbid();
    for (unsigned i = 0; i < 3; i++) {
        CHECK_OK(gs_attach(NULL, &session));
        CHECK_OK(gs_detach(session));
    }
    CHECK_OK(gs_attach(NULL, &session));
    tenant_work(session);
    gate_pass(&tenant->attached);
    for (;;)
        pause();
}

/* The server knows the tenant's user and process, and sees its end. */
static void tenant_is_known(const struct server *server, uid_t uid)
{
    struct tenant *tenant = shared_alloc(sizeof(*tenant));
    char wanted[64];
    pid_t pid;

    tenant->uid = uid;
    pid = tenant_start(tenant_run, tenant);
    gate_wait(&tenant->attached, 1);
    snprintf(wanted, sizeof(wanted), "\"uid\":%u", (unsigned)uid);
    GSCTL_OK("ps", "--json");
    CHECK_TEXT(output, wanted);
    snprintf(wanted, sizeof(wanted), "\"pid\":%d", (int)pid);
    CHECK_WITHIN(10000, (gsctl("ps", "--json", NULL), strstr(output, wanted)));
    tenant_kill(pid, SIGKILL);
    server_wait_tenants(server, 0, 10000);
}

static void who_may_make_no_queue_is_served(void)
{
    struct server *server = server_start(NULL);

    tenant_is_known(server, geteuid());
    if (geteuid() == 0)
        tenant_is_known(server, STRANGER);
    server_stop(server);
}

static void operator_run(void *argument)
{
    (void)argument;
    queues_forbid();
    GSCTL_OK("status");
    GSCTL_OK("ps");
    GSCTL_OK("set", "--default", "--percentage", "50");
    GSCTL_OK("get");
    CHECK_TEXT(output, "50");
}

static void an_operator_too(void)
{
    struct server *server = server_start(NULL);

    tenant_join(tenant_start(operator_run, NULL));
    server_stop(server);
}

static void stranger_sets_run(void *argument)
{
    (void)argument;
    become(STRANGER);
    queues_forbid();
    CHECK(gsctl("set", "--default", "--percentage", "50", NULL) != 0);
    CHECK_TEXT(output, "root");
}

/* By a socket as by a queue, the asker's user is the kernel's word. */
static void a_stranger_does_not_become_the_operator(void)
{
    struct server *server;

    if (geteuid() != 0)
        test_skip("only root can become another user");
    server = server_start(NULL);
    tenant_join(tenant_start(stranger_sets_run, NULL));
    server_stop(server);
}

/* ---- All of the system's queues ---- */

struct scene {
    struct gate hoarded, asking, let_go;
};

/* A small queue takes about 100 of the 819,200 bytes that each user may have. */
static void hoard_run(void *argument)
{
    struct scene *scene = argument;
    struct mq_attr small = {.mq_maxmsg = 1, .mq_msgsize = 1};
    unsigned count = 0;
    mqd_t queue;
    char name[32];

    become(HOSTILE);
    for (;; count++) {
        snprintf(name, sizeof(name), "/hoard.%u", count);
        queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &small);
        if (queue < 0)
            break;
        CHECK(count < HOARD);
        mq_close(queue);
    }
    CHECK(errno == ENOSPC && count > 0);
    gate_pass(&scene->hoarded);
    gate_wait(&scene->let_go, 1);
    while (count--) {
        snprintf(name, sizeof(name), "/hoard.%u", count);
        CHECK(mq_unlink(name) == 0);
    }
}

static void honest_run(void *argument)
{
    gs_session session;

    (void)argument;
    become(STRANGER);
    CHECK(mq_open("/test-queues-none", O_RDWR | O_CREAT | O_EXCL, 0600, NULL) < 0);
    CHECK(errno == ENOSPC);
    CHECK_OK(gs_attach(NULL, &session));
    tenant_work(session);
    CHECK_OK(gs_detach(session));
}

/* The server does not find sockets of another network namespace. */
static void elsewhere_run(void *argument)
{
    struct scene *scene = argument;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    CHECK(unshare(CLONE_NEWNET) == 0);
    become(STRANGER);
    params.timeout_ms = 1500;
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_NO_MEMORY);
    CHECK_TEXT(gs_last_error_message(), "mq_open of a reply queue");
    params.timeout_ms = 60000;
    gate_pass(&scene->asking);
    CHECK_OK(gs_attach(&params, &session));
    tenant_work(session);
    CHECK_OK(gs_detach(session));
}

static void a_user_who_has_all_queues_keeps_nobody_out(void)
{
    struct scene *scene = shared_alloc(sizeof(*scene));
    struct server *server;
    pid_t hostile, elsewhere;

    /* A namespace of its own, so that other programs keep their queues. */
    if (geteuid() != 0 || unshare(CLONE_NEWIPC) < 0)
        test_skip("no right to make an IPC namespace");
    server = server_start(NULL);
    hostile = tenant_start(hoard_run, scene);
    gate_wait(&scene->hoarded, 1);
    tenant_join(tenant_start(honest_run, NULL));
    elsewhere = tenant_start(elsewhere_run, scene);
    gate_wait(&scene->asking, 1);
    gate_pass(&scene->let_go); /* who waits for a queue gets one */
    tenant_join(elsewhere);
    tenant_join(hostile);
    server_stop(server);
}

/* ---- The control queue itself ---- */

static long messages_in(mqd_t queue)
{
    struct mq_attr attr;

    CHECK(mq_getattr(queue, &attr) == 0);
    return attr.mq_curmsgs;
}

static void attach_run(void *argument)
{
    gs_session session;

    (void)argument;
    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_detach(session));
}

/* Fills the queue with nonsense that goes before all that has a lower priority. */
static void fill_run(void *argument)
{
    const struct server *server = argument;
    const char nonsense[] = "nonsense";
    char name[WIRE_NAME_MAX];
    mqd_t queue;

    name_control(name, server->owner, server->instance);
    if (geteuid() == 0)
        become(HOSTILE);
    queue = mq_open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    CHECK(queue >= 0);
    while (mq_send(queue, nonsense, sizeof(nonsense), MQ_PRIO_MAX - 1) == 0)
        ;
    CHECK(errno == EAGAIN);
    mq_close(queue);
}

static void no_message_goes_before_a_request_that_came_earlier(void)
{
    struct server *server = server_start(NULL);
    char name[WIRE_NAME_MAX], message[CTL_MESSAGE_MAX];
    struct ctl_header first;
    pid_t supervisor = server_supervisor(server), tenant;
    mqd_t queue;

    name_control(name, server->owner, server->instance);
    queue = mq_open(name, O_RDONLY | O_CLOEXEC);
    CHECK(queue >= 0 && supervisor > 0 && kill(supervisor, SIGSTOP) == 0);
    tenant = tenant_start(attach_run, NULL);
    CHECK_WITHIN(10000, messages_in(queue) == 2);
    tenant_join(tenant_start(fill_run, server));
    /* The request that is taken out here is the one that the server can do without. */
    CHECK(mq_receive(queue, message, sizeof(message), NULL) == sizeof(first));
    memcpy(&first, message, sizeof(first));
    CHECK_EQUAL(first.magic, WIRE_MAGIC);
    CHECK_EQUAL(first.op, CTL_ANNOUNCE);
    CHECK(kill(supervisor, SIGCONT) == 0);
    tenant_join(tenant);
    mq_close(queue);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(who_may_make_no_queue_is_served),
    TEST(an_operator_too),
    TEST(a_stranger_does_not_become_the_operator),
    TEST(a_user_who_has_all_queues_keeps_nobody_out),
    TEST(no_message_goes_before_a_request_that_came_earlier),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
