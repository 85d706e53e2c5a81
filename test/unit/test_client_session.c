/* test_client_session.c - libgshare's calls against a fake server: results, statuses, messages. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "client_checks.h"
#include "common/ring.h"
#include "common/util.h"
#include "fake_server.h"
#include "gshare.h"

struct fixture {
    char instance[32];
    struct fake *fake;
    gs_session s;
    gs_module module;
    gs_kernel fill, none, wide;
};

static gs_session attach(const struct fixture *f)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session s = NULL;

    params.instance = f->instance;
    OK(gs_attach(&params, &s));
    return s;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    snprintf(f->instance, sizeof(f->instance), "test-cl-%d", (int)getpid());
    f->fake = fake_start(f->instance);
    f->s = attach(f);
    OK(gs_module_load(f->s, ".version 8.0", 0, &f->module));
    OK(gs_kernel_get(f->module, "fill", &f->fill));
    OK(gs_kernel_get(f->module, "none", &f->none));
    OK(gs_kernel_get(f->module, "wide", &f->wide));
    *state = f;
    return 0;
}

/* Each test ends with the session it had: nothing of it may be left with the server. */
static int teardown(void **state)
{
    struct fixture *f = *state;
    int bad = 0;

    if (f->s) {
        OK(gs_detach(f->s));
        bad = fake_sessions_open(f->fake) != 0;
    }
    bad |= fake_lost_bells(f->fake) != 0;
    fake_stop(f->fake);
    free(f);
    return bad;
}

static gs_status fill_on(const struct fixture *f, gs_stream stream, gs_devptr x, uint32_t value,
                         uint32_t count)
{
    return gs_launch(stream, f->fill, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 32),
                     (void *[]){&x, &value, &count});
}

/* ---- Sessions ---- */

static void attaching_tells_what_the_device_is(void **state)
{
    struct fixture *f = *state;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_exec_affinity affinity;
    int value = 0;

    OK(gs_session_info(f->s, &desc));
    assert_string_equal(desc.instance, f->instance);
    assert_string_equal(desc.device_name, "fake");
    assert_int_equal(desc.sm_count, FAKE_SM_COUNT);
    assert_int_equal(desc.max_streams, 63);
    assert_string_equal(desc.device_uuid, "GPU-fa");
    assert_int_equal(desc.device_count, FAKE_DEVICES);
    OK(gs_device_attribute(f->s, 38, &value));
    assert_int_equal(value, FAKE_L2_BYTES);
    FAILS(gs_device_attribute(f->s, 0, &value), GS_ERR_INVALID_VALUE, "attribute 0");
    FAILS(gs_device_attribute(f->s, 1000000, &value), GS_ERR_INVALID_VALUE, "attribute 1000000");
    FAILS(gs_device_attribute(f->s, 38, NULL), GS_ERR_INVALID_VALUE, "NULL");
    OK(gs_get_exec_affinity(f->s, &affinity));
    assert_int_equal(affinity.type, GS_EXEC_AFFINITY_SM_COUNT);
    assert_int_equal(affinity.sm_count, FAKE_SM_COUNT);
    assert_int_equal(affinity.percentage, 100);
    assert_int_equal(affinity.sm_mask[0], (1u << FAKE_SM_COUNT) - 1);
}

static void without_a_server_attaching_fails_and_says_how_to_start_one(void **state)
{
    struct fixture *f = *state;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session s = (gs_session)5;

    (void)f;
    params.instance = "test-nobody-serves-this";
    FAILS(gs_attach(&params, &s), GS_ERR_NO_SERVER, "gshared");
    params.instance = "no/such";
    FAILS(gs_attach(&params, &s), GS_ERR_INVALID_VALUE, "no/such");
    assert_ptr_equal(s, (gs_session)5);
    FAILS(gs_attach(&params, NULL), GS_ERR_INVALID_VALUE, "NULL");
}

static void a_segment_that_makes_no_sense_is_given_back(void **state)
{
    struct fixture *f = *state;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session s;
    uint64_t deadline = clock_ns() + 2000000000u;

    params.instance = f->instance;
    fake_break_next_segment(f->fake);
    FAILS(gs_attach(&params, &s), GS_ERR_PROTOCOL, "segment");
    while (fake_sessions_open(f->fake) != 1)
        assert_true(clock_ns() < deadline);
}

/* So that it can answer in time. */
static void the_server_is_told_how_long_an_attach_waits(void **state)
{
    struct fixture *f = *state;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session s;

    params.instance = f->instance;
    assert_int_equal(fake_patience_ms(f->fake), 10000);
    params.timeout_ms = 54321;
    OK(gs_attach(&params, &s));
    OK(gs_detach(s));
    assert_int_equal(fake_patience_ms(f->fake), 54321);
}

static void a_server_that_ends_while_one_attaches_is_lost(void **state)
{
    struct fixture *f = *state;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session s = (gs_session)5;

    OK(gs_detach(f->s));
    f->s = NULL;
    params.instance = f->instance;
    fake_end_at_next_attach(f->fake);
    FAILS(gs_attach(&params, &s), GS_ERR_SERVER_LOST, "ended");
    assert_ptr_equal(s, (gs_session)5);
    FAILS(gs_attach(&params, &s), GS_ERR_NO_SERVER, "gshared");
}

