/*
 * test_worker_whole.c - requests that come again go to the device as one graph each, and what runs
 * is what was asked for, in order, with the parameters of this time: whatever changes between them.
 *
 * The driver runs a graph when it is launched, and notes which kernel ran with which parameter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/ring.h"
#include "common/util.h"
#include "fake_marks.h"
#include "worker/dispatch.h"
#include "worker/drain.h"
#include "worker/lines.h"
#include "worker/partition.h"
#include "worker/roster.h"
#include "worker/turn.h"

#define KERNELS  3u
#define REQUEST  20u
#define GRAPHS   4096u
#define NODES    66u
#define RAN_MOST 256u
#define PRIORITY (-4)
#define LEARNING 3u /* requests until there is a graph */

static _Alignas(64) unsigned char segment[SEG_OFF_RINGS + SEG_RING_BYTES];
static struct seg_client client;
static struct seg_server server;
static struct link_stats stats;
static struct kernel kernel[KERNELS], *kernels[KERNELS];
static uint16_t no_offset;
static struct session session;
static struct stream *stream = &session.streams[0];
static struct partition partition;
static uint64_t now, tail, serial;

/* A kernel that ran, or is to. */
struct run {
    const void *function;
    uint64_t parameter;
    uint32_t blocks;
    int priority;      /* of the node; 0: none of its own */
    CUcontext context; /* that was current when its node was added, or set */
};
static struct run ran[RAN_MOST], wanted[RAN_MOST];
static uint32_t ran_count, wanted_count;

static struct graph {
    uint32_t nodes;
    struct run node[NODES];
    bool alive;
} graphs[GRAPHS];
static uint32_t graph_count;
static uint32_t graph_launches, graphs_made, graphs_destroyed, nodes_set, mixed_made;
static uint32_t told;
static uint64_t last_told;
static bool no_room_to_make, no_room_to_launch;
static uint32_t calls_left; /* that make graphs, until one is refused */
static CUcontext current;

int clock_gettime(clockid_t which, struct timespec *time)
{
    (void)which;
    *time = (struct timespec){.tv_sec = (time_t)(now / 1000000000u),
                              .tv_nsec = (long)(now % 1000000000u)};
    return 0;
}

/* ---- The driver ------------------------------------------------------------------------------ */

/* The kernel that tells the end has no function here; its second argument is the position. */
static void run_one(const struct run *run)
{
    if (!run->function) {
        last_told = run->parameter;
        told++;
        return;
    }
    assert_true(ran_count < RAN_MOST);
    ran[ran_count++] = *run;
}

static struct run run_of(const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct run run = {.function = params->func, .blocks = params->gridDimX, .context = current};

    memcpy(&run.parameter, params->kernelParams[params->func ? 0 : 1], sizeof(run.parameter));
    return run;
}

static CUresult kernel_launch(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                              unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                              unsigned int block_z, unsigned int smem, CUstream on, void **params,
                              void **extra)
{
    (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)smem;
    (void)on, (void)extra;
    struct run run = {.function = function, .blocks = grid_x, .context = current};

    memcpy(&run.parameter, params[0], sizeof(run.parameter));
    run_one(&run);
    return CUDA_SUCCESS;
}

static CUresult launch_with(const CUlaunchConfig *config, CUfunction function, void **params,
                            void **extra)
{
    (void)extra;
    struct run run = {.function = function, .blocks = config->gridDimX, .context = current};

    memcpy(&run.parameter, params[function ? 0 : 1], sizeof(run.parameter));
    run_one(&run);
    return CUDA_SUCCESS;
}

static CUresult value_write(CUstream on, CUdeviceptr address, uint64_t value, unsigned int flags)
{
    (void)on, (void)address, (void)flags;
    last_told = value;
    told++;
    return CUDA_SUCCESS;
}

static bool refused(void)
{
    return no_room_to_make || calls_left-- == 0;
}

static CUresult graph_create(CUgraph *graph, unsigned int flags)
{
    (void)flags;
    if (refused())
        return CUDA_ERROR_OUT_OF_MEMORY;
    assert_true(graph_count < GRAPHS);
    graphs[graph_count] = (struct graph){.alive = true};
    *graph = (CUgraph)&graphs[graph_count++];
    return CUDA_SUCCESS;
}

