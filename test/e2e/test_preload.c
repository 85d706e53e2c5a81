/*
 * test_preload.c - before a worker retires, its standby maps and registers what the sessions have,
 * so that the tenants do not wait for that; whatever changes meanwhile, they have what is theirs.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "driver_server.h"
#include "harness/harness.h"

#define MIB  ((size_t)1 << 20)
#define SIZE (4 * MIB)

#define READY "is ready for the sessions of"

static const char *const unfenced[] = {"--fence", "never", "--log", "debug", NULL};

static const char hold_ptx[] = PTX_HEAD PTX_HOLD;

struct scene {
    struct server *server;
    struct driver_plan *plan;
    gs_session session;
    gs_stream other;
    gs_devptr words; /* the kernel's */
    gs_devptr data;
    unsigned char *host;
    pid_t asking; /* the process that asks for the restart */
};

static void fill(gs_session session, gs_devptr data, unsigned char value)
{
    CHECK_OK(gs_memset(session, data, value, SIZE));
    CHECK_OK(gs_sync(session));
}

static void check_filled(gs_session session, gs_devptr data, unsigned char value)
{
    unsigned char *bytes = malloc(SIZE);

    CHECK(bytes);
    memset(bytes, ~value, SIZE);
    CHECK_OK(gs_memcpy_dtoh(session, bytes, data, SIZE));
    for (size_t i = 0; i < SIZE; i++) {
        if (bytes[i] != value)
            test_fail(__FILE__, __LINE__, "byte %zu is %u, not %u", i, bytes[i], value);
    }
    free(bytes);
}

static pid_t standby_pid(const struct server *server)
{
    pid_t pids[SERVER_WORKERS_MAX];

    if (server_workers(server, pids) != 2)
        return 0;
    return pids[pids[0] == server_worker_pid(server)];
}

static void scene_set(struct scene *s)
{
    s->server = driver_server_start(unfenced, 0, &s->plan);
    CHECK_OK(server_attach(s->server, &s->session));
    CHECK_OK(gs_stream_create(s->session, NULL, &s->other));
    CHECK_OK(gs_malloc(s->session, 2 * sizeof(uint32_t), &s->words));
    CHECK_OK(gs_memset(s->session, s->words, 0, 2 * sizeof(uint32_t)));
    CHECK_OK(gs_malloc(s->session, SIZE, &s->data));
    CHECK_OK(gs_host_alloc(s->session, MIB, (void **)&s->host));
    memset(s->host, 0x5a, MIB);
    fill(s->session, s->data, 1);
    CHECK_WITHIN(20000, server_log_lines(s->server, "is its standby") == 1);
}

static void restart_ask(struct scene *s)
{
    s->asking = fork();
    CHECK(s->asking >= 0);
    if (s->asking == 0) {
        char output[256] = "";
        const int status = program_run((const char *[]){"bin/gsctl", "restart-worker", NULL},
                                       output, sizeof(output));
        fprintf(stderr, "%s", output);
        _exit(status);
    }
}

static int restart_answer(const struct scene *s)
{
    int status;

    CHECK_EQUAL(waitpid(s->asking, &status, 0), s->asking);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* A kernel runs, so that the worker cannot retire. */
static void kernel_begin(const struct scene *s)
{
    gs_devptr words = s->words;
    gs_module module;
    gs_kernel hold;
    uint32_t seen = 0;

    CHECK_OK(gs_module_load(s->session, hold_ptx, strlen(hold_ptx), &module));
    CHECK_OK(gs_kernel_get(module, "hold", &hold));
    CHECK_OK(kernels_launch(s->other, hold, 1, 1, (void *[]){&words}));
    while (!seen)
        CHECK_OK(gs_memcpy_dtoh(s->session, &seen, s->words + 4, sizeof(seen)));
}

static void kernel_end(const struct scene *s)
{
    const uint32_t one = 1;

    CHECK_OK(gs_memcpy_htod(s->session, s->words, &one, sizeof(one)));
}

static void scene_end(struct scene *s)
{
    CHECK_OK(gs_detach(s->session));
    server_wait_tenants(s->server, 0, 10000);
    CHECK_EQUAL(server_memory_used(s->server), 0);
    server_stop(s->server);
}

/* Once the standby is ready, each of these calls would fail. */
static void nothing_is_left_to_map_or_register(void)
{
    static const char *const calls[] = {"cuMemImportFromShareableHandle", "cuMemMap",
                                        "cuMemSetAccess", "cuMemAddressReserve",
                                        "cuMemHostRegister_v2"};

    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        struct scene s;

        scene_set(&s);
        kernel_begin(&s);
        restart_ask(&s);
        CHECK_WITHIN(20000, server_log_lines(s.server, READY) == 1);
        snprintf(s.plan->only, sizeof(s.plan->only), "%s", calls[i]);
        atomic_store(&s.plan->armed, 1);
        kernel_end(&s);
        CHECK_EQUAL(restart_answer(&s), 0);
        CHECK_EQUAL(atomic_load(&s.plan->failures), 0);
        atomic_store(&s.plan->armed, 0);
        check_filled(s.session, s.data, 1);
        for (size_t at = 0; at < MIB; at += 4096)
            CHECK_EQUAL(s.host[at], 0x5a);
        CHECK_OK(gs_memcpy_htod(s.session, s.data, s.host, MIB));
        CHECK_OK(gs_host_free(s.session, s.host));
        scene_end(&s);
    }
}

struct others {
    gs_session leaves, comes;
    gs_devptr of_leaves, of_comes, again, more;
};

static void others_begin(const struct scene *s, struct others *o)
{
    CHECK_OK(server_attach(s->server, &o->leaves));
    CHECK_OK(gs_malloc(o->leaves, SIZE, &o->of_leaves));
    fill(o->leaves, o->of_leaves, 9);
}

