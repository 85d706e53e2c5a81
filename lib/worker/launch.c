/*
 * launch.c - kernels by executable graphs whose parameters are set anew each time.
 *
 * Measured on an H200 (bench/results/h200-driver-facts.txt): cuLaunchKernel 2.7 us; a graph of
 * one kernel, set and launched, 1.5 us; a chain of 8, 1.0 us a kernel; kernel and completion
 * write as one graph make a round trip shorter than native CUDA's, but cost 2.3 us to launch. A
 * second kernel that writes the word costs 1.6 us and makes the round trip half a microsecond
 * longer: better where the dispatcher is what tenants wait for. More facts that shape the cache:
 *   - a node whose function or grid changes costs as much as cuLaunchKernel: graphs are kept
 *     per kernel and shape;
 *   - one graph launched into two streams serialises them: they are kept per stream;
 *   - making a graph costs some 25 us: a kernel earns its graphs by its third launch;
 *   - a graph takes up to 110 KiB of GPU memory: few kinds, and the least recently used go;
 *   - setting a node's parameters costs 0.16 us: not done where they are what they were;
 *   - a node runs on the SMs of the context that was current when it was added, whichever stream
 *     its graph is launched in, and is set with that context current only. So a stream's order
 *     holds when its launches move between partitions, and graphs are kept per partition.
 *   - in a request of 20 small kernels, each boundary between graphs costs the device 1 us, and so
 *     does each kernel that writes a completion.
 * So a run of launches of one kernel is cut into few graphs, of which the last one alone tells the
 * completion: chains of 8 and singles, and for the latency class also chains of 16, 4 and 2. A
 * launch in a partition goes by a graph from the first one on, one with a priority of its own too
 * once there is a graph.
 */
#include "worker/launch.h"

#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "worker/completion.h"
#include "worker/flight.h"
#include "worker/partition.h"
#include "worker/stock.h"
#include "worker/stream.h"

#define CHAIN_LONGEST      16u
#define MARK_EVERY         16u
#define MARK_EVERY_LATENCY 32u
#define SHAPES             64u /* kernel shapes that a stream remembers */
#define GRAPH_AFTER        2u  /* launches of a shape before graphs are made for it */

/* How a graph tells its completion. */
enum ending { ENDS_SILENT, ENDS_BY_WRITE, ENDS_BY_KERNEL };

/* The kinds of graph of one shape, each made when it is first wanted. */
enum {
    KIND_ONE,
    KIND_ONE_WRITTEN,
    KIND_ONE_MARKED,
    KIND_TWO,
    KIND_TWO_MARKED,
    KIND_FOUR,
    KIND_FOUR_MARKED,
    KIND_EIGHT,
    KIND_EIGHT_MARKED,
    KIND_SIXTEEN,
    KIND_SIXTEEN_MARKED,
    KINDS
};
static const struct {
    uint32_t length;
    enum ending ending;
} kinds[KINDS] = {
    [KIND_ONE] = {1, ENDS_SILENT},
    [KIND_ONE_WRITTEN] = {1, ENDS_BY_WRITE},
    [KIND_ONE_MARKED] = {1, ENDS_BY_KERNEL},
    [KIND_TWO] = {2, ENDS_SILENT},
    [KIND_TWO_MARKED] = {2, ENDS_BY_KERNEL},
    [KIND_FOUR] = {4, ENDS_SILENT},
    [KIND_FOUR_MARKED] = {4, ENDS_BY_KERNEL},
    [KIND_EIGHT] = {8, ENDS_SILENT},
    [KIND_EIGHT_MARKED] = {8, ENDS_BY_KERNEL},
    [KIND_SIXTEEN] = {CHAIN_LONGEST, ENDS_SILENT},
    [KIND_SIXTEEN_MARKED] = {CHAIN_LONGEST, ENDS_BY_KERNEL},
};

struct chain {
    CUgraphExec exec; /* NULL: not made */
    CUgraph graph;    /* kept: its node handles name the executable graph's nodes */
    CUgraphNode node[CHAIN_LONGEST];
    CUgraphNode end;       /* the completion, if it tells it */
    unsigned char *params; /* what the nodes are set to, param_bytes each */
};