static void a_detached_session_is_an_invalid_handle_and_so_is_all_that_was_in_it(void **state)
{
    struct fixture *f = *state;
    gs_session s = f->s, other;
    gs_stream stream;
    gs_event event;
    gs_devptr x;
    gs_fault fault = GS_FAULT_INIT;

    OK(gs_stream_create(s, NULL, &stream));
    OK(gs_event_create(s, &event));
    OK(gs_detach(s));
    f->s = NULL;
    FAILS(gs_detach(s), GS_ERR_INVALID_HANDLE, "session");
    /* The next session takes the same place in the table; old handles do not become its own. */
    other = attach(f);
    FAILS(gs_sync(s), GS_ERR_INVALID_HANDLE, "session");
    FAILS(gs_malloc(s, 1, &x), GS_ERR_INVALID_HANDLE, "session");
    FAILS(gs_last_fault(s, &fault), GS_ERR_INVALID_HANDLE, "session");
    FAILS(gs_stream_sync(other, stream), GS_ERR_INVALID_HANDLE, "stream");
    FAILS(gs_event_query(event), GS_ERR_INVALID_HANDLE, "event");
    FAILS(gs_module_unload(f->module), GS_ERR_INVALID_HANDLE, "module");
    FAILS(gs_launch(NULL, f->none, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL),
          GS_ERR_INVALID_HANDLE, "kernel");
    f->s = other;
}

static void a_handle_of_another_session_is_invalid(void **state)
{
    struct fixture *f = *state;
    gs_session other = attach(f);
    gs_stream theirs;
    gs_event event, mine;
    float ms;

    OK(gs_stream_create(other, NULL, &theirs));
    OK(gs_event_create(other, &event));
    OK(gs_event_create(f->s, &mine));
    FAILS(gs_stream_sync(f->s, theirs), GS_ERR_INVALID_HANDLE, "stream");
    FAILS(gs_launch(theirs, f->none, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL),
          GS_ERR_INVALID_HANDLE, "stream");
    FAILS(gs_event_record(mine, theirs), GS_ERR_INVALID_HANDLE, "stream");
    OK(gs_event_record(mine, NULL));
    OK(gs_event_sync(mine));
    FAILS(gs_event_elapsed(mine, event, &ms), GS_ERR_INVALID_HANDLE, "event");
    OK(gs_detach(other));
}

static void wild_values_are_invalid_handles(void **state)
{
    static const uint64_t wild[] = {0,
                                    1,
                                    UINT64_MAX,
                                    UINT64_C(0x1000000000000000),
                                    UINT64_C(0x1FFC000000000001),
                                    UINT64_C(0x2000FFFF00000001),
                                    UINT64_C(0x5003000100000001),
                                    UINT64_C(0xF000000000000001)};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(wild); i++) {
        void *p = (void *)(uintptr_t)wild[i];
        assert_int_equal(gs_sync(p), GS_ERR_INVALID_HANDLE);
        assert_int_equal(gs_event_query(p), GS_ERR_INVALID_HANDLE);
        assert_int_equal(gs_module_unload(p), GS_ERR_INVALID_HANDLE);
        assert_int_equal(gs_graph_launch(p, NULL), GS_ERR_INVALID_HANDLE);
        assert_int_equal(gs_launch(NULL, p, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL),
                         GS_ERR_INVALID_HANDLE);
        if (p)
            assert_int_equal(gs_stream_sync(f->s, p), GS_ERR_INVALID_HANDLE);
    }
}

static void a_child_attaches_anew_and_leaves_its_parents_session_alone(void **state)
{
    struct fixture *f = *state;
    gs_devptr x;
    uint32_t word = 0;
    int status;
    pid_t pid;

    OK(gs_malloc(f->s, 64, &x));
    pid = fork();
    if (!pid) {
        /* The fake server's threads are not in the child, but its queues are served. */
        gs_session s;
        gs_attach_params params = GS_ATTACH_PARAMS_INIT;
        params.instance = f->instance;
        if (gs_sync(f->s) != GS_ERR_FORKED || !strstr(gs_last_error_message(), "parent"))
            _exit(1);
        if (gs_malloc(f->s, 4, &x) != GS_ERR_FORKED || gs_detach(f->s) != GS_ERR_FORKED ||
            gs_module_unload(f->module) != GS_ERR_FORKED ||
            gs_launch(NULL, f->none, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL) !=
                GS_ERR_FORKED)
            _exit(2);
        if (gs_attach(&params, &s) != GS_OK || gs_sync(f->s) != GS_ERR_FORKED)
            _exit(3);
        _exit(gs_detach(s) == GS_OK ? 0 : 4);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    OK(fill_on(f, NULL, x, 77, 16));
    OK(gs_memcpy_dtoh(f->s, &word, x, sizeof(word)));
    assert_int_equal(word, 77);
}

/* ---- Streams and events ---- */

static void launches_of_a_stream_run_in_order_however_many(void **state)
{
    struct fixture *f = *state;
    gs_devptr x;
    uint32_t word;

    OK(gs_malloc(f->s, 256, &x));
    /* Several times around the ring, with its wrap and its waits for room. */
    for (uint32_t i = 1; i <= 20000; i++)
        OK(fill_on(f, NULL, x, i, 1));
    OK(gs_stream_sync(f->s, NULL));
    OK(gs_memcpy_dtoh(f->s, &word, x, sizeof(word)));
    assert_int_equal(word, 20000);
}

/* gs_launch_config.programmatic lies where the struct had padding before it had clusters. */
static void the_padding_of_an_older_launch_config_is_not_read(void **state)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    struct fixture *f = *state;

    config.programmatic = 1;
    OK(gs_launch(NULL, f->none, &config, NULL));
    OK(gs_sync(f->s));
    assert_true(fake_launch_flags() & REC_LAUNCH_PROGRAMMATIC);
    config.size = offsetof(gs_launch_config, cluster);
    OK(gs_launch(NULL, f->none, &config, NULL));
    OK(gs_sync(f->s));
    assert_false(fake_launch_flags() & REC_LAUNCH_PROGRAMMATIC);
}

