/* test_server.c - servers that end, are killed, or are there already; and gsctl. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "admin.h"
#include "bystander.h"
#include "common/names.h"
#include "harness/harness.h"
#include "where.h"

#define LOST_MS 200u  /* from the server's death to GS_ERR_SERVER_LOST */
#define BUSY_MS 3000u /* the same where other programs have the processors */

/* ---- The server is killed ---- */

/* What each client is doing when the server dies. */
enum doing {
    DOING_NOTHING,
    DOING_STREAM_SYNC,
    DOING_EVENT_SYNC,
    DOING_MALLOC,
    DOING_ATTACH,
    DOING_COPY,
    DOING_LAUNCH,
    DOING_MODULE_LOAD,
    DOING_COUNT
};

struct survivor {
    struct gate loaded, go, busy;
    enum doing doing;
    _Atomic uint64_t killed_ns; /* when the server was killed; 0: not yet */
    uint64_t knew_ns;           /* when a call said so */
};

static gs_status act(enum doing doing, gs_session session, gs_kernel endless, gs_kernel nothing,
                     gs_devptr data)
{
    static unsigned char bytes[1 << 20];
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_session other;
    gs_module module;
    gs_devptr memory;
    gs_event event;
    gs_status status;

    switch (doing) {
    case DOING_STREAM_SYNC:
        return gs_stream_sync(session, NULL);
    case DOING_EVENT_SYNC:
        status = gs_event_create(session, &event);
        if (status == GS_OK)
            status = gs_event_record(event, NULL);
        return status == GS_OK ? gs_event_sync(event) : status;
    case DOING_MALLOC:
        status = gs_malloc(session, 4096, &memory);
        return status == GS_OK ? gs_free(session, memory) : status;
    case DOING_ATTACH:
        status = gs_attach(NULL, &other);
        return status == GS_OK ? gs_detach(other) : status;
    case DOING_COPY:
        return gs_memcpy_htod(session, data, bytes, sizeof(bytes));
    case DOING_LAUNCH:
        return gs_launch(NULL, nothing, &config, NULL);
    case DOING_MODULE_LOAD:
        status = gs_module_load(session, kernels_ptx, 0, &module);
        return status == GS_OK ? gs_module_unload(module) : status;
    default:
        (void)endless;
        return gs_stream_query(session, NULL);
    }
}

/* Milliseconds times the time scale. */
static uint64_t scaled_ns(unsigned milliseconds)
{
    return test_deadline(milliseconds) - clock_ns();
}

static void lost_check(gs_status status)
{
    if (status != GS_ERR_SERVER_LOST)
        test_fail(__FILE__, __LINE__, "%s, not GS_ERR_SERVER_LOST: %s", gs_status_name(status),
                  gs_last_error_message());
}