/* One kernel with one grid, block and shared memory, in one stream. */
struct shape {
    const struct kernel *kernel; /* NULL: unused */
    uint64_t serial;             /* the kernel's: its memory may be another kernel's by now */
    uint32_t grid[3], block[3];
    uint32_t dynamic_smem;
    int priority;
    struct partition *partition;
    uint32_t launches;    /* up to GRAPH_AFTER */
    uint64_t used;        /* launcher->clock at its last use */
    struct chain *chains; /* KINDS of them, or NULL */
};

struct launcher {
    struct shape shapes[SHAPES];
    uint32_t last; /* index of the shape used last, likely the next too */
    uint64_t clock;
};

void launch_params(const struct launch *launch, void **pointers, CUDA_KERNEL_NODE_PARAMS *params)
{
    const struct kernel *kernel = launch->kernel;

    for (uint32_t i = 0; i < kernel->param_count; i++)
        pointers[i] = launch->params + kernel->param_offset[i];
    *params = (CUDA_KERNEL_NODE_PARAMS){
        .func = kernel->function,
        .gridDimX = launch->grid[0],
        .gridDimY = launch->grid[1],
        .gridDimZ = launch->grid[2],
        .blockDimX = launch->block[0],
        .blockDimY = launch->block[1],
        .blockDimZ = launch->block[2],
        .sharedMemBytes = launch->dynamic_smem,
        .kernelParams = pointers,
    };
}

/* ---- Making graphs --------------------------------------------------------------------------- */

/* Where the kernels of a graph run is decided by the context that is current while they are added.
 */
void partition_enter(const struct partition *partition)
{
    static _Thread_local CUcontext current; /* NULL: the primary one */
    CUcontext wanted = partition ? partition->context : NULL;

    if (current == wanted)
        return;
    DRV_MUST(cuCtxSetCurrent, wanted ? wanted : worker.context);
    current = wanted;
}

