/*
 * test_trace.c - `gsctl trace`: what tenants submitted and devices did is in the file, all of it,
 * on one clock, and nobody else's.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/request.h"
#include "common/trace.h"
#include "gsctl_run.h"
#include "harness/harness.h"
#include "trace_read.h"

#define STRANGER 65534u
#define WORDS    1024u

/* ---- Tenants that launch --------------------------------------------------------------------- */

struct player {
    const char *name, *kernel;
    unsigned launches, copies;
    uid_t uid;
    struct gate ready, go, done, leave;
};

static void launch_all(const struct player *player, gs_session session, gs_module module,
                       gs_devptr data)
{
    const gs_kernel kernel = kernels_get(module, player->kernel);
    const bool scale = !strcmp(player->kernel, "scale");
    const uint32_t n = WORDS;
    gs_stream stream;

    CHECK_OK(gs_stream_create(session, NULL, &stream));
    for (unsigned i = 0; i < player->launches; i++) {
        const float factor = 1;
        void *scaled[] = {&data, (void *)&factor, (void *)&n}, *counted[] = {&data};

        CHECK_OK(kernels_launch(i % 2 ? stream : NULL, kernel, scale ? WORDS / 64 : 1,
                                scale ? 64 : 1, scale ? scaled : counted));
    }
    for (unsigned i = 0; i < player->copies; i++) {
        uint32_t word = i;
        CHECK_OK(gs_memcpy_htod(session, data, &word, sizeof(word)));
    }
    CHECK_OK(gs_sync(session));
}

static void play(void *argument)
{
    struct player *player = argument;
    gs_devptr data;

    if (player->uid)
        CHECK(setgid(player->uid) == 0 && setuid(player->uid) == 0);
    gs_session session = attach_named(player->name);
    gs_module module = kernels_load(session);
    CHECK_OK(gs_malloc(session, WORDS * sizeof(uint32_t), &data));
    gate_pass(&player->ready);
    gate_wait(&player->go, 1);
    launch_all(player, session, module, data);
    gate_pass(&player->done);
    gate_wait(&player->leave, 1);
    CHECK_OK(gs_detach(session));
}

static struct player *player_make(const char *name, const char *kernel, unsigned launches,
                                  unsigned copies)
{
    struct player *player = shared_alloc(sizeof(*player));

    *player =
        (struct player){.name = name, .kernel = kernel, .launches = launches, .copies = copies};
    return player;
}

static pid_t player_start(struct player *player)
{
    const pid_t pid = tenant_start(play, player);

    gate_wait(&player->ready, 1);
    return pid;
}

/* The device's word of an end comes to the worker a little after its word to the tenant. So a
 * tenant's last spans are there once its session has ended. */
static void player_leave(struct player *player, pid_t pid)
{
    gate_wait(&player->done, 1);
    gate_pass(&player->leave);
    tenant_join(pid);
}

static void check_played(const struct trace_file *file, const struct player *player)
{
    const uint64_t pid = traced_process(file, player->name);

    CHECK(pid != 0);
    CHECK_EQUAL(traced_submissions(file, pid, player->kernel), player->launches);
    CHECK_EQUAL(traced_submissions(file, pid, "copy"), player->copies);
    CHECK_EQUAL(traced_launches(file, pid), player->launches);
}

/* ---- What is in it --------------------------------------------------------------------------- */

static void a_trace_has_the_kernels_of_two_tenants_on_one_clock(void)
{
    struct server *server = server_start(NULL);
    struct player *one = player_make("one", "increment", 500, 0);
    struct player *two = player_make("two", "scale", 131, 7);
    struct trace_file file;
    struct tracer tracer;
    uint64_t ended = 0;

    const pid_t first = player_start(one);
    tracer_start(&tracer, 0, NULL, NULL);
    const pid_t second = player_start(two); /* attaches while it is traced */
    gate_pass(&one->go);
    gate_pass(&two->go);
    player_leave(one, first);
    player_leave(two, second);
    server_wait_tenants(server, 0, 10000);
    tracer_finish(&tracer, &file);
    CHECK_EQUAL(file.lost, 0);
    check_played(&file, one);
    check_played(&file, two);
    traced_check_clock(&file);
    for (size_t i = 0; i < file.count; i++)
        ended += !strcmp(file.event[i].cat, "device") && file.event[i].ended;
    CHECK(ended > 0);
    CHECK(traced_find(&file, 'i', "attached") != NULL);
    CHECK_EQUAL(traced_find(&file, 'i', "attached")->pid, traced_process(&file, "two"));
    CHECK(traced_find(&file, 'i', "detached") != NULL);
    CHECK_TEXT(tracer.said, "2 tenants, 631 launches");
    server_stop(server);
}

