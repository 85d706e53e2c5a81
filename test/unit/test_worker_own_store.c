/*
 * test_worker_own_store.c - kernels that signal their own end: which of them are asked to, what
 * each is given to store, and that nothing else then signals it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "requests_rig.h"
#include "worker/submit/completion.h"

#define COUNTERS    UINT64_C(0x7e0000000000) /* of completion.c, as the device sees them */
#define SIGNAL_MOST 16384u                   /* threads of a grid that signals its own end */
#define BLOCK       1024u
#define BLOCKS_MOST (SIGNAL_MOST / BLOCK)

/* ---- The driver and the kernels -------------------------------------------------------------- */

static CUresult module_load(CUmodule *module, const void *image)
{
    (void)image;
    *module = (CUmodule)&signals;
    return CUDA_SUCCESS;
}

/* The completing kernel has no function (fake_graphs.h). */
static CUresult function_get(CUfunction *function, CUmodule module, const char *name)
{
    (void)module, (void)name;
    *function = NULL;
    return CUDA_SUCCESS;
}

static CUresult function_load(CUfunction function)
{
    (void)function;
    return CUDA_SUCCESS;
}

static size_t counters_size;

static CUresult memory_get(CUdeviceptr *address, size_t size)
{
    counters_size = size;
    *address = COUNTERS;
    return CUDA_SUCCESS;
}

static CUresult memory_set(CUdeviceptr address, unsigned char byte, size_t size)
{
    (void)address, (void)byte, (void)size;
    return CUDA_SUCCESS;
}

/* Kernels 0 and 1 signal their own end, kernel 2 does not. */
static int set_signallers(void **state)
{
    fake_cu.cuModuleLoadData = module_load;
    fake_cu.cuModuleGetFunction = function_get;
    fake_cu.cuFuncLoad = function_load;
    fake_cu.cuMemAlloc_v2 = memory_get;
    fake_cu.cuMemsetD8_v2 = memory_set;
    if (set(state) || completion_init())
        return -1;
    kernel_signals_end(0);
    kernel_signals_end(1);
    return 0;
}

/* For arrivals of which not all launches go as one graph. */
static void class_be_normal(void)
{
    session.sched.entity.cls = stream->cls = GS_CLASS_NORMAL;
}

/* Sends single launches until the shape has its graphs. */
static void shape_learn(uint32_t which, uint32_t blocks, uint32_t threads)
{
    for (uint32_t i = 0; i < LEARNING; i++) {
        forget();
        launch_threads_of(which, blocks, threads, 0);
        drain(true);
    }
    assert_int_equal(graph_launches, 1);
    forget();
}

static void launches(uint32_t which, uint32_t count, uint64_t parameter)
{
    for (uint32_t i = 0; i < count; i++)
        launch(which, 1, parameter);
}

static bool silent(const struct run *run)
{
    return memcmp(&run->signal, &completion_none, sizeof(run->signal)) == 0;
}

/* All that ran was silent but these. */
static void expect_signals(uint64_t wanted_mask)
{
    for (uint32_t i = 0; i < ran_count; i++) {
        const bool signalled = wanted_mask >> i & 1;
        assert_int_equal(silent(&ran[i]), !signalled);
        if (signalled)
            assert_int_equal(ran[i].signal.word, COMPLETE);
    }
    assert_int_equal(own_signals, __builtin_popcountll(wanted_mask));
}

/* ---- One kernel ------------------------------------------------------------------------------ */

static void a_small_kernel_that_is_waited_for_is_one_node_and_signals_its_own_position(void **state)
{
    (void)state;
    shape_learn(0, 1, 1);
    for (uint32_t i = 0; i < 100; i++) {
        const uint64_t sequence = inflight_fence_next(stream->inflight);
        forget();
        launch(0, 1, i);
        drain(true);
        assert_int_equal(graph_launches, 1);
        assert_int_equal(nodes_run, 1);
        assert_int_equal(signals, 1);
        expect_signals(1);
        assert_int_equal(ran[0].signal.position, tail);
        assert_int_equal(ran[0].signal.fence, inflight_fence_address(stream->inflight));
        assert_int_equal(ran[0].signal.sequence, sequence);
        assert_int_equal(ran[0].signal.counter, COUNTERS);
        assert_int_equal(ran[0].signal.threads, 1);
    }
    assert_int_equal(graphs_made, 1);
}