CUresult node_prioritize(CUgraphNode node, int priority)
{
    const CUlaunchAttributeValue value = {.priority = priority};

    return DRV(cuGraphKernelNodeSetAttribute, node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
}

/* stream_priority: of the CUDA stream; nodes have it unless they are given another. */
static CUresult chain_make(struct chain *chain, int kind, const struct launch *launch,
                           struct done *done, int stream_priority)
{
    int end_priority = done_priority(launch->priority);
    /* Where one node has a priority of its own, all have one, or the lowest. */
    bool own_priority = launch->priority != stream_priority ||
                        (kinds[kind].ending == ENDS_BY_KERNEL && end_priority != launch->priority);
    void *pointers[REQ_PARAMS_MAX];
    CUDA_KERNEL_NODE_PARAMS params;
    CUstreamBatchMemOpParams operation;
    CUgraphNode *last = NULL;
    size_t param_bytes = launch->kernel->param_bytes;

    chain->params = malloc(kinds[kind].length * param_bytes + 1);
    if (!chain->params)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = DRV(cuGraphCreate, &chain->graph, 0);
    if (result) {
        free(chain->params);
        return result;
    }
    launch_params(launch, pointers, &params);
    partition_enter(launch->partition);
    for (uint32_t i = 0; i < kinds[kind].length && !result; i++) {
        memcpy(chain->params + i * param_bytes, launch->params, param_bytes);
        result = DRV(cuGraphAddKernelNode_v2, &chain->node[i], chain->graph, last, last ? 1 : 0,
                     &params);
        if (!result && own_priority)
            result = node_prioritize(chain->node[i], launch->priority);
        last = &chain->node[i];
    }
    if (!result && kinds[kind].ending == ENDS_BY_WRITE) {
        partition_enter(NULL);
        CUDA_BATCH_MEM_OP_NODE_PARAMS write =
            completion_node(done->word, done->position, &operation);
        result = DRV(cuGraphAddBatchMemOpNode, &chain->end, chain->graph, last, 1, &write);
    } else if (!result && kinds[kind].ending == ENDS_BY_KERNEL) {
        void *end_pointers[DONE_PARAMS];
        const CUDA_KERNEL_NODE_PARAMS end = done_params(done, end_pointers);
        result = DRV(cuGraphAddKernelNode_v2, &chain->end, chain->graph, last, 1, &end);
        if (!result && own_priority)
            result = node_prioritize(chain->end, end_priority);
    }
    partition_enter(NULL);
    if (!result)
        stock_graph_room();
    if (!result)
        result = DRV(cuGraphInstantiateWithFlags, &chain->exec, chain->graph,
                     own_priority ? CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY : 0);
    if (result) {
        DRV_MUST(cuGraphDestroy, chain->graph);
        free(chain->params);
        *chain = (struct chain){0};
    }
    return result;
}

static void chain_clear(struct chain *chain)
{
    if (!chain->exec)
        return;
    DRV_MUST(cuGraphExecDestroy, chain->exec);
    DRV_MUST(cuGraphDestroy, chain->graph);
    free(chain->params);
    *chain = (struct chain){0};
}

/* Sets the chain's kernels to these launches, where they are not so set already. */
static CUresult chain_set(struct chain *chain, uint32_t length, const struct launch *launches)
{
    void *pointers[REQ_PARAMS_MAX];
    CUDA_KERNEL_NODE_PARAMS params;
    size_t param_bytes = launches->kernel->param_bytes;

    for (uint32_t i = 0; i < length; i++) {
        unsigned char *set = chain->params + i * param_bytes;
        if (!memcmp(set, launches[i].params, param_bytes))
            continue;
        launch_params(&launches[i], pointers, &params);
        partition_enter(launches->partition);
        CUresult result =
            DRV(cuGraphExecKernelNodeSetParams_v2, chain->exec, chain->node[i], &params);
        if (result)
            return result;
        memcpy(set, launches[i].params, param_bytes);
    }
    return CUDA_SUCCESS;
}

static CUresult chain_launch(struct chain *chain, int kind, const struct launch *launches,
                             struct done *done, CUstream stream)
{
    CUresult result = chain_set(chain, kinds[kind].length, launches);

    if (!result && kinds[kind].ending == ENDS_BY_WRITE) {
        CUstreamBatchMemOpParams operation;
        partition_enter(NULL);
        CUDA_BATCH_MEM_OP_NODE_PARAMS write =
            completion_node(done->word, done->position, &operation);
        result = DRV(cuGraphExecBatchMemOpNodeSetParams, chain->exec, chain->end, &write);
    } else if (!result && kinds[kind].ending == ENDS_BY_KERNEL) {
        void *end_pointers[DONE_PARAMS];
        const CUDA_KERNEL_NODE_PARAMS end = done_params(done, end_pointers);
        partition_enter(launches->partition);
        result = DRV(cuGraphExecKernelNodeSetParams_v2, chain->exec, chain->end, &end);
    }
    partition_enter(NULL);
    return result ? result : DRV(cuGraphLaunch, chain->exec, stream);
}

/* ---- The cache ------------------------------------------------------------------------------- */

static bool shape_is(const struct shape *shape, const struct launch *launch)
{
    return shape->kernel == launch->kernel && shape->serial == launch->kernel->serial &&
           !memcmp(shape->grid, launch->grid, sizeof(shape->grid)) &&
           !memcmp(shape->block, launch->block, sizeof(shape->block)) &&
           shape->dynamic_smem == launch->dynamic_smem && shape->partition == launch->partition &&
           shape->priority == launch->priority;
}

static void shape_clear(struct shape *shape)
{
    for (int kind = 0; shape->chains && kind < KINDS; kind++)
        chain_clear(&shape->chains[kind]);
    free(shape->chains);
    if (shape->partition)
        /* release: the graphs are gone; pairs with the look before it is destroyed */
        atomic_fetch_sub_explicit(&shape->partition->graphs, 1, memory_order_release);
    *shape = (struct shape){0};
}

/* The entry of a launch's shape, which may be new and take the place of the least recently used
 * one. */
static struct shape *shape_of(struct launcher *launcher, const struct launch *launch)
{
    uint32_t oldest = 0;

    for (uint32_t n = 0; n < SHAPES; n++) {
        uint32_t i = (launcher->last + n) % SHAPES;
        if (shape_is(&launcher->shapes[i], launch)) {
            launcher->last = i;
            return &launcher->shapes[i];
        }
        if (launcher->shapes[i].used < launcher->shapes[oldest].used)
            oldest = i;
    }
    struct shape *shape = &launcher->shapes[oldest];
    shape_clear(shape);
    shape->kernel = launch->kernel;
    shape->serial = launch->kernel->serial;
    memcpy(shape->grid, launch->grid, sizeof(shape->grid));
    memcpy(shape->block, launch->block, sizeof(shape->block));
    shape->dynamic_smem = launch->dynamic_smem;
    shape->priority = launch->priority;
    shape->partition = launch->partition;
    if (shape->partition)
        atomic_fetch_add_explicit(&shape->partition->graphs, 1, memory_order_relaxed);
    launcher->last = oldest;
    return shape;
}

/* The graphs of a launch's shape; NULL while it has not earned any. */
static struct chain *chains_of(struct stream *stream, const struct launch *launch)
{
    if (!stream->launcher)
        stream->launcher = calloc(1, sizeof(*stream->launcher));
    if (!stream->launcher)
        return NULL;
    struct shape *shape = shape_of(stream->launcher, launch);
    shape->used = ++stream->launcher->clock;
    if (!shape->partition && shape->launches < GRAPH_AFTER) {
        shape->launches++;
        return NULL;
    }
    if (!shape->chains)
        shape->chains = calloc(KINDS, sizeof(*shape->chains));
    return shape->chains;
}

static bool same_shape(const struct launch *a, const struct launch *b)
{
    return a->kernel == b->kernel && a->dynamic_smem == b->dynamic_smem &&
           !memcmp(a->grid, b->grid, sizeof(a->grid)) &&
           !memcmp(a->block, b->block, sizeof(a->block)) && a->partition == b->partition &&
           a->priority == b->priority;
}

/* ---- Issuing --------------------------------------------------------------------------------- */

CUresult launch_kernel(const CUDA_KERNEL_NODE_PARAMS *p, CUstream stream, int priority)
{
    CUlaunchAttribute own = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value = {.priority = priority}};
    const CUlaunchConfig config = {.gridDimX = p->gridDimX,
                                   .gridDimY = p->gridDimY,
                                   .gridDimZ = p->gridDimZ,
                                   .blockDimX = p->blockDimX,
                                   .blockDimY = p->blockDimY,
                                   .blockDimZ = p->blockDimZ,
                                   .sharedMemBytes = p->sharedMemBytes,
                                   .hStream = stream,
                                   .attrs = &own,
                                   .numAttrs = 1};

    return DRV(cuLaunchKernelEx, &config, p->func, p->kernelParams, NULL);
}

