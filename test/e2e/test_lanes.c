/*
 * test_lanes.c - dispatch lanes: sessions whose launches are in nobody's way are given to other
 * threads of the server, and come back for everything else. What a tenant sees is the same.
 *
 * The servers here have several lanes whatever the machine (GSHARE_LANES).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/harness.h"

#define SESSIONS  8u
#define FILL_NS   20000000000u
/* Rounds of a launch of each session that take no longer than this, so many in a row, and sessions
 * go to lanes: their launches take less than the 50 us that make one light. */
#define QUICK_NS  200000u
#define QUICK_ROW 1000u

struct player {
    gs_session session;
    gs_module module;
    gs_kernel increment, fill;
    gs_devptr counter, words;
    uint32_t expected;
};

static struct server *lanes_start(void)
{
    static const char *const environment[] = {"GSHARE_LANES=4", NULL};
    static const char *const arguments[] = {"--log", "debug", NULL};
    const struct server_options options = {.environment = environment, .arguments = arguments};

    return server_start(&options);
}

/* How often sessions were given to a lane. */
static unsigned given(const struct server *server)
{
    return server_log_lines(server, "goes to lane");
}

static void player_begin(struct player *player)
{
    uint32_t zero = 0;

    CHECK_OK(gs_attach(NULL, &player->session));
    player->module = kernels_load(player->session);
    player->increment = kernels_get(player->module, "increment");
    player->fill = kernels_get(player->module, "fill");
    CHECK_OK(gs_malloc(player->session, sizeof(zero), &player->counter));
    CHECK_OK(gs_malloc(player->session, 64 * sizeof(zero), &player->words));
    CHECK_OK(gs_memcpy_htod(player->session, player->counter, &zero, sizeof(zero)));
    player->expected = 0;
}

/* Launches on all, then waits for all: so all of them keep the server busy together. Returns how
 * many rounds in a row were quick, with `row` before the first. */
static unsigned round_play_from(unsigned row, struct player *players, unsigned count,
                                unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        const uint64_t begin = clock_ns();
        for (unsigned i = 0; i < count; i++) {
            CHECK_OK(
                kernels_launch(NULL, players[i].increment, 1, 1, (void *[]){&players[i].counter}));
            players[i].expected++;
        }
        for (unsigned i = 0; i < count; i++)
            CHECK_OK(gs_sync(players[i].session));
        row = clock_ns() - begin < QUICK_NS ? row + 1 : 0;
    }
    return row;
}

static void round_play(struct player *players, unsigned count, unsigned rounds)
{
    round_play_from(0, players, count, rounds);
}

static void player_check(const struct player *player)
{
    uint32_t found;

    CHECK_OK(gs_memcpy_dtoh(player->session, &found, player->counter, sizeof(found)));
    CHECK_EQUAL(found, player->expected);
}

/* Plays until some sessions have gone to lanes. They go once their launches are known to be short,
 * so none needs to go where something else has the processors, or a sanitizer slows the software
 * device down: that is a skip. */
