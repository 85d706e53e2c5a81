/*
 * launch.c - issues kernels as exec graphs, and chooses the graphs. Exec graphs are executable
 * graphs whose parameters are set anew for each launch (exec_graph.c), and which are cached
 * (graph_cache.c).
 *
 * Measured on an H200 (bench/results/h200-driver-facts.txt): cuLaunchKernel takes 2.7 us; a graph
 * of one kernel, set and launched, 1.5 us; an exec graph of 8 kernels, 1.0 us per kernel. Kernel
 * and completion write as one graph make the round trip shorter than native CUDA's, but cost 2.3 us
 * to launch. A second kernel that writes the word costs 1.6 us and makes the round trip half a
 * microsecond longer, which is better if tenants wait for the lane. More facts that decide which
 * graphs there are:
 *   - a node whose function or grid changes costs as much as cuLaunchKernel, so graphs are kept per
 *     shape: a kernel, its grid, block, shared memory, priority and partition, and whether it may
 *     begin early;
 *   - a graph takes up to 110 KiB of GPU memory, so there are few lengths;
 *   - a node's SMs are fixed when the node is added, so a shape includes the partition;
 *   - in a request of 20 small kernels, each boundary between graphs costs the device 1 us, and so
 *     does each kernel that writes a completion.
 * So a run of launches of one shape is cut into few graphs, of which only the last one signals the
 * completion: graphs of 8 and of 1, and for the latency class also of 16, 4 and 2. A whole request
 * that is known to have come before is issued as one graph. A launch in a partition is issued as a
 * graph from the first time on; a launch with a priority of its own is issued as a graph, too, once
 * its shape has one. A cooperative launch (cooperative.c), and one that names clusters, is issued
 * alone.
 */
#include "worker/submit/launch.h"

#include "common/util.h"
#include "worker/partition/green_context.h"
#include "worker/partition/kernel_launch.h"
#include "worker/partition/partition.h"
#include "worker/sched/class_traits.h"
#include "worker/sched/domain.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/submit/account.h"
#include "worker/submit/cooperative.h"
#include "worker/submit/graph_cache.h"
#include "worker/submit/stream.h"

#define SIGNAL_THREADS      16384u /* the most threads of a grid whose kernel signals its own end */
#define FENCE_EVERY         16u
#define FENCE_EVERY_REQUEST 32u
#define SPARE_TENANTS       2u

/* The lengths of a shape's graphs. There is one graph for each length and each way to signal the
 * end, made when it is first needed. Only requests have all lengths, because a graph takes device
 * memory. */
static const struct {
    uint32_t length;
    bool request; /* only for classes whose tenants send requests */
} lengths[] = {{SHAPE_LONGEST, true}, {8, false}, {4, true}, {2, true}, {1, false}};

/* ---- Issuing --------------------------------------------------------------------------------- */

static CUresult launch_into(const struct launch *launch, CUstream stream, int stream_priority)
{
    void *pointers[LAUNCH_POINTERS];
    CUDA_KERNEL_NODE_PARAMS p;

    launch_params(launch, &completion_none, pointers, &p);
    if (launch_goes_alone(launch) || launch->priority != stream_priority)
        return launch_kernel(&p, stream, launch->priority, launch->cooperative,
                             launch->cluster[0] ? launch->cluster : NULL);
    return DRV(cuLaunchKernel, p.func, p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY,
               p.blockDimZ, p.sharedMemBytes, stream, p.kernelParams, NULL);
}

/* Launches a kernel in the partition's own stream, in which tenants in one partition wait for one
 * another. So this is done only if no graph can be made, or for a launch that is issued alone. */
static CUresult launch_aside(const struct launch *launch, CUstream stream)
{
    const struct partition *partition = launch->partition;
    CUresult result = partition_aside_begin(partition, stream);

    if (!result)
        result = launch_into(launch, partition->aside, 0);
    return result ? result : partition_aside_end(partition, stream);
}

static CUresult launch_alone(const struct launch *launch, const struct stream *stream)
{
    return launch->partition ? launch_aside(launch, stream->cu)
                             : launch_into(launch, stream->cu, stream->cu_priority);
}

static CUresult launch_cooperative(const struct session *session, const struct launch *launch,
                                   const struct stream *stream)
{
    CUresult result = cooperative_begin(session, launch, stream->cu);

    if (!result)
        result = launch_alone(launch, stream);
    return result ? result : cooperative_end(session, launch, stream->cu);
}