static CUresult launch_into(const struct launch *launch, CUstream stream, int stream_priority)
{
    void *pointers[REQ_PARAMS_MAX];
    CUDA_KERNEL_NODE_PARAMS p;

    launch_params(launch, pointers, &p);
    if (launch->priority != stream_priority)
        return launch_kernel(&p, stream, launch->priority);
    return DRV(cuLaunchKernel, p.func, p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY,
               p.blockDimZ, p.sharedMemBytes, stream, p.kernelParams, NULL);
}

/* In the partition's own stream, which waits for the tenant's and lets it wait. Tenants in the same
 * partition wait for one another there; it is for want of device memory only. */
static CUresult launch_aside(const struct launch *launch, CUstream stream)
{
    const struct partition *partition = launch->partition;
    CUresult result;

    if ((result = DRV(cuEventRecord, partition->before, stream)) ||
        (result = DRV(cuStreamWaitEvent, partition->aside, partition->before, 0)) ||
        (result = launch_into(launch, partition->aside, 0)) ||
        (result = DRV(cuEventRecord, partition->after, partition->aside)))
        return result;
    return DRV(cuStreamWaitEvent, stream, partition->after, 0);
}

static CUresult launch_alone(const struct launch *launch, const struct stream *stream)
{
    return launch->partition ? launch_aside(launch, stream->cu)
                             : launch_into(launch, stream->cu, stream->cu_priority);
}

/* So many launches of a burst may go before one tells its end: what the device has of a stream is
 * refilled when half of it is known to have ended. */
static uint32_t mark_every(uint32_t cls)
{
    return cls == GS_CLASS_LATENCY ? MARK_EVERY_LATENCY : MARK_EVERY;
}

/* The first of `run` launches of one shape go as one graph of this kind. With a completion, the
 * last of them tells it. Few kinds, but for the latency class: a graph takes device memory. */
static int kind_for(const struct stream *stream, const struct launch *launch, uint32_t run,
                    enum completion completion)
{
    static const struct {
        uint32_t length;
        int silent, marked;
        bool latency; /* for that class only */
    } chains[] = {{16, KIND_SIXTEEN, KIND_SIXTEEN_MARKED, true},
                  {8, KIND_EIGHT, KIND_EIGHT_MARKED, false},
                  {4, KIND_FOUR, KIND_FOUR_MARKED, true},
                  {2, KIND_TWO, KIND_TWO_MARKED, true}};

