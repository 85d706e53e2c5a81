/*
 * test_supervisor.c - the supervisor is killed, and another takes its place: workers and tenants go
 * on, what operators have set holds, and no memory is lost.
 */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"
#include "common/descriptor_table.h"
#include "gsctl_run.h"
#include "harness/harness.h"

#define WORDS 65536u

static const struct server_options unfenced = {.arguments =
                                                   (const char *const[]){"--fence", "never", NULL}};

static const struct server_options fenced = {.arguments =
                                                 (const char *const[]){"--fence", "always", NULL}};

/* More than so many in 10 s are not replaced. */
#define KILLS_MAX 10u

/* Returns when the next one serves. */
static void supervisor_kill(const struct server *server)
{
    const unsigned before = server_log_lines(server, "has taken the place");
    const pid_t killed = server_supervisor(server);

    CHECK(killed > 0);
    CHECK(kill(killed, SIGKILL) == 0);
    CHECK_WITHIN(10000, server_log_lines(server, "has taken the place") == before + 1);
}

/* ---- Tenants --------------------------------------------------------------------------------- */

/* Tenants that are started from now on get their answers by sockets. */
static void queues_forbid(void)
{
    CHECK(setrlimit(RLIMIT_MSGQUEUE, &(struct rlimit){0, 0}) == 0);
}

static void tenants_of_go_on(struct server *server, enum busy_with with)
{
    struct busy *busy = busy_start(with);
    const pid_t worker = server_worker_pid(server);

    for (unsigned i = 0; i < 8; i++) {
        supervisor_kill(server);
        busy_go_on(busy);
    }
    CHECK_EQUAL(server_worker_pid(server), worker);
    busy_stop(busy);
    server_wait_tenants(server, 0, 10000);
    server_stop(server);
}

static void tenants_at_work_go_on(void)
{
    tenants_of_go_on(server_start(&unfenced), BUSY_WORKING);
}

static void tenants_that_come_and_go_do_not_notice(void)
{
    tenants_of_go_on(server_start(&unfenced), BUSY_ATTACHING);
}

static void nor_do_those_without_queues(void)
{
    struct server *server = server_start(&unfenced);

    queues_forbid();
    tenants_of_go_on(server, BUSY_ATTACHING);
}

/* A session with words that are known. */
struct holder {
    gs_session session;
    gs_devptr memory;
};

static uint32_t word_of(uint32_t i)
{
    return i * 2654435761u + 7;
}

static struct holder holder_make(const struct server *server)
{
    uint32_t *words = malloc(WORDS * sizeof(*words));
    struct holder holder;

    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = word_of(i);
    CHECK_OK(server_attach(server, &holder.session));
    CHECK_OK(gs_malloc(holder.session, WORDS * sizeof(*words), &holder.memory));
    CHECK_OK(gs_memcpy_htod(holder.session, holder.memory, words, WORDS * sizeof(*words)));
    free(words);
    return holder;
}

static void holder_check(const struct holder *holder)
{
    uint32_t *words = calloc(WORDS, sizeof(*words));

    CHECK_OK(gs_memcpy_dtoh(holder->session, words, holder->memory, WORDS * sizeof(*words)));
    for (uint32_t i = 0; i < WORDS; i++)
        CHECK_EQUAL(words[i], word_of(i));
    free(words);
}

static unsigned workers_count(const struct server *server)
{
    pid_t pids[SERVER_WORKERS_MAX];

    return server_workers(server, pids);
}

/* The next supervisor has the vault, the journals and the standby of the one that was killed. */
static void a_worker_lost_after_it_loses_nobody(void)
{
    struct server *server = server_start(&unfenced);
    struct holder holder = holder_make(server);
    pid_t worker;

    CHECK_WITHIN(20000, workers_count(server) == 2);
    for (unsigned i = 0; i < 3; i++) {
        supervisor_kill(server);
        worker = server_worker_pid(server);
        CHECK(kill(worker, SIGKILL) == 0);
        CHECK_WITHIN(20000, server_worker_pid(server) != worker && server_worker_pid(server) != 0);
        holder_check(&holder);
    }
    CHECK_OK(gs_detach(holder.session));
    server_wait_tenants(server, 0, 10000);
    server_stop(server);
}