static void wide_on(const struct fixture *f, gs_devptr x, uint64_t last)
{
    unsigned char rest[REQ_PARAM_BYTES_MAX - 8] = {0};

    memcpy(rest + sizeof(rest) - sizeof(last), &last, sizeof(last));
    OK(gs_launch(NULL, f->wide, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1),
                 (void *[]){&x, rest}));
}

/* Small launches between them move the place where the ring ends. */
static void large_parameters_arrive_whole_across_the_rings_end(void **state)
{
    struct fixture *f = *state;
    gs_devptr x;
    uint64_t last = 0;

    OK(gs_malloc(f->s, 256, &x));
    for (uint64_t i = 1; i <= 200; i++) {
        wide_on(f, x, i);
        for (uint64_t n = 0; n < i % 7; n++)
            OK(gs_launch(NULL, f->none, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL));
        if (i % 50)
            continue;
        OK(gs_memcpy_dtoh(f->s, &last, x, sizeof(last)));
        assert_int_equal(last, i);
    }
}

/* In the middle of the ring the largest record and its padding are more than a ring. */
static void a_padding_that_leaves_no_room_goes_ahead(void **state)
{
    const uint32_t size = launch_record_size(0, REQ_PARAM_BYTES_MAX);
    struct fixture *f = *state;
    gs_devptr x;
    uint64_t last = 0;

    assert_true(ring_pads_ahead(SEG_RING_BYTES / 2, size));
    OK(gs_malloc(f->s, 256, &x));
    for (uint32_t at = 0; at < SEG_RING_BYTES / 2; at += REC_ALIGN)
        OK(gs_launch(NULL, f->none, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL));
    wide_on(f, x, 1);
    wide_on(f, x, 2);
    OK(gs_memcpy_dtoh(f->s, &last, x, sizeof(last)));
    assert_int_equal(last, 2);
}

/* Its record has padding before it, which nobody gives to the server. */
static void a_launch_that_fails_leaves_nothing_to_wait_for(void **state)
{
    const gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    const gs_memcpy_3d_params empty = GS_MEMCPY_3D_PARAMS_INIT;
    struct fixture *f = *state;
    gs_devptr x = 0;

    for (uint32_t at = 0; at < SEG_RING_BYTES / 2 + 2 * REC_ALIGN; at += REC_ALIGN)
        OK(gs_launch(NULL, f->none, &config, NULL));
    FAILS(gs_launch(NULL, f->wide, &config, (void *[]){&x, NULL}), GS_ERR_PARAMS, "argument 1");
    OK(gs_memcpy_3d(f->s, &empty));
}

/* The device writes the words of streams in no order. */
static void what_was_waited_for_is_complete(void **state)
{
    struct fixture *f = *state;
    gs_stream first, second, third;
    gs_event event, next;
    gs_devptr x;

    OK(gs_stream_create(f->s, NULL, &first)); /* numbers 1, 2, 3 */
    OK(gs_stream_create(f->s, NULL, &second));
    OK(gs_stream_create(f->s, NULL, &third));
    OK(gs_event_create(f->s, &event));
    OK(gs_event_create(f->s, &next));
    OK(gs_malloc(f->s, 256, &x));
    fake_words_late(f->fake, 1u << 1 | 1u << 2);
    OK(fill_on(f, first, x, 1, 1));
    OK(gs_event_record(event, first));
    OK(gs_stream_wait_event(second, event));
    OK(gs_event_record(next, second));
    OK(gs_stream_wait_event(third, next));
    OK(fill_on(f, third, x, 2, 1));
    OK(gs_stream_sync(f->s, third));
    OK(gs_event_query(event));
    OK(gs_event_query(next));
    OK(gs_stream_query(f->s, first));
    OK(gs_stream_query(f->s, second));

    OK(fill_on(f, first, x, 3, 1)); /* which nobody has waited for */
    assert_int_equal(gs_stream_query(f->s, first), GS_NOT_READY);
    OK(gs_event_query(event));
    OK(gs_event_record(event, first));
    assert_int_equal(gs_event_query(event), GS_NOT_READY);
    fake_pause(f->fake, true);
    OK(gs_stream_wait_event(third, event));
    assert_int_equal(gs_event_query(event), GS_NOT_READY);
    fake_words_late(f->fake, 0);
    fake_pause(f->fake, false);
    OK(gs_event_sync(event));
    OK(gs_stream_query(f->s, first));
}

static void a_wait_makes_one_stream_follow_another(void **state)
{
    struct fixture *f = *state;
    gs_stream a, b;
    gs_event event;
    gs_devptr x;
    uint32_t word;

    OK(gs_stream_create(f->s, NULL, &a));
    OK(gs_stream_create(f->s, NULL, &b));
    OK(gs_event_create(f->s, &event));
    OK(gs_malloc(f->s, 256, &x));
    OK(gs_event_query(event)); /* never recorded */
    OK(gs_event_sync(event));
    fake_pause(f->fake, true);
    OK(fill_on(f, b, x, 1, 1));
    OK(gs_event_record(event, b));
    OK(gs_stream_wait_event(a, event));
    OK(fill_on(f, a, x, 2, 1));
    assert_int_equal(gs_event_query(event), GS_NOT_READY);
    assert_int_equal(gs_stream_query(f->s, a), GS_NOT_READY);
    fake_pause(f->fake, false);
    OK(gs_stream_sync(f->s, a));
    OK(gs_event_query(event));
    OK(gs_memcpy_dtoh(f->s, &word, x, sizeof(word)));
    assert_int_equal(word, 2);
    OK(gs_stream_destroy(a));
    FAILS(gs_stream_query(f->s, a), GS_ERR_INVALID_HANDLE, "stream");
    FAILS(gs_stream_destroy(NULL), GS_ERR_INVALID_VALUE, "default");
    OK(gs_stream_create(f->s, NULL, &a)); /* the same number, other handle */
    OK(fill_on(f, a, x, 3, 1));
    OK(gs_stream_sync(f->s, a));
    OK(gs_event_destroy(event));
    FAILS(gs_event_destroy(event), GS_ERR_INVALID_HANDLE, "event");
}