static void a_kernel_without_the_parameter_is_followed_by_the_completing_one(void **state)
{
    (void)state;
    shape_learn(2, 1, 1);
    launch(2, 1, 5);
    drain(true);
    assert_int_equal(graph_launches, 1);
    assert_int_equal(nodes_run, 2);
    assert_int_equal(signals, 1);
    expect_signals(0);
}

/* Before a shape has graphs its launches are followed by the completing kernel. */
static void a_launch_without_a_graph_is_silent(void **state)
{
    (void)state;
    launch(0, 1, 5);
    drain(true);
    assert_int_equal(graph_launches, 0);
    assert_int_equal(signals, 1);
    expect_signals(0);
}

static void a_kernel_with_a_deadline_signals_its_own_end_each_time(void **state)
{
    (void)state;
    shape_learn(0, 1, 1);
    session.grant.link.deadline_ns = 1000000000;
    launches(0, 5, 1);
    drain(true);
    assert_int_equal(nodes_run, 5);
    assert_int_equal(signals, 5);
    expect_signals(0x1f);
    for (uint32_t i = 1; i < 5; i++)
        assert_true(ran[i].signal.position > ran[i - 1].signal.position);
}

/* ---- The grid -------------------------------------------------------------------------------- */

/* Each thread of the grid counts itself in. */
static void the_kernel_is_told_the_threads_of_its_whole_grid(void **state)
{
    static const struct {
        uint32_t blocks, threads;
    } grids[] = {{1, 1}, {7, 1}, {1, 33}, {5, 96}, {BLOCKS_MOST - 1, BLOCK}, {BLOCKS_MOST, BLOCK}};

    (void)state;
    for (uint32_t i = 0; i < ARRAY_SIZE(grids); i++) {
        shape_learn(0, grids[i].blocks, grids[i].threads);
        launch_threads_of(0, grids[i].blocks, grids[i].threads, 5);
        drain(true);
        assert_int_equal(nodes_run, 1);
        expect_signals(1);
        assert_int_equal(ran[0].signal.threads, grids[i].blocks * grids[i].threads);
    }
}

static void all_dimensions_of_a_grid_count(void **state)
{
    const struct launch solid = {.kernel = &kernel[0], .grid = {2, 3, 5}, .block = {7, 4, 2}},
                        huge = {.kernel = &kernel[0],
                                .grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
                                .block = {1024, 1, 1}};

    (void)state;
    assert_int_equal(launch_threads(&solid), 2 * 3 * 5 * 7 * 4 * 2);
    assert_int_equal(launch_threads(&huge), UINT64_MAX);
}

/* A larger one would take longer to count its threads than the completing kernel takes. */
static void a_grid_of_more_threads_is_silent_and_followed_by_the_completing_kernel(void **state)
{
    static const struct {
        uint32_t blocks, threads;
    } grids[] = {{BLOCKS_MOST + 1, BLOCK}, {29, 565}, {1024, 17}, {1024, BLOCK}};

    (void)state;
    for (uint32_t i = 0; i < ARRAY_SIZE(grids); i++) {
        assert_true(grids[i].blocks * grids[i].threads > SIGNAL_MOST);
        shape_learn(0, grids[i].blocks, grids[i].threads);
        launch_threads_of(0, grids[i].blocks, grids[i].threads, 5);
        drain(true);
        assert_int_equal(nodes_run, 2);
        assert_int_equal(signals, 1);
        expect_signals(0);
    }
}

/* ---- Several launches ------------------------------------------------------------------------ */

/* Else each shape would take the memory of two graphs. */
static void a_silent_launch_goes_by_the_graph_of_one_that_signals(void **state)
{
    (void)state;
    class_be_normal();
    shape_learn(0, 1, 1);
    for (uint64_t n = 0; n < 3; n++) {
        forget();
        launches(0, 3, n);
        drain(false);
        assert_int_equal(graph_launches, 3);
        assert_int_equal(nodes_run, 3);
        assert_int_equal(signals, 1);
        expect_signals(0x4);
    }
    assert_int_equal(graphs_made, 1);
}

