/*
 * test_segment.c - a closed session's segment is the same user's next session's: that one finds
 * nothing of the former in it, the former client sees nothing of the next, and however often
 * tenants come and go, neither the server nor its worker has more mapped.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

#include "harness/harness.h"
#include "raw_client.h"

#define STRANGER 65534
#define POOL     64u /* the server's SEGMENT_POOL_MAX */

static void attach_raw(struct raw_client *raw, const struct server *server)
{
    gs_status status = raw_attach(raw, server->instance);

    if (status != GS_OK)
        test_fail(__FILE__, __LINE__, "the raw client is refused: %s", gs_status_name(status));
}

/* System V segments of the session segment's size that a process has mapped. */
static unsigned segments_mapped(pid_t pid)
{
    char path[64], line[512];
    unsigned count = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    f = fopen(path, "r");
    CHECK(f != NULL);
    while (fgets(line, sizeof(line), f) != NULL) {
        unsigned long from, to;

        if (strstr(line, "/SYSV") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2 &&
            to - from == SEG_SIZE)
            count++;
    }
    fclose(f);
    return count;
}

/* Everything that a tenant can write, but the state, which would end the session. */
static void scribble(const struct raw_client *raw)
{
    memset(raw->segment, 0xa5, SEG_OFF_CLIENT);
    memset(raw->client->tail, 0xa5, SEG_OFF_COMPLETE - SEG_OFF_CLIENT - 64);
    memset(raw->complete, 0xa5, SEG_OFF_SERVER - SEG_OFF_COMPLETE);
    memset(&raw->server->fault, 0xa5, sizeof(raw->server->fault));
    memset(raw->server->report, 0xa5, sizeof(raw->server->report));
    memset(raw->server->revoked, 0xa5, sizeof(raw->server->revoked));
    memset(raw->request, 0xa5, SEG_SIZE - SEG_OFF_REQUEST);
}

static void check_zero(const void *from, const void *to)
{
    const unsigned char *end = to;

    for (const unsigned char *at = from; at < end; at++) {
        if (*at != 0)
            test_fail(__FILE__, __LINE__, "byte %zd of %zd is 0x%02x",
                      at - (const unsigned char *)from, end - (const unsigned char *)from, *at);
    }
}

/* The segment has what the server writes for a new session, and nothing else. */
static void check_new(const struct raw_client *raw)
{
    const unsigned char *segment = raw->segment;

    CHECK_EQUAL(raw->info.magic, WIRE_MAGIC);
    CHECK_EQUAL(raw->info.session_id, raw->grant.session_id);
    check_zero(segment + sizeof(raw->info), raw->client);
    check_zero(raw->client, raw->complete);
    check_zero(raw->complete, raw->server);
    CHECK_EQUAL(atomic_load(&raw->server->state), SEG_OPEN);
    check_zero(&raw->server->fault, &raw->server->fault + 1);
    check_zero(raw->server->report, segment + SEG_OFF_REQUEST);
    check_zero(raw->request, segment + SEG_SIZE);
}

/* Records of stream 0 end; the client counts positions from zero. */
static void check_works(struct raw_client *raw)
{
    const struct rec_event record = {.h = {.op = REC_EVENT, .size = sizeof(record)}};

    for (unsigned i = 0; i < 3; i++) {
        raw_push(raw, 0, &record, sizeof(record));
        CHECK_WITHIN(10000, atomic_load(&raw->complete->position[0]) == raw->tail[0]);
        CHECK(raw_open(raw));
    }
}

static void the_next_session_finds_its_segment_cleared(void)
{
    struct server *server = server_start(NULL);
    struct raw_client raw;
    int first = -1;

    for (unsigned i = 0; i < 5; i++) {
        attach_raw(&raw, server);
        if (first < 0)
            first = raw.grant.segment_id;
        CHECK_EQUAL(raw.grant.segment_id, first);
        check_new(&raw);
        check_works(&raw);
        scribble(&raw);
        if (i % 2)
            raw_detach(&raw);
        else
            raw_drop(&raw);
        server_wait_tenants(server, 0, 5000);
    }
    server_stop(server);
}

