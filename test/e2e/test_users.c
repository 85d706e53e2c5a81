/* test_users.c - root's server and other users: what is finite is bounded for each of them, some of
 * it is kept for the operator, and what they may ask for is modest unless it is granted. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/request.h"
#include "harness/harness.h"
#include "memory_group.h"

#define STRANGER 65534u
#define MIB      ((size_t)1 << 20)

static char output[32768];

static int gsctl(const char *a, const char *b, const char *c, const char *d, const char *e)
{
    const char *const arguments[] = {"bin/gsctl", a, b, c, d, e, NULL};

    return program_run(arguments, output, sizeof(output));
}

static struct server *shared_server(const char *const *arguments)
{
    if (geteuid() != 0)
        test_skip("only root's server serves others");
    return server_start(&(struct server_options){.arguments = arguments});
}

struct stranger {
    struct gate ready, go, done;
    unsigned attached;
    char message[256];
};

static void become_stranger(void)
{
    CHECK(setgid(STRANGER) == 0 && setuid(STRANGER) == 0);
}

/* ---- Sessions ---- */

static void attach_all_run(void *argument)
{
    struct stranger *stranger = argument;
    gs_status status = GS_OK;
    gs_session session;

    become_stranger();
    while (status == GS_OK && stranger->attached < 100) {
        status = gs_attach(NULL, &session);
        stranger->attached += status == GS_OK;
    }
    CHECK_STATUS(status, GS_ERR_LIMIT);
    snprintf(stranger->message, sizeof(stranger->message), "%s", gs_last_error_message());
    gate_pass(&stranger->ready);
    gate_wait(&stranger->go, 1);
}

/* How many sessions another user gets; they end with the next call of strangers_go. */
static pid_t strangers_attach(struct stranger *stranger)
{
    pid_t pid = tenant_start(attach_all_run, stranger);

    gate_wait(&stranger->ready, 1);
    return pid;
}

static void strangers_go(struct server *server, struct stranger *stranger, pid_t pid)
{
    gate_pass(&stranger->go);
    tenant_join(pid);
    server_wait_tenants(server, 0, 10000);
    memset(stranger, 0, sizeof(*stranger));
}

struct looks {
    bool observes;
    char session[24]; /* the number of another user's */
};

/* Everything that tells of sessions and of what is set for users. */
static void looks_run(void *argument)
{
    static const char *const commands[] = {"ps", "get", "info", "dump"};
    const struct looks *looks = argument;
    gs_session own;

    become_stranger();
    own = attach_named("strangers_own");
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        CHECK_EQUAL(gsctl(commands[i], "--json", NULL, NULL, NULL), 0);
        CHECK_TEXT(output, "strangers_own");
        CHECK_EQUAL(strstr(output, "operators_own") != NULL, looks->observes);
    }
    CHECK_EQUAL(gsctl("ps", "--json", NULL, NULL, NULL), 0);
    CHECK_TEXT(output, looks->observes ? "\"tenants_hidden\":0" : "\"tenants_hidden\":1");
    CHECK_EQUAL(gsctl("dump", "--json", NULL, NULL, NULL), 0);
    CHECK_TEXT(output, looks->observes ? "\"tenants_hidden\":0" : "\"tenants_hidden\":1");
    CHECK_EQUAL(gsctl("mps", "lspart", NULL, NULL, NULL), 0);
    CHECK_TEXT(output, looks->observes ? " theirs      -      0      -     4     Yes\n"
                                       : " theirs      -      0      -     4     -\n");
    CHECK_TEXT(output, looks->observes ? " nobodys     -      0      -     4     No\n"
                                       : " nobodys     -      0      -     4     -\n");
    CHECK_EQUAL(gsctl("mps", "--json", "lspart", NULL, NULL), 0);
    CHECK_EQUAL(strstr(output, "\"clients\":null") != NULL, !looks->observes);
    CHECK_EQUAL(gsctl("get", NULL, NULL, NULL, NULL), 0);
    CHECK_EQUAL(strstr(output, "1234M") != NULL, looks->observes);
    CHECK_EQUAL(gsctl("explain", looks->session, NULL, NULL, NULL), looks->observes ? 0 : 1);
    CHECK_TEXT(output, looks->observes ? "operators_own" : "there is no session ");
    CHECK_EQUAL(gsctl("ps", NULL, NULL, NULL, NULL), 0);
    CHECK_EQUAL(strstr(output, "1 session of other users is not shown") != NULL, !looks->observes);
    CHECK_EQUAL(gsctl("info", NULL, NULL, NULL, NULL), 0);
    CHECK_EQUAL(strstr(output, "sessions of other users that are not shown: 1;") != NULL,
                !looks->observes);
    CHECK_EQUAL(gsctl("get", "--user", "1234", NULL, NULL), 0);
    CHECK_TEXT(output, looks->observes ? "1234M" : "nothing is set, or it is not shown to you");
    CHECK_OK(gs_detach(own));
}

static void look(const char *const *arguments, bool observes)
{
    struct server *server = shared_server(arguments);
    struct looks *looks = shared_alloc(sizeof(*looks));
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;

    CHECK_EQUAL(gsctl("reserve", "theirs", "--sms", "4", NULL), 0);
    CHECK_EQUAL(gsctl("reserve", "nobodys", "--sms", "4", NULL), 0);
    params.name = "operators_own";
    params.reservation = "theirs";
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_session_info(session, &desc));
    looks->observes = observes;
    snprintf(looks->session, sizeof(looks->session), "%llu", (unsigned long long)desc.session_id);
    CHECK_EQUAL(gsctl("set", "--user", "1234", "--mem", "1234M"), 0);
    tenant_join(tenant_start(looks_run, looks));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_user_sees_no_session_of_another(void)
{
    look(NULL, false);
}

static void an_observer_sees_all_sessions(void)
{
    look((const char *const[]){"--observers", "65534", NULL}, true);
}

