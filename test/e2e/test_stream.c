/* test_stream.c - order within a stream, events across streams, and reports of launches. */
#include <string.h>

#include "harness/harness.h"

static void launches_of_one_stream_run_in_order(void)
{
    enum { LAUNCHES = 5000 };
    struct server *server = server_start(NULL);
    uint32_t counted;
    gs_session session;
    gs_kernel increment;
    gs_stream stream;
    gs_devptr counter;

    CHECK_OK(server_attach(server, &session));
    increment = kernels_get(kernels_load(session), "increment");
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_malloc(session, sizeof(counted), &counter));
    /* A plain, not an atomic increment: two at a time would lose one. Far more than a ring holds.
     */
    for (unsigned i = 0; i < LAUNCHES; i++)
        CHECK_OK(kernels_launch(stream, increment, 1, 1, (void *[]){&counter}));
    CHECK_OK(gs_memcpy_dtoh_async(session, &counted, counter, sizeof(counted), stream));
    CHECK_EQUAL(counted, LAUNCHES);
    CHECK_OK(gs_stream_query(session, stream));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void work_of_two_streams_overlaps(void)
{
    struct server *server = server_start(NULL);
    uint32_t one = 1;
    gs_session session;
    gs_stream waiting, other;
    gs_kernel spin_until;
    gs_devptr flag;

    CHECK_OK(server_attach(server, &session));
    spin_until = kernels_get(kernels_load(session), "spin_until");
    CHECK_OK(gs_stream_create(session, NULL, &waiting));
    CHECK_OK(gs_stream_create(session, NULL, &other));
    CHECK_OK(gs_malloc(session, sizeof(one), &flag));
    CHECK_OK(kernels_launch(waiting, spin_until, 1, 1, (void *[]){&flag}));
    CHECK_STATUS(gs_stream_query(session, waiting), GS_NOT_READY);
    /* The kernel ends only because this copy passes it. */
    CHECK_OK(gs_memcpy_htod_async(session, flag, &one, sizeof(one), other));
    CHECK_OK(gs_stream_sync(session, waiting));
    CHECK_OK(gs_stream_query(session, waiting));
    CHECK_OK(gs_stream_destroy(waiting));
    CHECK_OK(gs_stream_destroy(other));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void an_event_orders_two_streams(void)
{
    enum { ROUNDS = 200, N = 512 };
    struct server *server = server_start(NULL);
    uint32_t out[N], n = N, rounds = 400, seed = 9;
    gs_session session;
    gs_module module;
    gs_stream producer, consumer;
    gs_event made, used;
    gs_devptr data, copy;

    CHECK_OK(server_attach(server, &session));
    module = kernels_load(session);
    CHECK_OK(gs_stream_create(session, NULL, &producer));
    CHECK_OK(gs_stream_create(session, NULL, &consumer));
    CHECK_OK(gs_event_create(session, &made));
    CHECK_OK(gs_event_create(session, &used));
    CHECK_OK(gs_malloc(session, sizeof(out), &data));
    CHECK_OK(gs_malloc(session, sizeof(out), &copy));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        CHECK_OK(gs_stream_wait_event(producer, used)); /* never recorded in the first round */
        CHECK_OK(kernels_launch(producer, kernels_get(module, "chain"), N / 128, 128,
                                (void *[]){&data, &n, &rounds, &seed}));
        CHECK_OK(kernels_launch(producer, kernels_get(module, "fill"), N / 128, 128,
                                (void *[]){&data, &round, &n}));
        CHECK_OK(gs_event_record(made, producer));
        CHECK_OK(gs_stream_wait_event(consumer, made));
        CHECK_OK(gs_memcpy_dtod_async(session, copy, data, sizeof(out), consumer));
        CHECK_OK(gs_event_record(used, consumer));
        if (round % 20 == 19) {
            CHECK_OK(gs_memcpy_dtoh_async(session, out, copy, sizeof(out), consumer));
            for (uint32_t i = 0; i < N; i++)
                CHECK_EQUAL(out[i], round + i);
        }
    }
    CHECK_OK(gs_event_destroy(made));
    CHECK_OK(gs_event_destroy(used));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void an_event_is_complete_when_its_stream_passed_it(void)
{
    struct server *server = server_start(NULL);
    uint32_t one = 1;
    gs_session session;
    gs_stream stream;
    gs_event event;
    gs_devptr flag;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_malloc(session, sizeof(one), &flag));
    CHECK_OK(gs_event_create(session, &event));
    CHECK_OK(gs_event_query(event)); /* never recorded */
    CHECK_OK(gs_event_sync(event));
    CHECK_OK(kernels_launch(stream, kernels_get(kernels_load(session), "spin_until"), 1, 1,
                            (void *[]){&flag}));
    CHECK_OK(gs_event_record(event, stream));
    CHECK_STATUS(gs_event_query(event), GS_NOT_READY);
    CHECK_OK(gs_memcpy_htod(session, flag, &one, sizeof(one)));
    CHECK_OK(gs_event_sync(event));
    CHECK_OK(gs_event_query(event));
    CHECK_OK(gs_event_destroy(event));
    CHECK_STATUS(gs_event_query(event), GS_ERR_INVALID_HANDLE);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void the_time_between_two_events_is_measured(void)
{
    struct server *server = server_start(NULL);
    uint64_t nanoseconds = 20000000;
    float ms = -1;
    gs_session session;
    gs_kernel spin;
    gs_stream stream;
    gs_event start, end, never;

    CHECK_OK(server_attach(server, &session));
    spin = kernels_get(kernels_load(session), "spin");
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_event_create(session, &start));
    CHECK_OK(gs_event_create(session, &end));
    CHECK_OK(gs_event_create(session, &never));
    CHECK_OK(gs_event_record(start, stream));
    CHECK_OK(kernels_launch(stream, spin, 1, 1, (void *[]){&nanoseconds}));
    CHECK_OK(gs_event_record(end, stream));
    CHECK_STATUS(gs_event_elapsed(start, never, &ms), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_event_elapsed(start, end, NULL), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_stream_sync(session, stream));
    CHECK_OK(gs_event_elapsed(start, end, &ms));
    CHECK(ms >= 19.9f && ms < 20000.0f);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void all_streams_that_a_session_may_have_work(void)
{
    struct server *server = server_start(NULL);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    uint32_t words[64];
    gs_stream stream[64];
    gs_session session;
    gs_module module;
    gs_devptr memory;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_session_info(session, &desc));
    module = kernels_load(session);
    CHECK_OK(gs_malloc(session, sizeof(words), &memory));
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 1; i < desc.max_streams; i++)
            CHECK_OK(gs_stream_create(session, NULL, &stream[i]));
        stream[0] = (gs_stream)0x1234;
        CHECK_STATUS(gs_stream_create(session, NULL, &stream[0]), GS_ERR_LIMIT);
        CHECK(stream[0] == (gs_stream)0x1234);
        for (uint32_t i = 1; i < desc.max_streams; i++) {
            uint32_t value = i * 10 + round, one = 1;
            gs_devptr to = memory + i * 4;

            CHECK_OK(kernels_launch(stream[i], kernels_get(module, "fill"), 1, 1,
                                    (void *[]){&to, &value, &one}));
        }
        CHECK_OK(gs_sync(session));
        CHECK_OK(gs_memcpy_dtoh(session, words, memory, sizeof(words)));
        for (uint32_t i = 1; i < desc.max_streams; i++) {
            CHECK_EQUAL(words[i], i * 10 + round);
            CHECK_OK(gs_stream_destroy(stream[i]));
            CHECK_STATUS(gs_stream_sync(session, stream[i]), GS_ERR_INVALID_HANDLE);
        }
    }
    CHECK_STATUS(gs_stream_destroy(NULL), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void events_have_a_limit(void)
{
    struct server *server = server_start(NULL);
    static gs_event event[65536];
    gs_event more;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < ARRAY_SIZE(event); i++)
        CHECK_OK(gs_event_create(session, &event[i]));
    CHECK_STATUS(gs_event_create(session, &more), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "65536");
    CHECK_OK(gs_event_record(event[65535], NULL));
    CHECK_OK(gs_event_sync(event[65535]));
    CHECK_OK(gs_event_destroy(event[7]));
    CHECK_OK(gs_event_create(session, &more));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Reports ---- */

static void a_launch_reports_what_it_took(void)
{
    struct server *server = server_start(NULL);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_report report = GS_REPORT_INIT;
    gs_report_id id[70];
    uint64_t nanoseconds = 5000000, zero = 0;
    uint32_t one = 1;
    gs_session session;
    gs_module module;
    gs_stream stream;
    gs_devptr flag;

    CHECK_OK(server_attach(server, &session));
    module = kernels_load(session);
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_malloc(session, sizeof(one), &flag));

    config.report = &id[0];
    CHECK_OK(gs_launch(stream, kernels_get(module, "spin"), &config, (void *[]){&nanoseconds}));
    CHECK_OK(gs_stream_sync(session, stream));
    CHECK_WITHIN(5000, gs_launch_report(session, id[0], &report) == GS_OK);
    CHECK(report.run_ns >= 4900000 && report.run_ns < 20000000000u);
    CHECK(report.queued_ns > 0 && report.queued_ns < 20000000000u);
    CHECK(report.sm_count > 0);
    /* Each can be fetched once. */
    CHECK_STATUS(gs_launch_report(session, id[0], &report), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_launch_report(session, 123456, &report), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_launch_report(session, 0, &report), GS_ERR_INVALID_VALUE);

    /* 64 may be open at a time: one kernel holds them all up. */
    CHECK_OK(kernels_launch(stream, kernels_get(module, "spin_until"), 1, 1, (void *[]){&flag}));
    for (unsigned i = 0; i < 64; i++) {
        config.report = &id[i];
        CHECK_OK(gs_launch(stream, kernels_get(module, "spin"), &config, (void *[]){&zero}));
    }
    CHECK_STATUS(gs_launch_report(session, id[0], &report), GS_NOT_READY);
    config.report = &id[64];
    CHECK_STATUS(gs_launch(stream, kernels_get(module, "spin"), &config, (void *[]){&zero}),
                 GS_ERR_LIMIT);
    CHECK_OK(gs_memcpy_htod(session, flag, &one, sizeof(one)));
    CHECK_OK(gs_stream_sync(session, stream));
    CHECK_WITHIN(5000, gs_launch_report(session, id[63], &report) == GS_OK);
    CHECK_OK(gs_launch_report(session, id[5], &report));
    /* An unfetched one goes when 64 newer ones were asked for. */
    for (unsigned i = 0; i < 64; i++) {
        gs_report_id newer;

        config.report = &newer;
        CHECK_OK(gs_launch(stream, kernels_get(module, "spin"), &config, (void *[]){&zero}));
        CHECK_OK(gs_stream_sync(session, stream));
        CHECK_WITHIN(5000, gs_launch_report(session, newer, &report) == GS_OK);
    }
    CHECK_STATUS(gs_launch_report(session, id[1], &report), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(launches_of_one_stream_run_in_order),
    TEST(work_of_two_streams_overlaps),
    TEST(an_event_orders_two_streams),
    TEST(an_event_is_complete_when_its_stream_passed_it),
    TEST(the_time_between_two_events_is_measured),
    TEST(all_streams_that_a_session_may_have_work),
    TEST(events_have_a_limit),
    TEST(a_launch_reports_what_it_took),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