static CUresult graph_destroy(CUgraph graph)
{
    assert_non_null(graph);
    ((struct graph *)graph)->alive = false;
    return CUDA_SUCCESS;
}

static CUresult node_add(CUgraph to, const struct run *run, CUgraphNode *node)
{
    struct graph *graph = (struct graph *)to;

    assert_true(graph->alive && graph->nodes < NODES);
    graph->node[graph->nodes] = *run;
    *node = (CUgraphNode)&graph->node[graph->nodes++];
    return CUDA_SUCCESS;
}

static CUresult kernel_add(CUgraphNode *node, CUgraph to, const CUgraphNode *after, size_t count,
                           const CUDA_KERNEL_NODE_PARAMS *params)
{
    const struct graph *graph = (const struct graph *)to;
    const struct run run = run_of(params);

    if (refused())
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* Behind the one before it. */
    assert_int_equal(count, graph->nodes > 0);
    if (count)
        assert_ptr_equal(*after, &graph->node[graph->nodes - 1]);
    return node_add(to, &run, node);
}

static CUresult kernel_set(CUgraphExec exec, CUgraphNode node,
                           const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct run *run = (struct run *)node, as = run_of(params);

    assert_true(((struct graph *)exec)->alive);
    /* A node can be set in its own context only, and keeps its function and grid here. */
    assert_ptr_equal(run->context, as.context);
    assert_ptr_equal(run->function, as.function);
    assert_int_equal(run->blocks, as.blocks);
    run->parameter = as.parameter;
    nodes_set++;
    return CUDA_SUCCESS;
}

static CUresult write_add(CUgraphNode *node, CUgraph to, const CUgraphNode *after, size_t count,
                          const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    const struct run run = {.parameter = params->paramArray->writeValue.value64};

    (void)after, (void)count;
    return refused() ? CUDA_ERROR_OUT_OF_MEMORY : node_add(to, &run, node);
}

static CUresult write_set(CUgraphExec exec, CUgraphNode node,
                          const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    (void)exec;
    ((struct run *)node)->parameter = params->paramArray->writeValue.value64;
    return CUDA_SUCCESS;
}

static CUresult priority_set(CUgraphNode node, CUlaunchAttributeID which,
                             const CUlaunchAttributeValue *value)
{
    (void)which;
    if (refused())
        return CUDA_ERROR_OUT_OF_MEMORY;
    ((struct run *)node)->priority = value->priority;
    return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    const struct graph *g = (const struct graph *)graph;
    bool mixed = false;

    (void)flags;
    if (refused())
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 1; i < g->nodes; i++)
        mixed = mixed || (g->node[i].function && g->node[i].function != g->node[0].function);
    *exec = (CUgraphExec)graph;
    graphs_made++;
    mixed_made += mixed;
    return CUDA_SUCCESS;
}

static CUresult exec_destroy(CUgraphExec exec)
{
    (void)exec;
    graphs_destroyed++;
    return CUDA_SUCCESS;
}

static CUresult graph_launch_run(CUgraphExec exec, CUstream on)
{
    const struct graph *graph = (const struct graph *)exec;

    (void)on;
    assert_true(graph->alive);
    if (no_room_to_launch)
        return CUDA_ERROR_OUT_OF_MEMORY;
    graph_launches++;
    for (uint32_t i = 0; i < graph->nodes; i++)
        run_one(&graph->node[i]);
    return CUDA_SUCCESS;
}

static CUresult function_set(CUfunction function, CUfunction_attribute attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return CUDA_SUCCESS;
}