static void who_keeps_the_mapping_sees_nothing_of_the_next(void)
{
    struct server *server = server_start(NULL);
    struct raw_client former, next, last;
    unsigned char *kept, *before;

    attach_raw(&former, server);
    kept = shmat(former.grant.segment_id, NULL, 0);
    CHECK(kept != (void *)-1);
    scribble(&former);
    raw_detach(&former);
    before = shared_alloc(SEG_SIZE);
    memcpy(before, kept, SEG_SIZE);

    attach_raw(&next, server);
    CHECK(next.grant.segment_id != former.grant.segment_id);
    check_new(&next);
    check_works(&next);
    CHECK_MEMORY(kept, before, SEG_SIZE);
    memset(kept, 0x5a, SEG_SIZE);
    check_works(&next);
    raw_detach(&next);

    /* Once it is gone, the segment has its turn again. */
    shmdt(kept);
    attach_raw(&next, server);
    attach_raw(&last, server);
    CHECK(next.grant.segment_id == former.grant.segment_id ||
          last.grant.segment_id == former.grant.segment_id);
    check_new(&next);
    check_new(&last);
    check_works(&next);
    check_works(&last);
    raw_detach(&next);
    raw_detach(&last);
    server_stop(server);
}

static void keep_run(void *gate)
{
    gate_wait(gate, 1);
}

static void a_child_that_inherited_the_mapping_keeps_it_from_others(void)
{
    struct gate *gate = shared_alloc(sizeof(*gate));
    struct server *server = server_start(NULL);
    struct raw_client raw;
    pid_t child;
    int first;

    attach_raw(&raw, server);
    first = raw.grant.segment_id;
    child = tenant_start(keep_run, gate);
    raw_detach(&raw);
    attach_raw(&raw, server);
    CHECK(raw.grant.segment_id != first);
    gate_pass(gate);
    tenant_join(child);
    raw_detach(&raw);
    server_stop(server);
}

struct stranger {
    const struct server *server;
    int *id;
};

static void stranger_run(void *argument)
{
    const struct stranger *stranger = argument;
    struct raw_client raw;

    CHECK(setgid(STRANGER) == 0 && setuid(STRANGER) == 0);
    attach_raw(&raw, stranger->server);
    *stranger->id = raw.grant.segment_id;
    check_new(&raw);
    raw_detach(&raw);
}

static void another_user_does_not_get_it(void)
{
    static const char *const arguments[] = {"--allow-users", "65534", NULL};
    struct stranger stranger = {NULL, shared_alloc(sizeof(int))};
    struct raw_client raw;
    int first;

    if (geteuid() != 0)
        test_skip("only root can become another user");
    stranger.server = server_start(&(struct server_options){.arguments = arguments});
    attach_raw(&raw, stranger.server);
    first = raw.grant.segment_id;
    raw_detach(&raw);
    tenant_join(tenant_start(stranger_run, &stranger));
    CHECK(*stranger.id != first);
    attach_raw(&raw, stranger.server);
    CHECK_EQUAL(raw.grant.segment_id, first);
    raw_detach(&raw);
    server_stop((struct server *)(uintptr_t)stranger.server);
}

/* ---- Coming and going ---- */

static void cycles_run(void *argument)
{
    const unsigned *cycles = argument;
    unsigned char got[256], wanted[256];

    for (unsigned i = 0; i < *cycles; i++) {
        gs_session session;
        gs_devptr memory;

        CHECK_OK(gs_attach(NULL, &session));
        CHECK_OK(gs_malloc(session, sizeof(got), &memory));
        CHECK_OK(gs_memset(session, memory, (int)(i & 0xff), sizeof(got)));
        CHECK_OK(gs_memcpy_dtoh(session, got, memory, sizeof(got)));
        memset(wanted, (int)(i & 0xff), sizeof(wanted));
        CHECK_MEMORY(got, wanted, sizeof(got));
        CHECK_OK(gs_detach(session));
    }
}

