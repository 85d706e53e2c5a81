/*
 * test_requests.c - a tenant of the latency class sends requests, each of some kernels and a wait,
 * the same again and again or others: each has the results that it asked for.
 *
 * The kernels do not commute, and each request goes on from what the one before left, so that a
 * launch that is lost, doubled, late or has the parameters of another request shows ever after.
 */
#include <string.h>

#include "bystander.h"
#include "harness/harness.h"
#include "where.h"

#define LENGTH 20u

/* A stream, a word that its kernels change, and what that must be. */
struct asker {
    gs_session session;
    gs_module module;
    gs_stream stream;
    gs_devptr word;
    uint32_t wanted;
};

static void asker_set(struct asker *asker, gs_session session)
{
    asker->session = session;
    asker->module = kernels_load(session);
    asker->wanted = 0;
    CHECK_OK(gs_stream_create(session, NULL, &asker->stream));
    CHECK_OK(gs_malloc(session, 4, &asker->word));
    CHECK_OK(gs_memset(session, asker->word, 0, 4));
}

static struct server *scene_set(struct asker *asker)
{
    struct server *server = server_start(NULL);

    asker_set(asker, attach_class(GS_CLASS_LATENCY));
    return server;
}

static void scene_end(const struct asker *asker, struct server *server)
{
    CHECK_OK(gs_detach(asker->session));
    server_stop(server);
}

/* One of three kernels, and what it does. */
static void step(struct asker *asker, unsigned kind, uint32_t number)
{
    uint32_t n = 1, rounds = 1 + kind / 3 % 16;

    switch (kind % 3) {
    case 0:
        CHECK_OK(kernels_launch(asker->stream, kernels_get(asker->module, "increment"), 1, 1,
                                (void *[]){&asker->word}));
        asker->wanted++;
        break;
    case 1:
        CHECK_OK(kernels_launch(asker->stream, kernels_get(asker->module, "chain"), 1, 32 * rounds,
                                (void *[]){&asker->word, &n, &rounds, &number}));
        asker->wanted = chain_expected(asker->wanted, rounds, number);
        break;
    default:
        CHECK_OK(kernels_launch(asker->stream, kernels_get(asker->module, "count"), 1, rounds,
                                (void *[]){&asker->word}));
        asker->wanted += rounds;
    }
}

/* variant: which kernels; number: their parameters. */
static void request(struct asker *asker, unsigned length, unsigned variant, uint32_t number)
{
    for (unsigned i = 0; i < length; i++)
        step(asker, i * (1 + variant % 5) + variant, number * i);
}

static void answer_check(const struct asker *asker)
{
    uint32_t got;

    CHECK_OK(gs_memcpy_dtoh(asker->session, &got, asker->word, sizeof(got)));
    CHECK_EQUAL(got, asker->wanted);
}