static CUresult context_set(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

static CUresult event_create(CUevent *event, unsigned int flags)
{
    (void)flags;
    *event = (CUevent)&told;
    return CUDA_SUCCESS;
}

static CUresult event_record(CUevent event, CUstream on)
{
    (void)event, (void)on;
    return CUDA_SUCCESS;
}

static CUresult stream_wait(CUstream on, CUevent event, unsigned int flags)
{
    (void)on, (void)event, (void)flags;
    return CUDA_SUCCESS;
}

/* ---- The tenant ------------------------------------------------------------------------------ */

static void kernel_load(uint32_t i)
{
    kernel[i] = (struct kernel){.id = i,
                                .serial = ++serial,
                                .max_threads = 1024,
                                .function = (CUfunction)&kernel[i],
                                .param_count = 1,
                                /* one of them has a record that does not always fit at the
                                   ring's end */
                                .param_bytes = i == 2 ? 192 : sizeof(uint64_t),
                                .param_offset = &no_offset,
                                .wave_ns = 1};
    kernels[i] = &kernel[i];
}

static int set(void **state)
{
    (void)state;
    cu.cuLaunchKernel = kernel_launch;
    cu.cuLaunchKernelEx = launch_with;
    cu.cuStreamWriteValue64_v2 = value_write;
    cu.cuGraphCreate = graph_create;
    cu.cuGraphDestroy = graph_destroy;
    cu.cuGraphAddKernelNode_v2 = kernel_add;
    cu.cuGraphExecKernelNodeSetParams_v2 = kernel_set;
    cu.cuGraphAddBatchMemOpNode = write_add;
    cu.cuGraphExecBatchMemOpNodeSetParams = write_set;
    cu.cuGraphKernelNodeSetAttribute = priority_set;
    cu.cuGraphInstantiateWithFlags = instantiate;
    cu.cuGraphExecDestroy = exec_destroy;
    cu.cuGraphLaunch = graph_launch_run;
    cu.cuFuncSetAttribute = function_set;
    cu.cuCtxSetCurrent = context_set;
    cu.cuEventCreate = event_create;
    cu.cuEventRecord = event_record;
    cu.cuStreamWaitEvent = stream_wait;
    if (marks_open())
        return -1;
    now = UINT64_C(1000000000);
    lines = (struct lines){.used = 1};
    memset(segment, 0, sizeof(segment));
    memset(&client, 0, sizeof(client));
    memset(&server, 0, sizeof(server));
    worker.info.sm_count = 16;
    worker.info.priority_highest = -5;
    worker.context = NULL;
    for (int i = 0; i < 3; i++)
        worker.info.max_grid_dim[i] = worker.info.max_block_dim[i] = 1024;
    for (uint32_t i = 0; i < KERNELS; i++)
        kernel_load(i);
    partition = (struct partition){.sm_count = 4, .context = (CUcontext)&partition, .id = 1};
    session = (struct session){.segment = segment,
                               .client = &client,
                               .server = &server,
                               .stats = &stats,
                               .kernels = kernels,
                               .kernel_room = KERNELS,
                               .sched = {.cls = GS_CLASS_LATENCY},
                               .streams[0] = {.open = true,
                                              .cu = (CUstream)&session,
                                              .cls = GS_CLASS_LATENCY,
                                              .priority = PRIORITY,
                                              .cu_priority = PRIORITY}};
    stream->flight = flight_new(&session, stream);
    tail = 0;
    ran_count = wanted_count = 0;
    graph_count = graph_launches = graphs_made = graphs_destroyed = nodes_set = mixed_made = 0;
    told = 0;
    no_room_to_make = no_room_to_launch = false;
    calls_left = UINT32_MAX;
    return stream->flight ? 0 : -1;
}

/* Nothing made is left. */
static int unset(void **state)
{
    (void)state;
    flights_leave(&session);
    launcher_free(stream->launcher);
    free(stream->flight);
    free(session.events);
    for (uint32_t i = 0; i < graph_count; i++) {
        if (graphs[i].alive)
            return -1;
    }
    return graphs_made == graphs_destroyed && atomic_load(&partition.graphs) == 0 ? 0 : -1;
}

/* The client's: a padding where the record would not fit. */
static unsigned char *record_begin(uint32_t size)
{
    const uint32_t pad = ring_pad(tail, size);

    if (pad) {
        const struct rec_header header = {.op = REC_PAD, .size = pad};
        memcpy(segment + SEG_OFF_RINGS + ring_offset(tail), &header, sizeof(header));
        tail += pad;
    }
    unsigned char *at = segment + SEG_OFF_RINGS + ring_offset(tail);
    tail += size;
    return at;
}

static void launch(uint32_t which, uint32_t blocks, uint64_t parameter)
{
    const uint64_t submitted = now;
    struct rec_launch r = {.h = {.op = REC_LAUNCH, .flags = REC_LAUNCH_TIME},
                           .kernel = which,
                           .param_bytes = kernel[which].param_bytes,
                           .grid = {blocks, 1, 1},
                           .block = {1, 1, 1}};

    r.h.size = launch_record_size(r.h.flags, r.param_bytes);
    unsigned char *at = record_begin(r.h.size);
    memset(at, 0, r.h.size);
    memcpy(at, &r, sizeof(r));
    memcpy(at + sizeof(r), &parameter, sizeof(parameter));
    memcpy(at + launch_record_time(r.h.flags, r.param_bytes), &submitted, sizeof(submitted));
    assert_true(wanted_count < RAN_MOST);
    wanted[wanted_count++] =
        (struct run){.function = kernel[which].function, .parameter = parameter, .blocks = blocks};
}

static void event(void)
{
    const struct rec_event r = {.h = {.op = REC_EVENT, .size = sizeof(r)}};

    memcpy(record_begin(sizeof(r)), &r, sizeof(r));
}

/* It counts as a copy does: what is in the stream beside kernels. The other stream has nothing. */
static void wait_for_nothing(void)
{
    const struct rec_wait r = {.h = {.op = REC_WAIT, .size = sizeof(r)}, .stream = 1};

    memcpy(record_begin(sizeof(r)), &r, sizeof(r));
}

/* What was written, as one burst; all of it ran, in order, and its end was told. */
static void drain(bool whole)
{
    const struct sched_room room = {1000, UINT64_MAX};
    enum drained drained;

    told = graph_launches = nodes_set = 0;
    atomic_store(&client.tail[0], tail);
    stream->burst.whole = whole;
    stream_drain(&session, 0, room, &drained);
    assert_int_equal(drained, DRAINED_ALL);
    assert_false(session.faulted);
    assert_int_equal(last_told, tail);
    assert_int_equal(stream->signalled, tail);
    assert_int_equal(ran_count, wanted_count);
    for (uint32_t i = 0; i < wanted_count; i++) {
        assert_ptr_equal(ran[i].function, wanted[i].function);
        assert_int_equal(ran[i].parameter, wanted[i].parameter);
        assert_int_equal(ran[i].blocks, wanted[i].blocks);
    }
    flight_settle(&session, stream);
    assert_int_equal(session.sched.inflight, 0);
}

static void forget(void)
{
    ran_count = wanted_count = 0;
}

/* Mixed kernels and grids; others for each `kind`. */
static void request(uint32_t kind, uint32_t length, uint64_t parameter)
{
    forget();
    for (uint32_t i = 0; i < length; i++)
        launch((i * (kind % 2 + 1) + kind) % KERNELS, 1 + (i + kind) % 2, parameter + i);
}

/* So that it has its graph. */
static void learn(uint32_t kind, uint32_t length)
{
    for (uint32_t i = 0; i < LEARNING; i++) {
        request(kind, length, i);
        drain(true);
    }
    assert_int_equal(graph_launches, 1);
    assert_int_equal(told, 1);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_request_of_mixed_kernels_goes_as_one_graph_when_it_has_come_before(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < 100; i++) {
        request(0, REQUEST, 1000 * i);
        drain(true);
        assert_int_equal(told, 1);
        if (i >= LEARNING)
            assert_int_equal(graph_launches, 1);
    }
    assert_int_equal(mixed_made, 1);
}

static void only_what_has_changed_is_set(void **state)
{
    (void)state;
    learn(0, REQUEST);
    request(0, REQUEST, 5);
    drain(true);
    assert_int_equal(nodes_set, REQUEST + 1);
    request(0, REQUEST, 5);
    drain(true);
    assert_int_equal(nodes_set, 1); /* the end: its position */
    request(0, REQUEST - 1, 5);
    launch((REQUEST - 1) % KERNELS, 1 + (REQUEST - 1) % 2, 77);
    drain(true);
    assert_int_equal(nodes_set, 2);
    assert_int_equal(graph_launches, 1);
}

/* All lengths, also those that are chains anyhow. */
static void a_run_of_one_kernel_goes_as_one_graph_too(void **state)
{
    (void)state;
    for (uint32_t length = 2; length <= LAUNCHES_MAX; length++) {
        for (uint32_t n = 0; n < 4; n++) {
            forget();
            for (uint32_t i = 0; i < length; i++)
                launch(0, 1, n);
            drain(true);
        }
        assert_int_equal(graph_launches, 1);
        assert_int_equal(told, 1);
    }
}

static void requests_by_turns_have_a_graph_each(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        request(i % 4, 10 + i % 4, i);
        drain(true);
        if (i >= 4 * (LEARNING - 1))
            assert_int_equal(graph_launches, 1);
    }
    assert_int_equal(mixed_made, 4);
    assert_int_equal(told, 1);
}