static void tenants_that_move_between_lanes_are_traced_whole(void)
{
    static const char *const environment[] = {"GSHARE_LANES=4", NULL};
    struct server *server = server_start(&(struct server_options){.environment = environment});
    static const char *const names[] = {"lane-a", "lane-b", "lane-c", "lane-d", "lane-e", "lane-f"};
    struct player *player[ARRAY_SIZE(names)];
    pid_t pid[ARRAY_SIZE(names)];
    struct trace_file file;
    struct tracer tracer;

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        player[i] = player_make(names[i], "increment", 1500, 3);
        pid[i] = player_start(player[i]);
    }
    tracer_start(&tracer, 0, NULL, NULL);
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
        gate_pass(&player[i]->go);
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
        player_leave(player[i], pid[i]);
    server_wait_tenants(server, 0, 10000);
    tracer_finish(&tracer, &file);
    for (unsigned i = 0; i < ARRAY_SIZE(names) && file.lost == 0; i++)
        check_played(&file, player[i]);
    server_stop(server);
}

static void a_trace_shows_the_partition_that_a_kernel_ran_in(void)
{
    struct server *server = server_start(NULL);
    struct player *player = player_make("half", "increment", 50, 0);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    struct trace_file file;
    struct tracer tracer;
    char id[24];
    uint64_t sms = 0;

    const gs_session session = attach_named("asks");
    CHECK_OK(gs_session_info(session, &desc));
    CHECK_OK(gs_detach(session));
    const pid_t pid = player_start(player);
    snprintf(id, sizeof(id), "%llu", (unsigned long long)desc.session_id + 1);
    tracer_start(&tracer, 0, "--tenant", id);
    GSCTL_OK("set", id, "--percentage", "50");
    gate_pass(&player->go);
    player_leave(player, pid);
    server_wait_tenants(server, 0, 10000);
    tracer_finish(&tracer, &file);
    check_played(&file, player);
    for (size_t i = 0; i < file.count; i++) {
        const struct traced *e = &file.event[i];
        if (e->ph == 'C' && !strcmp(e->name, "SMs granted"))
            sms = e->sms; /* the last grant */
    }
    CHECK(sms > 0);
    for (size_t i = 0; i < file.count; i++) {
        if (!strcmp(file.event[i].cat, "device") && file.event[i].launches)
            CHECK_EQUAL(file.event[i].sms, sms);
    }
    server_stop(server);
}

/* A session with variables of a module can be taken up where it is fenced. */
static void a_trace_goes_on_over_a_takeover(void)
{
    static const char *const arguments[] = {"--fence", "always", NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    struct player *player = player_make("stays", "increment", 40, 0);
    const struct traced *takeover, *worker;
    struct trace_file file;
    struct tracer tracer;
    gs_devptr data;

    const gs_session session = attach_named(player->name);
    const gs_module module = kernels_load(session);
    CHECK_OK(gs_malloc(session, WORDS * sizeof(uint32_t), &data));
    const pid_t lost = server_worker_pid(server);
    tracer_start(&tracer, 0, NULL, NULL);
    launch_all(player, session, module, data);
    /* A tenant learns of the end of a kernel before the worker has accounted for its launch. */
    CHECK_WITHIN(10000, gsctl("ps", "--json", NULL) == 0 && strstr(output, "\"launches\":40,"));
    CHECK_EQUAL(kill(lost, SIGKILL), 0);
    CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != lost);
    launch_all(player, session, module, data);
    const pid_t next = server_worker_pid(server);
    CHECK_OK(gs_detach(session));
    server_wait_tenants(server, 0, 10000);
    tracer_finish(&tracer, &file);
    CHECK_EQUAL(traced_submissions(&file, traced_process(&file, "stays"), "increment"), 80);
    CHECK_EQUAL(traced_launches(&file, traced_process(&file, "stays")), 80);
    traced_check_clock(&file);
    CHECK(traced_find(&file, 'i', "worker lost") != NULL);
    takeover = traced_find(&file, 'X', "takeover");
    CHECK(takeover && takeover->dur > 0);
    worker = traced_find(&file, 'i', "worker traces");
    CHECK(worker && worker->process == lost);
    CHECK(worker->ts < takeover->ts);
    while (worker < file.event + file.count &&
           (strcmp(worker->name, "worker traces") != 0 || worker->process != next))
        worker++;
    CHECK(worker < file.event + file.count && worker->ts > takeover->ts);
    server_stop(server);
}