static void each_has_a_part_of_the_sessions_and_the_operator_the_rest(void)
{
    struct server *server = shared_server((const char *const[]){"--max-tenants", "32", NULL});
    struct stranger *stranger = shared_alloc(sizeof(*stranger));
    gs_session session[4];
    pid_t pid = strangers_attach(stranger);

    CHECK_EQUAL(stranger->attached, 8);
    CHECK_TEXT(stranger->message, "has 8 sessions, of at most 8");
    CHECK_OK(server_attach(server, &session[0]));
    CHECK_OK(gs_detach(session[0]));
    CHECK_EQUAL(gsctl("get", NULL, NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "\nothers: ");
    CHECK_TEXT(output, "user-sessions 8");
    strangers_go(server, stranger, pid);

    CHECK_EQUAL(gsctl("set", "--user", "65534", "--user-sessions", "10"), 0);
    pid = strangers_attach(stranger);
    CHECK_EQUAL(stranger->attached, 10);
    strangers_go(server, stranger, pid);
    CHECK_EQUAL(gsctl("set", "--user", "65534", "--unset", "all"), 0);

    CHECK_EQUAL(gsctl("set", "--others", "--user-sessions", "100", NULL), 0);
    pid = strangers_attach(stranger);
    CHECK_EQUAL(stranger->attached, 28);
    CHECK_TEXT(stranger->message, "4 of them kept for its operator");
    for (unsigned i = 0; i < 4; i++)
        CHECK_OK(server_attach(server, &session[i]));
    for (unsigned i = 0; i < 4; i++)
        CHECK_OK(gs_detach(session[i]));
    strangers_go(server, stranger, pid);
    server_stop(server);
}

/* ---- Host blocks, pieces of memory ---- */

static void blocks_run(void *argument)
{
    gs_session one, two;
    gs_status status = GS_OK;
    unsigned blocks = 0;
    void *block;

    (void)argument;
    become_stranger();
    CHECK_OK(gs_attach(NULL, &one));
    CHECK_OK(gs_attach(NULL, &two));
    while (status == GS_OK && blocks < 100) {
        status = gs_host_alloc(blocks % 2 ? one : two, 4096, &block);
        blocks += status == GS_OK;
    }
    CHECK_STATUS(status, GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "5 host blocks, the limit");
    CHECK_EQUAL(blocks, 5);
    CHECK_OK(gs_host_free(two, block));
    CHECK_OK(gs_host_alloc(two, 4096, &block));
    CHECK_OK(gs_detach(one));
    CHECK_OK(gs_host_alloc(two, 4096, &block));
    CHECK_OK(gs_detach(two));
}

static void host_blocks_are_counted_for_the_user(void)
{
    struct server *server = shared_server(NULL);
    gs_session session;
    void *block;

    CHECK_EQUAL(gsctl("set", "--others", "--user-hosts", "5", NULL), 0);
    tenant_join(tenant_start(blocks_run, NULL));
    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < 20; i++)
        CHECK_OK(gs_host_alloc(session, 4096, &block));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void host_bytes_run(void *argument)
{
    gs_session one, two;
    void *block, *more;

    (void)argument;
    become_stranger();
    CHECK_OK(gs_attach(NULL, &one));
    CHECK_OK(gs_attach(NULL, &two));
    CHECK_OK(gs_host_alloc(one, 4 * MIB, &block));
    CHECK_STATUS(gs_host_alloc(two, 6 * MIB, &more), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "6 MiB of host memory wanted, the user's sessions have "
                                        "4 MiB of 8 MiB");
    CHECK_OK(gs_host_alloc(two, 2 * MIB, &more));
    /* What the session keeps pinned of a block that was freed goes where it is in the way. */
    CHECK_OK(gs_host_free(one, block));
    CHECK_OK(gs_host_alloc(one, 6 * MIB, &block));
    CHECK_STATUS(gs_host_alloc(two, 2 * MIB, &more), GS_ERR_LIMIT);
    CHECK_OK(gs_detach(two));
    CHECK_OK(gs_host_free(one, block));
    CHECK_OK(gs_host_alloc(one, 8 * MIB, &block));
    CHECK_OK(gs_detach(one));
}

static void host_memory_is_counted_for_the_user(void)
{
    struct server *server = shared_server(NULL);
    gs_session session;
    void *block;

    CHECK_EQUAL(gsctl("set", "--others", "--user-host-mem", "8M", NULL), 0);
    tenant_join(tenant_start(host_bytes_run, NULL));
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_host_alloc(session, 16 * MIB, &block));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void host_share_run(void *argument)
{
    gs_session session;
    void *block;

    (void)argument;
    if (geteuid() == 0)
        become_stranger();
    CHECK_OK(gs_attach(NULL, &session));
    CHECK_STATUS(gs_host_alloc(session, 96 * MIB, &block), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "of 80 MiB");
    CHECK_OK(gs_host_alloc(session, 64 * MIB, &block));
    CHECK_OK(gs_detach(session));
}

/* Beyond what its control group lets the server have, the kernel would kill the worker. */
static void host_memory_is_a_part_of_what_the_server_may_have(void)
{
    struct memory_group group;
    struct server *server;

    memory_group_enter(&group, 640 * MIB);
    server = shared_server(NULL);
    memory_group_leave(&group);
    CHECK_EQUAL(gsctl("get", NULL, NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "user-host-mem 80M");
    tenant_join(tenant_start(host_share_run, NULL));
    server_stop(server);
    memory_group_remove(&group);
}

struct crowd {
    struct gate ready, go;
    unsigned count;
    unsigned taken; /* MiB of the last who came */
    char message[256];
};

/* Takes host memory until there is no more for this user, and keeps it. */
static void crowd_run(void *argument)
{
    struct crowd *crowd = argument;
    const uid_t uid = STRANGER - crowd->count++;
    gs_status status = GS_OK;
    gs_session session;
    void *block;

    CHECK(setgid(uid) == 0 && setuid(uid) == 0);
    CHECK_OK(gs_attach(NULL, &session));
    crowd->taken = 0;
    while ((status = gs_host_alloc(session, 2 * MIB, &block)) == GS_OK)
        crowd->taken += 2;
    CHECK_STATUS(status, GS_ERR_LIMIT);
    snprintf(crowd->message, sizeof(crowd->message), "%s", gs_last_error_message());
    gate_pass(&crowd->ready);
    gate_wait(&crowd->go, 1);
    CHECK_OK(gs_detach(session));
}

#define CROWD 9u

/* Nine eighths are more than there is. */
static void host_memory_of_all_users_leaves_some_for_the_server_and_the_next(void)
{
    struct crowd *crowd = shared_alloc(sizeof(*crowd));
    struct memory_group group;
    struct server *server;
    pid_t pid[CROWD];
    unsigned sum = 0;

    memory_group_enter(&group, 640 * MIB);
    server = shared_server(NULL);
    memory_group_leave(&group);
    for (unsigned i = 0; i < CROWD; i++) {
        pid[i] = tenant_start(crowd_run, crowd);
        gate_wait(&crowd->ready, i + 1);
        CHECK(crowd->taken >= (i < 5 ? 80u : 2u));
        sum += crowd->taken;
        CHECK(sum < 480);
    }
    CHECK_TEXT(crowd->message, "of host memory wanted, the user's sessions have ");
    CHECK_TEXT(crowd->message, " of 480 MiB; a user may have no more than is left for all");
    gate_pass(&crowd->go);
    for (unsigned i = 0; i < CROWD; i++)
        tenant_join(pid[i]);
    server_stop(server);
    memory_group_remove(&group);
}

/* While a kernel runs, it waits, and each next session of a user would have as much again. */
static void host_memory_that_the_driver_still_has_is_bounded_for_the_user(void)
{
    static const char ptx[] = PTX_HEAD PTX_HOLD;
    struct server *server = shared_server((const char *const[]){"--fence", "never", NULL});
    gs_session holder, one, two;
    const uint32_t end = 1;
    uint32_t begun = 0;
    gs_module module;
    gs_stream aside;
    gs_devptr words;
    void *block;

    CHECK_EQUAL(gsctl("set", "--user", "root", "--user-host-mem", "16M"), 0);
    CHECK_OK(server_attach(server, &holder));
    CHECK_OK(gs_module_load(holder, ptx, sizeof(ptx) - 1, &module));
    CHECK_OK(gs_malloc(holder, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_memset(holder, words, 0, 2 * sizeof(uint32_t)));
    CHECK_OK(gs_stream_create(holder, NULL, &aside));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "hold"), 1, 1, (void *[]){&words}));
    while (!begun) {
        CHECK_OK(gs_memcpy_dtoh_async(holder, &begun, words + 4, sizeof(begun), aside));
        CHECK_OK(gs_stream_sync(holder, aside));
    }
    CHECK_OK(server_attach(server, &one));
    CHECK_OK(gs_host_alloc(one, 12 * MIB, &block));
    CHECK_OK(gs_detach(one));
    CHECK_OK(server_attach(server, &two));
    CHECK_OK(gs_host_alloc(two, 2 * MIB, &block)); /* a program that begins again goes on at once */
    CHECK_STATUS(gs_host_alloc(two, 12 * MIB, &block), GS_ERR_TIMEOUT);
    CHECK_OK(gs_memcpy_htod_async(holder, words, &end, sizeof(end), aside));
    CHECK_OK(gs_sync(holder));
    CHECK_OK(gs_host_alloc(two, 12 * MIB, &block));
    CHECK_OK(gs_detach(two));
    CHECK_OK(gs_detach(holder));
    server_stop(server);
}

