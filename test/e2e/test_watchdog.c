/* test_watchdog.c - a worker that is stopped, and a server that runs short: what is said of it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "admin.h"
#include "common/sanitizers.h"
#include "harness/harness.h"

static char output[16384];

static int gsctl(const char *a, const char *b, const char *c, const char *d)
{
    const char *const arguments[] = {"bin/gsctl", a, b, c, d, NULL};

    return program_run(arguments, output, sizeof(output));
}

static bool status_has(const char *text)
{
    return gsctl("status", NULL, NULL, NULL) == 0 && strstr(output, text) != NULL;
}

static void a_stopped_worker_is_named_as_the_reason(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session, late;
    gs_devptr memory;
    pid_t worker;

    CHECK_OK(server_attach(server, &session));
    worker = server_worker_pid(server);
    CHECK(status_has("  ready, worker pid"));
    kill(worker, SIGSTOP);
    CHECK_WITHIN(10000, status_has("  not answering, worker pid"));
    params.timeout_ms = 2000;
    CHECK_STATUS(gs_attach(&params, &late), GS_ERR_TIMEOUT);
    CHECK_TEXT(gs_last_error_message(), "does not answer: it is stopped");
    CHECK_EQUAL(gsctl("set", "--default", "--percentage", "50"), 0);
    CHECK_TEXT(output, "does not answer");
    CHECK_WITHIN(10000, server_log_lines(server, "event=worker-silent device=0 worker="));
    kill(worker, SIGCONT);
    CHECK_WITHIN(10000, status_has("  ready, worker pid"));
    CHECK_OK(gs_malloc(session, 4096, &memory));
    CHECK_OK(gs_detach(session));
    CHECK_OK(server_attach(server, &late));
    CHECK_OK(gs_detach(late));
    CHECK_EQUAL(server_worker_pid(server), worker);
    server_stop(server);
}

/* ---- Descriptors ---- */

#define DESCRIPTORS 320u

struct room {
    struct gate go, full, end;
    uint32_t attached;
    char instance[32];
};

static void fill_run(void *argument)
{
    struct room *room = argument;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_status status = GS_OK;
    gs_session session;

    params.instance = room->instance;
    CHECK(geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    gate_wait(&room->go, 1);
    while (status == GS_OK && room->attached < DESCRIPTORS) {
        status = gs_attach(&params, &session);
        room->attached += status == GS_OK;
    }
    CHECK_STATUS(status, GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "RLIMIT_NOFILE 320");
    gate_pass(&room->full);
    gate_wait(&room->end, 1);
}

/* Root's server would raise its limit. */
static void small_server_run(void *argument)
{
    struct room *room = argument;
    struct rlimit limit = {DESCRIPTORS, DESCRIPTORS};
    pid_t filler = tenant_start(fill_run, room);
    struct server *server;
    gs_session session;

    CHECK(geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    server = server_start(NULL);
    memcpy(room->instance, server->instance, sizeof(room->instance));
    gate_pass(&room->go);
    gate_wait(&room->full, 1);
    CHECK(room->attached >= DESCRIPTORS / 2);
    CHECK_EQUAL(gsctl("ps", NULL, NULL, NULL), 0);
    CHECK(status_has("ready"));
    CHECK_STATUS(server_attach(server, &session), GS_ERR_LIMIT);
    gate_pass(&room->end);
    tenant_join(filler);
    server_wait_tenants(server, 0, 10000);
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_server_out_of_descriptors_says_so_and_answers_operators(void)
{
#if THREAD_SANITIZER
    test_skip("ThreadSanitizer leaves too few addresses for so many windows");
#endif
    tenant_join(tenant_start(small_server_run, shared_alloc(sizeof(struct room))));
}

static const struct test tests[] = {
    TEST(a_stopped_worker_is_named_as_the_reason),
    TEST(a_server_out_of_descriptors_says_so_and_answers_operators),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
