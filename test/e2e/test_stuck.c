/* test_stuck.c - a driver call that does not return: the lane is in it, and gsctl
 * says so, waits for nothing that this lane would have to do, and can end the worker. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "driver_server.h"
#include "gsctl_run.h"

#define SIZE 4096u

struct scene {
    struct server *server;
    struct driver_plan *plan;
    gs_session session;
    char id[24];
};

/* Runs gsctl, whose status and words these must be, within 2 s; the rest of the time here is for a
 * machine with other work. */
static void answered_soon(const char *a, const char *b, const char *c, const char *d, int wanted,
                          const char *part)
{
    const uint64_t deadline = test_deadline(2800);

    CHECK_EQUAL(gsctl(a, b, c, d, NULL), wanted);
    CHECK_TEXT(output, part);
    CHECK(clock_ns() < deadline);
}

static bool status_has(const char *text)
{
    return gsctl("status", NULL) == 0 && strstr(output, text) != NULL;
}

/* A copy is handed to the driver, and does not come back. */
static void scene_begin(struct scene *s)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_devptr memory;

    s->server = driver_server_start(NULL, 0, &s->plan);
    CHECK_OK(server_attach(s->server, &s->session));
    CHECK_OK(gs_session_info(s->session, &desc));
    snprintf(s->id, sizeof(s->id), "%llu", (unsigned long long)desc.session_id);
    CHECK_OK(gs_malloc(s->session, SIZE, &memory));
    CHECK(status_has("  ready, worker pid"));
    driver_hold(s->plan, "cuMemsetD8Async");
    CHECK_OK(gs_memset_async(s->session, memory, 1, SIZE, NULL));
    CHECK_WITHIN(10000, atomic_load(&s->plan->waiting) == 1);
    const uint64_t deadline = test_deadline(2000);
    while (!status_has("  stuck in a driver call, worker pid"))
        CHECK(clock_ns() < deadline);
}

static void it_is_told_and_not_waited_for(void)
{
    struct scene s;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session late;
    pid_t worker;

    scene_begin(&s);
    worker = server_worker_pid(s.server);
    answered_soon("ps", NULL, NULL, NULL, 0, s.id);
    answered_soon("info", NULL, NULL, NULL, 0, "device 0");
    answered_soon("explain", s.id, NULL, NULL, 0, "weight");
    answered_soon("set", s.id, "--weight", "3", 0, "is stuck in a driver call");
    answered_soon("trace", "--output=/dev/null", "--seconds=1", NULL, 1, "does not answer");
    answered_soon("restart-worker", NULL, NULL, NULL, 1, "is stuck in a driver call: --force");
    CHECK_WITHIN(10000, server_log_lines(s.server, "event=worker-silent device=0") == 1);
    params.timeout_ms = 1000;
    CHECK_STATUS(gs_attach(&params, &late), GS_ERR_TIMEOUT);
    CHECK_TEXT(gs_last_error_message(), "is stuck in a driver call");
    /* It comes back, and nothing is lost. */
    driver_go_on(s.plan);
    CHECK_OK(gs_sync(s.session));
    CHECK_WITHIN(10000, status_has("  ready, worker pid"));
    CHECK_EQUAL(server_worker_pid(s.server), worker);
    CHECK_WITHIN(10000, server_log_lines(s.server, "event=worker-answers device=0") == 1);
    CHECK_OK(gs_detach(s.session));
    server_stop(s.server);
}

static void who_is_killed_is_gone_when_the_grace_is_over(void)
{
    struct scene s;

    scene_begin(&s);
    answered_soon("kill", s.id, "--grace", "100", 0, "1 session has ended\n");
    driver_go_on(s.plan);
    CHECK_WITHIN(20000, status_has("  ready, worker pid"));
    gs_detach(s.session);
    CHECK_OK(server_attach(s.server, &s.session));
    CHECK_OK(gs_detach(s.session));
    server_stop(s.server);
}

static void a_forced_restart_replaces_it(void)
{
    struct scene s;
    gs_devptr memory;

    scene_begin(&s);
    answered_soon("restart-worker", "--force", NULL, NULL, 0, "has taken the place of worker");
    driver_go_on(s.plan);
    CHECK(gs_malloc(s.session, 4096, &memory) != GS_OK); /* it had work that is lost */
    gs_detach(s.session);
    server_stop(s.server);
}

static void the_server_ends(void)
{
    struct scene s;
    int status;

    scene_begin(&s);
    answered_soon("quit", "-y", NULL, NULL, 0, "has ended");
    status = tenant_wait(s.server->pid, 10);
    s.server->pid = 0;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    driver_go_on(s.plan);
    gs_detach(s.session);
}

struct large {
    gs_session session;
    gs_devptr data;
    gs_status status;
};

static void *large_allocate(void *argument)
{
    struct large *large = argument;

    large->status = gs_malloc(large->session, (size_t)128 << 20, &large->data);
    return NULL;
}

/* More of them than there are threads, each in the driver for long: whoever attaches, or wants
 * little, does not wait for them. */
static void large_allocations_hold_up_neither_attaches_nor_small_ones(void)
{
    enum { LARGE = 6 };
    struct large large[LARGE];
    pthread_t threads[LARGE];
    struct driver_plan *plan;
    struct server *server = driver_server_start(NULL, 0, &plan);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session, before;
    gs_devptr data;

    /* Room that is mapped: more of it takes the call that is held. */
    CHECK_OK(server_attach(server, &before));
    CHECK_OK(gs_malloc(before, 1000, &data));
    for (unsigned i = 0; i < LARGE; i++)
        CHECK_OK(server_attach(server, &large[i].session));
    driver_hold(plan, "cuMemCreate");
    for (unsigned i = 0; i < LARGE; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, large_allocate, &large[i]), 0);
    CHECK_WITHIN(10000, atomic_load(&plan->waiting) >= 3);
    params.timeout_ms = 5000;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_malloc(before, 1000, &data));
    CHECK_OK(gs_detach(session));
    CHECK(atomic_load(&plan->waiting) >= 3); /* none of them has come to its end */
    driver_go_on(plan);
    for (unsigned i = 0; i < LARGE; i++) {
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
        CHECK_EQUAL(large[i].status, GS_OK);
        CHECK_OK(gs_detach(large[i].session));
    }
    CHECK_OK(gs_detach(before));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(it_is_told_and_not_waited_for),
    TEST(who_is_killed_is_gone_when_the_grace_is_over),
    TEST(a_forced_restart_replaces_it),
    TEST(the_server_ends),
    TEST(large_allocations_hold_up_neither_attaches_nor_small_ones),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