/* An image of a MiB: a kernel and a comment. */
static gs_status image_load(gs_session session, gs_module *module)
{
    static const char head[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                               ".visible .entry k() { ret; }\n//";
    static char image[MIB];

    memset(image, '-', sizeof(image) - 1);
    memcpy(image, head, sizeof(head) - 1);
    return gs_module_load(session, image, 0, module);
}

/* A graph of 2,048 fills, of which each record has 64 bytes. */
static gs_status graph_record(gs_session session, gs_devptr data, gs_graph *graph)
{
    gs_stream stream;
    gs_status status;

    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_graph_begin(session, stream));
    for (unsigned i = 0; i < 2048; i++)
        CHECK_OK(gs_memset_async(session, data, (int)i, 16, stream));
    status = gs_graph_end(session, stream, graph);
    CHECK_OK(gs_stream_destroy(stream));
    return status;
}

/* What the server keeps of modules and graphs, of all sessions of the user, and as long as they are
 * there. */
static void kept_run(void *argument)
{
    gs_status status = GS_OK;
    gs_module module[20];
    gs_graph graph[20];
    gs_session one, two;
    unsigned count = 0;
    gs_devptr data;

    (void)argument;
    become_stranger();
    CHECK_OK(gs_attach(NULL, &one));
    CHECK_OK(gs_attach(NULL, &two));
    while (status == GS_OK && count < 20) {
        status = image_load(count % 2 ? one : two, &module[count]);
        count += status == GS_OK;
    }
    CHECK_STATUS(status, GS_ERR_LIMIT);
    CHECK(count >= 3 && count <= 6);
    CHECK_OK(gs_module_unload(module[0]));
    CHECK_OK(gs_sync(two));
    CHECK_OK(image_load(one, &module[0]));
    CHECK_OK(gs_detach(one));
    CHECK_OK(gs_attach(NULL, &one));
    CHECK_OK(image_load(one, &module[0]));
    CHECK_OK(gs_detach(one));
    CHECK_OK(gs_detach(two));

    CHECK_OK(gs_attach(NULL, &one));
    CHECK_OK(gs_malloc(one, 16, &data));
    for (count = 0, status = GS_OK; status == GS_OK && count < 20;) {
        status = graph_record(one, data, &graph[count]);
        count += status == GS_OK;
    }
    CHECK_STATUS(status, GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "of the server's memory wanted, the user's sessions have");
    CHECK(count >= 1 && count <= 4);
    CHECK_OK(gs_graph_destroy(graph[0]));
    CHECK_OK(graph_record(one, data, &graph[0]));
    CHECK_OK(gs_graph_launch(graph[0], NULL));
    CHECK_OK(gs_detach(one));
}

#define EVENTS 10000
#define BYTES  (4u << 20)

static void events_record(gs_session session, gs_event events[EVENTS])
{
    for (unsigned i = 0; i < EVENTS; i++) {
        CHECK_OK(gs_event_create(session, &events[i]));
        CHECK_OK(gs_event_record(events[i], NULL));
    }
    CHECK_OK(gs_sync(session));
}

/* A stream that waits for the event sees what the event's stream has done before. */
static void event_orders(gs_session session, gs_event event, gs_devptr data, uint32_t *host)
{
    gs_stream other;

    CHECK_OK(gs_stream_create(session, NULL, &other));
    CHECK_OK(gs_memset_async(session, data, 0x5a, BYTES, NULL));
    CHECK_OK(gs_event_record(event, NULL));
    CHECK_OK(gs_stream_wait_event(other, event));
    CHECK_OK(gs_memcpy_dtoh_async(session, host, data + BYTES - 4, 4, other));
    CHECK_OK(gs_stream_sync(session, other));
    CHECK_EQUAL(*host, 0x5a5a5a5a);
    CHECK_OK(gs_event_query(event));
    CHECK_OK(gs_stream_destroy(other));
}

/* 10,922 allocations count as 2 MiB. */
static void records_run(void *argument)
{
    gs_status status = GS_OK;
    gs_devptr *blocks = calloc(20000, sizeof(*blocks));
    gs_session session;
    unsigned count = 0;

    (void)argument;
    CHECK(blocks != NULL);
    become_stranger();
    CHECK_OK(gs_attach(NULL, &session));
    while (status == GS_OK && count < 20000) {
        status = gs_malloc(session, 16, &blocks[count]);
        count += status == GS_OK;
    }
    CHECK_STATUS(status, GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "192 bytes of the server's memory wanted");
    CHECK(count > 8000 && count < 11000);
    CHECK_OK(gs_free(session, blocks[7]));
    CHECK_OK(gs_malloc(session, 16, &blocks[7]));
    CHECK_OK(gs_detach(session));
    free(blocks);
}

/* 16,384 events count as 8 MiB. Those beyond order work as others do; they have no time. */
static void events_run(void *argument)
{
    static gs_event first[EVENTS], second[EVENTS];
    gs_event *last = &second[EVENTS - 1];
    gs_session one, two;
    gs_devptr data;
    void *host;
    float ms = -1;

    (void)argument;
    become_stranger();
    CHECK_OK(gs_attach(NULL, &one));
    CHECK_OK(gs_attach(NULL, &two));
    CHECK_OK(gs_malloc(two, BYTES, &data));
    CHECK_OK(gs_host_alloc(two, sizeof(uint32_t), &host)); /* 2 MiB */
    events_record(one, first);
    events_record(two, second);
    CHECK_OK(gs_event_elapsed(first[0], first[EVENTS - 1], &ms));
    CHECK_OK(gs_event_elapsed(second[0], second[1], &ms));
    CHECK_STATUS(gs_event_elapsed(second[0], *last, &ms), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "as much of the server's memory as they may");
    event_orders(two, *last, data, host);
    CHECK_STATUS(gs_event_elapsed(second[0], *last, &ms), GS_ERR_LIMIT);
    CHECK_OK(gs_detach(one));
    CHECK_WITHIN(5000, gs_event_record(*last, NULL) == GS_OK && gs_sync(two) == GS_OK &&
                           gs_event_elapsed(second[0], *last, &ms) == GS_OK);
    CHECK(ms >= 0);
    CHECK_OK(gs_detach(two));
}

static void what_the_server_keeps_is_counted_for_the_user(void)
{
    struct server *server = shared_server(NULL);
    gs_module module;
    gs_session session;

    CHECK_EQUAL(gsctl("set", "--others", "--user-host-mem", "8M", NULL), 0);
    tenant_join(tenant_start(kept_run, NULL));
    tenant_join(tenant_start(events_run, NULL));
    CHECK_EQUAL(gsctl("set", "--others", "--user-host-mem", "2M", NULL), 0);
    tenant_join(tenant_start(records_run, NULL));
    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < 10; i++)
        CHECK_OK(image_load(session, &module));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

#define NAMES 200u

/* Modules whose text is 3 MiB of names, which the server keeps more than once. */
static void names_run(void *argument)
{
    const int length = (int)(3 * MIB / NAMES);
    char *text = malloc(4 * MIB);
    size_t n;
    gs_status status = GS_OK;
    unsigned loaded = 0;
    gs_session session;
    gs_module module;

    (void)argument;
    become_stranger();
    CHECK(text != NULL);
    n = (size_t)sprintf(text, ".version 7.8\n.target sm_80\n.address_size 64\n");
    for (unsigned i = 0; i < NAMES; i++)
        n += (size_t)sprintf(text + n, ".visible .entry n%0*u() { ret; }\n", length, i);
    CHECK_OK(gs_attach(NULL, &session));
    while (status == GS_OK && loaded < 10) {
        status = gs_module_load(session, text, 0, &module);
        loaded += status == GS_OK;
    }
    CHECK_STATUS(status, GS_ERR_LIMIT);
    CHECK(loaded < 4);                  /* of images alone, 7 would be within the limit */
    for (unsigned i = 0; i < 10; i++) { /* what was counted goes with the module */
        if (loaded)
            CHECK_OK(gs_module_unload(module));
        CHECK_OK(gs_module_load(session, text, 0, &module));
        loaded = 1;
    }
    CHECK_OK(gs_detach(session));
    free(text);
}