static void a_run_of_eight_signals_only_in_its_last(void **state)
{
    (void)state;
    class_be_normal();
    shape_learn(0, 1, 1);
    launches(0, 8, 5);
    drain(false);
    assert_int_equal(graph_launches, 1);
    assert_int_equal(nodes_run, 8);
    assert_int_equal(signals, 1);
    expect_signals(0x80);
    assert_int_equal(ran[7].signal.position, tail);
}

/* Eights and singles: the first eight is silent, the second one signals on the way. */
static void a_long_run_goes_by_one_graph_of_each_length(void **state)
{
    (void)state;
    class_be_normal();
    shape_learn(0, 1, 1);
    launches(0, 20, 5);
    drain(false);
    assert_int_equal(graph_launches, 6);
    assert_int_equal(nodes_run, 20);
    assert_int_equal(signals, 2);
    expect_signals(1u << 15 | 1u << 19);
    assert_true(ran[15].signal.position < ran[19].signal.position);
    assert_int_equal(graphs_made, 2);
}

static void parameters_of_each_launch_arrive_beside_what_it_signals(void **state)
{
    (void)state;
    class_be_normal();
    shape_learn(0, 1, 1);
    for (uint64_t n = 0; n < 10; n++) {
        forget();
        for (uint32_t i = 0; i < 1 + n; i++)
            launch(0, 1, 100 * n + i);
        drain(false); /* which checks the parameters */
        assert_false(silent(&ran[ran_count - 1]));
    }
}

/* ---- Setting nodes anew ---------------------------------------------------------------------- */

/* The lane has other sessions to serve, whose launches would wait while it sets nodes ahead. */
static void a_node_is_set_anew_for_another_position_alone(void **state)
{
    uint64_t position = 0;

    (void)state;
    lane.active_lately = 3;
    shape_learn(0, 1, 1);
    for (uint32_t i = 0; i < 5; i++) {
        forget();
        launch(0, 1, 0);
        drain(true);
        assert_int_equal(nodes_set, 1);
        assert_int_equal(nodes_set_waited, 1);
        assert_true(ran[0].signal.position > position);
        position = ran[0].signal.position;
    }
    lane.active_lately = 0;
}

/* Launches kernel `which`, as the only session of the lane. What it signals is right, whatever its
 * node was set to ahead. */
static void launch_single(uint32_t which, uint64_t parameter)
{
    const uint64_t sequence = inflight_fence_next(stream->inflight);

    forget();
    launch(which, 1, parameter);
    drain(true);
    assert_int_equal(graph_launches, 1);
    expect_signals(1);
    assert_int_equal(ran[0].signal.position, tail);
    assert_int_equal(ran[0].signal.sequence, sequence);
}

static void what_a_launch_that_comes_again_signals_is_set_before_it_comes(void **state)
{
    uint32_t waited = 0;

    (void)state;
    shape_learn(0, 1, 1);
    for (uint32_t i = 0; i < 3; i++)
        launch_single(0, 0);
    for (uint32_t i = 0; i < 100; i++) {
        launch_single(0, 0);
        assert_int_equal(nodes_set, 1);
        waited += nodes_set_waited;
    }
    assert_int_equal(waited, 0);
}

static void kernels_by_turns_are_set_before_they_come_too(void **state)
{
    uint32_t waited = 0;

    (void)state;
    shape_learn(0, 1, 1);
    shape_learn(1, 1, 1);
    for (uint32_t i = 0; i < 6; i++)
        launch_single(i % 2, i % 2);
    for (uint32_t i = 0; i < 100; i++) {
        launch_single(i % 2, i % 2);
        waited += nodes_set_waited;
    }
    assert_int_equal(waited, 0);
}

/* Setting in vain is as dear as setting. */
static void a_tenant_whose_parameters_change_each_time_has_few_nodes_set_in_vain(void **state)
{
    uint32_t set_in_vain = 0;

    (void)state;
    shape_learn(0, 1, 1);
    for (uint32_t i = 0; i < 100; i++) {
        launch_single(0, 1 + i);
        assert_int_equal(nodes_set_waited, 1);
        set_in_vain += nodes_set - nodes_set_waited;
    }
    assert_in_range(set_in_vain, 1, 15);
}

