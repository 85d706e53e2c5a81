/*
 * test_worker_drain.c - how often the device is made to tell the end of what a stream was given:
 * once for each position, and for the last one always.
 *
 * The driver notes the positions; there is no device memory for graphs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/ring.h"
#include "common/util.h"
#include "fake_marks.h"
#include "worker/drain.h"

#define PRIORITY (-2)

static _Alignas(64) unsigned char segment[SEG_OFF_RINGS + SEG_RING_BYTES];
static struct seg_client client;
static struct seg_server server;
static struct link_stats stats;
static struct kernel kernel, *kernels[1] = {&kernel};
static struct session session;
static struct stream *stream = &session.streams[0];
static uint64_t tail;

static unsigned launched, told;
static uint64_t last_told;

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

/* The kernel that tells the end: its second argument is the position. */
static CUresult done_launch(const CUlaunchConfig *config, CUfunction function, void **params,
                            void **extra)
{
    (void)config, (void)function, (void)extra;
    memcpy(&last_told, params[1], sizeof(last_told));
    told++;
    return CUDA_SUCCESS;
}

static CUresult value_write(CUstream on, CUdeviceptr address, uint64_t value, unsigned int flags)
{
    (void)on, (void)address, (void)flags;
    last_told = value;
    told++;
    return CUDA_SUCCESS;
}

static CUresult graph_create(CUgraph *graph, unsigned int flags)
{
    (void)graph, (void)flags;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* How SMs divide their memory is not looked at here. */
static CUresult function_set(CUfunction function, CUfunction_attribute attribute, int value)
{
    (void)function, (void)attribute, (void)value;
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

/* ---- The tenant ------------------------------------------------------------------------------ */

static int set(void **state)
{
    (void)state;
    cu.cuLaunchKernel = kernel_launch;
    cu.cuLaunchKernelEx = done_launch;
    cu.cuStreamWriteValue64_v2 = value_write;
    cu.cuGraphCreate = graph_create;
    cu.cuFuncSetAttribute = function_set;
    cu.cuEventCreate = event_create;
    cu.cuEventRecord = event_record;
    if (marks_open())
        return -1;
    sched = (struct sched){0};
    memset(segment, 0, sizeof(segment));
    memset(&client, 0, sizeof(client));
    memset(&server, 0, sizeof(server));
    worker.info.sm_count = 16;
    worker.info.priority_highest = -5;
    for (int i = 0; i < 3; i++)
        worker.info.max_grid_dim[i] = worker.info.max_block_dim[i] = 1024;
    kernel = (struct kernel){.serial = 1, .max_threads = 1024};
    session = (struct session){
        .segment = segment,
        .client = &client,
        .server = &server,
        .stats = &stats,
        .kernels = kernels,
        .kernel_room = 1,
        .streams[0] = {
            .open = true, .cu = (CUstream)&session, .priority = PRIORITY, .cu_priority = PRIORITY}};
    stream->flight = flight_new(&session, stream);
    tail = 0;
    launched = told = 0;
    return stream->flight ? 0 : -1;
}

static int unset(void **state)
{
    (void)state;
    flights_leave(&session);
    launcher_free(stream->launcher);
    free(stream->flight);
    free(session.reports);
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

    r.h.size = launch_record_size(r.h.flags, 0);
    memcpy(at, &r, sizeof(r));
    memcpy(at + launch_record_time(r.h.flags, 0), &submitted, sizeof(submitted));
    tail += r.h.size;
}

static void pad(void)
{
    const struct rec_header header = {.op = REC_PAD, .size = REC_ALIGN};

    memcpy(segment + SEG_OFF_RINGS + ring_offset(tail), &header, sizeof(header));
    tail += header.size;
}

static void drain(void)
{
    const struct sched_room room = {1000, UINT64_MAX};
    enum drained drained;

    atomic_store(&client.tail[0], tail);
    stream_drain(&session, 0, room, &drained);
    assert_int_equal(drained, DRAINED_ALL);
    assert_false(session.faulted);
    assert_int_equal(last_told, tail);
    assert_int_equal(stream->signalled, tail);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* A kernel's first launches, and those with a deadline, tell their end by themselves. */
static void a_launch_that_told_its_end_is_told_of_once(void **state)
{
    (void)state;
    launch(1);
    drain();
    assert_int_equal(launched, 1);
    assert_int_equal(told, 1);
    launch(0);
    drain();
    assert_int_equal(told, 2);
}

static void a_full_batch_that_told_its_end_is_told_of_once(void **state)
{
    (void)state;
    kernel.wave_ns = 1;
    session.grant.link.deadline_ns = 1000000000;
    for (uint32_t i = 0; i < 64; i++)
        launch(0);
    drain();
    assert_int_equal(launched, 64);
    assert_int_equal(told, 64);
}

static void what_follows_is_told_of_too(void **state)
{
    (void)state;
    launch(1);
    pad();
    drain();
    assert_int_equal(told, 2);
    launch(0);
    pad();
    drain();
    assert_int_equal(told, 3);
    pad();
    drain();
    assert_int_equal(told, 4);
    drain();
    assert_int_equal(told, 4);
}

/* One whose end is not told by itself is told of at the end. */
static void a_known_kernel_is_told_of(void **state)
{
    (void)state;
    kernel.wave_ns = 1;
    launch(1);
    drain();
    assert_int_equal(told, 1);
    launch(0);
    launch(0);
    drain();
    assert_int_equal(launched, 3);
    assert_int_equal(told, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_launch_that_told_its_end_is_told_of_once, set, unset),
        cmocka_unit_test_setup_teardown(a_full_batch_that_told_its_end_is_told_of_once, set, unset),
        cmocka_unit_test_setup_teardown(what_follows_is_told_of_too, set, unset),
        cmocka_unit_test_setup_teardown(a_known_kernel_is_told_of, set, unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