static void survivor_run(void *argument)
{
    struct survivor *self = argument;
    gs_session session, other;
    gs_module module;
    gs_kernel endless, nothing;
    gs_devptr data, flag;
    gs_status status;
    uint64_t killed;
    gs_fault fault = GS_FAULT_INIT;

    CHECK_OK(gs_attach(NULL, &session));
    module = kernels_load(session);
    endless = kernels_get(module, "spin_until");
    nothing = kernels_get(module, "nothing");
    CHECK_OK(gs_malloc(session, 1 << 20, &data));
    CHECK_OK(gs_malloc(session, 4, &flag));
    /* Modules are loaded when no kernel runs: all of them before the endless ones. */
    gate_pass(&self->loaded);
    gate_wait(&self->go, 1);
    if (self->doing == DOING_STREAM_SYNC || self->doing == DOING_EVENT_SYNC)
        CHECK_OK(kernels_launch(NULL, endless, 1, 1, (void *[]){&flag}));
    gate_pass(&self->busy);
    do
        status = act(self->doing, session, endless, nothing, data);
    while (status == GS_OK || (status == GS_NOT_READY && self->doing == DOING_NOTHING));
    killed = atomic_load(&self->killed_ns);
    self->knew_ns = clock_ns();
    if (killed == 0 || self->knew_ns > killed + scaled_ns(BUSY_MS))
        test_fail(__FILE__, __LINE__, "%s came %.1f ms after the end of the server (doing %d): %s",
                  gs_status_name(status), killed ? (double)(clock_ns() - killed) * 1e-6 : -1.0,
                  (int)self->doing, gs_last_error_message());
    /* One that attaches anew, or loses the queue as it does, finds that there is no server. */
    if (self->doing == DOING_ATTACH)
        CHECK(status == GS_ERR_NO_SERVER || status == GS_ERR_SERVER_LOST);
    else
        lost_check(status);
    CHECK(gs_last_error_message()[0] != '\0');

    /* And every later call says so at once. */
    lost_check(gs_stream_sync(session, NULL));
    lost_check(gs_malloc(session, 16, &data));
    lost_check(gs_memset(session, data, 0, 16));
    lost_check(kernels_launch(NULL, nothing, 1, 1, NULL));
    lost_check(gs_sync(session));
    CHECK_OK(gs_last_fault(session, &fault));
    /* The kernel may still be taking the server's process apart. */
    status = gs_attach(NULL, &other);
    CHECK(status == GS_ERR_NO_SERVER || status == GS_ERR_SERVER_LOST);
    lost_check(gs_detach(session));
    CHECK_STATUS(gs_detach(session), GS_ERR_INVALID_HANDLE);
    if (clock_ns() > killed + scaled_ns(2 * BUSY_MS))
        test_fail(__FILE__, __LINE__, "the calls after it took too long");
}

static void killed_its_clients_know_within_200_ms(void)
{
    struct server *server = server_start(NULL);
    struct survivor *survivor = shared_alloc(DOING_COUNT * sizeof(*survivor));
    pid_t pid[DOING_COUNT];
    struct timespec busy = {0, 50000000};
    uint64_t killed;
    unsigned late = 0;

    for (unsigned i = 0; i < DOING_COUNT; i++) {
        survivor[i].doing = (enum doing)i;
        pid[i] = tenant_start(survivor_run, &survivor[i]);
        gate_wait(&survivor[i].loaded, 1);
    }
    for (unsigned i = 0; i < DOING_COUNT; i++) {
        gate_pass(&survivor[i].go);
        gate_wait(&survivor[i].busy, 1);
    }
    nanosleep(&busy, NULL); /* all are in the middle of it */
    killed = clock_ns();
    for (unsigned i = 0; i < DOING_COUNT; i++)
        atomic_store(&survivor[i].killed_ns, killed);
    server_kill(server);
    for (unsigned i = 0; i < DOING_COUNT; i++)
        tenant_join(pid[i]);
    for (unsigned i = 0; i < DOING_COUNT; i++) {
        printf("# doing %u: knew it after %.1f ms\n", i,
               (double)(survivor[i].knew_ns - killed) * 1e-6);
        late += survivor[i].knew_ns > killed + scaled_ns(LOST_MS);
    }
    /* A machine with much else to do may keep one or the other waiting, but not most. */
    CHECK(late <= DOING_COUNT / 3);
    /* The worker follows its supervisor; a new server cleans up the rest. */
    server_stop(server_start(&(struct server_options){.instance = server->instance}));
}

static void stopped_its_clients_know(void)
{
    struct server *server = server_start(NULL);
    gs_devptr memory;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    server_stop(server);
    lost_check(gs_malloc(session, 16, &memory));
    lost_check(gs_detach(session));
}

/* ---- One server a name ---- */