static void names_count_as_often_as_they_are_kept(void)
{
    struct server *server = shared_server(NULL);

    CHECK_EQUAL(gsctl("set", "--others", "--user-host-mem", "32M", NULL), 0);
    tenant_join(tenant_start(names_run, NULL));
    server_stop(server);
}

/* On the groups of two SMs from this one on. */
static gs_status attach_on(unsigned sm, gs_session *session)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_qos qos = GS_QOS_INIT;

    qos.affinity.type = GS_EXEC_AFFINITY_SM_MASK;
    qos.affinity.sm_mask[0] = UINT64_C(3) << sm;
    params.qos = &qos;
    return gs_attach(&params, session);
}

static void sets_run(void *argument)
{
    gs_session one, two, three, other;
    gs_qos qos = GS_QOS_INIT;

    (void)argument;
    become_stranger();
    CHECK_OK(attach_on(0, &one));
    CHECK_OK(attach_on(2, &two));
    CHECK_STATUS(attach_on(4, &three), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "have 2 sets of SMs, the limit");
    CHECK_OK(attach_on(2, &three)); /* a set that there is */
    CHECK_OK(gs_attach(NULL, &other));
    qos.affinity.type = GS_EXEC_AFFINITY_SM_MASK;
    qos.affinity.sm_mask[0] = 0x30;
    CHECK_STATUS(gs_set_qos(other, &qos), GS_ERR_LIMIT);
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT; /* it shares one */
    qos.affinity.sm_count = 4;
    CHECK_OK(gs_set_qos(other, &qos));
    CHECK_OK(gs_detach(one));
    CHECK_OK(attach_on(4, &one));
    CHECK_OK(gs_detach(one));
    CHECK_OK(gs_detach(two));
    CHECK_OK(gs_detach(three));
    CHECK_OK(gs_detach(other));
}

