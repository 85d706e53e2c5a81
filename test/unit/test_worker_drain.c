/*
 * test_worker_drain.c - how what a tenant writes into a stream goes to the device: in which graphs,
 * also while the tenant still writes; and how often the device is made to signal the end: once for
 * each position, and always for the last one.
 *
 * The driver notes the graphs and the positions; most tests have no device memory for graphs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/fault_note.h"
#include "common/ring.h"
#include "common/util.h"
#include "fake_fences.h"
#include "worker/memory/user.h"
#include "worker/sched/domain.h"
#include "worker/sched/lane.h"
#include "worker/submit/drain.h"
#include "worker/submit/graph_cache.h"
#include "worker/submit/launch.h"
#include "worker/submit/launch_range.h"

#define PRIORITY (-2)
#define GRAPHS   64u

static _Alignas(64) unsigned char segment[SEG_OFF_RINGS + SEG_RING_BYTES];
static struct seg_client client;
static struct seg_server server;
static struct link_stats stats;
static struct kernel kernel, *kernels[1] = {&kernel};
static struct lane lane;
static struct session session;
static struct stream *stream = &session.submit.streams[0];
static uint64_t tail;

static unsigned launched, signals;
static uint64_t last_signal;

/* Stands for the executable graph too, and for its nodes. */
static struct graph {
    uint32_t kernels;
    bool signals;
    uint64_t position;
} graphs[GRAPHS];
static uint32_t graph_count;
static bool graph_room;
/* The number of kernels of each graph launched, and 100 more where the graph signals its end. */
static uint32_t went[GRAPHS], went_count;
static uint32_t launches_left; /* until the driver refuses a launch */

/* What the byte is that fills the parameter of each launch, in the order of the nodes set. */
static uint32_t took[GRAPHS], took_count;

/* Called when a record is about to be taken. */
static void (*tenant_writes)(void);

/* ---- The driver ------------------------------------------------------------------------------ */

static CUresult kernel_launch(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                              unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                              unsigned int block_z, unsigned int smem, CUstream on, void **params,
                              void **extra)
{
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
    (void)block_z, (void)smem, (void)on, (void)params, (void)extra;
    launched++;
    return CUDA_SUCCESS;
}

/* The completing kernel: its second argument is the position. */
static CUresult done_launch(const CUlaunchConfig *config, CUfunction function, void **params,
                            void **extra)
{
    (void)config, (void)function, (void)extra;
    memcpy(&last_signal, params[1], sizeof(last_signal));
    signals++;
    return CUDA_SUCCESS;
}

static CUresult value_write(CUstream on, CUdeviceptr address, uint64_t value, unsigned int flags)
{
    (void)on, (void)address, (void)flags;
    last_signal = value;
    signals++;
    return CUDA_SUCCESS;
}

static CUresult graph_create(CUgraph *graph, unsigned int flags)
{
    (void)flags;
    if (!graph_room)
        return CUDA_ERROR_OUT_OF_MEMORY;
    assert_true(graph_count < GRAPHS);
    graphs[graph_count] = (struct graph){0};
    *graph = (CUgraph)&graphs[graph_count++];
    return CUDA_SUCCESS;
}

static CUresult graph_destroy(CUgraph graph)
{
    (void)graph;
    return CUDA_SUCCESS;
}

static void parameter_note(const CUDA_KERNEL_NODE_PARAMS *params)
{
    if (params->func != kernel.function || kernel.param_bytes == 0)
        return;
    const unsigned char *bytes = params->kernelParams[0];
    assert_true(took_count < GRAPHS);
    assert_int_equal(bytes[0], bytes[kernel.param_bytes - 1]);
    took[took_count++] = bytes[0];
}

static CUresult kernel_add(CUgraphNode *node, CUgraph to, const CUgraphNode *after, size_t count,
                           const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct graph *graph = (struct graph *)to;

    (void)after, (void)count;
    *node = (CUgraphNode)to;
    parameter_note(params);
    if (params->func == kernel.function)
        graph->kernels++;
    else
        graph->signals = true;
    return CUDA_SUCCESS;
}

static CUresult kernel_set(CUgraphExec exec, CUgraphNode node,
                           const CUDA_KERNEL_NODE_PARAMS *params)
{
    (void)node;
    parameter_note(params);
    if (params->func != kernel.function)
        memcpy(&((struct graph *)exec)->position, params->kernelParams[1], sizeof(uint64_t));
    return CUDA_SUCCESS;
}