static void a_second_server_of_the_name_is_refused(void)
{
    struct server *server = server_start(NULL);
    const char *const again[] = {"bin/gshared", "-f",   "--instance", server->instance,
                                 "--device",    "soft", NULL};
    const char *const shorter[] = {"bin/gshared", "-n", server->instance, "--device", "soft", NULL};
    char output[4096];

    for (unsigned i = 0; i < 3; i++) {
        gs_session session;

        CHECK_EQUAL(program_run(i ? again : shorter, output, sizeof(output)), 1);
        CHECK_TEXT(output, server->instance);
        CHECK_OK(server_attach(server, &session));
        CHECK_OK(gs_detach(session));
    }
    server_stop(server);
}

/* Whether a server can see queues that others left: it can where their file system is mounted. */
static bool queues_are_listed(void)
{
    struct statfs fs;

    return statfs("/dev/mqueue", &fs) == 0 && fs.f_type == 0x19800202; /* MQUEUE_MAGIC */
}

static void after_a_kill_a_new_server_starts_and_cleans_up(void)
{
    struct server *server = server_start(NULL);
    char stale[WIRE_NAME_MAX];
    gs_session old, session;
    mqd_t queue;

    for (unsigned i = 0; i < 5; i++) {
        struct bystanders *others;
        struct server_options same = {.instance = server->instance};

        CHECK_OK(server_attach(server, &old));
        server_kill(server);
        /* A reply queue that a client left, too. */
        name_reply(stale, geteuid(), server->instance, 0x1234567812345678u + i);
        queue = mq_open(stale, O_RDONLY | O_CREAT | O_EXCL, 0600, NULL);
        CHECK(queue >= 0);
        mq_close(queue);
        server = server_start(&same);
        CHECK_OK(server_attach(server, &session));
        others = bystanders_start(1);
        bystanders_stop(others);
        CHECK_OK(gs_detach(session));
        lost_check(gs_detach(old));
        if (queues_are_listed())
            CHECK(mq_unlink(stale) < 0 && errno == ENOENT);
        else
            mq_unlink(stale);
    }
    server_stop(server);
}

static void servers_of_two_names_are_apart(void)
{
    struct server *one = server_start(NULL), *two = server_start(NULL);
    gs_session a, b;

    CHECK_OK(server_attach(one, &a));
    CHECK_OK(server_attach(two, &b));
    CHECK_EQUAL(server_tenants(one), 1);
    CHECK_EQUAL(server_tenants(two), 1);
    server_stop(one);
    CHECK_OK(gs_sync(b));
    CHECK_OK(gs_detach(b));
    lost_check(gs_detach(a));
    server_stop(two);
}

/* ---- The worker is killed ---- */

static void the_worker_killed_the_server_goes_on(void)
{
    struct server *server = server_start(NULL);
    gs_fault fault = GS_FAULT_INIT;
    gs_session session, fresh;
    gs_devptr memory;
    pid_t worker = server_worker_pid(server);
    gs_status status;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, 4096, &memory));
    kernels_load_bound(session); /* which is lost with the worker */
    CHECK(worker > 0 && worker != server->pid);
    kill(worker, SIGKILL);
    CHECK_WITHIN(5000, gs_stream_sync(session, NULL) != GS_OK);
    status = gs_memset(session, memory, 0, 16);
    CHECK_EQUAL(status, GS_ERR_INTERRUPTED);
    CHECK(gs_last_error_message()[0] != '\0');
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_EQUAL(fault.kind, GS_FAULT_DEVICE);
    CHECK_EQUAL(fault.status, GS_ERR_INTERRUPTED);
    CHECK(fault.message[0] != '\0');
    CHECK_OK(server_attach(server, &fresh));
    CHECK_OK(gs_malloc(fresh, 4096, &memory));
    CHECK_OK(gs_memset(fresh, memory, 1, 4096));
    CHECK(server_worker_pid(server) != worker);
    CHECK_OK(gs_detach(fresh));
    gs_detach(session);
    server_wait_tenants(server, 0, 2000);
    server_stop(server);
}

/* ---- gshared -d, gsctl ---- */