static void sets_of_sms_are_counted_for_the_user(void)
{
    struct server *server = shared_server(NULL);
    gs_session session[4];

    CHECK_EQUAL(gsctl("set", "--others", "--user-sets", "2", NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        CHECK_OK(attach_on(2 * i, &session[i]));
    tenant_join(tenant_start(sets_run, NULL));
    for (unsigned i = 0; i < 4; i++)
        CHECK_OK(gs_detach(session[i]));
    server_stop(server);
}

/* ---- What the driver takes ---- */

/* Kernels of 64 shapes, each thrice, in a stream. */
static void shapes_launch(gs_session session, gs_kernel kernel)
{
    gs_stream stream;

    CHECK_OK(gs_stream_create(session, NULL, &stream));
    for (unsigned i = 0; i < 3 * 64; i++) {
        gs_launch_config config = GS_LAUNCH_CONFIG_1D(1 + i % 64, 32);
        CHECK_OK(gs_launch(stream, kernel, &config, NULL));
    }
    CHECK_OK(gs_stream_sync(session, stream));
}

static gs_kernel kernel_load(gs_session session)
{
    gs_module module;
    gs_kernel kernel;

    CHECK_OK(image_load(session, &module));
    CHECK_OK(gs_kernel_get(module, "k", &kernel));
    return kernel;
}

static void graphs_take_run(void *argument)
{
    struct gate *gate = argument;
    gs_session session[2];

    become_stranger();
    for (unsigned i = 0; i < 2; i++) {
        CHECK_OK(gs_attach(NULL, &session[i]));
        gs_kernel kernel = kernel_load(session[i]);
        for (unsigned n = 0; n < 4; n++)
            shapes_launch(session[i], kernel);
    }
    gate_pass(&gate[0]);
    gate_wait(&gate[1], 1);
}

/* The device has room for 512 graphs, of which two times four times 64 shapes would take all. */
static void one_user_s_graphs_leave_room_for_another_s(void)
{
    static const char *const environment[] = {"GSHARE_SOFT_GRAPHS=512", NULL};
    struct server *server;
    struct gate *gate = shared_alloc(2 * sizeof(*gate));
    gs_session session;
    gs_graph graph;
    gs_devptr data;

    if (geteuid() != 0)
        test_skip("only root's server serves others");
    server = server_start(&(struct server_options){.environment = environment});
    CHECK_EQUAL(gsctl("set", "--others", "--user-driver-mem", "16M", NULL), 0);
    CHECK_OK(server_attach(server, &session));
    if (!test_device_is_soft(session))
        test_skip("the number of graphs of the software device");
    CHECK_OK(gs_malloc(session, 16, &data));
    pid_t pid = tenant_start(graphs_take_run, gate);
    gate_wait(&gate[0], 1);
    for (unsigned i = 0; i < 100; i++) {
        CHECK_OK(graph_record(session, data, &graph));
        CHECK_OK(gs_graph_launch(graph, NULL));
    }
    gate_pass(&gate[1]);
    tenant_join(pid);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Takes as much as it can of each kind; each time it ends, what it had is there again. */
static void driver_run(void *argument)
{
    gs_session one, two;
    gs_stream stream[32];
    gs_module module;
    gs_status status = GS_OK;
    gs_graph graph[20];
    gs_devptr data;
    unsigned count = 0;

    (void)argument;
    become_stranger();
    CHECK_OK(gs_attach(NULL, &one));
    CHECK_OK(gs_attach(NULL, &two));
    CHECK_OK(gs_malloc(one, 16, &data));
    while (status == GS_OK && count < 32) { /* 16 times half a MiB, of which each session has one */
        status = gs_stream_create(count % 2 ? one : two, NULL, &stream[count]);
        count += status == GS_OK;
    }
    CHECK_STATUS(status, GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "the user's sessions have 8 MiB of 8 MiB");
    CHECK_EQUAL(count, 14);
    CHECK_STATUS(image_load(one, &module), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "user-driver-mem");
    CHECK_OK(gs_stream_destroy(stream[0]));
    CHECK_OK(gs_stream_create(two, NULL, &stream[0]));
    CHECK_OK(gs_detach(two)); /* seven streams and its own */

    for (count = 0, status = GS_OK; status == GS_OK && count < 20;) {
        status = graph_record(one, data, &graph[count]);
        count += status == GS_OK;
    }
    CHECK_STATUS(status, GS_ERR_LIMIT);
    CHECK(count == 1);
    CHECK_OK(gs_graph_destroy(graph[0]));
    CHECK_OK(image_load(one, &module));
    CHECK_OK(gs_module_unload(module));
    CHECK_OK(gs_sync(one));
    CHECK_WITHIN(5000, graph_record(one, data, &graph[0]) == GS_OK);
    CHECK_OK(gs_detach(one));
}

/* 64 KiB of local memory for each thread that the device can have. */
static gs_status deep_kernel_get(gs_session session)
{
    static const char deep[] =
        ".version 7.8\n.target sm_80\n.address_size 64\n"
        ".visible .entry deep(.param .u64 to) {\n"
        ".local .align 4 .b8 frame[65536]; .reg .b64 %rd<4>; .reg .b32 %r;\n"
        "ld.param.u64 %rd0, [to]; mov.u64 %rd1, frame; and.b64 %rd2, %rd0, 65532;\n"
        "add.u64 %rd1, %rd1, %rd2; st.local.u32 [%rd1], 7;\n"
        "ld.local.u32 %r, [%rd1]; st.global.u32 [%rd0], %r; ret; }\n";
    gs_module module;
    gs_kernel kernel;

    CHECK_OK(gs_module_load(session, deep, 0, &module));
    return gs_kernel_get(module, "deep", &kernel);
}

static void deep_run(void *argument)
{
    gs_session session;

    (void)argument;
    become_stranger();
    CHECK_OK(gs_attach(NULL, &session));
    CHECK_STATUS(deep_kernel_get(session), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "the kernel's local memory takes 65536 bytes for each of");
    CHECK_OK(gs_detach(session));
}

static void what_the_driver_takes_is_counted_for_the_user(void)
{
    struct server *server = shared_server(NULL);
    gs_stream stream;
    gs_session session;

    CHECK_EQUAL(gsctl("set", "--others", "--user-driver-mem", "8M", NULL), 0);
    tenant_join(tenant_start(driver_run, NULL));
    tenant_join(tenant_start(driver_run, NULL));
    tenant_join(tenant_start(deep_run, NULL));
    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < 40; i++)
        CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(deep_kernel_get(attach_class(GS_CLASS_NORMAL)));
    CHECK_EQUAL(gsctl("ps", "--json", NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "\"driver_memory\":21495808,"); /* 41 times half a MiB */
    CHECK_OK(gs_stream_destroy(stream));
    CHECK_EQUAL(gsctl("ps", "--json", NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "\"driver_memory\":20971520,");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void pieces_run(void *argument)
{
    gs_session session;
    gs_devptr memory;

    (void)argument;
    become_stranger();
    CHECK_OK(gs_attach(NULL, &session));
    for (unsigned i = 0; i < 100; i++)
        CHECK_OK(gs_malloc(session, 2 * MIB, &memory));
    CHECK_OK(gs_detach(session));
}

static void a_user_who_fills_the_vault_does_not_fill_the_log(void)
{
    struct server *server = shared_server(NULL);

    CHECK_EQUAL(gsctl("set", "--others", "--user-pieces", "10", NULL), 0);
    tenant_join(tenant_start(pieces_run, NULL));
    server_wait_tenants(server, 0, 10000);
    CHECK(server_log_lines(server, "(user-pieces)") > 0 &&
          server_log_lines(server, "(user-pieces)") <= 8);
    server_stop(server);
}

/* ---- Requests ---- */

static void flood_run(void *argument)
{
    struct stranger *stranger = argument;
    char message[REQUEST_MESSAGE_MAX] = "";
    struct ctl_admin request = {.cursor = 0};
    struct ctl_status_reply reply;
    struct control control;
    uint64_t deadline = test_deadline(20000);
    bool told = false;

    become_stranger();
    CHECK_EQUAL(control_open(&control, getenv("GSHARE_INSTANCE"), message), GS_OK);
    gate_pass(&stranger->ready);
    while (atomic_load(&stranger->go.count) == 0) {
        gs_status status = control_ask(&control, &request.h, CTL_STATUS, sizeof(request), &reply,
                                       sizeof(reply), test_deadline(30000), message);

        CHECK(status == GS_OK || status == GS_ERR_LIMIT);
        if (status == GS_ERR_LIMIT) {
            CHECK_TEXT(message, "asks too much");
            stranger->attached = 1;
        }
        if (!told && (status == GS_ERR_LIMIT || clock_ns() > deadline)) {
            gate_pass(&stranger->done);
            told = true;
        }
    }
    control_close(&control);
}

static void who_asks_without_end_is_refused_and_nobody_else(void)
{
    struct server *server = shared_server(NULL);
    struct stranger *stranger = shared_alloc(sizeof(*stranger));
    gs_session session;
    pid_t pid[3];

    for (unsigned i = 0; i < 3; i++)
        pid[i] = tenant_start(flood_run, stranger);
    gate_wait(&stranger->done, 3);
    for (unsigned i = 0; i < 50; i++) {
        CHECK_OK(server_attach(server, &session));
        CHECK_OK(gs_detach(session));
    }
    gate_pass(&stranger->go);
    for (unsigned i = 0; i < 3; i++)
        tenant_join(pid[i]);
    CHECK(server_log_lines(server, "") - server_log_lines(server, "event=attached session=") -
              server_log_lines(server, "event=detached session=") <
          100);
    server_stop(server);
    if (!stranger->attached)
        test_skip("three processes cannot ask %u times a second here", 1000);
}

/* ---- Faults ---- */

struct fault_log {
    struct gate ready, go;
    unsigned refused, faults;
    uint64_t session_id;
    char refusal[256];
};

static bool fault_once(struct fault_log *log)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_status status;

    params.name = "trapper";
    status = gs_attach(&params, &session);
    if (status != GS_OK) {
        CHECK_STATUS(status, GS_ERR_REFUSED);
        snprintf(log->refusal, sizeof(log->refusal), "%s", gs_last_error_message());
        log->refused++;
        return false;
    }
    CHECK_OK(gs_session_info(session, &desc));
    log->session_id = desc.session_id;
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(session), "misaligned"), 1, 1, NULL));
    CHECK_STATUS(gs_sync(session), GS_ERR_FAULT);
    log->faults++;
    gs_detach(session);
    return true;
}

static void trapper_run(void *argument)
{
    struct fault_log *log = argument;

    become_stranger();
    fault_once(log);
    gate_pass(&log->ready);
    gate_wait(&log->go, 1);
    CHECK(fault_once(log)); /* from the second time on it is kept out */
    while (log->refused < 1)
        fault_once(log);
    while (!fault_once(log))
        test_pause();
    for (unsigned before = log->refused; log->refused == before;)
        fault_once(log);
}

static void who_faults_again_and_again_is_kept_out_and_named(void)
{
    struct server *server = shared_server(NULL);
    struct fault_log *log = shared_alloc(sizeof(*log));
    gs_fault fault = GS_FAULT_INIT;
    gs_session session;
    char text[128];
    pid_t trapper;

    CHECK_OK(server_attach(server, &session));
    kernels_load_bound(session); /* which is lost with the worker */
    trapper = tenant_start(trapper_run, log);
    gate_wait(&log->ready, 1);
    CHECK_WITHIN(10000, gs_sync(session) == GS_ERR_INTERRUPTED);
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_TEXT(fault.message, "another user's tenant lost the device: ");
    CHECK(strstr(fault.message, "trapper") == NULL);
    gs_detach(session);
    snprintf(text, sizeof(text), "event=fault device=0 kernel=misaligned session=%llu user=",
             (unsigned long long)log->session_id);
    CHECK_EQUAL(server_log_lines(server, text), 1);
    snprintf(text, sizeof(text), " uid=%u pid=%d name=trapper stream=0 launch=", STRANGER,
             (int)trapper);
    CHECK(server_log_lines(server, text) >= 1);
    gate_pass(&log->go);
    tenant_join(trapper);
    /* A trapper without a processor may ask again when its first seconds are over: it is kept out
     * after the next fault, for twice as long. */
    CHECK(log->faults >= 3);
    snprintf(text, sizeof(text), "user nobody has lost the device %u times, and is kept out for ",
             log->faults);
    CHECK_TEXT(log->refusal, text);
    for (unsigned n = 2; n <= log->faults; n++) {
        snprintf(text, sizeof(text), "event=kept-out user=nobody uid=%u faults=%u seconds=%u\n",
                 STRANGER, n, 1u << (n - 2));
        CHECK_EQUAL(server_log_lines(server, text), 1);
    }
    /* Nobody else is kept out. */
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Suspects ---- */

#define HONEST 2u

/* Short, so that it is loaded at once on a busy machine. */
static const char suspects_ptx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry spin(.param .u64 ns)\n"
    "{ .reg .b64 %rd<4>; .reg .pred %p; ld.param.u64 %rd0, [ns]; mov.u64 %rd1, %globaltimer;\n"
    "again: mov.u64 %rd2, %globaltimer; sub.u64 %rd3, %rd2, %rd1; setp.lt.u64 %p, %rd3, %rd0;\n"
    "  @%p bra again; ret; }\n"
    ".visible .entry misaligned()\n"
    "{ .reg .b64 %rd; .reg .b32 %r; mov.u64 %rd, 1; mov.u32 %r, 1; st.global.u32 [%rd], %r; ret; "
    "}\n"
    ".visible .entry nothing() { ret; }\n";

struct suspects {
    struct gate ready;
    _Atomic uint32_t stop, interrupted;
    unsigned blamed, unknown; /* the faults of the one who faults */
    char refusal[256];
};

static gs_status first_failure(gs_status a, gs_status b)
{
    return a != GS_OK ? a : b;
}

static gs_status load(gs_session session, gs_kernel *spin, gs_kernel *nothing,
                      gs_kernel *misaligned)
{
    gs_module module;
    gs_status status = gs_module_load(session, suspects_ptx, 0, &module);

    if (status != GS_OK)
        return status;
    status = gs_kernel_get(module, "spin", spin);
    status = first_failure(status, gs_kernel_get(module, "nothing", nothing));
    return first_failure(status, gs_kernel_get(module, "misaligned", misaligned));
}

/* On a busy machine a takeover or a load may take longer than the call waits. */
static gs_status attach_in_the_end(gs_session *session)
{
    gs_status status;

    while ((status = gs_attach(NULL, session)) == GS_ERR_TIMEOUT)
        ;
    return status;
}

/* Has kernels on the device all the time, and attaches anew when it is interrupted. */
static void honest_run(struct suspects *suspects, uid_t uid)
{
    const uint64_t ns = 3000000;
    gs_kernel spin, nothing, misaligned;

    CHECK(setgid(uid) == 0 && setuid(uid) == 0);
    while (!atomic_load(&suspects->stop)) {
        gs_session session;
        CHECK_OK(attach_in_the_end(&session));
        gs_status status = load(session, &spin, &nothing, &misaligned);
        for (unsigned n = 0; status == GS_OK && !atomic_load(&suspects->stop); n++) {
            status = kernels_launch(NULL, spin, 1, 1, (void *[]){(void *)&ns});
            if (n % 8 == 7)
                status = first_failure(status, gs_sync(session));
            if (n == 8)
                gate_pass(&suspects->ready);
        }
        if (status != GS_OK && status != GS_ERR_TIMEOUT)
            CHECK_STATUS(status, GS_ERR_INTERRUPTED);
        atomic_fetch_add(&suspects->interrupted, status == GS_ERR_INTERRUPTED);
        gs_detach(session);
    }
}

static void honest_one_run(void *suspects)
{
    honest_run(suspects, STRANGER - 1);
}

static void honest_other_run(void *suspects)
{
    honest_run(suspects, STRANGER - 2);
}

/* Faults at a launch that nobody can tell beforehand, until it is kept out. */
static void faulting_run(void *argument)
{
    struct suspects *suspects = argument;
    gs_kernel spin, nothing, misaligned;
    gs_session session;
    gs_status status;

    become_stranger();
    while ((status = attach_in_the_end(&session)) == GS_OK) {
        status = load(session, &spin, &nothing, &misaligned);
        for (int n = rand() % 50; status == GS_OK && n > 0; n--)
            status = kernels_launch(NULL, nothing, 1, 1, NULL);
        if (status == GS_OK)
            status = kernels_launch(NULL, misaligned, 1, 1, NULL);
        if (status == GS_OK)
            status = gs_sync(session);
        if (status != GS_ERR_FAULT && status != GS_ERR_TIMEOUT)
            CHECK_STATUS(status, GS_ERR_INTERRUPTED);
        suspects->blamed += status == GS_ERR_FAULT;
        suspects->unknown += status == GS_ERR_INTERRUPTED;
        gs_detach(session);
    }
    CHECK_STATUS(status, GS_ERR_REFUSED);
    snprintf(suspects->refusal, sizeof(suspects->refusal), "%s", gs_last_error_message());
}

static void who_faults_beside_others_work_is_found_and_nobody_else(void)
{
    struct server *server = shared_server(NULL);
    struct suspects *suspects = shared_alloc(sizeof(*suspects));
    gs_session session;
    pid_t honest[HONEST], faulting;
    char text[96];

    honest[0] = tenant_start(honest_one_run, suspects);
    honest[1] = tenant_start(honest_other_run, suspects);
    gate_wait(&suspects->ready, HONEST);
    faulting = tenant_start(faulting_run, suspects);
    tenant_join(faulting);
    atomic_store(&suspects->stop, 1);
    for (unsigned i = 0; i < HONEST; i++)
        tenant_join(honest[i]);
    CHECK(suspects->blamed >= 2); /* more where it asks again when its first second is over */
    snprintf(text, sizeof(text), "user nobody has lost the device %u times, and is kept out for ",
             suspects->blamed);
    CHECK_TEXT(suspects->refusal, text);
    CHECK(suspects->unknown > 0 && atomic_load(&suspects->interrupted) > 0);
    snprintf(text, sizeof(text), "event=kept-out user=nobody uid=%u ", STRANGER);
    CHECK_EQUAL(server_log_lines(server, text), suspects->blamed - 1);
    CHECK_EQUAL(server_log_lines(server, "event=kept-out "), suspects->blamed - 1);
    snprintf(text, sizeof(text), " uid=%u pid=%d ", STRANGER, (int)faulting);
    CHECK(server_log_lines(server, text) > 0);
    CHECK(server_log_lines(server, "event=suspect session=") >= 2);
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Sessions that were there before ---- */

#define HOARD 10u

struct hoard {
    unsigned faults;
    char message[256];
};

/* Has sessions enough that being kept out does not matter, and faults in one after the other. */
static void hoard_run(void *argument)
{
    struct hoard *hoard = argument;
    gs_session sessions[HOARD];
    gs_kernel spin, nothing, misaligned[HOARD];
    gs_status status = GS_ERR_FAULT;

    become_stranger();
    for (unsigned i = 0; i < HOARD; i++) {
        CHECK_OK(gs_attach(NULL, &sessions[i]));
        CHECK_OK(load(sessions[i], &spin, &nothing, &misaligned[i]));
    }
    while (hoard->faults < HOARD && status == GS_ERR_FAULT) {
        status = kernels_launch(NULL, misaligned[hoard->faults], 1, 1, NULL);
        if (status == GS_OK)
            status = gs_sync(sessions[hoard->faults]);
        hoard->faults += status == GS_ERR_FAULT;
    }
    for (unsigned i = hoard->faults; i < HOARD; i++)
        CHECK_WITHIN(10000, gs_sync(sessions[i]) == GS_ERR_INTERRUPTED);
    snprintf(hoard->message, sizeof(hoard->message), "%s", gs_last_error_message());
}

static void who_is_kept_out_does_not_fault_on_with_other_sessions(void)
{
    struct server *server = shared_server(NULL);
    struct hoard *hoard = shared_alloc(sizeof(*hoard));
    gs_session session;
    gs_devptr memory;

    CHECK_OK(server_attach(server, &session));
    tenant_join(tenant_start(hoard_run, hoard));
    CHECK(hoard->faults >= 3 && hoard->faults < HOARD);
    CHECK_TEXT(hoard->message, "lost the device while its user was kept out: ");
    CHECK_OK(gs_malloc(session, MIB, &memory)); /* nobody else's session ends */
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* One session's kernel runs when the other's faults, so that neither is blamed; then it faults
 * alone. */
static void pair_run(void *argument)
{
    _Atomic uint32_t *words;
    gs_kernel spin, nothing, misaligned;
    gs_devptr address;
    gs_session a, b;
    gs_module hold;

    (void)argument;
    become_stranger();
    CHECK_OK(gs_attach(NULL, &a));
    CHECK_OK(gs_attach(NULL, &b));
    CHECK_OK(gs_module_load(a, PTX_HEAD PTX_HOLD, 0, &hold));
    CHECK_OK(load(b, &spin, &nothing, &misaligned));
    CHECK_OK(gs_host_alloc(a, 2 * sizeof(uint32_t), (void **)&words));
    CHECK_OK(gs_host_device_ptr(a, (const void *)words, &address));
    CHECK_OK(kernels_launch(NULL, kernels_get(hold, "hold"), 1, 1, (void *[]){&address}));
    CHECK_WITHIN(10000, atomic_load(&words[1]));
    CHECK_OK(kernels_launch(NULL, misaligned, 1, 1, NULL));
    CHECK_STATUS(gs_sync(b), GS_ERR_INTERRUPTED);
    CHECK_STATUS(gs_sync(a), GS_ERR_INTERRUPTED);
    gs_detach(a);
    gs_detach(b);
    CHECK_OK(gs_attach(NULL, &b));
    CHECK_OK(load(b, &spin, &nothing, &misaligned));
    CHECK_OK(kernels_launch(NULL, misaligned, 1, 1, NULL));
    CHECK_STATUS(gs_sync(b), GS_ERR_FAULT);
    gs_detach(b);
}

static void a_fault_counts_for_the_user_whichever_session_it_was(void)
{
    struct server *server = shared_server(NULL);

    tenant_join(tenant_start(pair_run, NULL));
    CHECK_EQUAL(server_log_lines(server, "event=suspect session="), 2);
    CHECK_EQUAL(server_log_lines(server, "event=kept-out user=nobody uid=65534 faults=2 "), 1);
    server_stop(server);
}

/* Nor does the device count as failed for what its tenants do. */
static void many_faults_do_not_fail_the_device(void)
{
    struct server *server = server_start(NULL);
    struct fault_log log = {.faults = 0};
    gs_fault fault = GS_FAULT_INIT;
    char text[128];
    gs_session session;

    for (unsigned i = 0; i < 8; i++) {
        CHECK_OK(server_attach(server, &session));
        kernels_load_bound(session); /* which is lost with the worker */
        CHECK(fault_once(&log));
        CHECK_WITHIN(10000, gs_sync(session) == GS_ERR_INTERRUPTED);
        CHECK_OK(gs_last_fault(session, &fault));
        snprintf(text, sizeof(text), "session %llu (pid %d, trapper) lost the device: ",
                 (unsigned long long)log.session_id, (int)getpid());
        CHECK_TEXT(fault.message, text);
        gs_detach(session);
        CHECK_EQUAL(gsctl("status", NULL, NULL, NULL, NULL), 0);
        CHECK(strstr(output, "failed") == NULL);
    }
    server_stop(server);
}

/* ---- What is modest ---- */

static void asking_run(void *argument)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    bool granted = *(const bool *)argument;
    gs_exec_affinity has;
    gs_qos qos = GS_QOS_INIT;
    gs_session session;
    gs_devptr memory;

    become_stranger();
    qos.cls = GS_CLASS_LATENCY;
    qos.priority = 3;
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 4;
    qos.affinity.exclusive = 1;
    params.qos = &qos;
    if (!granted) {
        CHECK_STATUS(gs_attach(&params, &session), GS_ERR_PERMISSION);
        qos.affinity.exclusive = 0;
    }
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_get_qos(session, &qos));
    CHECK_EQUAL(qos.cls, granted ? GS_CLASS_LATENCY : GS_CLASS_NORMAL);
    CHECK_EQUAL(qos.priority, granted ? 3 : 0);
    CHECK_OK(gs_get_exec_affinity(session, &has));
    CHECK_EQUAL(has.exclusive, granted);
    if (!granted) /* no more than a quarter */
        CHECK_STATUS(gs_malloc(session, 1100 * MIB, &memory), GS_ERR_QUOTA);
    CHECK_OK(gs_detach(session));
}

/* The software device has 4 GiB. */
static void others_have_what_is_modest_unless_more_is_granted(void)
{
    static const char *const grants[][2] = {
        {"--class", "latency"}, {"--priority", "5"}, {"--user-mem", "2G"}};
    struct server *server = shared_server(NULL);
    bool *granted = shared_alloc(sizeof(*granted));
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    if (!test_device_is_soft(session))
        test_skip("figures of the software device");
    CHECK_OK(gs_detach(session));
    tenant_join(tenant_start(asking_run, granted));
    for (unsigned i = 0; i < ARRAY_SIZE(grants); i++)
        CHECK_EQUAL(gsctl("set", "--user", "65534", grants[i][0], grants[i][1]), 0);
    const char *const exclusive[] = {"bin/gsctl",   "set",   "--user", "65534",
                                     "--exclusive", "--sms", "4",      NULL};
    CHECK_EQUAL(program_run(exclusive, output, sizeof(output)), 0);
    *granted = true;
    tenant_join(tenant_start(asking_run, granted));
    CHECK_EQUAL(gsctl("get", "--user", "65534", NULL, NULL), 0);
    CHECK_TEXT(output, "user-mem 2G");
    server_stop(server);
}

/* ---- Textures ---- */

struct texturing {
    struct gate full, go;
};

static gs_status texture_make(gs_session session, gs_devptr memory)
{
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture texture;

    resource.type = GS_RESOURCE_LINEAR;
    resource.address = memory;
    resource.format = GS_FORMAT_UINT8;
    resource.channels = 1;
    resource.width = 512;
    return gs_texture_create(session, &resource, NULL, &texture);
}

/* Makes textures in one session after the other, each of which ends with all that it has: as many
 * as the software device has in all, or as may be. */
static void textures_run(void *argument)
{
    struct texturing *t = argument;
    gs_status status = GS_OK;

    become_stranger();
    for (unsigned made = 0; made < 66000 && status == GS_OK;) {
        gs_session session;
        gs_devptr memory;

        CHECK_OK(gs_attach(NULL, &session));
        CHECK_OK(gs_malloc(session, 4096, &memory));
        for (unsigned i = 0; i < 1000 && status == GS_OK; i++, made++)
            status = texture_make(session, memory);
        CHECK_OK(gs_detach(session));
    }
    if (status != GS_OK)
        CHECK_STATUS(status, GS_ERR_LIMIT);
    gate_pass(&t->full);
    gate_wait(&t->go, 1);
}

/* While a kernel runs, textures of sessions that have ended wait to go. */
static void textures_of_ended_sessions_are_counted_for_the_user(void)
{
    struct server *server = shared_server(NULL);
    struct texturing *t = shared_alloc(sizeof(*t));
    gs_devptr memory;
    gs_session session;
    gs_stream stream;
    gs_kernel kernel;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, 4096, &memory));
    CHECK_OK(gs_memset(session, memory, 0, 4096));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    kernel = kernels_get(kernels_load(session), "spin_until");
    CHECK_OK(kernels_launch(stream, kernel, 1, 1, (void *[]){&memory}));
    const pid_t stranger = tenant_start(textures_run, t);
    gate_wait(&t->full, 1);
    for (unsigned i = 0; i < 100; i++)
        CHECK_OK(texture_make(session, memory));
    CHECK_OK(gs_memset_async(session, memory, 1, 4, NULL));
    gate_pass(&t->go);
    tenant_join(stranger);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Those that the user's open sessions have are counted, too. */
static void textures_open_run(void *argument)
{
    gs_session session[17];
    gs_devptr memory;
    gs_status status = GS_OK;
    unsigned made = 0;

    (void)argument;
    become_stranger();
    for (unsigned i = 0; i < ARRAY_SIZE(session); i++) {
        CHECK_OK(gs_attach(NULL, &session[i]));
        CHECK_OK(gs_malloc(session[i], 4096, &memory));
        for (unsigned n = 0; n < 1024 && status == GS_OK; n++, made += status == GS_OK)
            status = texture_make(session[i], memory);
    }
    CHECK_STATUS(status, GS_ERR_LIMIT);
    CHECK_EQUAL(made, 16384);
    CHECK_OK(gs_detach(session[0]));
    CHECK_WITHIN(10000, texture_make(session[16], memory) == GS_OK);
}

static void textures_are_counted_for_the_user(void)
{
    struct server *server = shared_server(NULL);

    tenant_join(tenant_start(textures_open_run, NULL));
    server_stop(server);
}

/* ---- A lane's time ---- */

#define BUSY_SESSIONS 12u
#define BUSY_LAUNCHES 1500u

/* As another user or as the test's own: sessions that all have work at once, more than one round of
 * a lane takes. */
static void busy_run(void *stranger)
{
    gs_session session[BUSY_SESSIONS];
    gs_devptr counter[BUSY_SESSIONS];
    gs_kernel kernel[BUSY_SESSIONS];
    uint32_t count;

    if (stranger)
        become_stranger();
    for (unsigned i = 0; i < BUSY_SESSIONS; i++) {
        CHECK_OK(gs_attach(NULL, &session[i]));
        CHECK_OK(gs_malloc(session[i], 4096, &counter[i]));
        CHECK_OK(gs_memset_async(session[i], counter[i], 0, 4096, NULL));
        kernel[i] = kernels_get(kernels_load(session[i]), "count");
    }
    for (unsigned n = 0; n < BUSY_LAUNCHES; n++) {
        for (unsigned i = 0; i < BUSY_SESSIONS; i++) {
            CHECK_OK(kernels_launch(NULL, kernel[i], 1, 1, (void *[]){&counter[i]}));
            CHECK_OK(gs_memset_async(session[i], counter[i] + 64, 1, 64, NULL));
        }
    }
    for (unsigned i = 0; i < BUSY_SESSIONS; i++) {
        CHECK_OK(gs_sync(session[i]));
        CHECK_OK(gs_memcpy_dtoh(session[i], &count, counter[i], sizeof(count)));
        CHECK_EQUAL(count, BUSY_LAUNCHES);
        CHECK_OK(gs_detach(session[i]));
    }
}

/* A lane serves some of a user's sessions in a round, and the others in the next ones. */
static void all_sessions_of_two_users_get_on(void)
{
    struct server *server = shared_server(NULL);
    const pid_t stranger = tenant_start(busy_run, server), own = tenant_start(busy_run, NULL);

    tenant_join(stranger);
    tenant_join(own);
    server_stop(server);
}

/* ---- Cooperative grids ---- */

#define GRIDS 24u

struct grids {
    struct gate begun, go, seen;
    _Atomic uint32_t ended;
};

static gs_status cooperative_launch(gs_stream stream, gs_kernel kernel, gs_devptr words)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);

    config.cooperative = 1;
    return gs_launch(stream, kernel, &config, (void *[]){&words});
}