static void elapsed_time_needs_two_complete_events(void **state)
{
    struct fixture *f = *state;
    gs_event a, b;
    float ms = -1;

    OK(gs_event_create(f->s, &a));
    OK(gs_event_create(f->s, &b));
    OK(gs_event_record(a, NULL));
    OK(gs_sync(f->s));
    FAILS(gs_event_elapsed(a, b, &ms), GS_ERR_INVALID_VALUE, "end event was never recorded");
    fake_pause(f->fake, true);
    OK(gs_event_record(b, NULL));
    assert_int_equal(gs_event_elapsed(a, b, &ms), GS_NOT_READY);
    assert_true(ms == -1);
    fake_pause(f->fake, false);
    OK(gs_sync(f->s));
    OK(gs_event_elapsed(a, b, &ms));
    assert_true(ms == 1.5f);
}

static void there_are_65536_events_and_no_more(void **state)
{
    struct fixture *f = *state;
    gs_event first = NULL, event;

    for (unsigned i = 0; i < 65536; i++) {
        OK(gs_event_create(f->s, &event));
        if (!first)
            first = event;
    }
    FAILS(gs_event_create(f->s, &event), GS_ERR_LIMIT, "65536");
    OK(gs_event_destroy(first));
    OK(gs_event_create(f->s, &event));
    assert_ptr_not_equal(first, event);
    FAILS(gs_event_query(first), GS_ERR_INVALID_HANDLE, "event");
}

/* ---- Memory ---- */

static void copies_of_any_size_and_place_arrive(void **state)
{
    static const size_t sizes[] = {1,       3,       64 << 10,         (64 << 10) + 1,
                                   1 << 20, 3 << 20, (10 << 20) + 777, 17 << 20};
    struct fixture *f = *state;
    unsigned char *from = malloc(17 << 20), *to = malloc(17 << 20);
    gs_devptr x;

    OK(gs_malloc(f->s, 17 << 20, &x));
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        for (size_t n = 0; n < sizes[i]; n++)
            from[n] = (unsigned char)(n * 31 + (n >> 8) + i);
        memset(to, 0, sizes[i]);
        OK(gs_memcpy_htod(f->s, x, from, sizes[i]));
        OK(gs_memcpy_dtoh(f->s, to, x, sizes[i]));
        assert_memory_equal(from, to, sizes[i]);
    }
    free(from);
    free(to);
}

static void host_memory_of_the_library_is_copied_in_place(void **state)
{
    struct fixture *f = *state;
    unsigned before = fake_host_blocks(f->fake);
    unsigned char *host, *end;
    gs_devptr x;
    gs_stream stream;
    uint32_t ordinary = 5;

    OK(gs_host_alloc(f->s, 65536, (void **)&host));
    OK(gs_malloc(f->s, 65536, &x));
    OK(gs_stream_create(f->s, NULL, &stream));
    memset(host, 7, 32768);
    OK(gs_memcpy_htod_async(f->s, x, host, 32768, stream));
    OK(gs_memcpy_dtod_async(f->s, x + 32768, x, 32768, stream));
    OK(gs_memcpy_dtoh_async(f->s, host + 32768, x + 32768, 32768, stream));
    OK(gs_stream_sync(f->s, stream));
    assert_memory_equal(host, host + 32768, 32768);
    /* No staging area was made for that. */
    assert_int_equal(fake_host_blocks(f->fake), before + 1);
    end = host + 65536;
    FAILS(gs_memcpy_htod(f->s, x, end - 4, 8), GS_ERR_INVALID_POINTER, "runs over an end");
    FAILS(gs_memcpy_dtoh(f->s, host - 4, x, 8), GS_ERR_INVALID_POINTER, "runs over an end");
    FAILS(gs_host_free(f->s, host + 1), GS_ERR_INVALID_POINTER, "gs_host_alloc");
    FAILS(gs_host_free(f->s, &ordinary), GS_ERR_INVALID_POINTER, "gs_host_alloc");
    OK(gs_host_free(f->s, host));
    FAILS(gs_host_free(f->s, host), GS_ERR_INVALID_POINTER, "gs_host_alloc");
    OK(gs_host_free(f->s, NULL));
    assert_int_equal(fake_host_blocks(f->fake), before);
    FAILS(gs_host_alloc(f->s, 0, (void **)&host), GS_ERR_INVALID_VALUE, "size is 0");
}