static void all_but_the_keeper_may_be_killed_at_once(void)
{
    struct server *server = server_start(&unfenced);
    struct holder holder = holder_make(server);

    CHECK_WITHIN(20000, workers_count(server) == 2);
    for (unsigned i = 0; i < 3; i++) {
        pid_t pids[SERVER_WORKERS_MAX];
        const unsigned count = server_workers(server, pids);

        CHECK(kill(server_supervisor(server), SIGKILL) == 0);
        for (unsigned w = 0; w < count; w++)
            kill(pids[w], SIGKILL); /* the next supervisor may have been quicker */
        holder_check(&holder);
    }
    CHECK_OK(gs_detach(holder.session));
    server_stop(server);
}

static void attach_and_sleep(void *argument)
{
    gs_session session;

    CHECK_OK(gs_attach(NULL, &session));
    atomic_store((_Atomic uint32_t *)argument, 1);
    for (;;)
        pause();
}

/* Its end is seen though nobody watched when it came. */
static void a_tenant_killed_with_it_is_missed(void)
{
    struct server *server = server_start(&unfenced);
    _Atomic uint32_t *attached = shared_alloc(sizeof(*attached));
    pid_t supervisor = server_supervisor(server);
    pid_t tenant = tenant_start(attach_and_sleep, attached);

    CHECK_WITHIN(10000, atomic_load(attached));
    CHECK(kill(supervisor, SIGSTOP) == 0);
    tenant_kill(tenant, SIGKILL);
    CHECK(kill(supervisor, SIGKILL) == 0);
    server_wait_tenants(server, 0, 10000);
    server_stop(server);
}

static void alone_attach(void *argument)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_qos qos = GS_QOS_INIT;
    gs_session session;

    (void)argument;
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 8;
    qos.affinity.exclusive = 1;
    params.qos = &qos;
    params.timeout_ms = 60000;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_detach(session));
}

/* For SMs that another is to leave first. Its segment is known to nobody but the supervisor. */
static void waiting_attach_goes_on(struct server *server)
{
    struct holder holder = holder_make(server);
    const pid_t worker = server_worker_pid(server);
    pid_t waiting;

    CHECK(kill(worker, SIGSTOP) == 0);
    waiting = tenant_start(alone_attach, NULL);
    server_wait_tenants(server, 2, 10000);
    CHECK(kill(server_supervisor(server), SIGKILL) == 0);
    CHECK(kill(worker, SIGCONT) == 0);
    tenant_join(waiting);
    holder_check(&holder);
    CHECK_OK(gs_detach(holder.session));
    server_stop(server);
}

static void an_attach_that_waits_goes_on(void)
{
    waiting_attach_goes_on(server_start(&unfenced));
}

static void one_without_a_queue_too(void)
{
    struct server *server = server_start(&unfenced);

    queues_forbid();
    waiting_attach_goes_on(server);
}

static pid_t pid_told(void)
{
    GSCTL_OK("status", "--json");
    return atoi(strstr(output, "\"pid\":") + strlen("\"pid\":"));
}

/* There the first supervisor has told its parent that it is ready, by a descriptor whose number is
 * soon another's. */
static void in_the_background_too(void)
{
    struct server server = {0};
    struct holder holder;

    snprintf(server.instance, sizeof(server.instance), "test-%d-d", (int)getpid());
    setenv("GSHARE_INSTANCE", server.instance, 1);
    CHECK_EQUAL(program_run((const char *[]){"bin/gshared", "-d", "--device", "soft", "--config",
                                             "none", "--fence", "never", NULL},
                            output, sizeof(output)),
                0);
    server.pid = pid_told();
    holder = holder_make(&server);
    for (unsigned i = 0; i < 3; i++) {
        const pid_t killed = server_supervisor(&server);

        CHECK(kill(killed, SIGKILL) == 0);
        CHECK_WITHIN(10000,
                     server_supervisor(&server) != killed && server_supervisor(&server) != 0);
        CHECK_EQUAL(pid_told(), server.pid);
        holder_check(&holder);
    }
    CHECK_OK(gs_detach(holder.session));
    GSCTL_OK("quit", "-y");
}