/* Lets those of the grids end that have begun and are held. Returns how many these are. */
static unsigned grids_end(gs_session session, gs_stream aside, gs_devptr held)
{
    uint32_t words[GRIDS][2];
    const uint32_t one = 1;
    unsigned count = 0;

    CHECK_OK(gs_memcpy_dtoh_async(session, words, held, sizeof(words), aside));
    CHECK_OK(gs_stream_sync(session, aside));
    for (unsigned i = 0; i < GRIDS; i++) {
        if (!words[i][1] || words[i][0])
            continue;
        CHECK_OK(
            gs_memcpy_htod_async(session, held + i * sizeof(words[0]), &one, sizeof(one), aside));
        count++;
    }
    return count;
}

/* Has a grid in each of many streams, and lets one after the other end. */
static void grids_run(void *argument)
{
    struct grids *grids = argument;
    gs_stream stream[GRIDS], aside;
    uint32_t begun = 0;
    gs_session session;
    gs_module module;
    gs_kernel hold;
    gs_devptr held;

    become_stranger();
    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_module_load(session, PTX_HEAD PTX_HOLD, 0, &module));
    hold = kernels_get(module, "hold");
    CHECK_OK(gs_malloc(session, GRIDS * 2 * sizeof(uint32_t), &held));
    CHECK_OK(gs_stream_create(session, NULL, &aside));
    for (unsigned i = 0; i < GRIDS; i++) {
        CHECK_OK(gs_stream_create(session, NULL, &stream[i]));
        CHECK_OK(cooperative_launch(stream[i], hold, held + i * 2 * sizeof(uint32_t)));
    }
    while (!begun) {
        CHECK_OK(gs_memcpy_dtoh_async(session, &begun, held + sizeof(begun), sizeof(begun), aside));
        CHECK_OK(gs_stream_sync(session, aside));
    }
    gate_pass(&grids->begun);
    gate_wait(&grids->go, 1);
    while (atomic_load(&grids->ended) < GRIDS / 2)
        atomic_fetch_add(&grids->ended, grids_end(session, aside, held));
    gate_wait(&grids->seen, 1); /* half of them, before the other's has ended */
    while (atomic_load(&grids->ended) < GRIDS)
        atomic_fetch_add(&grids->ended, grids_end(session, aside, held));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_detach(session));
}