static void device_ranges_outside_live_allocations_are_refused(void **state)
{
    struct fixture *f = *state;
    unsigned char host[512] = {0};
    gs_devptr a, b;

    OK(gs_malloc(f->s, 256, &a));
    OK(gs_malloc(f->s, 256, &b));
    assert_int_equal(b, a + 256); /* neighbours: one range may not span both */
    FAILS(gs_memcpy_htod(f->s, a, host, 257), GS_ERR_INVALID_POINTER, "runs past");
    FAILS(gs_memcpy_htod(f->s, a + 255, host, 2), GS_ERR_INVALID_POINTER, "runs past");
    FAILS(gs_memcpy_dtoh(f->s, host, a - 1, 1), GS_ERR_INVALID_POINTER, "in no live allocation");
    FAILS(gs_memcpy_dtoh(f->s, host, 0, 1), GS_ERR_INVALID_POINTER, "source 0x0");
    FAILS(gs_memcpy_dtoh(f->s, host, UINT64_MAX, 2), GS_ERR_INVALID_POINTER, "wraps");
    FAILS(gs_memcpy_htod(f->s, a, host, SIZE_MAX), GS_ERR_INVALID_POINTER, "wraps");
    FAILS(gs_memset(f->s, a, 0, SIZE_MAX - 100), GS_ERR_INVALID_POINTER, "");
    FAILS(gs_memcpy_dtod(f->s, a, b, 257), GS_ERR_INVALID_POINTER, "destination");
    FAILS(gs_memcpy_dtod(f->s, a, b + 128, 129), GS_ERR_INVALID_POINTER, "source");
    FAILS(gs_memcpy_htod(f->s, a, NULL, 4), GS_ERR_INVALID_VALUE, "NULL");
    OK(gs_memcpy_htod(f->s, 12345, NULL, 0)); /* nothing */
    FAILS(gs_malloc(f->s, 0, &a), GS_ERR_INVALID_VALUE, "size is 0");
    FAILS(gs_malloc(f->s, SIZE_MAX, &a), GS_ERR_NO_DEVICE_MEMORY, "");
    FAILS(gs_free(f->s, a + 16), GS_ERR_INVALID_POINTER, "not the start");
    OK(gs_free(f->s, 0));
    OK(gs_free(f->s, a));
    FAILS(gs_free(f->s, a), GS_ERR_INVALID_POINTER, "not the start");
    FAILS(gs_memset(f->s, a, 0, 1), GS_ERR_INVALID_POINTER, "in no live allocation");
    OK(gs_memset(f->s, b, 0x1ff, 256));
    OK(gs_memcpy_dtoh(f->s, host, b, 256));
    assert_int_equal(host[255], 0xff);
}

/* ---- Modules and launching ---- */

static void bad_images_and_names_say_why(void **state)
{
    struct fixture *f = *state;
    gs_module m = (gs_module)9;
    gs_kernel k;
    gs_devptr p;
    size_t size;
    char name[9000];

    FAILS(gs_module_load(f->s, "bad text", 0, &m), GS_ERR_BAD_IMAGE, "line 1: expected .version");
    FAILS(gs_module_load(f->s, NULL, 0, &m), GS_ERR_INVALID_VALUE, "NULL");
    FAILS(gs_module_load(f->s, "", 0, &m), GS_ERR_BAD_IMAGE, "empty");
    FAILS(gs_module_load(f->s,
                         "\x7f"
                         "ELF",
                         0, &m),
          GS_ERR_INVALID_VALUE, "size is 0");
    FAILS(gs_module_load_file(f->s, "/nonexistent/x.ptx", &m), GS_ERR_NOT_FOUND,
          "/nonexistent/x.ptx");
    FAILS(gs_module_load_file(f->s, "/", &m), GS_ERR_SYSTEM, "/");
    assert_ptr_equal(m, (gs_module)9);
    FAILS(gs_kernel_get(f->module, "nothing", &k), GS_ERR_NOT_FOUND, "nothing");
    FAILS(gs_kernel_get(f->module, "", &k), GS_ERR_INVALID_VALUE, "empty");
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    FAILS(gs_kernel_get(f->module, name, &k), GS_ERR_INVALID_VALUE, "8191");
    FAILS(gs_global_get(f->module, "absent", &p, &size), GS_ERR_NOT_FOUND, "");
    OK(gs_global_get(f->module, "table", &p, &size));
    assert_int_equal(size, 64);
    OK(gs_memset(f->s, p, 1, 64)); /* counts as memory of the session */
    FAILS(gs_memset(f->s, p, 1, 65), GS_ERR_INVALID_POINTER, "runs past");
    FAILS(gs_free(f->s, p), GS_ERR_INVALID_POINTER, "not the start");
}

static void kernels_die_with_their_module_and_so_do_its_globals(void **state)
{
    struct fixture *f = *state;
    gs_module m;
    gs_kernel k, again;
    gs_devptr p;
    gs_kernel_desc desc = GS_KERNEL_DESC_INIT;

    OK(gs_module_load(f->s, ".version 8.0", 0, &m));
    OK(gs_kernel_get(m, "fill", &k));
    OK(gs_kernel_get(m, "fill", &again));
    assert_ptr_equal(k, again);
    OK(gs_kernel_info(k, &desc));
    assert_string_equal(desc.name, "fill");
    OK(gs_global_get(m, "table", &p, NULL));
    OK(gs_module_unload(m));
    FAILS(gs_kernel_info(k, &desc), GS_ERR_INVALID_HANDLE, "kernel");
    FAILS(gs_memset(f->s, p, 1, 1), GS_ERR_INVALID_POINTER, "");
    FAILS(gs_launch(NULL, k, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL),
          GS_ERR_INVALID_HANDLE, "kernel");
    FAILS(gs_module_unload(m), GS_ERR_INVALID_HANDLE, "module");
}