/* Else each would cost the making of a graph. */
static void more_by_turns_than_are_remembered_have_none(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 60; i++) {
        request(i % 2, 10 + i % 6, i);
        drain(true);
    }
    assert_int_equal(mixed_made, 0);
}

static void the_least_recently_used_gives_way(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        learn(0, 10 + i);
    request(0, 10, 1);
    drain(true);
    assert_int_equal(graph_launches, 1);
    learn(0, 20); /* for the one of 11 */
    assert_int_equal(mixed_made, 5);
    for (uint32_t i = 0; i < 4; i++) {
        request(0, i == 1 ? 20 : 10 + i, 1);
        drain(true);
        assert_int_equal(graph_launches, 1);
    }
    request(0, 11, 1);
    drain(true);
    assert_true(graph_launches > 1);
}

static void what_is_not_known_to_be_whole_is_not_remembered(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        request(0, REQUEST, i);
        drain(false);
        assert_true(graph_launches > 1);
    }
    assert_int_equal(mixed_made, 0);
}

static void a_kernel_that_was_loaded_anew_has_another_graph(void **state)
{
    (void)state;
    learn(0, REQUEST);
    kernel_load(1); /* at the same place */
    request(0, REQUEST, 9);
    drain(true);
    assert_true(graph_launches > 1);
    learn(0, REQUEST);
    assert_int_equal(mixed_made, 2);
    launcher_reset(stream->launcher);
    assert_int_equal(graphs_made, graphs_destroyed);
    learn(0, REQUEST);
}