/* Cooperative grids run one after the other. */
static void who_has_many_cooperative_grids_holds_up_anothers_for_a_few(void)
{
    struct server *server = shared_server(NULL);
    struct grids *grids = shared_alloc(sizeof(*grids));
    const uint32_t one = 1;
    gs_session session;
    gs_module module;
    gs_devptr word;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_module_load(session, PTX_HEAD PTX_HOLD, 0, &module));
    CHECK_OK(gs_malloc(session, 2 * sizeof(one), &word));
    CHECK_OK(gs_memcpy_htod(session, word, &one, sizeof(one)));
    pid_t pid = tenant_start(grids_run, grids);
    gate_wait(&grids->begun, 1);
    CHECK_OK(cooperative_launch(NULL, kernels_get(module, "hold"), word));
    gate_pass(&grids->go);
    CHECK_OK(gs_sync(session));
    CHECK(atomic_load(&grids->ended) <= GRIDS / 2);
    gate_pass(&grids->seen);
    tenant_join(pid);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(each_has_a_part_of_the_sessions_and_the_operator_the_rest),
    TEST(host_blocks_are_counted_for_the_user),
    TEST(host_memory_is_counted_for_the_user),
    TEST(host_memory_is_a_part_of_what_the_server_may_have),
    TEST(host_memory_of_all_users_leaves_some_for_the_server_and_the_next),
    TEST(host_memory_that_the_driver_still_has_is_bounded_for_the_user),
    TEST(what_the_server_keeps_is_counted_for_the_user),
    TEST(names_count_as_often_as_they_are_kept),
    TEST(sets_of_sms_are_counted_for_the_user),
    TEST(one_user_s_graphs_leave_room_for_another_s),
    TEST(what_the_driver_takes_is_counted_for_the_user),
    TEST(a_user_who_fills_the_vault_does_not_fill_the_log),
    TEST(who_asks_without_end_is_refused_and_nobody_else),
    TEST(who_faults_again_and_again_is_kept_out_and_named),
    TEST(who_faults_beside_others_work_is_found_and_nobody_else),
    TEST(who_is_kept_out_does_not_fault_on_with_other_sessions),
    TEST(a_fault_counts_for_the_user_whichever_session_it_was),
    TEST(many_faults_do_not_fail_the_device),
    TEST(a_user_sees_no_session_of_another),
    TEST(an_observer_sees_all_sessions),
    TEST(others_have_what_is_modest_unless_more_is_granted),
    TEST(all_sessions_of_two_users_get_on),
    TEST(textures_of_ended_sessions_are_counted_for_the_user),
    TEST(textures_are_counted_for_the_user),
    TEST(who_has_many_cooperative_grids_holds_up_anothers_for_a_few),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