static void parameters_are_checked_before_anything_is_queued(void **state)
{
    struct fixture *f = *state;
    gs_devptr x = 0;
    uint32_t value = 0;
    size_t sizes[3] = {8, 4, 4}, offset, size;
    void *args[3] = {&x, &value, NULL};
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);

    FAILS(gs_launch(NULL, f->fill, &config, NULL), GS_ERR_PARAMS, "3 parameters");
    FAILS(gs_launch(NULL, f->fill, &config, args), GS_ERR_PARAMS, "argument 2");
    args[2] = &value;
    config.arg_count = 2;
    FAILS(gs_launch(NULL, f->fill, &config, args), GS_ERR_PARAMS, "arg_count is 2");
    config.arg_count = 3;
    config.arg_sizes = sizes;
    sizes[1] = 8;
    FAILS(gs_launch(NULL, f->fill, &config, args), GS_ERR_PARAMS, "argument 1 is 8 bytes");
    sizes[1] = 4;
    OK(gs_launch(NULL, f->fill, &config, args)); /* count 0: stores nothing */
    config.arg_count = 0;
    FAILS(gs_launch(NULL, f->fill, &config, args), GS_ERR_PARAMS, "arg_count is 0");
    OK(gs_kernel_param_info(f->fill, 1, &offset, &size));
    assert_int_equal(offset, 8);
    assert_int_equal(size, 4);
    FAILS(gs_kernel_param_info(f->fill, 3, &offset, &size), GS_ERR_INVALID_VALUE, "which has 3");
    FAILS(gs_launch(NULL, f->fill, NULL, args), GS_ERR_INVALID_VALUE, "NULL");
}

static void configurations_beyond_the_device_or_the_kernel_are_refused(void **state)
{
    static const struct {
        gs_dim3 grid, block;
        unsigned smem;
        const char *message; /* NULL: fine */
    } table[] = {
        {{1, 1, 1}, {512, 1, 1}, 49152, NULL},
        {{0, 1, 1}, {1, 1, 1}, 0, "grid.x is 0"},
        {{1, 65536, 1}, {1, 1, 1}, 0, "grid.y is 65536, not 1 to 65535"},
        {{1, 1, 65536}, {1, 1, 1}, 0, "grid.z"},
        {{1, 1, 1}, {1, 0, 1}, 0, "block.y is 0"},
        {{1, 1, 1}, {1, 1, 65}, 0, "block.z is 65, not 1 to 64"},
        {{1, 1, 1}, {1025, 1, 1}, 0, "block.x is 1025"},
        {{1, 1, 1}, {32, 32, 1}, 0, "1024 threads is beyond the 512"},
        {{1, 1, 1}, {1024, 1024, 64}, 0, "67108864 threads"},
        {{1, 1, 1}, {4294967295u, 4294967295u, 4294967295u}, 0, "block.x"},
        {{1, 1, 1}, {1, 1, 1}, 49153, "49153 bytes is beyond the 49152"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        gs_launch_config config = GS_LAUNCH_CONFIG_INIT;
        config.grid = table[i].grid;
        config.block = table[i].block;
        config.dynamic_smem = table[i].smem;
        if (table[i].message)
            FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_LAUNCH_CONFIG, table[i].message);
        else
            OK(gs_launch(NULL, f->none, &config, NULL));
    }
}

static void a_report_can_be_fetched_once(void **state)
{
    struct fixture *f = *state;
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_report report = GS_REPORT_INIT;
    gs_report_id first = 0, id = 0;

    config.report = &first;
    fake_pause(f->fake, true);
    OK(gs_launch(NULL, f->none, &config, NULL));
    assert_int_not_equal(first, 0);
    assert_int_equal(gs_launch_report(f->s, first, &report), GS_NOT_READY);
    config.report = &id;
    for (unsigned i = 0; i < 63; i++)
        OK(gs_launch(NULL, f->none, &config, NULL));
    id = 0;
    FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_LIMIT, "64");
    assert_int_equal(id, 0);
    fake_pause(f->fake, false);
    OK(gs_sync(f->s));
    OK(gs_launch_report(f->s, first, &report));
    assert_int_equal(report.sm_count, FAKE_SM_COUNT);
    assert_true(report.queued_ns > 0 && report.queued_ns < 60000000000u);
    FAILS(gs_launch_report(f->s, first, &report), GS_ERR_INVALID_VALUE, "fetched before");
    OK(gs_launch(NULL, f->none, &config, NULL)); /* takes the place of the first */
    for (unsigned i = 0; i < 63; i++)
        OK(gs_launch(NULL, f->none, &config, NULL));
    OK(gs_sync(f->s));
    FAILS(gs_launch_report(f->s, first + 1, &report), GS_ERR_INVALID_VALUE, "dropped");
    FAILS(gs_launch_report(f->s, 0, &report), GS_ERR_INVALID_VALUE, "never asked for");
    FAILS(gs_launch_report(f->s, id + 1, &report), GS_ERR_INVALID_VALUE, "never asked for");
    OK(gs_launch_report(f->s, id, &report));
}

/* ---- Graphs ---- */