static void lanes_fill(struct server *server, struct player *players, unsigned count)
{
    const unsigned before = given(server);
    const uint64_t deadline = clock_ns() + FILL_NS;
    unsigned row = 0;

    do {
        row = round_play_from(row, players, count, 50);
        if (given(server) > before)
            return;
        if (row >= QUICK_ROW)
            test_fail(__FILE__, __LINE__, "no session went to a lane in %u quick rounds", row);
    } while (clock_ns() < deadline);
    for (unsigned i = 0; i < SESSIONS; i++)
        CHECK_OK(gs_detach(players[i].session));
    server_stop(server);
    test_skip("launches are too slow to be given away");
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void every_launch_of_many_tenants_is_done_once(void)
{
    struct server *server = lanes_start();
    struct player players[SESSIONS];

    for (unsigned i = 0; i < SESSIONS; i++)
        player_begin(&players[i]);
    lanes_fill(server, players, SESSIONS);
    round_play(players, SESSIONS, 500);
    for (unsigned i = 0; i < SESSIONS; i++)
        player_check(&players[i]);
    for (unsigned i = 0; i < SESSIONS; i++)
        CHECK_OK(gs_detach(players[i].session));
    server_stop(server);
}

/* A copy, an event, a captured graph, a wide kernel, memory, a stream, another grant. */
static void other_work(struct player *player)
{
    gs_qos qos = GS_QOS_INIT;
    gs_stream stream;
    gs_event begin, end;
    gs_graph graph;
    gs_devptr more;
    uint32_t out[64], value = 7, n = 64;
    float ms = -1;

    CHECK_OK(gs_event_create(player->session, &begin));
    CHECK_OK(gs_event_create(player->session, &end));
    CHECK_OK(gs_stream_create(player->session, NULL, &stream));
    CHECK_OK(gs_event_record(begin, NULL));
    CHECK_OK(kernels_launch(NULL, player->increment, 1, 1, (void *[]){&player->counter}));
    player->expected++;
    CHECK_OK(gs_event_record(end, NULL));
    CHECK_OK(gs_stream_wait_event(stream, end));
    CHECK_OK(gs_malloc(player->session, 1 << 20, &more));
    CHECK_OK(kernels_launch(stream, player->fill, 1, 64, (void *[]){&player->words, &value, &n}));
    CHECK_OK(gs_memcpy_dtoh_async(player->session, out, player->words, sizeof(out), stream));
    CHECK_OK(gs_event_sync(end));
    CHECK_OK(gs_event_elapsed(begin, end, &ms));
    CHECK(ms >= 0);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQUAL(out[i], value + i);
    CHECK_OK(gs_graph_begin(player->session, stream));
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(kernels_launch(stream, player->increment, 1, 1, (void *[]){&player->counter}));
    CHECK_OK(gs_graph_end(player->session, stream, &graph));
    CHECK_OK(gs_graph_launch(graph, stream));
    player->expected += 3;
    CHECK_OK(gs_stream_sync(player->session, stream));
    qos.weight = 32;
    CHECK_OK(gs_set_qos(player->session, &qos));
    CHECK_OK(gs_free(player->session, more));
    CHECK_OK(gs_graph_destroy(graph));
    CHECK_OK(gs_stream_destroy(stream));
    CHECK_OK(gs_event_destroy(begin));
    CHECK_OK(gs_event_destroy(end));
}

static void all_other_work_is_done_in_order_between_two_launches(void)
{
    struct server *server = lanes_start();
    struct player players[SESSIONS];

    for (unsigned i = 0; i < SESSIONS; i++)
        player_begin(&players[i]);
    lanes_fill(server, players, SESSIONS);
    for (unsigned turn = 0; turn < 3 * SESSIONS; turn++) {
        round_play(players, SESSIONS, 40);
        other_work(&players[turn % SESSIONS]);
        player_check(&players[turn % SESSIONS]);
    }
    for (unsigned i = 0; i < SESSIONS; i++)
        player_check(&players[i]);
    for (unsigned i = 0; i < SESSIONS; i++)
        CHECK_OK(gs_detach(players[i].session));
    server_stop(server);
}

/* A module is loaded at a moment when the device has nothing to do. */
static void a_module_loads_while_others_launch(void)
{
    struct server *server = lanes_start();
    struct player players[SESSIONS];

    for (unsigned i = 0; i < SESSIONS; i++)
        player_begin(&players[i]);
    lanes_fill(server, players, SESSIONS - 1);
    for (unsigned turn = 0; turn < 10; turn++) {
        round_play(players, SESSIONS - 1, 100);
        CHECK_OK(gs_module_unload(players[SESSIONS - 1].module));
        players[SESSIONS - 1].module = kernels_load(players[SESSIONS - 1].session);
    }
    for (unsigned i = 0; i < SESSIONS; i++)
        player_check(&players[i]);
    for (unsigned i = 0; i < SESSIONS; i++)
        CHECK_OK(gs_detach(players[i].session));
    server_stop(server);
}

struct crowd {
    struct gate playing;
};

static void member_run(void *argument)
{
    struct crowd *crowd = argument;
    struct player players[SESSIONS / 2];

    for (unsigned i = 0; i < SESSIONS / 2; i++)
        player_begin(&players[i]);
    round_play(players, SESSIONS / 2, 300);
    gate_pass(&crowd->playing);
    for (;;)
        round_play(players, SESSIONS / 2, 100);
}

static void a_tenant_that_is_killed_leaves_the_others_alone(void)
{
    struct server *server = lanes_start();
    struct crowd *crowd = shared_alloc(sizeof(*crowd));
    struct player players[SESSIONS];

    for (unsigned i = 0; i < SESSIONS; i++)
        player_begin(&players[i]);
    lanes_fill(server, players, SESSIONS);
    for (unsigned turn = 0; turn < 3; turn++) {
        pid_t tenant = tenant_start(member_run, crowd);
        gate_wait(&crowd->playing, turn + 1);
        round_play(players, SESSIONS, 200);
        tenant_kill(tenant, SIGKILL);
        server_wait_tenants(server, SESSIONS, 10000);
    }
    for (unsigned i = 0; i < SESSIONS; i++) {
        player_check(&players[i]);
        CHECK_OK(gs_detach(players[i].session));
    }
    server_stop(server);
}

static void a_fault_names_its_session_though_others_are_on_lanes(void)
{
    struct server *server = lanes_start();
    gs_fault fault = GS_FAULT_INIT;
    struct player players[SESSIONS];
    gs_status status = GS_OK;

    for (unsigned i = 0; i < SESSIONS; i++)
        player_begin(&players[i]);
    lanes_fill(server, players, SESSIONS - 1);
    CHECK_OK(
        kernels_launch(NULL, kernels_get(players[SESSIONS - 1].module, "misaligned"), 1, 1, NULL));
    CHECK_STATUS(gs_sync(players[SESSIONS - 1].session), GS_ERR_FAULT);
    CHECK_OK(gs_last_fault(players[SESSIONS - 1].session, &fault));
    CHECK_EQUAL(fault.kind, GS_FAULT_KERNEL);
    /* The others go on if they are fenced; else their module's variables are lost. */
    for (unsigned i = 0; i < SESSIONS - 1; i++) {
        uint32_t found;
        status = gs_memcpy_dtoh(players[i].session, &found, players[i].counter, sizeof(found));
        if (status == GS_OK)
            CHECK_EQUAL(found, players[i].expected);
        else
            CHECK_EQUAL(status, GS_ERR_INTERRUPTED);
    }
    for (unsigned i = 0; i < SESSIONS; i++)
        gs_detach(players[i].session);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(every_launch_of_many_tenants_is_done_once),
    TEST(all_other_work_is_done_in_order_between_two_launches),
    TEST(a_module_loads_while_others_launch),
    TEST(a_tenant_that_is_killed_leaves_the_others_alone),
    TEST(a_fault_names_its_session_though_others_are_on_lanes),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