static void a_priority_is_that_of_this_time(void **state)
{
    (void)state;
    learn(0, REQUEST);
    for (int priority = -4; priority < 0; priority++) {
        stream->priority = priority;
        for (uint32_t n = 0; n < 4; n++) {
            request(0, REQUEST, n);
            drain(true);
        }
        assert_int_equal(graph_launches, 1);
        for (uint32_t i = 0; i < ran_count; i++)
            assert_int_equal(ran[i].priority ? ran[i].priority : stream->cu_priority, priority);
    }
}

/* Each kernel in the partition of this time; and a partition that goes takes the graphs along. */
static void a_partition_is_that_of_this_time(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t n = 0; n < 8; n++) {
            session.grant.partition = n < 4 ? NULL : &partition;
            request(0, REQUEST, n);
            drain(true);
            for (uint32_t i = 0; i < ran_count; i++)
                assert_ptr_equal(ran[i].context, n < 4 ? NULL : partition.context);
            if (n % 4 == 3)
                assert_int_equal(graph_launches, 1);
        }
        assert_true(atomic_load(&partition.graphs) > 0);
        launcher_leave(stream->launcher, &partition);
        assert_int_equal(atomic_load(&partition.graphs), 0);
    }
}

static void without_memory_for_a_graph_all_run_without(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        no_room_to_make = true;
        for (uint32_t i = 0; i < 10; i++) {
            request(round, REQUEST, i);
            drain(true);
            assert_int_equal(told, 1);
        }
        no_room_to_make = false;
        learn(round, REQUEST);
        no_room_to_launch = true;
        for (uint32_t i = 0; i < 10; i++) {
            request(round, REQUEST, i);
            drain(true);
            assert_int_equal(told, 1);
        }
        no_room_to_launch = false;
        learn(round, REQUEST);
    }
}

/* Whichever call it is: nothing of it is left, and the next time it is made. */
static void each_call_that_makes_a_graph_may_be_refused(void **state)
{
    (void)state;
    stream->priority = PRIORITY + 1; /* so that nodes have one of their own */
    for (uint32_t call = 0; call < 4 * 9; call++) {
        for (uint32_t n = 0; n < LEARNING; n++) {
            calls_left = n == LEARNING - 1 ? call : UINT32_MAX;
            request(0, 5 + call % 2, n);
            drain(true);
        }
        calls_left = UINT32_MAX;
        learn(0, 5 + call % 2);
        launcher_reset(stream->launcher);
        assert_int_equal(graphs_made, graphs_destroyed);
    }
}