static void a_graph_runs_what_was_recorded_as_often_as_it_is_launched(void **state)
{
    struct fixture *f = *state;
    gs_stream stream;
    gs_graph graph, empty;
    gs_devptr x;
    uint32_t *host, word;

    OK(gs_stream_create(f->s, NULL, &stream));
    OK(gs_malloc(f->s, 4096, &x));
    OK(gs_host_alloc(f->s, 4096, (void **)&host));
    OK(gs_graph_begin(f->s, stream));
    FAILS(gs_graph_begin(f->s, stream), GS_ERR_RECORDING, "gs_graph_begin");
    OK(gs_memset_async(f->s, x, 0, 4096, stream));
    OK(fill_on(f, stream, x, 42, 10));
    OK(gs_memcpy_dtoh_async(f->s, host, x, 4096, stream));
    FAILS(gs_stream_sync(f->s, stream), GS_ERR_RECORDING, "gs_stream_sync");
    FAILS(gs_stream_query(f->s, stream), GS_ERR_RECORDING, "gs_stream_query");
    FAILS(gs_stream_destroy(stream), GS_ERR_RECORDING, "gs_stream_destroy");
    OK(gs_stream_sync(f->s, NULL)); /* others are not affected */
    OK(gs_graph_end(f->s, stream, &graph));
    OK(gs_stream_sync(f->s, stream));
    assert_int_equal(host[9], 0); /* nothing ran */
    for (unsigned i = 0; i < 3; i++) {
        host[9] = host[10] = 1;
        OK(gs_graph_launch(graph, stream));
        OK(gs_stream_sync(f->s, stream));
        assert_int_equal(host[9], 42);
        assert_int_equal(host[10], 0);
    }
    /* Its second call becomes another, then its first one is left out. */
    OK(gs_graph_begin(f->s, stream));
    OK(fill_on(f, stream, x, 43, 11));
    OK(gs_graph_change(f->s, stream, graph, (const unsigned[]){1}, 1));
    OK(gs_graph_launch(graph, stream));
    OK(gs_graph_begin(f->s, stream));
    OK(fill_on(f, stream, x, 44, 1));
    OK(gs_graph_change(f->s, stream, graph, (const unsigned[]){1}, 1));
    OK(gs_stream_sync(f->s, stream));
    assert_int_equal(host[10], 43);
    assert_int_equal(host[11], 0);
    OK(gs_graph_enable(graph, (const unsigned[]){0}, 1, 0));
    OK(gs_graph_launch(graph, stream));
    OK(gs_stream_sync(f->s, stream));
    assert_int_equal(host[0], 44);
    assert_int_equal(host[10], 43);
    FAILS(gs_graph_change(f->s, stream, graph, NULL, 0), GS_ERR_RECORDING, "not recording");
    OK(gs_graph_begin(f->s, stream));
    OK(gs_memset_async(f->s, x, 0, 4096, stream));
    FAILS(gs_graph_change(f->s, stream, graph, (const unsigned[]){1}, 1), GS_ERR_NOT_SUPPORTED,
          "step 1");
    FAILS(gs_graph_enable(graph, (const unsigned[]){3}, 1, 0), GS_ERR_INVALID_VALUE, "no step 3");
    OK(gs_graph_destroy(graph));
    FAILS(gs_graph_launch(graph, stream), GS_ERR_INVALID_HANDLE, "graph");
    FAILS(gs_graph_end(f->s, stream, &graph), GS_ERR_RECORDING, "not recording");
    OK(gs_graph_begin(f->s, NULL));
    FAILS(gs_memcpy_dtoh(f->s, &word, x, 4), GS_ERR_RECORDING, "waits");
    FAILS(gs_graph_end(f->s, NULL, &empty), GS_ERR_RECORDING, "recording failed");
    OK(gs_graph_begin(f->s, NULL));
    OK(gs_graph_end(f->s, NULL, &empty));
    OK(gs_graph_launch(empty, stream));
    OK(gs_graph_destroy(empty));
}

static void a_recording_that_failed_is_dropped_with_its_first_failure(void **state)
{
    struct fixture *f = *state;
    gs_stream stream;
    gs_graph graph = (gs_graph)3;
    gs_devptr x;
    uint32_t word = 1;

    OK(gs_stream_create(f->s, NULL, &stream));
    OK(gs_malloc(f->s, 64, &x));
    OK(gs_graph_begin(f->s, stream));
    OK(fill_on(f, stream, x, 42, 1));
    FAILS(gs_memset_async(f->s, x, 0, 65, stream), GS_ERR_INVALID_POINTER, "");
    FAILS(gs_memcpy_htod_async(f->s, x, &word, 4, stream), GS_ERR_RECORDING, "ordinary");
    FAILS(gs_graph_end(f->s, stream, &graph), GS_ERR_INVALID_POINTER, "runs past");
    assert_ptr_equal(graph, (gs_graph)3);
    OK(fill_on(f, stream, x, 43, 1)); /* the stream is as before */
    OK(gs_stream_sync(f->s, stream));
    OK(gs_memcpy_dtoh(f->s, &word, x, 4));
    assert_int_equal(word, 43);
}

/* ---- What the server says, and its end ---- */

static void a_servers_refusal_comes_with_its_words(void **state)
{
    struct fixture *f = *state;
    gs_devptr x = 1;
    gs_stream stream;

    fake_refuse_next(f->fake, GS_ERR_QUOTA, "5 bytes of 4");
    FAILS(gs_malloc(f->s, 5, &x), GS_ERR_QUOTA, "5 bytes of 4");
    assert_int_equal(x, 1);
    fake_refuse_next(f->fake, (gs_status)99, "");
    FAILS(gs_stream_create(f->s, NULL, &stream), GS_ERR_PROTOCOL, "99");
    fake_refuse_next(f->fake, GS_ERR_LIMIT, "");
    FAILS(gs_stream_create(f->s, NULL, &stream), GS_ERR_LIMIT, "a count is at its limit");
}