/* One goes, one comes, most likely at its address; and memory is other memory at the same one. */
static void others_change(struct scene *s, struct others *o)
{
    CHECK_OK(gs_free(s->session, s->data));
    CHECK_OK(gs_malloc(s->session, SIZE, &o->again));
    CHECK_OK(gs_malloc(s->session, SIZE, &o->more));
    CHECK_EQUAL(o->again, s->data);
    CHECK_OK(gs_memset(s->session, o->again, 2, SIZE));
    CHECK_OK(gs_memset(s->session, o->more, 3, SIZE));
    CHECK_OK(gs_detach(o->leaves));
    CHECK_OK(server_attach(s->server, &o->comes));
    CHECK_OK(gs_malloc(o->comes, SIZE, &o->of_comes));
    CHECK_OK(gs_memset(o->comes, o->of_comes, 4, SIZE));
}

static void others_check(const struct scene *s, const struct others *o)
{
    check_filled(s->session, o->again, 2);
    check_filled(s->session, o->more, 3);
    check_filled(o->comes, o->of_comes, 4);
}

static void others_end(const struct others *o)
{
    CHECK_OK(gs_detach(o->comes));
}

static void what_changes_while_the_standby_maps_is_right(void)
{
    struct others o;
    struct scene s;

    scene_set(&s);
    others_begin(&s, &o);
    driver_hold(s.plan, "cuMemImportFromShareableHandle");
    restart_ask(&s);
    CHECK_WITHIN(20000, atomic_load(&s.plan->waiting) == 1);
    others_change(&s, &o);
    CHECK_EQUAL(server_log_lines(s.server, READY), 0);
    driver_go_on(s.plan);
    CHECK_EQUAL(restart_answer(&s), 0);
    others_check(&s, &o);
    others_end(&o);
    scene_end(&s);
}

static void what_changes_once_it_is_ready_is_right(void)
{
    struct others o;
    struct scene s;

    scene_set(&s);
    others_begin(&s, &o);
    kernel_begin(&s);
    restart_ask(&s);
    CHECK_WITHIN(20000, server_log_lines(s.server, READY) == 1);
    /* gs_free gives memory back at once where no work may use it. */
    kernel_end(&s);
    CHECK_OK(gs_sync(s.session));
    others_change(&s, &o);
    CHECK_EQUAL(restart_answer(&s), 0);
    others_check(&s, &o);
    CHECK_WITHIN(20000, standby_pid(s.server) != 0);
    restart_ask(&s);
    CHECK_EQUAL(restart_answer(&s), 0);
    others_check(&s, &o);
    others_end(&o);
    scene_end(&s);
}

static void a_standby_killed_meanwhile_is_replaced(void)
{
    struct scene s;

    scene_set(&s);
    driver_hold(s.plan, "cuMemImportFromShareableHandle");
    restart_ask(&s);
    CHECK_WITHIN(20000, atomic_load(&s.plan->waiting) == 1);
    kill(standby_pid(s.server), SIGKILL);
    CHECK_WITHIN(20000, server_log_lines(s.server, "standby") >= 2);
    driver_go_on(s.plan);
    CHECK_EQUAL(restart_answer(&s), 0);
    check_filled(s.session, s.data, 1);
    scene_end(&s);
}

/* The standby that was ready becomes the worker, with what it has mapped. */
static void a_worker_killed_meanwhile_is_replaced(void)
{
    struct scene s;

    scene_set(&s);
    kernel_begin(&s);
    kernel_end(&s);
    CHECK_OK(gs_sync(s.session));
    driver_hold(s.plan, "cuMemImportFromShareableHandle");
    restart_ask(&s);
    CHECK_WITHIN(20000, atomic_load(&s.plan->waiting) == 1);
    kill(server_worker_pid(s.server), SIGKILL);
    CHECK_EQUAL(restart_answer(&s), 1);
    driver_go_on(s.plan);
    check_filled(s.session, s.data, 1);
    scene_end(&s);
}

/* Segments that a process has mapped. */
static unsigned segments_of(pid_t pid)
{
    char path[64], line[512];
    unsigned count = 0;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "r");
    CHECK(maps);
    while (fgets(line, sizeof(line), maps))
        count += strstr(line, "/SYSV") != NULL;
    fclose(maps);
    return count;
}

static void after_a_refusal_the_standby_has_nothing_of_the_sessions(void)
{
    struct scene s;
    pid_t standby;

    scene_set(&s);
    standby = standby_pid(s.server);
    CHECK_EQUAL(segments_of(standby), 0);
    kernel_begin(&s);
    restart_ask(&s);
    CHECK_WITHIN(20000, server_log_lines(s.server, READY) == 1);
    CHECK(segments_of(standby) >= 2); /* the session's, and its host block */
    CHECK_EQUAL(restart_answer(&s), 1);
    CHECK_EQUAL(standby_pid(s.server), standby);
    CHECK_WITHIN(10000, segments_of(standby) == 0);
    kernel_end(&s);
    restart_ask(&s);
    CHECK_EQUAL(restart_answer(&s), 0);
    check_filled(s.session, s.data, 1);
    scene_end(&s);
}

static const struct test tests[] = {
    TEST_WITHIN(nothing_is_left_to_map_or_register, 180),
    TEST_WITHIN(what_changes_while_the_standby_maps_is_right, 120),
    TEST_WITHIN(what_changes_once_it_is_ready_is_right, 120),
    TEST_WITHIN(a_standby_killed_meanwhile_is_replaced, 120),
    TEST_WITHIN(a_worker_killed_meanwhile_is_replaced, 120),
    TEST_WITHIN(after_a_refusal_the_standby_has_nothing_of_the_sessions, 120),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