    for (uint32_t i = 0; i < ARRAY_SIZE(chains); i++) {
        const uint32_t length = chains[i].length;
        if (run < length || (chains[i].latency && launch->cls != GS_CLASS_LATENCY))
            continue;
        bool last = run == length && completion != COMPLETION_NONE;
        bool due = length >= 8 && flight_open_count(stream) + length >= mark_every(launch->cls);
        return last || due ? chains[i].marked : chains[i].silent;
    }
    if (run > 1 || completion == COMPLETION_NONE)
        return KIND_ONE;
    return completion == COMPLETION_MARKED ? KIND_ONE_MARKED : KIND_ONE_WRITTEN;
}

/* Issues some of `run` launches of one shape. Tells how many, and how their completion is written.
 */
static CUresult issue_some(struct session *session, struct stream *stream,
                           const struct launch *launches, uint32_t run, enum completion wanted,
                           uint32_t *issued, enum completion *written)
{
    struct chain *chains = chains_of(stream, launches);

    *issued = 1;
    *written = COMPLETION_NONE;
    if (!chains)
        return launch_alone(launches, stream);
    int kind = kind_for(stream, launches, run, wanted);
    struct done done = done_at(session, stream, launches[kinds[kind].length - 1].end);
    if (!chains[kind].exec) {
        CUresult result = chain_make(&chains[kind], kind, launches, &done, stream->cu_priority);
        if (driver_fatal(result))
            return result;
        if (result) /* tenants have filled the device's memory: a graph is only a faster way */
            return launch_alone(launches, stream);
    }
    CUresult result = chain_launch(&chains[kind], kind, launches, &done, stream->cu);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) { /* the same: it takes some when it is launched */
        chain_clear(&chains[kind]);
        return launch_alone(launches, stream);
    }
    *issued = kinds[kind].length;
    *written = kinds[kind].ending == ENDS_BY_KERNEL  ? COMPLETION_MARKED
               : kinds[kind].ending == ENDS_BY_WRITE ? COMPLETION_WRITTEN
                                                     : COMPLETION_NONE;
    return result;
}

/* Is this launch's own end wanted: to learn how long its kernel runs, or for its deadline? */
static bool marked_alone(const struct launch *launch)
{
    return launch->kernel->wave_ns == 0 || launch->deadline_ns;
}

CUresult launch_issue(struct session *session, struct stream *stream, const struct launch *launches,
                      uint32_t count, enum completion completion)
{
    enum completion written = COMPLETION_NONE;

    while (count > 0) {
        bool alone = marked_alone(launches);
        uint32_t run = 1, issued = 0;
        while (!alone && run < count && run <= CHAIN_LONGEST &&
               same_shape(&launches[run], launches) && !launches[run].deadline_ns)
            run++;
        enum completion wanted = alone          ? COMPLETION_MARKED
                                 : run == count ? completion
                                                : COMPLETION_NONE;
        flight_issue(stream);
        CUresult result = issue_some(session, stream, launches, run, wanted, &issued, &written);
        if (result)
            return result;
        stream_issued(session, stream, launches[issued - 1].end);
        flight_add(stream, launches, issued);
        if (written != COMPLETION_NONE)
            stream->signalled = launches[issued - 1].end;
        if (written == COMPLETION_MARKED)
            flight_close(session, stream);
        else if (alone || (completion == COMPLETION_MARKED && issued == count)) {
            if ((result = completion_mark(session, stream, launches[issued - 1].end)))
                return result;
            written = COMPLETION_MARKED;
        } else if (written == COMPLETION_WRITTEN) {
            flight_unmarked(session, stream);
        } else if (completion == COMPLETION_WRITTEN && issued == count) {
            if ((result = completion_write(session, stream, launches[issued - 1].end)))
                return result;
            flight_unmarked(session, stream);
        }
        launches += issued;
        count -= issued;
    }
    return CUDA_SUCCESS;
}

/* ---- The end --------------------------------------------------------------------------------- */

void launcher_leave(struct launcher *launcher, const struct partition *partition)
{
    for (uint32_t i = 0; launcher && i < SHAPES; i++) {
        if (launcher->shapes[i].partition == partition)
            shape_clear(&launcher->shapes[i]);
    }
}

void launcher_reset(struct launcher *launcher)
{
    for (uint32_t i = 0; launcher && i < SHAPES; i++)
        shape_clear(&launcher->shapes[i]);
}

void launcher_free(struct launcher *launcher)
{
    launcher_reset(launcher);
    free(launcher);
}