static void after_a_fault_every_call_says_so_and_the_session_can_be_detached(void **state)
{
    struct fixture *f = *state;
    gs_fault fault = GS_FAULT_INIT;
    gs_devptr x;

    OK(gs_last_fault(f->s, &fault));
    assert_int_equal(fault.kind, GS_FAULT_NONE);
    fake_fault(f->fake, GS_ERR_FAULT, "kernel fill: illegal address");
    FAILS(gs_malloc(f->s, 1, &x), GS_ERR_FAULT, "illegal address");
    FAILS(gs_sync(f->s), GS_ERR_FAULT, "illegal address");
    FAILS(gs_launch(NULL, f->none, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL),
          GS_ERR_FAULT, "illegal address");
    OK(gs_last_fault(f->s, &fault));
    assert_int_equal(fault.kind, GS_FAULT_KERNEL);
    assert_int_equal(fault.status, GS_ERR_FAULT);
    FAILS(gs_detach(f->s), GS_ERR_FAULT, "illegal address");
    FAILS(gs_detach(f->s), GS_ERR_INVALID_HANDLE, "session");
    f->s = NULL;
    assert_int_equal(fake_sessions_open(f->fake), 0);
}

static void the_servers_death_ends_every_call_at_once(void **state)
{
    struct fixture *f = *state;
    gs_event event;
    uint64_t before;
    gs_devptr x;

    OK(gs_event_create(f->s, &event));
    fake_pause(f->fake, true);
    OK(gs_event_record(event, NULL));
    fake_die(f->fake);
    before = clock_ns();
    FAILS(gs_sync(f->s), GS_ERR_SERVER_LOST, "has ended");
    FAILS(gs_event_sync(event), GS_ERR_SERVER_LOST, "has ended");
    FAILS(gs_malloc(f->s, 1, &x), GS_ERR_SERVER_LOST, "has ended");
    FAILS(gs_launch(NULL, f->none, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL),
          GS_ERR_SERVER_LOST, "has ended");
    FAILS(gs_detach(f->s), GS_ERR_SERVER_LOST, "has ended");
    assert_true(clock_ns() - before < 2000000000u); /* 200 ms, had the machine nothing else to do */
    f->s = NULL;
}

static void *die_soon(void *fake)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    fake_die(fake);
    return NULL;
}

static void the_servers_death_ends_a_wait_that_has_begun(void **state)
{
    struct fixture *f = *state;
    pthread_t thread;

    fake_pause(f->fake, true);
    OK(gs_launch(NULL, f->none, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL));
    assert_int_equal(pthread_create(&thread, NULL, die_soon, f->fake), 0);
    FAILS(gs_sync(f->s), GS_ERR_SERVER_LOST, "has ended");
    pthread_join(thread, NULL);
    FAILS(gs_detach(f->s), GS_ERR_SERVER_LOST, "has ended");
    f->s = NULL;
}

/* The program was told that it is freed, so nobody else gives it back. */
static void memory_is_freed_though_the_server_had_no_memory_for_the_request(void **state)
{
    struct fixture *f = *state;
    gs_devptr x;

    OK(gs_malloc(f->s, 4096, &x));
    fake_pause(f->fake, true);
    OK(fill_on(f, NULL, x, 1, 1));
    OK(gs_free(f->s, x)); /* once the kernel has ended */
    assert_int_equal(fake_frees(f->fake), 0);
    fake_refuse_next(f->fake, GS_ERR_NO_MEMORY, "the server has no memory for a request");
    fake_pause(f->fake, false);
    OK(gs_sync(f->s));
    assert_int_equal(fake_frees(f->fake), 0);
    OK(gs_sync(f->s));
    assert_int_equal(fake_frees(f->fake), 1);
    OK(gs_sync(f->s));
    assert_int_equal(fake_frees(f->fake), 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(attaching_tells_what_the_device_is),
        T(without_a_server_attaching_fails_and_says_how_to_start_one),
        T(a_segment_that_makes_no_sense_is_given_back),
        T(the_server_is_told_how_long_an_attach_waits),
        T(a_server_that_ends_while_one_attaches_is_lost),
        T(a_detached_session_is_an_invalid_handle_and_so_is_all_that_was_in_it),
        T(a_handle_of_another_session_is_invalid),
        T(wild_values_are_invalid_handles),
        T(a_child_attaches_anew_and_leaves_its_parents_session_alone),
        T(launches_of_a_stream_run_in_order_however_many),
        T(the_padding_of_an_older_launch_config_is_not_read),
        T(large_parameters_arrive_whole_across_the_rings_end),
        T(a_padding_that_leaves_no_room_goes_ahead),
        T(a_launch_that_fails_leaves_nothing_to_wait_for),
        T(what_was_waited_for_is_complete),
        T(a_wait_makes_one_stream_follow_another),
        T(elapsed_time_needs_two_complete_events),
        T(there_are_65536_events_and_no_more),
        T(copies_of_any_size_and_place_arrive),
        T(host_memory_of_the_library_is_copied_in_place),
        T(device_ranges_outside_live_allocations_are_refused),
        T(memory_is_freed_though_the_server_had_no_memory_for_the_request),
        T(bad_images_and_names_say_why),
        T(kernels_die_with_their_module_and_so_do_its_globals),
        T(parameters_are_checked_before_anything_is_queued),
        T(configurations_beyond_the_device_or_the_kernel_are_refused),
        T(a_report_can_be_fetched_once),
        T(a_graph_runs_what_was_recorded_as_often_as_it_is_launched),
        T(a_recording_that_failed_is_dropped_with_its_first_failure),
        T(a_servers_refusal_comes_with_its_words),
        T(after_a_fault_every_call_says_so_and_the_session_can_be_detached),
        T(the_servers_death_ends_every_call_at_once),
        T(the_servers_death_ends_a_wait_that_has_begun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