/* Others tell their end so that what follows can go. */
static void a_whole_request_of_long_kernels_is_one_graph(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KERNELS; i++)
        kernel[i].wave_ns = 60000;
    learn(0, REQUEST);
    request(0, REQUEST, 1);
    drain(false);
    assert_true(told > 1);
}

/* Their own ends are wanted. */
static void unknown_kernels_and_deadlines_go_in_no_such_graph(void **state)
{
    (void)state;
    learn(0, REQUEST);
    kernel[2].wave_ns = 0;
    request(0, REQUEST, 1);
    drain(true);
    assert_true(told > 1);
    kernel[2].wave_ns = 1;
    session.grant.link.deadline_ns = 1000000000;
    request(0, REQUEST, 2);
    drain(true);
    assert_int_equal(told, REQUEST);
    session.grant.link.deadline_ns = 0;
    request(0, REQUEST, 3);
    drain(true);
    assert_int_equal(graph_launches, 1);
}

/* A kernel that always comes behind a copy, or between others that are known. */
static void a_kernel_is_known_after_its_first_launch_whatever_is_before_it(void **state)
{
    (void)state;
    kernel[0].wave_ns = kernel[2].wave_ns = 0;
    for (uint32_t i = 0; i <= LEARNING; i++) {
        forget();
        wait_for_nothing();
        for (uint32_t k = 0; k < REQUEST; k++)
            launch(k % KERNELS, 1, i + k);
        drain(true);
        assert_true(kernel[0].wave_ns > 0 && kernel[2].wave_ns > 0);
    }
    assert_int_equal(graph_launches, 1);
    assert_int_equal(told, 1);
}

/* Where several wait for the device, a kernel's time is its own, not that of the copies around it.
 */
static void kernels_tell_their_ends_apart_from_copies_where_several_wait(void **state)
{
    (void)state;
    session.sched.cls = stream->cls = GS_CLASS_NORMAL;
    for (unsigned waiting = 0; waiting <= 2; waiting++) {
        lines.line[0].waiting = waiting;
        forget();
        for (uint32_t i = 0; i < 3; i++) {
            wait_for_nothing();
            wait_for_nothing();
            launch(0, 1, i);
            launch(1, 1, i);
        }
        drain(false);
        assert_int_equal(told, waiting > 1 ? 6 : 1);
    }
}

/* Events between launches cut a request in parts, each of which is one graph; one end is told. */
static void the_parts_of_a_request_are_graphs_too(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10; i++) {
        forget();
        for (uint32_t k = 0; k < 30; k++) {
            launch(k % KERNELS, 1, i + k);
            if (k == 7 || k == 15)
                event();
        }
        drain(true);
        assert_int_equal(told, 1);
        if (i >= LEARNING)
            assert_int_equal(graph_launches, 3);
    }
}

/* Half of what is on the device is to be known to have ended before the other half has. */
static void no_more_than_half_of_what_may_be_there_goes_untold(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10; i++) {
        forget();
        for (uint32_t k = 0; k < 60; k++) {
            launch(0, 1 + k % 2, k);
            if (k == 49)
                event();
        }
        drain(true);
        assert_true(graph_launches > 2);
    }
}

/* What the scheduler goes by is what the launches are, not how they go. */
static void all_launches_are_accounted_for(void **state)
{
    const struct sched_room room = {1000, UINT64_MAX};
    struct sched_entity work[2];
    enum drained drained;

    (void)state;
    kernel[0].wave_ns = 300;
    kernel[1].wave_ns = 5000;
    kernel[2].wave_ns = 70;
    for (uint32_t i = 0; i < 2; i++) {
        if (i)
            learn(0, REQUEST);
        const uint64_t before = atomic_load(&stats.launches);
        request(0, REQUEST, 1);
        atomic_store(&client.tail[0], tail);
        stream->burst.whole = i == 1;
        stream_drain(&session, 0, room, &drained);
        work[i] = session.sched;
        assert_int_equal(atomic_load(&stats.launches), before + REQUEST);
        flight_settle(&session, stream);
    }
    assert_int_equal(work[0].inflight, REQUEST);
    assert_int_equal(work[1].inflight, REQUEST);
    assert_int_equal(work[0].wide, work[1].wide);
    assert_int_equal(work[0].width, work[1].width);
    assert_int_equal(work[0].inflight_ns, work[1].inflight_ns);
    assert_int_equal(work[0].device_ns, work[1].device_ns);
}