static CUresult write_add(CUgraphNode *node, CUgraph to, const CUgraphNode *after, size_t count,
                          const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    (void)after, (void)count, (void)params;
    *node = (CUgraphNode)to;
    ((struct graph *)to)->signals = true;
    return CUDA_SUCCESS;
}

static CUresult write_set(CUgraphExec exec, CUgraphNode node,
                          const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    (void)node;
    ((struct graph *)exec)->position = params->paramArray->writeValue.value64;
    return CUDA_SUCCESS;
}

static CUresult priority_set(CUgraphNode node, CUlaunchAttributeID which,
                             const CUlaunchAttributeValue *value)
{
    (void)node, (void)which, (void)value;
    return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    (void)flags;
    *exec = (CUgraphExec)graph;
    return CUDA_SUCCESS;
}

static CUresult exec_destroy(CUgraphExec exec)
{
    (void)exec;
    return CUDA_SUCCESS;
}

static CUresult graph_launch_noted(CUgraphExec exec, CUstream on)
{
    const struct graph *graph = (const struct graph *)exec;

    (void)on;
    if (launches_left == 0)
        return CUDA_ERROR_INVALID_VALUE;
    launches_left--;
    assert_true(went_count < GRAPHS);
    went[went_count++] = graph->kernels + (graph->signals ? 100 : 0);
    launched += graph->kernels;
    if (graph->signals) {
        last_signal = graph->position;
        signals++;
    }
    return CUDA_SUCCESS;
}

/* The tests leave out the carveout, but each launch that is checked asks for one. */
static CUresult function_set(CUfunction function, CUfunction_attribute attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    atomic_store(&kernel.carveout, 0);
    if (tenant_writes)
        tenant_writes();
    return CUDA_SUCCESS;
}

static CUresult event_create(CUevent *event, unsigned int flags)
{
    (void)flags;
    *event = (CUevent)&signals;
    return CUDA_SUCCESS;
}

static CUresult event_record(CUevent event, CUstream on)
{
    (void)event, (void)on;
    return CUDA_SUCCESS;
}

/* ---- The tenant ------------------------------------------------------------------------------ */

static int set(void **state)
{
    (void)state;
    fake_cu.cuLaunchKernel = kernel_launch;
    fake_cu.cuLaunchKernelEx = done_launch;
    fake_cu.cuStreamWriteValue64_v2 = value_write;
    fake_cu.cuGraphCreate = graph_create;
    fake_cu.cuGraphDestroy = graph_destroy;
    fake_cu.cuGraphAddKernelNode_v2 = kernel_add;
    fake_cu.cuGraphExecKernelNodeSetParams_v2 = kernel_set;
    fake_cu.cuGraphAddBatchMemOpNode = write_add;
    fake_cu.cuGraphExecBatchMemOpNodeSetParams = write_set;
    fake_cu.cuGraphKernelNodeSetAttribute = priority_set;
    fake_cu.cuGraphInstantiateWithFlags = instantiate;
    fake_cu.cuGraphExecDestroy = exec_destroy;
    fake_cu.cuGraphLaunch = graph_launch_noted;
    fake_cu.cuFuncSetAttribute = function_set;
    fake_cu.cuEventCreate = event_create;
    fake_cu.cuEventRecord = event_record;
    if (fences_open())
        return -1;
    domains_init();
    memset(segment, 0, sizeof(segment));
    memset(&client, 0, sizeof(client));
    memset(&server, 0, sizeof(server));
    worker_begin()->info.sm_count = 16;
    worker_begin()->info.priority_highest = -5;
    for (int i = 0; i < 3; i++)
        worker_begin()->info.max_grid_dim[i] = worker_begin()->info.max_block_dim[i] = 1024;
    kernel = (struct kernel){.serial = 1, .max_threads = 1024, .function = (CUfunction)&kernel};
    session = (struct session){
        .lane = &lane,
        .memory.user = user_hold(0),
        .segment = segment,
        .client = &client,
        .server_page = &server,
        .stats = &stats,
        .kernels.table = kernels,
        .kernels.capacity = 1,
        .submit.streams[0] = {
            .open = true, .cu = (CUstream)&session, .priority = PRIORITY, .cu_priority = PRIORITY}};
    domain_join(&session);
    stream->inflight = inflight_new(&session, (uint32_t)(stream - session.submit.streams));
    tail = 0;
    launched = signals = 0;
    graph_room = false;
    graph_count = went_count = took_count = 0;
    launches_left = UINT32_MAX;
    tenant_writes = NULL;
    return stream->inflight ? 0 : -1;
}