static void answer_wait(const struct asker *asker)
{
    CHECK_OK(gs_stream_sync(asker->session, asker->stream));
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_request_that_comes_again_has_its_own_results(void)
{
    struct asker asker;
    struct server *server = scene_set(&asker);

    for (uint32_t i = 0; i < 400; i++) {
        request(&asker, LENGTH, 0, i);
        answer_wait(&asker);
        if (i % 8 == 0)
            answer_check(&asker);
    }
    answer_check(&asker);
    scene_end(&asker, server);
}

static void requests_alternate_and_change_their_length(void)
{
    struct asker asker;
    struct server *server = scene_set(&asker);

    for (uint32_t i = 0; i < 200; i++) {
        request(&asker, 10, i % 2, i);
        answer_wait(&asker);
    }
    answer_check(&asker);
    for (uint32_t i = 0; i < 200; i++) {
        request(&asker, 2 + i / 10, 0, i);
        answer_wait(&asker);
    }
    answer_check(&asker);
    for (uint32_t i = 0; i < 300; i++) {
        request(&asker, 1 + (unsigned)(test_random() % 70), (unsigned)(test_random() % 7), i);
        answer_wait(&asker);
    }
    answer_check(&asker);
    scene_end(&asker, server);
}

static void a_module_is_unloaded_and_loaded_between_requests(void)
{
    struct asker asker;
    struct server *server = scene_set(&asker);

    for (uint32_t round = 0; round < 10; round++) {
        for (uint32_t i = 0; i < 12; i++) {
            request(&asker, LENGTH, 1, i);
            answer_wait(&asker);
        }
        answer_check(&asker);
        CHECK_OK(gs_module_unload(asker.module));
        asker.module = kernels_load(asker.session);
    }
    scene_end(&asker, server);
}

/* SMs, and priority, which are part of what a graph is made for. */
static void quality_of_service_changes_between_requests(void)
{
    struct asker asker;
    struct server *server = scene_set(&asker);

    for (uint32_t round = 0; round < 24; round++) {
        gs_qos qos = round % 3 == 1 ? where_percentage(50) : (gs_qos)GS_QOS_INIT;
        qos.cls = round % 4 == 3 ? GS_CLASS_NORMAL : GS_CLASS_LATENCY;
        qos.priority = round % 2;
        gs_status status = gs_set_qos(asker.session, &qos);
        if (status != GS_ERR_NOT_SUPPORTED) /* a device without partitions */
            CHECK_OK(status);
        for (uint32_t i = 0; i < 12; i++) {
            request(&asker, LENGTH, round % 2, i);
            answer_wait(&asker);
        }
        answer_check(&asker);
    }
    scene_end(&asker, server);
}

static gs_graph record(struct asker *asker)
{
    gs_graph graph;

    CHECK_OK(gs_graph_begin(asker->session, asker->stream));
    request(asker, LENGTH, 2, 9);
    CHECK_OK(gs_graph_end(asker->session, asker->stream, &graph));
    return graph;
}

/* Copies, events, another stream's work and a recorded graph between launches, and launches with
 * their own quality of service. */
static void other_work_lies_between_launches(void)
{
    struct asker asker;
    struct server *server = scene_set(&asker);
    const uint32_t before = asker.wanted;
    gs_graph graph = record(&asker);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_qos own_qos = GS_QOS_INIT;
    gs_stream other;
    gs_event mine, its;

    asker.wanted = before;
    own_qos.cls = GS_CLASS_NORMAL;
    config.qos = &own_qos;
    CHECK_OK(gs_stream_create(asker.session, NULL, &other));
    CHECK_OK(gs_event_create(asker.session, &mine));
    CHECK_OK(gs_event_create(asker.session, &its));
    for (uint32_t i = 0; i < 100; i++) {
        gs_stream own = asker.stream;
        const uint32_t start = i * 77;

        CHECK_OK(gs_memcpy_htod_async(asker.session, asker.word, &start, sizeof(start), own));
        asker.wanted = start;
        request(&asker, 6, 0, i);
        CHECK_OK(gs_event_record(mine, own));
        CHECK_OK(gs_stream_wait_event(other, mine));
        asker.stream = other;
        request(&asker, 6, 1, i);
        asker.stream = own;
        CHECK_OK(gs_event_record(its, other));
        CHECK_OK(gs_stream_wait_event(own, its));
        request(&asker, 3, 2, i);
        CHECK_OK(gs_launch(own, kernels_get(asker.module, "increment"), &config,
                           (void *[]){&asker.word}));
        asker.wanted++;
        request(&asker, 3, 3, i);
        if (i % 4 == 0) {
            CHECK_OK(gs_graph_launch(graph, own));
            for (unsigned k = 0; k < LENGTH; k++) { /* as request(2, 9) */
                unsigned kind = k * 3 + 2, rounds = 1 + kind / 3 % 16;
                asker.wanted = kind % 3 == 0   ? asker.wanted + 1
                               : kind % 3 == 1 ? chain_expected(asker.wanted, rounds, 9 * k)
                                               : asker.wanted + rounds;
            }
        }
        answer_wait(&asker);
        answer_check(&asker);
    }
    scene_end(&asker, server);
}

/* ---- Several tenants ------------------------------------------------------------------------- */

static void ask(void *argument)
{
    struct asker asker;

    (void)argument;
    asker_set(&asker, attach_class(GS_CLASS_LATENCY));
    for (uint32_t i = 0; i < 150; i++) {
        request(&asker, LENGTH, i / 50, i);
        answer_wait(&asker);
    }
    answer_check(&asker);
    CHECK_OK(gs_detach(asker.session));
}

static void several_tenants_ask_at_a_time_beside_others(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *bystanders = bystanders_start(2);
    pid_t tenants[4];

    for (unsigned i = 0; i < ARRAY_SIZE(tenants); i++)
        tenants[i] = tenant_start(ask, NULL);
    for (unsigned i = 0; i < ARRAY_SIZE(tenants); i++)
        tenant_join(tenants[i]);
    bystanders_stop(bystanders);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(a_request_that_comes_again_has_its_own_results),
    TEST(requests_alternate_and_change_their_length),
    TEST(a_module_is_unloaded_and_loaded_between_requests),
    TEST(quality_of_service_changes_between_requests),
    TEST(other_work_lies_between_launches),
    TEST_WITHIN(several_tenants_ask_at_a_time_beside_others, 120),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