static void in_the_background_it_is_ready_when_its_parent_returns(void)
{
    char instance[32], output[4096];
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    snprintf(instance, sizeof(instance), "test-d-%d", (int)getpid());
    setenv("GSHARE_INSTANCE", instance, 1);
    const char *const start[] = {"bin/gshared", "-d",   "--instance", instance,
                                 "--device",    "soft", NULL};
    const char *const quit[] = {"bin/gsctl", "quit", NULL};
    CHECK_EQUAL(program_run(start, output, sizeof(output)), 0);
    params.instance = instance;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_detach(session));
    CHECK_EQUAL(program_run(quit, output, sizeof(output)), 0);
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_NO_SERVER);
    leak_check_queues(instance);
}

static int gsctl(const char *command, const char *option, char *output, size_t size)
{
    const char *const arguments[] = {"bin/gsctl", command, option, NULL};

    return program_run(arguments, output, size);
}

/* What cannot be meant, such as a variable of a script that is empty, is not taken for something
 * else. */
static void options_that_make_no_sense_are_refused_with_what_does(void)
{
    static const struct {
        const char *option, *value, *part;
    } wrong[] = {
        {"--state", "", "--state '': the name of a file"},
        {"--config", "", "--config '': the name of a file"},
        {"--instance", "no-such-user:x", "there is no such user"},
        {"--log-file", "", "--log-file '': the name of a file"},
        {"--allow-users", "", "names or numbers with commas"},
        {"--allow-users", ",", "names or numbers with commas"},
        {"--instance", "a b", "instance name 'a b': 1 to 31"},
        {"--mem-limit", "1.5G", "'1.5G': a whole number"},
        {"--mem-limit", "1M", "'1M': at least 2M"},
        {"--devices", "0", "'0': 1 to 8, or all"},
        {"--devices", "9", "'9': 1 to 8, or all"},
        {"--log", "loud", "'loud': error, warning, info or debug"},
        {"--device", "gpu", "'gpu': auto, cuda or soft"},
        {"--lanes", "0", "'0': a number from 1 to 16"},
        {"--lanes", "17", "'17': a number from 1 to 16"},
        {"--lanes", "", "'': a number from 1 to 16"},
        {"--lanes", "-1", "'-1': a number from 1 to 16"},
        {"--lanes", "4x", "'4x': a number from 1 to 16"},
    };
    char output[4096];

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        const char *const start[] = {"bin/gshared", wrong[i].option, wrong[i].value, NULL};

        CHECK_EQUAL(program_run(start, output, sizeof(output)), 2);
        CHECK_TEXT(output, wrong[i].part);
    }
}

static void variables_that_make_no_sense_are_refused_too(void)
{
    static const struct {
        const char *name, *value, *part;
    } wrong[] = {
        {"GSHARE_LOG", "loud", "GSHARE_LOG 'loud': error, warning, info or debug"},
        {"GSHARE_LANES", "0", "GSHARE_LANES '0': a number from 1 to 16"},
        {"GSHARE_LANES", "17", "GSHARE_LANES '17': a number from 1 to 16"},
        {"GSHARE_LANES", "many", "GSHARE_LANES 'many': a number from 1 to 16"},
    };
    static const char *const start[] = {"bin/gshared", NULL};
    char output[4096];

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        setenv(wrong[i].name, wrong[i].value, 1);
        CHECK_EQUAL(program_run(start, output, sizeof(output)), 2);
        CHECK_TEXT(output, wrong[i].part);
        unsetenv(wrong[i].name);
    }
}