static int unset(void **state)
{
    (void)state;
    inflight_remove(&session);
    graph_cache_free(stream->graph_cache);
    user_release(session.memory.user); /* to whom the graphs are charged */
    inflight_free(stream->inflight);
    free(session.submit.reports);
    return 0;
}

/* report: 0 or a report's id. */
static void launch(uint32_t report)
{
    const uint64_t submitted = clock_ns();
    struct rec_launch r = {.h = {.op = REC_LAUNCH, .flags = REC_LAUNCH_TIME},
                           .grid = {1, 1, 1},
                           .block = {1, 1, 1},
                           .report = report};
    unsigned char *at = segment + SEG_OFF_RINGS + ring_offset(tail);

    r.param_bytes = kernel.param_bytes;
    r.h.size = launch_record_size(r.h.flags, r.param_bytes);
    memcpy(at, &r, sizeof(r));
    if (r.param_bytes)
        memset(at + sizeof(r), (int)(tail / r.h.size), r.param_bytes);
    memcpy(at + launch_record_time(r.h.flags, r.param_bytes), &submitted, sizeof(submitted));
    tail += r.h.size;
}

static void event(void)
{
    const struct rec_event r = {.h = {.op = REC_EVENT, .size = sizeof(r)}};

    memcpy(segment + SEG_OFF_RINGS + ring_offset(tail), &r, sizeof(r));
    tail += sizeof(r);
}

static void pad(void)
{
    const struct rec_header header = {.op = REC_PAD, .size = REC_ALIGN};

    memcpy(segment + SEG_OFF_RINGS + ring_offset(tail), &header, sizeof(header));
    tail += header.size;
}