static void a_trace_goes_on_with_the_next_supervisor(void)
{
    struct server *server = server_start(NULL);
    struct player *player = player_make("works on", "increment", 40, 0);
    struct trace_file file;
    struct tracer tracer;

    const pid_t pid = player_start(player);
    tracer_start(&tracer, 0, NULL, NULL);
    const pid_t killed = server_supervisor(server);
    CHECK_EQUAL(kill(killed, SIGKILL), 0);
    CHECK_WITHIN(20000, server_supervisor(server) != 0 && server_supervisor(server) != killed);
    gate_pass(&player->go);
    player_leave(player, pid);
    server_wait_tenants(server, 0, 10000);
    tracer_finish(&tracer, &file);
    check_played(&file, player);
    CHECK(traced_find(&file, 'i', "detached") != NULL);
    server_stop(server);
}

/* ---- The picture ----------------------------------------------------------------------------- */

/* Checks that the text is one XML element with all its elements closed; counts those of a name. */
static unsigned elements(const char *text, const char *name)
{
    char open[16][32];
    unsigned depth = 0, count = 0;

    while ((text = strpbrk(text, "<&"))) {
        char tag[32];

        if (*text == '&') {
            CHECK(text[1] == '#' && text[2 + strspn(text + 2, "0123456789")] == ';');
            text++;
            continue;
        }
        CHECK_EQUAL(sscanf(text + 1, "%31[/a-z]", tag), 1);
        text = strchr(text, '>');
        CHECK(text != NULL);
        if (tag[0] == '/') {
            CHECK(depth > 0 && !strcmp(open[--depth], tag + 1));
        } else if (text[-1] != '/') {
            CHECK(depth < ARRAY_SIZE(open));
            snprintf(open[depth++], sizeof(open[0]), "%s", tag);
        }
        count += !strcmp(tag, name);
    }
    CHECK_EQUAL(depth, 0);
    return count;
}

static void a_picture_has_a_row_for_each_tenant(void)
{
    struct server *server = server_start(NULL);
    struct player *one = player_make("<one> & \"only\"", "increment", 20, 0);
    struct player *two = player_make("two", "scale", 33, 0);
    static char text[1 << 20];
    struct trace_file file;
    struct tracer tracer;
    const char *path;

    const int fd = test_file_open(&path);
    const pid_t first = player_start(one), second = player_start(two);
    tracer_start(&tracer, 0, "--svg", path);
    gate_pass(&one->go);
    gate_pass(&two->go);
    player_leave(one, first);
    player_leave(two, second);
    server_wait_tenants(server, 0, 10000);
    tracer_finish(&tracer, &file); /* it writes both */
    check_played(&file, two);
    const ssize_t size = read(fd, text, sizeof(text) - 1);
    CHECK(size > 0);
    close(fd);
    CHECK_EQUAL(elements(text, "svg"), 1);
    CHECK(elements(text, "rect") > 4);
    CHECK_TEXT(text, "&#60;one&#62; &#38; &#34;only&#34;");
    CHECK_TEXT(text, ">two<");
    CHECK_TEXT(text, "20 launches");
    CHECK_TEXT(text, "33 launches");
    CHECK_EQUAL(gsctl("trace", "--svg", "/no/such/folder/x", NULL), 1);
    CHECK_EQUAL(gsctl("trace", "--svg", NULL), 2);
    CHECK_EQUAL(gsctl("trace", "--svg", "-o", "picture", NULL), 2);
    CHECK_TEXT(output, "--svg: a file is missing before '-o'");
    CHECK_EQUAL(gsctl("trace", "--seconds", "1", "-o", "--svg", NULL), 2);
    CHECK_TEXT(output, "--output: a file is missing before '--svg'");
    server_stop(server);
}