/* The option goes before the variable; an empty variable is none. */
static void a_worker_has_the_lanes_that_were_asked_for(void)
{
    static const struct {
        const char *lanes; /* --lanes */
        const char *environment[2];
        const char *line;
    } asked[] = {
        {"3", {NULL}, " 3 dispatch lanes"},
        {"1", {"GSHARE_LANES=2"}, " 1 dispatch lanes"},
        {"16", {"GSHARE_LANES=99"}, " 16 dispatch lanes"},
        {NULL, {"GSHARE_LANES=2"}, " 2 dispatch lanes"},
        {NULL, {"GSHARE_LANES="}, " dispatch lanes"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
        const char *const arguments[] = {"--log", "debug", asked[i].lanes ? "--lanes" : NULL,
                                         asked[i].lanes, NULL};
        struct server *server = server_start(
            &(struct server_options){.arguments = arguments, .environment = asked[i].environment});

        CHECK(server_log_lines(server, asked[i].line));
        server_stop(server);
    }
}

static void endless_run(void *argument)
{
    struct gate *started = argument;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    const gs_launch_config single = GS_LAUNCH_CONFIG_1D(1, 1);
    uint32_t value = 0;
    struct where where;
    gs_session session;
    gs_stream aside;
    gs_devptr word;

    params.name = "killed";
    CHECK_OK(gs_attach(&params, &session));
    where_open(&where, session);
    CHECK_OK(gs_stream_create(session, NULL, &aside));
    CHECK_OK(gs_malloc(session, sizeof(value), &word));
    CHECK_OK(gs_launch(NULL, where.hold, &single, (void *[]){&word}));
    while (value == 0) { /* until it runs: what the worker has not taken goes with the session */
        CHECK_OK(gs_memcpy_dtoh_async(session, &value, word, sizeof(value), aside));
        CHECK_OK(gs_stream_sync(session, aside));
    }
    gate_pass(started);
    for (;;)
        pause();
}

/* Its kernel runs on until the server ends. */
static void a_killed_tenant_whose_kernel_runs_on_is_shown_as_ending(void)
{
    static const char *const arguments[] = {"--fence", "never", "--grace", "600", NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    struct gate *started = shared_alloc(sizeof(*started));
    char output[16384];
    gs_session session;
    pid_t pid = tenant_start(endless_run, started);

    CHECK_OK(server_attach(server, &session));
    gate_wait(started, 1);
    CHECK_EQUAL(gsctl("ps", NULL, output, sizeof(output)), 0);
    CHECK(strstr(output, "ending") == NULL);
    CHECK(strstr(output, "STATE") == NULL); /* the same of all: no column */
    tenant_kill(pid, SIGKILL);
    CHECK_WITHIN(10000, gsctl("ps", NULL, output, sizeof(output)) == 0 &&
                            strstr(output, "  ending    killed\n") != NULL);
    CHECK_TEXT(output, "  attached  ");
    CHECK_EQUAL(gsctl("ps", "--json", output, sizeof(output)), 0);
    CHECK_TEXT(output, "\"state\":\"ending\",\"name\":\"killed\"");
    CHECK_EQUAL(gsctl("get", NULL, output, sizeof(output)), 0);
    CHECK_TEXT(output, "killed), ending\n");
    CHECK_EQUAL(gsctl("status", NULL, output, sizeof(output)), 0);
    CHECK_TEXT(output, "tenants: 2 (1 ending)");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void gsctl_shows_status_and_tenants(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    char output[16384], id[32], pid[32];
    gs_session session;

    params.name = "shown-by-ps";
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_session_info(session, &desc));
    snprintf(id, sizeof(id), "%llu", (unsigned long long)desc.session_id);
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    CHECK_EQUAL(gsctl("status", NULL, output, sizeof(output)), 0);
    CHECK_TEXT(output, desc.device_name);
    CHECK_EQUAL(gsctl("ps", NULL, output, sizeof(output)), 0);
    CHECK_TEXT(output, "shown-by-ps");
    CHECK_TEXT(output, id);
    CHECK_WITHIN(2000,
                 gsctl("ps", NULL, output, sizeof(output)) == 0 && strstr(output, pid) != NULL);
    CHECK_OK(gs_detach(session));
    CHECK_EQUAL(gsctl("ps", NULL, output, sizeof(output)), 0);
    CHECK(strstr(output, "shown-by-ps") == NULL);
    CHECK(gsctl("no-such-command", NULL, output, sizeof(output)) != 0);
    server_stop(server);
    CHECK(gsctl("status", NULL, output, sizeof(output)) != 0);
    CHECK_TEXT(output, server->instance);
}

static void quit_run(void *argument)
{
    const char *const arguments[] = {"bin/gsctl", "quit", "-t", "20", NULL};
    char output[4096];

    CHECK_EQUAL(program_run(arguments, output, sizeof(output)), 0);
    gate_pass(argument);
}

static void gsctl_quit_gives_tenants_the_time_it_was_told(void)
{
    struct server *server = server_start(NULL);
    struct gate *done = shared_alloc(sizeof(*done));
    gs_session session, late;
    gs_devptr memory;
    pid_t pid;
    int status;

    CHECK_OK(server_attach(server, &session));
    pid = tenant_start(quit_run, done);
    /* It takes no new tenants now, and serves those it has. */
    CHECK_WITHIN(10000, ({
                     gs_status s = server_attach(server, &late);
                     if (s == GS_OK)
                         gs_detach(late);
                     s != GS_OK;
                 }));
    CHECK_OK(gs_malloc(session, 4096, &memory));
    CHECK_OK(gs_memset(session, memory, 1, 4096));
    CHECK_EQUAL(atomic_load(&done->count), 0);
    CHECK_OK(gs_detach(session));
    tenant_join(pid);
    status = tenant_wait(server->pid, 10);
    server->pid = 0;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void gsctl_quit_ends_a_server_with_tenants(void)
{
    struct server *server = server_start(NULL);
    const char *const arguments[] = {"bin/gsctl", "quit", "-t", "0", NULL};
    char output[4096];
    gs_session session;
    gs_devptr memory;
    int status;

    CHECK_OK(server_attach(server, &session));
    CHECK_EQUAL(program_run(arguments, output, sizeof(output)), 0);
    status = tenant_wait(server->pid, 10);
    server->pid = 0;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    lost_check(gs_malloc(session, 16, &memory));
    lost_check(gs_detach(session));
}

static void programs_tell_help_and_version(void)
{
    static const char *const programs[] = {"bin/gshared", "bin/gsctl"};
    char output[8192];

    for (unsigned i = 0; i < 2; i++) {
        const char *const help[] = {programs[i], "--help", NULL};
        const char *const version[] = {programs[i], "--version", NULL};
        const char *const wrong[] = {programs[i], "--no-such-option", NULL};

        CHECK_EQUAL(program_run(help, output, sizeof(output)), 0);
        CHECK_TEXT(output, "Usage");
        CHECK_EQUAL(program_run(version, output, sizeof(output)), 0);
        CHECK_TEXT(output, "0.1.0");
        CHECK(program_run(wrong, output, sizeof(output)) != 0);
    }
}

static const struct test tests[] = {
    TEST(killed_its_clients_know_within_200_ms),
    TEST(stopped_its_clients_know),
    TEST(a_second_server_of_the_name_is_refused),
    TEST(after_a_kill_a_new_server_starts_and_cleans_up),
    TEST(servers_of_two_names_are_apart),
    TEST(the_worker_killed_the_server_goes_on),
    TEST(in_the_background_it_is_ready_when_its_parent_returns),
    TEST(options_that_make_no_sense_are_refused_with_what_does),
    TEST(variables_that_make_no_sense_are_refused_too),
    TEST(a_worker_has_the_lanes_that_were_asked_for),
    TEST(a_killed_tenant_whose_kernel_runs_on_is_shown_as_ending),
    TEST(gsctl_shows_status_and_tenants),
    TEST(gsctl_quit_gives_tenants_the_time_it_was_told),
    TEST(gsctl_quit_ends_a_server_with_tenants),
    TEST(programs_tell_help_and_version),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