static void drain(void)
{
    const struct sched_allowance room = {1000, UINT64_MAX};
    enum drained drained;

    atomic_store(&client.tail[0], tail);
    stream_drain(&session, 0, room, &drained);
    assert_int_equal(drained, DRAINED_ALL);
    assert_false(session.submit.faulted);
    assert_int_equal(last_signal, tail);
    assert_int_equal(stream->signalled, tail);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* A kernel's first launches, and those with a deadline, signal their end by themselves. */
static void a_launch_that_signalled_its_end_is_signalled_once(void **state)
{
    (void)state;
    launch(1);
    drain();
    assert_int_equal(launched, 1);
    assert_int_equal(signals, 1);
    launch(0);
    drain();
    assert_int_equal(signals, 2);
}

static void a_full_batch_that_signalled_its_end_is_signalled_once(void **state)
{
    (void)state;
    kernel.wave_ns = 1;
    session.grant.link.deadline_ns = 1000000000;
    for (uint32_t i = 0; i < 64; i++)
        launch(0);
    drain();
    assert_int_equal(launched, 64);
    assert_int_equal(signals, 64);
}

static void what_follows_is_signalled_too(void **state)
{
    (void)state;
    launch(1);
    pad();
    drain();
    assert_int_equal(signals, 2);
    launch(0);
    pad();
    drain();
    assert_int_equal(signals, 3);
    pad();
    drain();
    assert_int_equal(signals, 4);
    drain();
    assert_int_equal(signals, 4);
}

/* A launch whose end is not signalled by itself is signalled at the end. */
/* An event is not signalled with the next kernel, which may have to wait for other tenants'. */
static void an_event_is_signalled_with_the_kernel_before_it(void **state)
{
    const struct sched_allowance one_kernel = {64, 1};
    enum drained drained;

    (void)state;
    kernel.wave_ns = 20000000;
    for (int i = 0; i < 2; i++) {
        launch(0);
        event();
    }
    atomic_store(&client.tail[0], tail);
    stream_drain(&session, 0, one_kernel, &drained);
    assert_int_equal(launched, 1);
    assert_int_equal(drained, DRAINED_SOME);
    assert_int_equal(last_signal, tail / 2);
    stream_drain(&session, 0, one_kernel, &drained);
    assert_int_equal(launched, 2);
    assert_int_equal(last_signal, tail);
    free(session.submit.events);
}

static void a_known_kernel_is_signalled(void **state)
{
    (void)state;
    kernel.wave_ns = 1;
    launch(1);
    drain();
    assert_int_equal(signals, 1);
    launch(0);
    launch(0);
    drain();
    assert_int_equal(launched, 3);
    assert_int_equal(signals, 2);
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* Runs until the stream has graphs for its kernel, with nothing in flight, and the end of the last
 * graph signalled. */
static void graphs_earn(uint32_t cls)
{
    graph_room = true;
    kernel.wave_ns = 1;
    stream->cls = cls;
    for (unsigned i = 0; i < 2; i++) {
        launch(0);
        drain();
    }
    inflight_settle(stream->inflight);
    assert_int_equal(went_count, 0);
    launched = signals = 0;
}

#define expect_went(...)                                                                           \
    do {                                                                                           \
        static const uint32_t wanted[] = {__VA_ARGS__};                                            \
        assert_int_equal(went_count, ARRAY_SIZE(wanted));                                          \
        assert_memory_equal(went, wanted, sizeof(wanted));                                         \
    } while (0)

static void launches(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        launch(0);
}

static void a_latency_arrival_goes_in_two_graphs_and_the_last_signals_the_end(void **state)
{
    (void)state;
    graphs_earn(GS_CLASS_LATENCY);
    launches(20);
    drain();
    expect_went(16, 104);
    assert_int_equal(signals, 1);
}

static void every_length_of_a_latency_arrival_is_signalled_once(void **state)
{
    (void)state;
    graphs_earn(GS_CLASS_LATENCY);
    for (uint32_t count = 2; count < 32; count++) {
        launched = signals = went_count = 0;
        launches(count);
        drain();
        inflight_settle(stream->inflight);
        assert_int_equal(launched, count);
        assert_int_equal(signals, 1);
        assert_true(went[went_count - 1] > 100);
    }
}

static void other_arrivals_go_in_graphs_of_eight_and_singles(void **state)
{
    (void)state;
    graphs_earn(GS_CLASS_NORMAL);
    launches(8);
    drain();
    expect_went(108);
    went_count = 0;
    launches(20);
    drain();
    expect_went(8, 108, 1, 1, 1, 101);
}

/* ---- Batches that are still being written ---------------------------------------------------- */

static uint32_t to_come;

/* Writes one more record each time that one is taken. */
static void one_more(void)
{
    if (to_come == 0)
        return;
    to_come--;
    launch(0);
    atomic_store(&client.tail[0], tail);
}

static void an_arrival_that_is_being_written_is_taken_whole_and_signalled_once(void **state)
{
    (void)state;
    graphs_earn(GS_CLASS_LATENCY);
    to_come = 19;
    tenant_writes = one_more;
    launch(0);
    drain();
    assert_int_equal(to_come, 0);
    assert_int_equal(launched, 20);
    assert_int_equal(signals, 1);
    assert_true(went[went_count - 1] > 100);
}

/* The device has enough to do meanwhile. */
static void what_comes_behind_others_is_gathered(void **state)
{
    (void)state;
    graphs_earn(GS_CLASS_LATENCY);
    launches(2);
    drain();
    expect_went(102);
    went_count = signals = 0;
    to_come = 19;
    tenant_writes = one_more;
    launch(0);
    drain();
    expect_went(16, 104);
    assert_int_equal(signals, 1);
}

/* The last launch that there is room for signals the end, however much has come behind it. */
static void who_goes_on_writing_has_no_more_than_there_is_room_for(void **state)
{
    const struct sched_allowance some = {16, UINT64_MAX}, one = {1, 1};
    enum drained drained;

    (void)state;
    graphs_earn(GS_CLASS_LATENCY);
    to_come = UINT32_MAX;
    tenant_writes = one_more;
    launch(0);
    atomic_store(&client.tail[0], tail);
    assert_int_equal(stream_drain(&session, 0, some, &drained), 16);
    assert_int_equal(drained, DRAINED_SOME);
    assert_int_equal(launched, 16);
    assert_int_equal(signals, 1);
    assert_true(went[went_count - 1] > 100);
    assert_int_equal(last_signal, stream->head);
    inflight_settle(stream->inflight);
    went_count = 0;
    assert_int_equal(stream_drain(&session, 0, one, &drained), 1);
    assert_int_equal(drained, DRAINED_SOME);
    expect_went(101);
    assert_int_equal(last_signal, stream->head);
}

/* The client pads the ring's end, so a batch of the full size may have a padding in it. */
static void a_padding_takes_the_place_of_no_launch(void **state)
{
    const struct sched_allowance full = {LAUNCHES_MAX, UINT64_MAX};
    enum drained drained;

    (void)state;
    for (uint32_t i = 0; i < LAUNCHES_MAX; i++) {
        if (i == LAUNCHES_MAX / 2)
            pad();
        launch(0);
    }
    atomic_store(&client.tail[0], tail);
    assert_int_equal(stream_drain(&session, 0, full, &drained), LAUNCHES_MAX);
    assert_int_equal(drained, DRAINED_ALL);
    assert_int_equal(launched, LAUNCHES_MAX);
    assert_int_equal(last_signal, tail);
}

static void paddings_without_end_do_not_keep_the_lane(void **state)
{
    const struct sched_allowance some = {16, UINT64_MAX};
    enum drained drained;

    (void)state;
    for (uint32_t i = 0; i < 3 * 17; i++)
        pad();
    atomic_store(&client.tail[0], tail);
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(stream_drain(&session, 0, some, &drained), 16);
        assert_int_equal(stream->head, i * 17 * REC_ALIGN);
    }
    pad();
    atomic_store(&client.tail[0], tail);
    assert_int_equal(stream_drain(&session, 0, some, &drained), 1);
    assert_int_equal(drained, DRAINED_ALL);
}

/* What has been gathered by then is not issued by the next drain. */
static void a_launch_that_is_refused_in_the_middle_is_the_last(void **state)
{
    const struct sched_allowance room = {1000, UINT64_MAX};
    enum drained drained;

    (void)state;
    graphs_earn(GS_CLASS_LATENCY);
    launches_left = 1;
    to_come = 19;
    tenant_writes = one_more;
    launch(0);
    atomic_store(&client.tail[0], tail);
    stream_drain(&session, 0, room, &drained);
    assert_true(session.submit.faulted);
    assert_int_equal(server.fault.kind, GS_FAULT_LAUNCH);
    assert_int_equal(launched, 1);
    assert_int_equal(signals, 0);
    session.submit.faulted = false;
    stream->head = tail;
    launches_left = UINT32_MAX;
    to_come = 0;
    launch(0);
    drain();
    assert_int_equal(launched, 2);
}

/* Gives the kernel one parameter; each launch has another value in all its bytes. */
static void parameter_give(uint32_t bytes)
{
    static uint16_t place;

    kernel.param_count = 1;
    kernel.param_offset = &place;
    kernel.param_bytes = bytes;
}

/* A tenant that writes over records which the device has not completed has its batch issued in
 * parts, each of records that fit one ring. */
static void more_bytes_than_a_ring_go_in_several_batches(void **state)
{
    const uint32_t size = SEG_RING_BYTES / 4;

    (void)state;
    parameter_give(size - REC_ALIGN);
    assert_int_equal(launch_record_size(REC_LAUNCH_TIME, kernel.param_bytes), size);
    graphs_earn(GS_CLASS_LATENCY);
    launches(2);
    drain();
    went_count = signals = took_count = 0;
    to_come = 9;
    tenant_writes = one_more;
    launch(0);
    drain();
    expect_went(4, 4, 102);
    assert_int_equal(took_count, 10);
    for (uint32_t i = 0; i < took_count; i++)
        assert_int_equal(took[i], tail / size - took_count + i);
}

static void the_largest_record_is_taken_and_a_larger_one_refused(void **state)
{
    const struct sched_allowance room = {1000, UINT64_MAX};
    const struct rec_header header = {.op = REC_LAUNCH, .size = REC_SIZE_MAX + REC_ALIGN};
    enum drained drained;

    (void)state;
    parameter_give(REQ_PARAM_BYTES_MAX);
    launch(0);
    drain();
    assert_int_equal(launched, 1);
    while (ring_offset(tail) != 0)
        pad();
    drain();
    memcpy(segment + SEG_OFF_RINGS, &header, sizeof(header));
    atomic_store(&client.tail[0], tail + header.size);
    assert_int_equal(stream_drain(&session, 0, room, &drained), 0);
    assert_true(session.submit.faulted);
    assert_int_equal(server.fault.kind, GS_FAULT_REJECTED);
    assert_int_equal(launched, 1);
}

/* ---- Launches whose kernels can trap --------------------------------------------------------- */

static void complete(void)
{
    struct seg_complete *words = (void *)(segment + SEG_OFF_COMPLETE);

    atomic_store(&words->position[0], tail);
}

/* What the tenant writes once it has seen the launch before complete cannot be blamed together with
 * it: also where the lane has not looked at the notes in between. */
static void a_launch_that_waited_for_another_is_told_apart(void **state)
{
    static struct fault_notes notes;
    struct launch_range range = {0};

    (void)state;
    session.module.faults = &notes;
    launch(0);
    drain();
    launch(0);
    drain(); /* the first was not complete yet */
    complete();
    launch(0);
    drain();
    launch_range_add(&session, &kernel, &range);
    assert_int_equal(range.first, 3);
    assert_int_equal(range.last, 3);
}

static void behind_a_note_nothing_is_taken(void **state)
{
    static struct fault_notes notes;
    const struct sched_allowance room = {1000, UINT64_MAX};
    struct launch_range range = {0};
    enum drained drained;

    (void)state;
    session.module.faults = &notes;
    launch(0);
    drain();
    atomic_store(&notes.end.where, 1);
    complete();
    launch(0);
    atomic_store(&client.tail[0], tail);
    assert_int_equal(stream_drain(&session, 0, room, &drained), 0);
    assert_int_equal(drained, DRAINED_SOME);
    launch_range_add(&session, &kernel, &range);
    assert_int_equal(range.first, 1);
    assert_int_equal(range.last, 1);
    atomic_store(&notes.end.where, 0);
    drain();
    assert_int_equal(stream->launches, 2);
}

static void a_tail_beyond_the_ring(void)
{
    atomic_store(&client.tail[0], tail + SEG_RING_BYTES + REC_ALIGN);
}

static void a_tail_that_becomes_impossible_ends_the_session_only(void **state)
{
    const struct sched_allowance room = {1000, UINT64_MAX};
    enum drained drained;

    (void)state;
    graphs_earn(GS_CLASS_LATENCY);
    tenant_writes = a_tail_beyond_the_ring;
    launches(3);
    atomic_store(&client.tail[0], tail);
    assert_int_equal(stream_drain(&session, 0, room, &drained), 3);
    assert_true(session.submit.faulted);
    assert_int_equal(server.fault.kind, GS_FAULT_REJECTED);
    assert_int_equal(server.fault.position, tail);
    assert_int_equal(stream_drain(&session, 0, room, &drained), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_launch_that_signalled_its_end_is_signalled_once, set,
                                        unset),
        cmocka_unit_test_setup_teardown(a_full_batch_that_signalled_its_end_is_signalled_once, set,
                                        unset),
        cmocka_unit_test_setup_teardown(what_follows_is_signalled_too, set, unset),
        cmocka_unit_test_setup_teardown(an_event_is_signalled_with_the_kernel_before_it, set,
                                        unset),
        cmocka_unit_test_setup_teardown(a_known_kernel_is_signalled, set, unset),
        cmocka_unit_test_setup_teardown(
            a_latency_arrival_goes_in_two_graphs_and_the_last_signals_the_end, set, unset),
        cmocka_unit_test_setup_teardown(every_length_of_a_latency_arrival_is_signalled_once, set,
                                        unset),
        cmocka_unit_test_setup_teardown(other_arrivals_go_in_graphs_of_eight_and_singles, set,
                                        unset),
        cmocka_unit_test_setup_teardown(
            an_arrival_that_is_being_written_is_taken_whole_and_signalled_once, set, unset),
        cmocka_unit_test_setup_teardown(what_comes_behind_others_is_gathered, set, unset),
        cmocka_unit_test_setup_teardown(who_goes_on_writing_has_no_more_than_there_is_room_for, set,
                                        unset),
        cmocka_unit_test_setup_teardown(a_padding_takes_the_place_of_no_launch, set, unset),
        cmocka_unit_test_setup_teardown(paddings_without_end_do_not_keep_the_lane, set, unset),
        cmocka_unit_test_setup_teardown(a_launch_that_is_refused_in_the_middle_is_the_last, set,
                                        unset),
        cmocka_unit_test_setup_teardown(more_bytes_than_a_ring_go_in_several_batches, set, unset),
        cmocka_unit_test_setup_teardown(the_largest_record_is_taken_and_a_larger_one_refused, set,
                                        unset),
        cmocka_unit_test_setup_teardown(a_launch_that_waited_for_another_is_told_apart, set, unset),
        cmocka_unit_test_setup_teardown(behind_a_note_nothing_is_taken, set, unset),
        cmocka_unit_test_setup_teardown(a_tail_that_becomes_impossible_ends_the_session_only, set,
                                        unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