/* Positions jump where the ring ends, and where other records come between. */
static void a_launch_that_was_predicted_wrong_signals_what_is_right(void **state)
{
    (void)state;
    srand(7);
    shape_learn(0, 1, 1);
    shape_learn(1, 1, 1);
    for (uint32_t i = 0; i < 5000; i++) {
        if (rand() % 8 == 0)
            wait_for_nothing();
        launch_single(rand() % 6 == 0, rand() % 5 == 0);
    }
}

static void a_node_that_could_not_be_set_ahead_is_set_anew(void **state)
{
    (void)state;
    shape_learn(0, 1, 1);
    setting_ahead_fails = true;
    for (uint32_t i = 0; i < 20; i++)
        launch_single(0, i / 10);
    assert_int_equal(nodes_set_waited, 1);
}

/* Setting a node costs as much as a tenth of its launch. */
static void a_node_that_stays_silent_is_not_set_anew(void **state)
{
    (void)state;
    class_be_normal();
    shape_learn(0, 1, 1);
    launches(0, 5, 0);
    drain(false);
    assert_int_equal(nodes_run, 5);
    expect_signals(0x10);
    assert_int_equal(nodes_set, 2); /* to be silent, and to signal again */
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* The last of these requests is kernel 1, which is in the middle too. */
static void a_request_whose_last_kernel_signals_its_own_end_has_no_completing_node(void **state)
{
    (void)state;
    learn(0, REQUEST);
    for (uint32_t i = 0; i < 5; i++) {
        request(0, REQUEST, 7);
        drain(true);
        assert_int_equal(graph_launches, 1);
        assert_int_equal(nodes_run, REQUEST);
        assert_int_equal(signals, 1);
        assert_ptr_equal(ran[REQUEST - 1].function, kernel[1].function);
        expect_signals(1u << (REQUEST - 1));
        assert_int_equal(ran[REQUEST - 1].signal.position, tail);
        assert_int_equal(ran[REQUEST - 1].signal.threads, ran[REQUEST - 1].blocks);
        if (i)
            assert_int_equal(nodes_set, 1);
    }
}

static void a_request_whose_last_kernel_cannot_signal_has_a_completing_node(void **state)
{
    (void)state;
    learn(0, REQUEST + 1);
    request(0, REQUEST + 1, 7);
    drain(true);
    assert_int_equal(graph_launches, 1);
    assert_int_equal(nodes_run, REQUEST + 2);
    assert_int_equal(signals, 1);
    assert_ptr_equal(ran[REQUEST].function, kernel[2].function);
    expect_signals(0);
}

/* The first of two that come together need not signal its end. */
static void a_request_that_need_not_signal_is_silent_in_the_same_graph(void **state)
{
    (void)state;
    learn(0, REQUEST);
    const uint32_t made = graphs_made;
    request(0, REQUEST, 9);
    event();
    for (uint32_t i = 0; i < REQUEST; i++)
        launch(i % KERNELS, 1 + i % 2, i);
    drain(true);
    assert_int_equal(graph_launches, 2);
    assert_int_equal(nodes_run, 2 * REQUEST);
    assert_int_equal(signals, 1);
    expect_signals(UINT64_C(1) << (2 * REQUEST - 1));
    assert_int_equal(graphs_made, made);
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* Kernels of two streams may run at a time: they must not count in the same place. */
static void each_stream_has_its_own_counter_and_words(void **state)
{
    struct stream *other = &session.submit.streams[1];
    unsigned char params[sizeof(uint64_t)] = {0};
    const struct launch single = {.kernel = &kernel[0],
                                  .grid = {1, 1, 1},
                                  .block = {1, 1, 1},
                                  .priority = PRIORITY,
                                  .params = params,
                                  .end = 64,
                                  .cls = GS_CLASS_LATENCY};

    (void)state;
    *other = *stream;
    other->graph_cache = NULL;
    other->inflight = inflight_new(&session, (uint32_t)(other - session.submit.streams));
    assert_non_null(other->inflight);
    shape_learn(0, 1, 1);
    launch(0, 1, 0);
    drain(true);
    for (uint32_t i = 0; i < LEARNING; i++) {
        ran_count = 1;
        assert_int_equal(launch_issue(&session, other, &single, 1, COMPLETION_FENCE), 0);
        inflight_settle(other->inflight);
    }
    assert_int_equal(ran[0].signal.word, COMPLETE);
    assert_int_equal(ran[0].signal.counter, COUNTERS);
    assert_int_equal(ran[1].signal.word, COMPLETE + sizeof(uint64_t));
    assert_int_equal(ran[1].signal.position, 64);
    assert_int_equal(ran[1].signal.counter, COUNTERS + sizeof(uint32_t));
    assert_int_equal(ran[1].signal.fence, ran[0].signal.fence + sizeof(uint64_t));
    graph_cache_free(other->graph_cache);
    inflight_free(other->inflight);
    *other = (struct stream){0};
}

static CUdeviceptr counter_of(uint32_t slot, uint32_t index)
{
    struct session *other = aligned_alloc(_Alignof(struct session), sizeof(*other));

    assert_non_null(other);
    memset(other, 0, sizeof(*other));
    other->slot = slot;
    struct stream *of = &other->submit.streams[index];
    of->inflight = inflight_new(other, index);
    assert_non_null(of->inflight);
    const CUdeviceptr counter = completion_at(other, of, 64).counter;
    inflight_free(of->inflight);
    free(other);
    return counter;
}

static void streams_of_all_sessions_have_counters_of_their_own(void **state)
{
    CUdeviceptr last = counter_of(0, 0);

    (void)state;
    assert_int_equal(last, COUNTERS);
    for (uint32_t slot = 0; slot < LINK_SLOTS_MAX; slot++) {
        for (uint32_t i = slot ? 0 : 1; i < SEG_STREAMS; i++) {
            const CUdeviceptr counter = counter_of(slot, i);
            assert_true(counter >= last + sizeof(uint32_t));
            assert_true(counter + sizeof(uint32_t) <= COUNTERS + counters_size);
            last = counter;
        }
    }
}

#define SIGNALLER(name) cmocka_unit_test_setup_teardown(name, set_signallers, unset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIGNALLER(a_small_kernel_that_is_waited_for_is_one_node_and_signals_its_own_position),
        SIGNALLER(a_kernel_without_the_parameter_is_followed_by_the_completing_one),
        SIGNALLER(a_launch_without_a_graph_is_silent),
        SIGNALLER(a_kernel_with_a_deadline_signals_its_own_end_each_time),
        SIGNALLER(the_kernel_is_told_the_threads_of_its_whole_grid),
        SIGNALLER(all_dimensions_of_a_grid_count),
        SIGNALLER(a_grid_of_more_threads_is_silent_and_followed_by_the_completing_kernel),
        SIGNALLER(a_silent_launch_goes_by_the_graph_of_one_that_signals),
        SIGNALLER(a_run_of_eight_signals_only_in_its_last),
        SIGNALLER(a_long_run_goes_by_one_graph_of_each_length),
        SIGNALLER(parameters_of_each_launch_arrive_beside_what_it_signals),
        SIGNALLER(a_node_is_set_anew_for_another_position_alone),
        SIGNALLER(what_a_launch_that_comes_again_signals_is_set_before_it_comes),
        SIGNALLER(kernels_by_turns_are_set_before_they_come_too),
        SIGNALLER(a_tenant_whose_parameters_change_each_time_has_few_nodes_set_in_vain),
        SIGNALLER(a_launch_that_was_predicted_wrong_signals_what_is_right),
        SIGNALLER(a_node_that_could_not_be_set_ahead_is_set_anew),
        SIGNALLER(a_node_that_stays_silent_is_not_set_anew),
        SIGNALLER(a_request_whose_last_kernel_signals_its_own_end_has_no_completing_node),
        SIGNALLER(a_request_whose_last_kernel_cannot_signal_has_a_completing_node),
        SIGNALLER(a_request_that_need_not_signal_is_silent_in_the_same_graph),
        SIGNALLER(each_stream_has_its_own_counter_and_words),
        SIGNALLER(streams_of_all_sessions_have_counters_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
