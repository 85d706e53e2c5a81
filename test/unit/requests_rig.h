/*
 * requests_rig.h - a session whose tenant sends requests of several kernels, each as one arrival,
 * and what must hold of every request: all of it ran, in order, with the parameters of this time.
 * Each test program includes this once, after cmocka.h.
 */
#ifndef GS_TEST_REQUESTS_RIG_H
#define GS_TEST_REQUESTS_RIG_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/ring.h"
#include "common/util.h"
#include "fake_fences.h"
#include "fake_graphs.h"
#include "worker/memory/user.h"
#include "worker/partition/partition.h"
#include "worker/sched/domain.h"
#include "worker/sched/lane.h"
#include "worker/submit/drain.h"
#include "worker/submit/graph_cache.h"
#include "worker/submit/launch.h"

#define KERNELS  3u
#define REQUEST  20u
#define PRIORITY (-4)
#define LEARNING 3u                       /* requests until a request has its graph */
#define COMPLETE UINT64_C(0x7f0000000000) /* the page of completion words on the device */

static _Alignas(64) unsigned char segment[SEG_OFF_RINGS + SEG_RING_BYTES];
static struct seg_client client;
static struct seg_server server;
static struct link_stats stats;
static struct kernel kernel[KERNELS], *kernels[KERNELS];
static uint16_t no_offset;
static struct lane lane;
static struct user user;
static struct session session;
static struct stream *stream = &session.submit.streams[0];
static struct partition partition;
static uint64_t now, tail, serial;
static uint16_t launch_flags;       /* of the launches to come, besides their time */
static struct run wanted[RAN_MOST]; /* in the order in which they must run */
static uint32_t wanted_count;

int clock_gettime(clockid_t which, struct timespec *time)
{
    (void)which;
    *time = (struct timespec){.tv_sec = (time_t)(now / 1000000000u),
                              .tv_nsec = (long)(now % 1000000000u)};
    return 0;
}

static inline void kernel_load(uint32_t i)
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

/* From here on the kernel has a completion parameter. */
static inline void kernel_signals_end(uint32_t i)
{
    kernel[i].signals_end = true;
    function_signals_end(kernel[i].function, kernel[i].param_count);
}

static inline int set(void **state)
{
    (void)state;
    graphs_open();
    if (fences_open())
        return -1;
    now = UINT64_C(1000000000);
    domains_init();
    memset(segment, 0, sizeof(segment));
    memset(&client, 0, sizeof(client));
    memset(&server, 0, sizeof(server));
    worker_begin()->info.sm_count = 16;
    worker_begin()->info.priority_highest = -5;
    worker_begin()->context = NULL;
    for (int i = 0; i < 3; i++)
        worker_begin()->info.max_grid_dim[i] = worker_begin()->info.max_block_dim[i] = 1024;
    for (uint32_t i = 0; i < KERNELS; i++)
        kernel_load(i);
    partition = (struct partition){.sm_count = 4, .context = (CUcontext)&partition, .id = 1};
    session = (struct session){.lane = &lane,
                               .segment = segment,
                               .client = &client,
                               .server_page = &server,
                               .stats = &stats,
                               .memory.user = &user,
                               .kernels.table = kernels,
                               .kernels.capacity = KERNELS,
                               .sched.entity = {.cls = GS_CLASS_LATENCY},
                               .submit.complete = COMPLETE,
                               .submit.streams[0] = {.open = true,
                                                     .cu = (CUstream)&session,
                                                     .cls = GS_CLASS_LATENCY,
                                                     .priority = PRIORITY,
                                                     .cu_priority = PRIORITY}};
    domain_join(&session);
    stream->inflight = inflight_new(&session, (uint32_t)(stream - session.submit.streams));
    tail = 0;
    launch_flags = 0;
    wanted_count = 0;
    return stream->inflight ? 0 : -1;
}

/* Checks that nothing made is left. */
static inline int unset(void **state)
{
    (void)state;
    inflight_remove(&session);
    graph_cache_free(stream->graph_cache);
    inflight_free(stream->inflight);
    free(session.submit.events);
    for (uint32_t i = 0; i < graph_count; i++) {
        if (graphs[i].alive)
            return -1;
    }
    return graphs_made == graphs_destroyed && atomic_load(&partition.graphs) == 0 ? 0 : -1;
}

/* Begins a record as the client does: with a padding before a record that would not fit. */
static inline unsigned char *record_begin(uint32_t size)
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

static inline void launch_threads_of(uint32_t which, uint32_t blocks, uint32_t threads,
                                     uint64_t parameter)
{
    const uint64_t submitted = now;
    struct rec_launch r = {.h = {.op = REC_LAUNCH, .flags = REC_LAUNCH_TIME | launch_flags},
                           .kernel = which,
                           .param_bytes = kernel[which].param_bytes,
                           .grid = {blocks, 1, 1},
                           .block = {threads, 1, 1}};

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

static inline void launch(uint32_t which, uint32_t blocks, uint64_t parameter)
{
    launch_threads_of(which, blocks, 1, parameter);
}

static inline void event(void)
{
    const struct rec_event r = {.h = {.op = REC_EVENT, .size = sizeof(r)}};

    memcpy(record_begin(sizeof(r)), &r, sizeof(r));
}

/* Records a wait, which counts as a copy does: as other work in the stream beside kernels. The
 * other stream has nothing, so the wait is over at once. */
static inline void wait_for_nothing(void)
{
    const struct rec_wait r = {.h = {.op = REC_WAIT, .size = sizeof(r)}, .stream = 1};

    memcpy(record_begin(sizeof(r)), &r, sizeof(r));
}

/* Drains what was written, as one arrival. Checks that all of it ran, in order, and that its end
 * was signalled. */
static inline void drain(bool entire)
{
    const struct sched_allowance allowance = {1000, UINT64_MAX};
    enum drained drained;

    signals = own_signals = graph_launches = nodes_run = nodes_set = nodes_set_waited = 0;
    atomic_store(&client.tail[0], tail);
    stream->arrival.entire = entire;
    stream_drain(&session, 0, allowance, &drained);
    assert_int_equal(drained, DRAINED_ALL);
    assert_false(session.submit.faulted);
    assert_int_equal(last_signal, tail);
    assert_int_equal(stream->signalled, tail);
    assert_int_equal(ran_count, wanted_count);
    for (uint32_t i = 0; i < wanted_count; i++) {
        assert_ptr_equal(ran[i].function, wanted[i].function);
        assert_int_equal(ran[i].parameter, wanted[i].parameter);
        assert_int_equal(ran[i].blocks, wanted[i].blocks);
    }
    inflight_settle(stream->inflight);
    assert_int_equal(session.sched.entity.launches, 0);
}

static inline void forget(void)
{
    ran_count = wanted_count = 0;
}

/* Writes a request of mixed kernels and grids, which differ for each `kind`. */
static inline void request(uint32_t kind, uint32_t length, uint64_t parameter)
{
    forget();
    for (uint32_t i = 0; i < length; i++)
        launch((i * (kind % 2 + 1) + kind) % KERNELS, 1 + (i + kind) % 2, parameter + i);
}

/* Sends a request until it has its graph. */
static inline void learn(uint32_t kind, uint32_t length)
{
    for (uint32_t i = 0; i < LEARNING; i++) {
        request(kind, length, i);
        drain(true);
    }
    assert_int_equal(graph_launches, 1);
    assert_int_equal(signals, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set, unset)

#endif