/* Returns after how many launches of a batch one must signal its end: a stream's work on the device
 * is refilled once half of it is known to have ended. */
static uint32_t fence_every(uint32_t cls)
{
    return class_traits(cls).requests ? FENCE_EVERY_REQUEST : FENCE_EVERY;
}

/* Returns the longest possible length of a graph for the first of `run` launches of one shape. */
static uint32_t length_for(uint32_t cls, uint32_t run)
{
    uint32_t i = 0;

    while (lengths[i].length > run || (lengths[i].request && !class_traits(cls).requests))
        i++;
    return lengths[i].length;
}

/* Returns whether the graph of the first `length` of `run` launches signals its end: it is the last
 * one and a completion is wanted, or otherwise too many launches would be issued without a fence.
 * Graphs of fewer than 8 launches are at the end of a run; what ends the batch signals their
 * end. */
static bool must_signal(const struct stream *stream, uint32_t cls, uint32_t length, uint32_t run,
                        enum completion completion)
{
    if (length == run && completion != COMPLETION_NONE)
        return true;
    return length >= 8 && inflight_open_count(stream->inflight) + length >= fence_every(cls);
}

/* Returns whether the kernel stores completion word and fence itself (own store). Measured on an
 * H200: for grids of at most SIGNAL_THREADS threads, a kernel with an own store makes a shorter
 * round trip than a kernel followed by the completing kernel, and costs the lane half as much. Each
 * warp costs 0.7 ns. */
static bool signals_itself(const struct launch *launch)
{
    return launch->kernel->signals_end && launch_threads(launch) <= SIGNAL_THREADS;
}

static enum ending ending_for(const struct launch *last, enum completion completion, bool signalled,
                              uint32_t length)
{
    if (signals_itself(last))
        return ENDS_BY_ITSELF;
    if (!signalled)
        return ENDS_SILENT;
    return completion == COMPLETION_WRITTEN && length == 1 ? ENDS_BY_WRITE : ENDS_BY_KERNEL;
}

/* Returns what the device stores at the end of the launches up to `last`. */
static struct completion_params end_of(const struct session *session, const struct stream *stream,
                                       const struct launch *last)
{
    struct completion_params signal = completion_at(session, stream, last->end);

    signal.threads = (uint32_t)launch_threads(last);
    return signal;
}

/* Returns whether the lane has time for preparations that only shorten a session's next launch: at
 * most SPARE_TENANTS sessions are active. */
static bool lane_spare(const struct lane *lane)
{
    return lane->active_lately <= SPARE_TENANTS;
}

/* Issues some of `run` launches of one shape: several as a graph, or the first one alone. */
static CUresult issue_some(struct session *session, struct stream *stream,
                           const struct launch *launches, uint32_t run, enum completion wanted,
                           struct issued *issued)
{
    struct exec_graph *graph = NULL;
    const uint32_t length = length_for(launches->cls, run);
    const bool signalled = must_signal(stream, launches->cls, length, run, wanted);
    const struct launch *last = &launches[length - 1];
    const enum ending ending = ending_for(last, wanted, signalled, length);
    const struct completion_params signal =
        signalled ? end_of(session, stream, last) : completion_none;
    CUresult result = CUDA_SUCCESS;

    if (!launch_goes_alone(launches))
        result = graph_cache_launch(session, stream, GRAPH_OF_SHAPE, launches, length, ending,
                                    &signal, &graph);
    if (graph && signalled && ending == ENDS_BY_ITSELF && length == 1 && lane_spare(session->lane))
        exec_graph_set_ahead(graph, last, &signal);
    *issued = (struct issued){.kind = ISSUED_LAUNCHES,
                              .launches = launches,
                              .count = graph ? length : 1,
                              .completion = !graph || !signalled      ? COMPLETION_NONE
                                            : ending == ENDS_BY_WRITE ? COMPLETION_WRITTEN
                                                                      : COMPLETION_FENCE};
    issued->position = launches[issued->count - 1].end;
    if (result || graph)
        return result;
    return launches->cooperative ? launch_cooperative(session, launches, stream)
                                 : launch_alone(launches, stream);
}

/* Returns whether the launch must have a fence of its own: to measure its kernel for the first
 * time, or for its deadline. */
