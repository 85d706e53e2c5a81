/*
 * test_restart.c - gsctl restart-worker: another worker takes a device over in the middle of the
 * tenants' work, of which nothing is lost.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "busy.h"
#include "harness/harness.h"

static const struct server_options fenced = {.arguments =
                                                 (const char *const[]){"--fence", "always", NULL}};

static int restart(const char *argument, char *output, size_t size)
{
    return program_run((const char *[]){"bin/gsctl", "restart-worker", argument, NULL}, output,
                       size);
}

/* On a busy machine some tenant may have something allocated at every moment of the 10 s that a
 * restart waits for; it is refused then, and asked for again. */
static void restart_succeeds(const struct server *server)
{
    const pid_t former = server_worker_pid(server);
    char output[256];

    for (unsigned tries = 0; tries < 6; tries++) {
        restart(NULL, output, sizeof(output));
        if (!strstr(output, "always had something allocated"))
            break;
    }
    CHECK_TEXT(output, "has taken the place of worker");
    CHECK(server_worker_pid(server) != former);
}

static void during(const struct server_options *options, enum busy_with with)
{
    struct server *server = server_start(options);
    struct busy *busy = busy_start(with);

    for (unsigned round = 0; round < 5; round++) {
        restart_succeeds(server);
        busy_go_on(busy);
    }
    busy_stop(busy);
    server_wait_tenants(server, 0, 10000);
    server_stop(server);
}

static void work_in_the_middle_goes_on(void)
{
    during(&fenced, BUSY_WORKING);
}

static void who_attaches_meanwhile_waits(void)
{
    during(NULL, BUSY_ATTACHING);
}

static void without_tenants_and_without_a_standby(void)
{
    struct server *server = server_start(
        &(struct server_options){.arguments = (const char *const[]){"--no-standby", NULL}});
    char output[256];

    restart_succeeds(server);
    restart_succeeds(server);
    CHECK_EQUAL(program_run((const char *[]){"bin/gsctl", "restart-worker", "--device", "7", NULL},
                            output, sizeof(output)),
                1);
    CHECK_TEXT(output, "device 7: the server has 1");
    server_stop(server);
}

/* A kernel that does not end keeps its session's work unfinished. */
static void a_kernel_that_runs_on_is_waited_for_in_vain(void)
{
    struct server *server = server_start(&fenced);
    const pid_t worker = server_worker_pid(server);
    gs_session session;
    gs_devptr flag;
    gs_kernel hold;
    gs_stream other;
    char output[256];
    uint32_t one = 1;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, sizeof(one), &flag));
    CHECK_OK(gs_memset(session, flag, 0, sizeof(one)));
    CHECK_OK(gs_stream_create(session, NULL, &other));
    hold = kernels_get(kernels_load(session), "spin_until");
    CHECK_OK(kernels_launch(other, hold, 1, 1, (void *[]){&flag}));
    CHECK_EQUAL(restart(NULL, output, sizeof(output)), 1);
    CHECK_TEXT(output, "no moment came without running kernels: session 1");
    CHECK_EQUAL(server_worker_pid(server), worker);
    CHECK_OK(gs_memcpy_htod(session, flag, &one, sizeof(one)));
    CHECK_OK(gs_sync(session));
    restart_succeeds(server);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Addresses of functions are others in the next worker. */
static void a_session_that_would_end_is_a_reason_to_refuse(void)
{
    struct server *server = server_start(&server_unfenced);
    const pid_t worker = server_worker_pid(server);
    gs_session bound, other;
    gs_devptr data;
    char output[256];

    CHECK_OK(server_attach(server, &other));
    CHECK_OK(server_attach(server, &bound));
    CHECK_OK(gs_malloc(other, 4096, &data));
    for (unsigned i = 0; i < 2; i++)
        kernels_load_bound(bound);
    CHECK_WITHIN(5000, server_log_lines(server, "event=journal-incomplete session=2 user=") == 1);
    CHECK_EQUAL(server_log_lines(server, "reason=\"a module has "), 1);
    CHECK_EQUAL(restart(NULL, output, sizeof(output)), 1);
    CHECK_TEXT(output, "session 2 would end");
    CHECK_EQUAL(server_worker_pid(server), worker);
    CHECK_OK(gs_malloc(bound, 4096, &data));
    CHECK_EQUAL(restart("--force", output, sizeof(output)), 0);
    CHECK_STATUS(gs_malloc(bound, 4096, &data), GS_ERR_INTERRUPTED);
    CHECK_OK(gs_malloc(other, 4096, &data));
    gs_detach(bound);
    CHECK_OK(gs_detach(other));
    server_stop(server);
}

/* The operator is told, whatever comes first, and the tenant at rest is kept. */
static void a_worker_killed_meanwhile_loses_nobody(void)
{
    struct server *server = server_start(&fenced);
    gs_session session;
    uint32_t word = 77;
    gs_devptr data;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, sizeof(word), &data));
    CHECK_OK(gs_memcpy_htod(session, data, &word, sizeof(word)));
    for (unsigned round = 0; round < 10; round++) {
        pid_t pids[SERVER_WORKERS_MAX], child;
        unsigned count;
        int status;

        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            char output[256];
            _exit(restart(NULL, output, sizeof(output)));
        }
        for (uint64_t pauses = test_random() % 100; pauses; pauses--)
            test_pause();
        count = server_workers(server, pids);
        if (count)
            kill(pids[test_random() % count], SIGKILL);
        CHECK_EQUAL(waitpid(child, &status, 0), child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
        word = 0;
        CHECK_OK(gs_memcpy_dtoh(session, &word, data, sizeof(word)));
        CHECK_EQUAL(word, 77);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST_WITHIN(work_in_the_middle_goes_on, 180),
    TEST_WITHIN(who_attaches_meanwhile_waits, 180),
    TEST(without_tenants_and_without_a_standby),
    TEST(a_kernel_that_runs_on_is_waited_for_in_vain),
    TEST(a_session_that_would_end_is_a_reason_to_refuse),
    TEST_WITHIN(a_worker_killed_meanwhile_loses_nobody, 300),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