/* Both were harmed at once: the next supervisor waits for that worker, and gsctl for the answer. */
static void a_worker_that_is_stopped_does_not_hold_the_next_one_up(void)
{
    struct server *server = server_start(&unfenced);
    struct holder holder = holder_make(server);
    const pid_t worker = server_worker_pid(server);
    const uint64_t deadline = test_deadline(2800);

    CHECK(kill(worker, SIGSTOP) == 0);
    CHECK(kill(server_supervisor(server), SIGKILL) == 0);
    GSCTL_OK("status");
    CHECK(clock_ns() < deadline);
    CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != worker);
    holder_check(&holder); /* its worker is the standby now */
    CHECK_OK(gs_detach(holder.session));
    server_stop(server);
}

/* ---- Operators ------------------------------------------------------------------------------- */

static uint64_t id_of(gs_session session)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;

    CHECK_OK(gs_session_info(session, &desc));
    return desc.session_id;
}

static unsigned sms_of(gs_session session)
{
    gs_exec_affinity affinity;

    CHECK_OK(gs_get_exec_affinity(session, &affinity));
    return affinity.sm_count;
}

static void what_is_set_holds(void)
{
    struct server *server = server_start(&unfenced);
    static char before[sizeof(output)];
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session, other;
    gs_qos qos = GS_QOS_INIT;
    char id[32];

    CHECK_OK(server_attach(server, &session));
    const unsigned all = sms_of(session);
    snprintf(id, sizeof(id), "%llu", (unsigned long long)id_of(session));
    GSCTL_OK("set", "--default", "--weight", "3");
    GSCTL_OK("set", "--user", "1234", "--mem", "1G");
    GSCTL_OK("set", id, "--sms", "4", "--exclusive");
    GSCTL_OK("reserve", "two", "--sms", "2");
    GSCTL_OK("get", "--json");
    memcpy(before, output, sizeof(before));
    supervisor_kill(server);
    GSCTL_OK("get", "--json");
    CHECK(strcmp(before, output) == 0);

    CHECK_OK(gs_get_qos(session, &qos));
    CHECK_EQUAL(qos.weight, 3);
    CHECK_EQUAL(sms_of(session), 4);
    params.reservation = "two";
    CHECK_OK(gs_attach(&params, &other));
    CHECK_EQUAL(sms_of(other), 2);
    CHECK_OK(gs_detach(other));
    CHECK_OK(server_attach(server, &other));
    CHECK_EQUAL(sms_of(other), all - 6); /* what is neither reserved nor another's alone */
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Another program ------------------------------------------------------------------------- */

/* Returns when the program that is installed now serves. */
static void upgrade(const struct server *server)
{
    const unsigned before = server_log_lines(server, "has taken the place");

    CHECK(kill(server->pid, SIGUSR2) == 0);
    CHECK_WITHIN(10000, server_log_lines(server, "has taken the place") == before + 1);
}

static void tenants_go_on_beside_an_upgrade(void)
{
    struct server *server = server_start(&fenced);
    struct holder holder = holder_make(server);
    struct busy *busy = busy_start(BUSY_WORKING);
    const pid_t worker = server_worker_pid(server);

    for (unsigned i = 0; i < 4; i++) {
        upgrade(server);
        busy_go_on(busy);
        holder_check(&holder);
    }
    supervisor_kill(server);
    busy_go_on(busy);
    CHECK_EQUAL(server_worker_pid(server), worker);
    GSCTL_OK("restart-worker");
    busy_go_on(busy);
    busy_stop(busy);
    holder_check(&holder);
    CHECK_OK(gs_detach(holder.session));
    server_wait_tenants(server, 0, 10000);
    server_stop(server);
}

static void without_tenants_it_is_as_good(void)
{
    struct server *server = server_start(&unfenced);
    struct holder holder;

    upgrade(server);
    holder = holder_make(server);
    upgrade(server);
    holder_check(&holder);
    CHECK_OK(gs_detach(holder.session));
    server_stop(server);
}

static void link_to(const char *from, const char *folder, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    CHECK(symlink(from, path) == 0);
}

/* Another program stands where the server's was. */
static void a_program_that_cannot_go_on_changes_nothing(void)
{
    char folder[] = "/tmp/gshare-upgrade-XXXXXX", program[64], command[2 * PATH_MAX];
    struct server *server;
    struct holder holder;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(program, sizeof(program), "%s/bin/gshared", folder);
    snprintf(command, sizeof(command), "mkdir %s/bin && cp %s %s", folder,
             test_build_path("bin/gshared"), program);
    CHECK(system(command) == 0);
    link_to(test_build_path("lib"), folder, "lib");
    server = server_start(&(struct server_options){.program = program});
    holder = holder_make(server);
    snprintf(command, sizeof(command), "rm %s && cp /bin/false %s", program, program);
    CHECK(system(command) == 0);
    CHECK(kill(server->pid, SIGUSR2) == 0);
    CHECK_WITHIN(10000, server_log_lines(server, "it takes a restart") == 1);
    CHECK(remove(program) == 0);
    CHECK(kill(server->pid, SIGUSR2) == 0);
    CHECK_WITHIN(10000, server_log_lines(server, "No such file or directory") == 1);
    holder_check(&holder);
    supervisor_kill(server);
    holder_check(&holder);
    CHECK_OK(gs_detach(holder.session));
    server_stop(server);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK(system(command) == 0);
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static int process_watch(pid_t pid)
{
    const int process = (int)syscall(SYS_pidfd_open, pid, 0);

    CHECK(process >= 0);
    return process;
}

static void the_keepers_end_is_the_servers(void)
{
    struct server *server = server_start(&unfenced);
    struct holder holder = holder_make(server);
    pid_t pids[SERVER_WORKERS_MAX];
    int process[3];
    gs_devptr more;

    CHECK_WITHIN(20000, server_workers(server, pids) == 2);
    process[0] = process_watch(pids[0]);
    process[1] = process_watch(pids[1]);
    process[2] = process_watch(server_supervisor(server));
    CHECK(kill(pids[0], SIGSTOP) == 0); /* it could not see that its socket is closed */
    server_kill(server);
    CHECK_EQUAL(gs_malloc(holder.session, 4096, &more), GS_ERR_SERVER_LOST);
    for (unsigned i = 0; i < ARRAY_SIZE(process); i++) {
        struct pollfd ended = {process[i], POLLIN, 0};

        CHECK_WITHIN(10000, poll(&ended, 1, 0) == 1);
        close(process[i]);
    }
    gs_detach(holder.session);
}

/* A supervisor that is killed over and over is not started for ever. */
static void one_that_cannot_live_ends_the_server(void)
{
    struct server *server = server_start(&unfenced);
    struct holder holder = holder_make(server);
    gs_devptr more;
    int status;

    for (unsigned i = 0; i < KILLS_MAX; i++)
        supervisor_kill(server);
    CHECK(kill(server_supervisor(server), SIGKILL) == 0);
    status = tenant_wait(server->pid, 10);
    server->pid = 0;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK_EQUAL(gs_malloc(holder.session, 4096, &more), GS_ERR_SERVER_LOST);
    CHECK_EQUAL(server_log_lines(server, "no other takes its place"), 1);
    gs_detach(holder.session);
}

static void a_signal_to_the_server_reaches_the_next_supervisor(void)
{
    struct server *server = server_start(&unfenced);

    supervisor_kill(server);
    server_stop(server);
}

/* What ps and top show beside the process ids. */
static void processes_have_names_that_tell_what_they_are(void)
{
    struct server *server = server_start(&unfenced);
    const pid_t pids[] = {server_supervisor(server), server_worker_pid(server)};
    static const char *const names[] = {"gshared\n", "gshared-worker\n"};

    for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
        char path[64], name[32] = "";
        snprintf(path, sizeof(path), "/proc/%d/comm", (int)pids[i]);
        FILE *file = fopen(path, "r");
        CHECK(file && fgets(name, sizeof(name), file));
        fclose(file);
        CHECK(!strcmp(name, names[i]));
    }
    server_stop(server);
}

/* Before they need them, and where none of their threads waits for it. Another supervisor has the
 * same table. */
static void processes_have_room_for_descriptors(void)
{
    struct server *server = server_start(&unfenced);
    const pid_t pids[] = {server_supervisor(server), server_worker_pid(server)};

    for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
        char path[64], line[256];
        struct rlimit limit;
        unsigned size = 0;

        CHECK(prlimit(pids[i], RLIMIT_NOFILE, NULL, &limit) == 0);
        snprintf(path, sizeof(path), "/proc/%d/status", (int)pids[i]);
        FILE *file = fopen(path, "r");
        CHECK(file);
        while (fgets(line, sizeof(line), file))
            sscanf(line, "FDSize: %u", &size);
        fclose(file);
        CHECK(size >=
              (limit.rlim_cur < DESCRIPTOR_TABLE_SIZE ? limit.rlim_cur : DESCRIPTOR_TABLE_SIZE));
    }
    server_stop(server);
}