static void three_hundred_sessions_one_after_the_other_need_one_segment(void)
{
    static unsigned cycles = 300;
    struct server *server = server_start(NULL);

    cycles_run(&cycles);
    CHECK_EQUAL(segments_mapped(server_worker_pid(server)), 1);
    CHECK_EQUAL(segments_mapped(server_supervisor(server)), 1);
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* A tenant may attach again before the one beside it has unmapped its segment. */
static void processes_side_by_side_need_no_more_than_they_had_at_a_time(void)
{
    enum { TENANTS = 4 };
    static unsigned cycles = 100;
    struct server *server = server_start(NULL);
    pid_t tenant[TENANTS];

    for (unsigned i = 0; i < TENANTS; i++)
        tenant[i] = tenant_start(cycles_run, &cycles);
    for (unsigned i = 0; i < TENANTS; i++)
        tenant_join(tenant[i]);
    CHECK(segments_mapped(server_worker_pid(server)) <= 2 * TENANTS);
    CHECK_EQUAL(segments_mapped(server_worker_pid(server)),
                segments_mapped(server_supervisor(server)));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

static void what_the_pool_does_not_hold_is_unmapped(void)
{
    enum { MORE = 16 };
    struct server *server = server_start(NULL);
    gs_session session[POOL + MORE];

    for (unsigned i = 0; i < ARRAY_SIZE(session); i++)
        CHECK_OK(gs_attach(NULL, &session[i]));
    CHECK_EQUAL(segments_mapped(server_worker_pid(server)), ARRAY_SIZE(session));
    for (unsigned i = 0; i < ARRAY_SIZE(session); i++)
        CHECK_OK(gs_detach(session[i]));
    CHECK_WITHIN(10000, segments_mapped(server_supervisor(server)) == POOL);
    CHECK_WITHIN(10000, segments_mapped(server_worker_pid(server)) == POOL);
    server_stop(server);
}

/* With too small a limit the worker refuses, after it has mapped the segment. */
static void refused_attaches_leave_nothing_mapped(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    for (unsigned i = 0; i < 100; i++) {
        params.mem_limit = 1;
        CHECK_STATUS(gs_attach(&params, &session), GS_ERR_INVALID_VALUE);
        CHECK_TEXT(gs_last_error_message(), "holds nothing");
        if (i % 3)
            continue;
        params.mem_limit = 0;
        CHECK_OK(gs_attach(&params, &session));
        CHECK_OK(gs_detach(session));
    }
    CHECK_WITHIN(10000, segments_mapped(server_supervisor(server)) <= 1);
    CHECK_WITHIN(10000, segments_mapped(server_worker_pid(server)) <= 1);
    CHECK_EQUAL(server_tenants(server), 0);
    server_stop(server);
}

static void a_lost_worker_takes_the_kept_segments_with_it(void)
{
    struct server *server = server_start(NULL);
    gs_session session[5];
    struct raw_client raw;

    for (unsigned i = 0; i < ARRAY_SIZE(session); i++)
        CHECK_OK(gs_attach(NULL, &session[i]));
    for (unsigned i = 0; i < ARRAY_SIZE(session); i++)
        CHECK_OK(gs_detach(session[i]));
    CHECK_EQUAL(segments_mapped(server_supervisor(server)), ARRAY_SIZE(session));
    for (unsigned i = 0; i < 2; i++) {
        pid_t worker = server_worker_pid(server);

        kill(worker, SIGKILL);
        CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != worker);
        CHECK_EQUAL(segments_mapped(server_supervisor(server)), 0);
        attach_raw(&raw, server);
        check_new(&raw);
        check_works(&raw);
        raw_detach(&raw);
        CHECK_EQUAL(segments_mapped(server_worker_pid(server)), 1);
    }
    server_stop(server);
}

static const struct test tests[] = {
    TEST(the_next_session_finds_its_segment_cleared),
    TEST(who_keeps_the_mapping_sees_nothing_of_the_next),
    TEST(a_child_that_inherited_the_mapping_keeps_it_from_others),
    TEST(another_user_does_not_get_it),
    TEST(three_hundred_sessions_one_after_the_other_need_one_segment),
    TEST(processes_side_by_side_need_no_more_than_they_had_at_a_time),
    TEST(what_the_pool_does_not_hold_is_unmapped),
    TEST(refused_attaches_leave_nothing_mapped),
    TEST(a_lost_worker_takes_the_kept_segments_with_it),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