static void the_summary_names_all_files_and_a_tenant_who_is_not_there(void)
{
    struct server *server = server_start(NULL);
    const char *svg;
    char wanted[256];

    const int fd = test_file_open(&svg);
    GSCTL_OK("trace", "--seconds", "1", "--svg", svg, "-o", "/dev/null");
    snprintf(wanted, sizeof(wanted), "gsctl: /dev/null, %s: ", svg);
    CHECK_TEXT(output, wanted);
    CHECK(strstr(output, "was there") == NULL);
    GSCTL_OK("trace", "--seconds", "1", "--svg", svg, "--tenant", "99");
    snprintf(wanted, sizeof(wanted), "gsctl: %s: ", svg);
    CHECK_TEXT(output, wanted);
    CHECK_TEXT(output, "nobody of --tenant was there");
    close(fd);
    server_stop(server);
}

/* ---- Who sees it ----------------------------------------------------------------------------- */

static void another_user_sees_only_sessions_of_his_own(void)
{
    if (geteuid() != 0)
        test_skip("only root's server serves others");
    struct server *server = server_start(NULL);
    struct player *mine = player_make("root-secret", "increment", 60, 0);
    struct player *his = player_make("stranger", "scale", 30, 0);
    struct trace_file file;
    struct tracer tracer;

    his->uid = STRANGER;
    pid_t first = player_start(mine), second = player_start(his);
    tracer_start(&tracer, STRANGER, NULL, NULL);
    gate_pass(&mine->go);
    gate_pass(&his->go);
    player_leave(mine, first);
    player_leave(his, second);
    server_wait_tenants(server, 0, 10000);
    tracer_finish(&tracer, &file);
    check_played(&file, his);
    CHECK_EQUAL(traced_process(&file, "root-secret"), 0);
    for (size_t i = 0; i < file.count; i++)
        CHECK(!strstr(file.event[i].name, "increment"));
    CHECK_TEXT(tracer.said, "1 tenant, 30 launches");

    /* Root sees both. */
    mine = player_make("root-secret", "increment", 60, 0);
    his = player_make("stranger", "scale", 30, 0);
    his->uid = STRANGER;
    first = player_start(mine);
    second = player_start(his);
    tracer_start(&tracer, 0, NULL, NULL);
    gate_pass(&mine->go);
    gate_pass(&his->go);
    player_leave(mine, first);
    player_leave(his, second);
    server_wait_tenants(server, 0, 10000);
    tracer_finish(&tracer, &file);
    check_played(&file, mine);
    check_played(&file, his);
    server_stop(server);
}