static bool wants_own_fence(const struct launch *launch)
{
    return launch->kernel->wave_ns == 0 || launch->deadline_ns;
}

/* Returns whether the launches may be issued as one request graph. They may not if an exec graph of
 * one shape is as good, or if too many launches would be issued without a fence. */
static bool may_go_as_request(const struct stream *stream, const struct launch *launches,
                              uint32_t count, enum completion completion)
{
    const bool power = (count & (count - 1)) == 0;

    if (!stream->arrival.entire || count < 2 || completion == COMPLETION_WRITTEN)
        return false;
    if (completion == COMPLETION_NONE &&
        inflight_open_count(stream->inflight) + count > FENCE_EVERY_REQUEST)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (wants_own_fence(&launches[i]))
            return false;
    }
    return !(power && count <= SHAPE_LONGEST && launches_alike(launches, count) == count);
}

/* Issues all the launches as one request graph. *issued: false if there is no graph for them; then
 * nothing was issued. */
static CUresult issue_request(struct session *session, struct stream *stream,
                              const struct launch *launches, uint32_t count,
                              enum completion completion, bool *issued)
{
    const bool signalled = completion != COMPLETION_NONE;
    const struct launch *last = &launches[count - 1];

    *issued = false;
    if (!may_go_as_request(stream, launches, count, completion))
        return CUDA_SUCCESS;
    const enum ending ending = ending_for(last, completion, signalled, count);
    const struct completion_params signal =
        signalled ? end_of(session, stream, last) : completion_none;
    struct exec_graph *graph;
    account_issuing(session, stream);
    CUresult result = graph_cache_launch(session, stream, GRAPH_OF_REQUEST, launches, count, ending,
                                         &signal, &graph);
    *issued = graph;
    if (*issued)
        account_issued(
            session, stream,
            &(struct issued){.kind = ISSUED_REQUEST,
                             .launches = launches,
                             .count = count,
                             .position = last->end,
                             .completion = signalled ? COMPLETION_FENCE : COMPLETION_NONE});
    return result;
}

bool launch_apart(const struct session *session, const struct stream *stream)
{
    return class_traits(stream->cls).waits && sched_contended(domain_of(session));
}

/* Puts a fence before a launch whose kernel is not measured yet, or that follows copies or waits
 * which must be kept apart (launch_apart): a kernel's time is learned when the kernel is alone
 * between two fences. */
static CUresult measured_apart(struct session *session, struct stream *stream,
                               const struct launch *launch)
{
    const bool unknown = launch->kernel->wave_ns == 0;

    if (inflight_open_count(stream->inflight) == 0 ||
        !(unknown || (inflight_open_others(stream->inflight) && launch_apart(session, stream))))
        return CUDA_SUCCESS;
    return completion_fence(session, stream, stream->issued);
}

/* Has the device signal the end of all work issued to the stream. */
static CUresult issue_end(struct session *session, struct stream *stream,
                          enum completion completion)
{
    switch (completion) {
    case COMPLETION_FENCE:
        return completion_fence(session, stream, stream->issued);
    case COMPLETION_WRITTEN:
        return completion_write(session, stream, stream->issued);
    default:
        return CUDA_SUCCESS;
    }
}

CUresult launch_issue(struct session *session, struct stream *stream, const struct launch *launches,
                      uint32_t count, enum completion completion)
{
    bool as_request;
    CUresult result = issue_request(session, stream, launches, count, completion, &as_request);

    if (result || as_request)
        return result;
    while (count > 0) {
        bool alone = wants_own_fence(launches);
        const uint32_t most = alone ? 1 : count <= SHAPE_LONGEST ? count : SHAPE_LONGEST + 1;
        const uint32_t run = launches_alike(launches, most);
        const enum completion wanted = alone          ? COMPLETION_FENCE
                                       : run == count ? completion
                                                      : COMPLETION_NONE;
        struct issued issued;
        if ((result = measured_apart(session, stream, launches)))
            return result;
        account_issuing(session, stream);
        if ((result = issue_some(session, stream, launches, run, wanted, &issued)))
            return result;
        account_issued(session, stream, &issued);
        launches += issued.count;
        count -= issued.count;
        if (issued.completion == COMPLETION_NONE && (alone || count == 0) &&
            (result = issue_end(session, stream, alone ? COMPLETION_FENCE : completion)))
            return result;
    }
    return CUDA_SUCCESS;
}