static int oom_score(pid_t pid)
{
    char path[48];
    int score = 0;

    snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
    FILE *file = fopen(path, "r");
    CHECK(file && fscanf(file, "%d", &score) == 1);
    fclose(file);
    return score;
}

/* Whether the score could be changed to that. */
static bool oom_score_set(int score)
{
    FILE *file = fopen("/proc/self/oom_score_adj", "w");

    CHECK(file);
    fprintf(file, "%d", score);
    return fclose(file) == 0;
}

/* Also before workers of a later supervisor, or of another program. */
static void where_memory_is_short_workers_go_before_supervisor_and_keeper(void)
{
    enum { GIVEN = 300, SPARED = -1000 };
    const bool right = oom_score_set(SPARED);

    CHECK(oom_score_set(GIVEN));
    struct server *server = server_start(&unfenced);

    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQUAL(oom_score(server->pid), right ? SPARED : GIVEN);
        CHECK_EQUAL(oom_score(server_supervisor(server)), right ? SPARED : GIVEN);
        CHECK_EQUAL(oom_score(server_worker_pid(server)), right ? GIVEN : GIVEN + 100);
        if (i == 0)
            supervisor_kill(server);
        else
            upgrade(server);
        server_worker_replace(server, 0);
    }
    server_stop(server);
}

static const struct test tests[] = {
    TEST_WITHIN(tenants_at_work_go_on, 180),
    TEST_WITHIN(tenants_that_come_and_go_do_not_notice, 180),
    TEST_WITHIN(nor_do_those_without_queues, 180),
    TEST(a_worker_lost_after_it_loses_nobody),
    TEST(all_but_the_keeper_may_be_killed_at_once),
    TEST(a_tenant_killed_with_it_is_missed),
    TEST(in_the_background_too),
    TEST(a_worker_that_is_stopped_does_not_hold_the_next_one_up),
    TEST(an_attach_that_waits_goes_on),
    TEST(one_without_a_queue_too),
    TEST(what_is_set_holds),
    TEST_WITHIN(tenants_go_on_beside_an_upgrade, 180),
    TEST(without_tenants_it_is_as_good),
    TEST(a_program_that_cannot_go_on_changes_nothing),
    TEST(the_keepers_end_is_the_servers),
    TEST(one_that_cannot_live_ends_the_server),
    TEST(a_signal_to_the_server_reaches_the_next_supervisor),
    TEST(processes_have_names_that_tell_what_they_are),
    TEST(processes_have_room_for_descriptors),
    TEST(where_memory_is_short_workers_go_before_supervisor_and_keeper),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