static void the_owner_takes_the_place_of_another_users_trace(void)
{
    if (geteuid() != 0)
        test_skip("only root's server serves others");
    struct server *server = server_start(NULL);
    struct tracer his, mine;
    struct trace_file file;

    tracer_start(&his, STRANGER, NULL, NULL);
    tracer_start(&mine, 0, NULL, NULL);
    const int status = tracer_end(&his, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK_TEXT(his.said, "the server's owner began another");
    tracer_read(&his, &file);
    close(his.file);
    CHECK_EQUAL(gsctl("trace", "-o", "/dev/null", NULL), 1);
    CHECK_TEXT(output, "device 0 is traced by user root; one trace at a time");
    tracer_finish(&mine, &file);
    server_stop(server);
}

static void trace_beside_run(void *argument)
{
    (void)argument;
    CHECK(setgid(STRANGER - 1) == 0 && setuid(STRANGER - 1) == 0);
    CHECK_EQUAL(gsctl("trace", "-o", "/dev/null", NULL), 1);
    CHECK_TEXT(output, "device 0 is traced by another user; one trace at a time");
}

static void a_user_does_not_learn_who_traces(void)
{
    if (geteuid() != 0)
        test_skip("only root's server serves others");
    struct server *server = server_start(NULL);
    struct trace_file file;
    struct tracer his;

    tracer_start(&his, STRANGER, NULL, NULL);
    tenant_join(tenant_start(trace_beside_run, NULL));
    tracer_finish(&his, &file);
    server_stop(server);
}

static gs_status trace_ask(struct control *control, uint32_t action, int32_t *id)
{
    struct ctl_trace request = {.action = action, .segment_id = *id};
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_trace_reply reply;
    const gs_status status = control_ask(control, &request.h, CTL_TRACE, sizeof(request), &reply,
                                         sizeof(reply), test_deadline(10000), message);

    if (status == GS_OK)
        *id = reply.segment_id;
    return status;
}

/* How often another user begins and ends a trace before that is refused. */
static void trace_on_and_on(void *instance)
{
    char message[REQUEST_MESSAGE_MAX];
    gs_status status = GS_OK;
    struct control control;
    int32_t id = -1;

    CHECK(setgid(STRANGER) == 0 && setuid(STRANGER) == 0);
    CHECK_EQUAL(control_open(&control, instance, message), GS_OK);
    for (unsigned i = 0; i < 100 && status == GS_OK; i++) {
        status = trace_ask(&control, CTL_TRACE_BEGIN, &id);
        if (status == GS_OK)
            CHECK_EQUAL(trace_ask(&control, CTL_TRACE_END, &id), GS_OK);
    }
    CHECK_EQUAL(status, GS_ERR_LIMIT);
    /* A trace that there is not, or another's. */
    CHECK_EQUAL(trace_ask(&control, CTL_TRACE_KEEP, &id), GS_ERR_NOT_FOUND);
    CHECK_EQUAL(trace_ask(&control, CTL_TRACE_END, &id), GS_ERR_NOT_FOUND);
    CHECK_EQUAL(trace_ask(&control, CTL_TRACE_END + 1, &id), GS_ERR_INVALID_VALUE);
    control_close(&control);
}

static void another_user_cannot_begin_trace_after_trace(void)
{
    if (geteuid() != 0)
        test_skip("only root's server serves others");
    struct server *server = server_start(NULL);
    char instance[64];

    snprintf(instance, sizeof(instance), "root:%s", server->instance);
    tenant_join(tenant_start(trace_on_and_on, instance));
    server_stop(server);
}

/* ---- Its end --------------------------------------------------------------------------------- */

/* System V segments of the size of a trace. */
static unsigned trace_segments(void)
{
    FILE *file = fopen("/proc/sysvipc/shm", "re");
    unsigned long long size;
    unsigned count = 0;
    char line[512];

    CHECK(file != NULL && fgets(line, sizeof(line), file) != NULL);
    while (fgets(line, sizeof(line), file))
        count +=
            sscanf(line, "%*d %*d %*o %llu", &size) == 1 && size == sizeof(struct trace_segment);
    fclose(file);
    return count;
}

/* The segment goes when the worker, too, has detached it. */
static void tracing_ends_with_a_gsctl_that_is_killed(void)
{
    struct server *server = server_start(NULL);
    const gs_session session = attach_named("goes on");
    const unsigned before = trace_segments();
    struct trace_file file;
    struct tracer tracer;

    tracer_start(&tracer, 0, NULL, NULL);
    CHECK_EQUAL(trace_segments(), before + 1);
    const int status = tracer_end(&tracer, SIGKILL);
    CHECK(WIFSIGNALED(status));
    close(tracer.file);
    CHECK_WITHIN(15000, trace_segments() == before);
    /* A next one finds its place free. */
    tracer_start(&tracer, 0, NULL, NULL);
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(session), "nothing"), 1, 1, NULL));
    CHECK_OK(gs_detach(session));
    server_wait_tenants(server, 0, 10000);
    tracer_finish(&tracer, &file);
    CHECK_EQUAL(traced_launches(&file, traced_process(&file, "goes on")), 1);
    CHECK_WITHIN(15000, trace_segments() == before);
    server_stop(server);
}

static void a_trace_that_loses_its_server_is_written(void)
{
    struct server *server = server_start(NULL);
    struct trace_file file;
    struct tracer tracer;

    tracer_start(&tracer, 0, NULL, NULL);
    server_stop(server);
    const int status = tracer_end(&tracer, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    tracer_read(&tracer, &file);
    close(tracer.file);
    CHECK(traced_find(&file, 'i', "worker traces") != NULL);
}

static const struct test tests[] = {
    TEST(a_trace_has_the_kernels_of_two_tenants_on_one_clock),
    TEST(tenants_that_move_between_lanes_are_traced_whole),
    TEST(a_trace_shows_the_partition_that_a_kernel_ran_in),
    TEST(a_trace_goes_on_over_a_takeover),
    TEST(a_trace_goes_on_with_the_next_supervisor),
    TEST(a_picture_has_a_row_for_each_tenant),
    TEST(the_summary_names_all_files_and_a_tenant_who_is_not_there),
    TEST(another_user_sees_only_sessions_of_his_own),
    TEST(the_owner_takes_the_place_of_another_users_trace),
    TEST(a_user_does_not_learn_who_traces),
    TEST(another_user_cannot_begin_trace_after_trace),
    TEST(tracing_ends_with_a_gsctl_that_is_killed),
    TEST(a_trace_that_loses_its_server_is_written),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