/* Anything in any order. */
static void whatever_comes_runs_as_it_was_asked_for(void **state)
{
    (void)state;
    srand(7);
    for (uint32_t i = 0; i < 20000; i++) {
        const uint32_t dice = (uint32_t)rand() % 100;
        no_room_to_make = rand() % 10 == 0;
        no_room_to_launch = rand() % 50 == 0;
        if (dice == 0)
            kernel_load((uint32_t)rand() % KERNELS);
        if (dice == 1)
            launcher_leave(stream->launcher, &partition);
        if (dice == 2)
            session.grant.partition = rand() % 2 ? &partition : NULL;
        if (dice == 3)
            stream->priority = -(rand() % 5);
        if (dice == 4)
            kernel[rand() % KERNELS].wave_ns = rand() % 2;
        request((uint32_t)rand() % 3, 1 + (uint32_t)rand() % 4 * 9, (uint32_t)rand() % 3);
        if (rand() % 8 == 0)
            event();
        if (rand() % 8 == 0)
            launch(0, 1, 5);
        drain(rand() % 4 != 0);
        if (graph_count > GRAPHS / 2) { /* the driver's memory of graphs is used again */
            launcher_reset(stream->launcher);
            for (uint32_t k = 0; k < graph_count; k++)
                assert_false(graphs[k].alive);
            graph_count = 0;
        }
    }
    assert_true(mixed_made > 100);
}

/* From the ring's first record on, with the turns that look at it: it is being written meanwhile.
 */
static void a_request_that_is_seen_at_its_begin_goes_as_one_graph(void **state)
{
    struct seg_complete *words = (struct seg_complete *)(void *)(segment + SEG_OFF_COMPLETE);

    (void)state;
    session.hot = true;
    roster.hot_count = 1;
    roster.hot[0] = &session;
    lines_enter(&session);
    for (uint32_t i = 0; i < 200; i++) {
        forget();
        graph_launches = told = 0;
        for (uint32_t k = 0; k < REQUEST; k++) {
            launch(k % KERNELS, 1, i + k);
            atomic_store(&client.tail[0], tail);
            atomic_fetch_or(&client.activity, 1);
            dispatch.now = now += 130;
            turn_take();
        }
        for (uint32_t k = 0; k < 20; k++) {
            dispatch.now = now += 130;
            turn_take();
        }
        assert_int_equal(ran_count, REQUEST);
        for (uint32_t k = 0; k < REQUEST; k++)
            assert_int_equal(ran[k].parameter, i + k);
        assert_int_equal(last_told, tail);
        if (i > 10) {
            assert_int_equal(graph_launches, 1);
            assert_int_equal(told, 1);
        }
        flight_settle(&session, stream);
        atomic_store(&words->position[0], tail);
        now += 10000;
    }
    assert_int_equal(mixed_made, 1);
    turn_leave(&session);
    roster.hot_count = 0;
    lines_forget(&session);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set, unset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_request_of_mixed_kernels_goes_as_one_graph_when_it_has_come_before),
        TEST(only_what_has_changed_is_set),
        TEST(a_run_of_one_kernel_goes_as_one_graph_too),
        TEST(requests_by_turns_have_a_graph_each),
        TEST(more_by_turns_than_are_remembered_have_none),
        TEST(the_least_recently_used_gives_way),
        TEST(what_is_not_known_to_be_whole_is_not_remembered),
        TEST(a_kernel_that_was_loaded_anew_has_another_graph),
        TEST(a_priority_is_that_of_this_time),
        TEST(a_partition_is_that_of_this_time),
        TEST(without_memory_for_a_graph_all_run_without),
        TEST(each_call_that_makes_a_graph_may_be_refused),
        TEST(a_whole_request_of_long_kernels_is_one_graph),
        TEST(unknown_kernels_and_deadlines_go_in_no_such_graph),
        TEST(a_kernel_is_known_after_its_first_launch_whatever_is_before_it),
        TEST(kernels_tell_their_ends_apart_from_copies_where_several_wait),
        TEST(the_parts_of_a_request_are_graphs_too),
        TEST(no_more_than_half_of_what_may_be_there_goes_untold),
        TEST(all_launches_are_accounted_for),
        TEST(whatever_comes_runs_as_it_was_asked_for),
        TEST(a_request_that_is_seen_at_its_begin_goes_as_one_graph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
