/*
 * test_worker_graph.c - which variants of a recorded graph are kept: those of the partitions that
 * its launches had last, or that were made for it last. And how much of a graph is checked before
 * others are served.
 *
 * The driver is a counter of executable graphs. The test stands in for what graph.c asks of other
 * files; the job that makes a variant runs when the test says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_driver.h"
#include "worker/jobs/job.h"
#include "worker/memory/host_block.h"
#include "worker/memory/user.h"
#include "worker/sched/lane.h"
#include "worker/session/grant.h"
#include "worker/submit/graph.h"
#include "worker/submit/placement.h"
#include "worker/submit/pool.h"
#include "worker/submit/session_fault.h"

#define VARIANTS 4u /* as many variants as are kept */

static struct session session;
static struct link_stats stats;
static unsigned char nothing[1];
static struct host_block block = {.memory = nothing};
static struct partition places[VARIANTS + 2];
static struct partition *place; /* where launches run now */
static struct job *pushed;      /* for the main lane, not yet begun */
static unsigned made, live;     /* executable graphs */
static unsigned checked;        /* records */
static uint64_t gone;           /* memory that records may not name any more; 0: none */

/* What the driver has been told of the nodes, which are named by the memsets' addresses. */
#define NODES_SEEN 4u
static struct node {
    uint64_t dst;
    uint32_t value;
    bool off;
} nodes[NODES_SEEN];
static unsigned nodes_added, empty_added, sets, enables;
static CUresult set_result, instantiate_result;
static bool on_lane; /* the lane runs, and its tenants wait */

/* ---- What graph.c asks of other files -------------------------------------------------------- */

struct partition *placement_of(struct session *unused, uint32_t cls)
{
    (void)unused;
    (void)cls;
    return place;
}

void job_return(struct job *job)
{
    assert_null(pushed);
    pushed = job;
}

struct host_block *host_block_find(const struct session *unused, uint64_t number)
{
    (void)unused;
    return number == 0 ? &block : NULL;
}

void pool_give_graph(void) {}

/* A record that is refused ends the session, of which nothing but RECORD_ENDED is seen here. */
void session_fault(struct session *unused, const struct fault *fault)
{
    (void)unused;
    assert_non_null(fault->message);
}

/* The graph is empty or of memsets, and no call of the driver fails: nothing asks for these. */

record_refusal record_check_launch(const struct session *unused, unsigned char *record,
                                   uint32_t size, struct launch *launch)
{
    (void)unused, (void)record, (void)size, (void)launch;
    abort();
}

record_refusal record_check_copy(const struct session *unused, const struct rec_copy *copy,
                                 struct transfer *transfer)
{
    (void)unused, (void)copy, (void)transfer;
    abort();
}

record_refusal record_check_memset(const struct session *unused, const struct rec_memset *set,
                                   struct transfer *transfer)
{
    (void)unused;
    *transfer = (struct transfer){.kind = TRANSFER_SET,
                                  .dst = set->dst,
                                  .value = set->value,
                                  .bytes = set->bytes,
                                  .element = set->element,
                                  .block = SEG_HOSTS};
    checked++;
    return set->dst && set->dst == gone ? "a memset of memory that is gone" : NULL;
}

void launch_params(const struct launch *launch, const struct completion_params *signal,
                   void **pointers, CUDA_KERNEL_NODE_PARAMS *params)
{
    (void)launch, (void)signal, (void)pointers, (void)params;
    abort();
}

const struct completion_params completion_none;

CUresult node_prioritize(CUgraphNode node, int priority)
{
    (void)node, (void)priority;
    abort();
}

CUresult node_cluster(CUgraphNode node, const uint16_t cluster[3])
{
    (void)node, (void)cluster;
    abort();
}

CUresult node_follow(CUgraph graph, CUgraphNode before, CUgraphNode node)
{
    (void)graph, (void)before, (void)node;
    abort();
}

void partition_enter(const struct partition *partition)
{
    (void)partition;
    abort();
}

void device_lost(CUresult result)
{
    (void)result;
    abort();
}

void worker_broken(CUresult result)
{
    (void)result;
    abort();
}

/* ---- The driver ------------------------------------------------------------------------------ */

static CUresult graph_create(CUgraph *graph, unsigned int flags)
{
    (void)flags;
    *graph = (CUgraph)&made;
    return CUDA_SUCCESS;
}

static CUresult graph_destroy(CUgraph graph)
{
    (void)graph;
    return CUDA_SUCCESS;
}

static CUresult graph_instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    (void)graph;
    (void)flags;
    if (instantiate_result)
        return instantiate_result;
    *exec = (CUgraphExec)&made;
    made++;
    live++;
    return CUDA_SUCCESS;
}

static CUresult memset_add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                           size_t count, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    (void)graph, (void)dependencies, (void)count, (void)context;
    struct node *added = &nodes[nodes_added++ % NODES_SEEN];

    *added = (struct node){.dst = params->dst, .value = params->value};
    *node = (CUgraphNode)added;
    return CUDA_SUCCESS;
}

static CUresult empty_add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                          size_t count)
{
    (void)graph, (void)dependencies, (void)count;
    *node = (CUgraphNode)&nodes[nodes_added++ % NODES_SEEN];
    empty_added++;
    return CUDA_SUCCESS;
}

static CUresult memset_set(CUgraphExec exec, CUgraphNode node,
                           const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    (void)exec, (void)context;
    sets++;
    if (set_result)
        return set_result;
    ((struct node *)node)->dst = params->dst;
    ((struct node *)node)->value = params->value;
    return CUDA_SUCCESS;
}

static CUresult node_enabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled)
{
    (void)exec;
    enables++;
    ((struct node *)node)->off = !enabled;
    return CUDA_SUCCESS;
}

static CUresult exec_destroy(CUgraphExec exec)
{
    (void)exec;
    assert_false(on_lane);
    live--;
    return CUDA_SUCCESS;
}

static CUresult graph_launched(CUgraphExec exec, CUstream stream)
{
    (void)exec;
    (void)stream;
    return CUDA_SUCCESS;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void job_run(struct job *job)
{
    job->session = &session;
    on_lane = true;
    job->kind->prepare(job);
    on_lane = false;
    if (job->status == GS_OK)
        job->kind->work(job);
    on_lane = true;
    if (job->status == GS_OK && job->kind->install)
        job->kind->install(job);
    on_lane = false;
    assert_int_equal(job->status, GS_OK);
    if (job->partition)
        job->partition->holders--;
    job_free(job);
}

static int set(void **state)
{
    (void)state;
    fake_cu.cuGraphCreate = graph_create;
    fake_cu.cuGraphDestroy = graph_destroy;
    fake_cu.cuGraphAddMemsetNode = memset_add;
    fake_cu.cuGraphAddEmptyNode = empty_add;
    fake_cu.cuGraphExecMemsetNodeSetParams = memset_set;
    fake_cu.cuGraphNodeSetEnabled = node_enabled;
    fake_cu.cuGraphInstantiateWithFlags = graph_instantiate;
    fake_cu.cuGraphExecDestroy = exec_destroy;
    fake_cu.cuGraphLaunch = graph_launched;
    memset(&session, 0, sizeof(session));
    memset(places, 0, sizeof(places));
    session.memory.user = user_hold(0);
    session.stats = &stats;
    made = live = 0;
    place = session.grant.partition = &places[0];
    job_run(job_new(&session, &job_graph_create));
    return made == 1 ? 0 : -1;
}

static int unset(void **state)
{
    (void)state;
    graphs_deinit(&session);
    user_release(session.memory.user);
    return live;
}

/* Launches graph 0 with changes, so many bytes of them. */
static enum outcome launch_with(const void *changes, uint32_t size)
{
    _Alignas(REC_ALIGN) unsigned char bytes[512] = {0};
    struct rec_graph *record = (void *)bytes;

    assert_true(sizeof(*record) + size <= sizeof(bytes));
    *record = (struct rec_graph){.h = {.op = REC_GRAPH, .size = sizeof(bytes)}, .changes = size};
    if (size)
        memcpy(record + 1, changes, size);
    on_lane = true;
    const enum outcome outcome = graph_launch(&session, 0, record);
    on_lane = false;
    return outcome;
}

static enum outcome launch_at(unsigned index)
{
    place = &places[index];
    return launch_with(NULL, 0);
}

/* Makes graph 0 anew: `count` memsets of value 1, at addresses 16, 32 ... */
static void memsets_make(unsigned count)
{
    struct rec_memset records[NODES_SEEN];
    struct job *create = job_new(&session, &job_graph_create);

    assert_non_null(create);
    for (unsigned i = 0; i < count; i++)
        records[i] = (struct rec_memset){.h = {.op = REC_MEMSET, .size = sizeof(records[i])},
                                         .element = 1,
                                         .value = 1,
                                         .dst = 16 * (i + 1),
                                         .bytes = 1};
    graphs_deinit(&session);
    nodes_added = empty_added = sets = enables = 0;
    block.memory = (unsigned char *)records;
    block.size = create->arg[1] = count * sizeof(records[0]);
    job_run(create);
    block = (struct host_block){.memory = nothing};
}

/* A change of a memset's value. */
struct value_change {
    struct rec_change change;
    uint32_t value, padding;
};

static struct value_change value_of(uint32_t step, uint32_t value)
{
    return (struct value_change){
        {.step = step, .at = offsetof(struct rec_memset, value), .bytes = sizeof(value)}, value, 0};
}

/* A launch there waits for a variant, which is made but not launched. */
static void pushed_run(void)
{
    struct job *job = pushed;

    assert_non_null(job);
    pushed = NULL;
    job_run(job);
}

static void variant_come(unsigned index)
{
    assert_int_equal(launch_at(index), RECORD_STALLED);
    pushed_run();
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void the_place_used_least_lately_gives_way(void **state)
{
    (void)state;
    for (unsigned i = 1; i < VARIANTS; i++) {
        variant_come(i);
        assert_int_equal(launch_at(i), RECORD_TAKEN);
    }
    assert_int_equal(launch_at(0), RECORD_TAKEN);
    variant_come(VARIANTS);
    assert_int_equal(live, VARIANTS);
    assert_int_equal(launch_at(VARIANTS), RECORD_TAKEN);
    assert_int_equal(launch_at(0), RECORD_TAKEN);
    for (unsigned i = 2; i < VARIANTS; i++)
        assert_int_equal(launch_at(i), RECORD_TAKEN);
    assert_int_equal(launch_at(1), RECORD_STALLED);
    job_free(pushed);
    pushed = NULL;
}

/* The partition changes between the making of a variant and its launch, and changes back. */
static void a_variant_that_was_never_launched_stays_before_older_ones(void **state)
{
    (void)state;
    for (unsigned i = 0; i < VARIANTS; i++) {
        if (i > 0)
            variant_come(i);
        assert_int_equal(launch_at(i), RECORD_TAKEN);
    }
    variant_come(VARIANTS);
    variant_come(VARIANTS + 1);
    assert_int_equal(launch_at(VARIANTS), RECORD_TAKEN);
    assert_int_equal(launch_at(VARIANTS + 1), RECORD_TAKEN);
    assert_int_equal(made, VARIANTS + 2);
}

static void no_variant_gives_way_while_there_is_room(void **state)
{
    (void)state;
    for (unsigned i = 1; i < VARIANTS; i++)
        variant_come(i);
    for (unsigned i = 0; i < VARIANTS; i++)
        assert_int_equal(launch_at(i), RECORD_TAKEN);
    assert_int_equal(made, VARIANTS);
}

/* After memory was freed, all of a graph is checked anew, by the lane that serves all tenants. */
static void a_graph_of_very_many_nodes_is_checked_part_by_part(void **state)
{
    enum { NODES = SEG_GRAPH_NODES, AT_ONCE = 512 };
    struct rec_memset *records = calloc(NODES, sizeof(*records));
    struct job *create = job_new(&session, &job_graph_create);
    static struct lane lane;
    enum outcome outcome = RECORD_STALLED;
    unsigned calls = 0, before;

    (void)state;
    assert_true(records && create);
    for (unsigned i = 0; i < NODES; i++)
        records[i] = (struct rec_memset){
            .h = {.op = REC_MEMSET, .size = sizeof(*records)}, .element = 1, .bytes = 1};
    graphs_deinit(&session);
    session.lane = &lane;
    block.memory = (unsigned char *)records;
    block.size = create->arg[1] = NODES * sizeof(*records);
    job_run(create);
    assert_int_equal(launch_at(0), RECORD_TAKEN); /* it was checked when it was made */
    session.memory.generation++;
    checked = 0;
    for (; outcome == RECORD_STALLED; calls++) {
        before = checked;
        outcome = launch_at(0);
        assert_true(checked - before <= AT_ONCE);
    }
    assert_int_equal(outcome, RECORD_TAKEN);
    assert_int_equal(checked, NODES);
    assert_true(calls > NODES / AT_ONCE);
    assert_int_equal(launch_at(0), RECORD_TAKEN);
    assert_int_equal(checked, NODES);
    block = (struct host_block){.memory = nothing};
    session.lane = NULL;
    free(records);
}

/* The lane is the driver's while it launches a graph, so a tenant has no long one. */
static void a_graph_of_more_nodes_is_refused(void **state)
{
    enum { NODES = SEG_GRAPH_NODES + 1 };
    struct rec_memset *records = calloc(NODES, sizeof(*records));
    struct job *create = job_new(&session, &job_graph_create);

    (void)state;
    assert_true(records && create);
    for (unsigned i = 0; i < NODES; i++)
        records[i] = (struct rec_memset){
            .h = {.op = REC_MEMSET, .size = sizeof(*records)}, .element = 1, .bytes = 1};
    graphs_deinit(&session);
    block.memory = (unsigned char *)records;
    block.size = create->arg[1] = NODES * sizeof(*records);
    create->kind->prepare(create);
    create->kind->work(create);
    assert_int_equal(create->status, GS_ERR_LIMIT);
    assert_int_equal(live, 0);
    job_free(create);
    block = (struct host_block){.memory = nothing};
    free(records);
}

/* What a tenant says of the order of its steps names each earlier one once. */
static void steps_wait_for_earlier_ones_alone(void **state)
{
    static const struct {
        struct rec_after first, second; /* both before the second of two steps */
        gs_status status;
    } all[] = {
        {{.count = 0}, {.count = 0}, GS_OK},
        {{.count = 1, .step = {0}}, {.count = 0}, GS_OK},
        {{.count = 1, .step = {1}}, {.count = 0}, GS_ERR_INVALID_VALUE}, /* itself */
        {{.count = 1, .step = {UINT32_MAX}}, {.count = 0}, GS_ERR_INVALID_VALUE},
        {{.count = 2, .step = {0, 0}}, {.count = 0}, GS_ERR_INVALID_VALUE},
        {{.count = 1, .step = {0}}, {.count = 1, .step = {0}}, GS_ERR_INVALID_VALUE},
        {{.count = REC_AFTER_STEPS + 1}, {.count = 0}, GS_ERR_INVALID_VALUE},
        {{.count = UINT32_MAX}, {.count = 0}, GS_ERR_INVALID_VALUE},
    };
    const struct rec_header order = {.op = REC_AFTER, .size = sizeof(struct rec_after)};

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct {
            struct rec_memset before;
            struct rec_after first, second;
            struct rec_memset after;
        } records = {.first = all[i].first, .second = all[i].second};
        struct job *create = job_new(&session, &job_graph_create);

        assert_non_null(create);
        records.first.h = records.second.h = order;
        records.before = records.after = (struct rec_memset){
            .h = {.op = REC_MEMSET, .size = sizeof(records.after)}, .element = 1, .bytes = 1};
        graphs_deinit(&session);
        block.memory = (unsigned char *)&records;
        block.size = create->arg[1] = sizeof(records);
        create->kind->prepare(create);
        create->kind->work(create);
        assert_int_equal(create->status, all[i].status);
        if (create->status == GS_OK)
            create->kind->install(create);
        job_free(create);
    }
    graphs_deinit(&session);
    assert_int_equal(live, 0);
    block = (struct host_block){.memory = nothing};
}

static void a_launch_sets_what_differs_and_no_more(void **state)
{
    const struct value_change second = value_of(1, 7), both[] = {value_of(0, 5), value_of(1, 7)};

    (void)state;
    memsets_make(3);
    assert_int_equal(launch_with(NULL, 0), RECORD_TAKEN);
    assert_int_equal(sets, 0);
    assert_int_equal(launch_with(&second, sizeof(second)), RECORD_TAKEN);
    assert_int_equal(sets, 1);
    assert_int_equal(nodes[1].value, 7);
    assert_int_equal(nodes[1].dst, 32);
    assert_int_equal(launch_with(&second, sizeof(second)), RECORD_TAKEN);
    assert_int_equal(sets, 1);
    assert_int_equal(launch_with(both, sizeof(both)), RECORD_TAKEN);
    assert_int_equal(sets, 2);
    assert_int_equal(nodes[0].value, 5);
    assert_int_equal(launch_with(&second, sizeof(second)), RECORD_TAKEN);
    assert_int_equal(sets, 3);
    assert_int_equal(nodes[0].value, 1);
    assert_int_equal(nodes[1].value, 7);
    assert_int_equal(launch_with(NULL, 0), RECORD_TAKEN);
    assert_int_equal(sets, 4);
    assert_int_equal(nodes[1].value, 1);
    assert_int_equal(launch_with(NULL, 0), RECORD_TAKEN);
    assert_int_equal(sets, 4);
    assert_int_equal(made, 2); /* no variant anew */
}

static void a_step_is_left_out_and_taken_in_again(void **state)
{
    const struct rec_change off = {.step = 2};

    (void)state;
    memsets_make(3);
    for (unsigned round = 1; round < 4; round++) {
        assert_int_equal(launch_with(&off, sizeof(off)), RECORD_TAKEN);
        assert_true(nodes[2].off);
        assert_int_equal(launch_with(&off, sizeof(off)), RECORD_TAKEN);
        assert_int_equal(launch_with(NULL, 0), RECORD_TAKEN);
        assert_false(nodes[2].off);
        assert_int_equal(enables, 2 * round);
    }
    assert_int_equal(sets, 0);
    /* A variant that is made without the step has no node for it, and is made anew with one. */
    place = &places[1];
    assert_int_equal(launch_with(&off, sizeof(off)), RECORD_STALLED);
    pushed_run();
    assert_int_equal(empty_added, 1);
    assert_int_equal(launch_with(&off, sizeof(off)), RECORD_TAKEN);
    variant_come(1);
    assert_int_equal(launch_at(1), RECORD_TAKEN);
    assert_int_equal(empty_added, 1);
    assert_int_equal(live, 2);
}

/* What the driver cannot set it can make. */
static void a_variant_that_cannot_be_set_is_made_anew(void **state)
{
    const struct value_change change = value_of(1, 9);

    (void)state;
    memsets_make(2);
    set_result = CUDA_ERROR_INVALID_VALUE;
    assert_int_equal(launch_with(&change, sizeof(change)), RECORD_STALLED);
    pushed_run();
    set_result = CUDA_SUCCESS;
    assert_int_equal(live, 1);
    assert_int_equal(nodes[3].value, 9);
    sets = 0;
    assert_int_equal(launch_with(&change, sizeof(change)), RECORD_TAKEN);
    assert_int_equal(sets, 0);
    assert_int_equal(launch_with(NULL, 0), RECORD_TAKEN);
    assert_int_equal(nodes[3].value, 1);
    assert_int_equal(live, 1);
}

/* A tenant that runs out of memory for a moment has not lost its graph. */
static void a_failure_to_make_a_variant_is_that_of_one_launch(void **state)
{
    struct stream *stream = &session.submit.streams[0];

    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        instantiate_result = CUDA_ERROR_OUT_OF_MEMORY;
        variant_come(1);
        instantiate_result = CUDA_SUCCESS;
        /* The launch may run elsewhere by now. */
        assert_int_equal(launch_at(0), RECORD_TAKEN);
        stream->head += REC_ALIGN;
        variant_come(2 + round);
        assert_int_equal(launch_at(2 + round), RECORD_TAKEN);
        stream->head += REC_ALIGN;
    }
    instantiate_result = CUDA_ERROR_OUT_OF_MEMORY;
    variant_come(1);
    instantiate_result = CUDA_SUCCESS;
    assert_int_equal(launch_at(1), RECORD_ENDED);
}

/* Memory that is freed is refused in a launch that uses it, and in no other. */
static void a_change_replaces_what_is_gone(void **state)
{
    static struct lane lane;
    struct {
        struct rec_change change;
        uint64_t dst;
    } moved = {{.step = 1, .at = offsetof(struct rec_memset, dst), .bytes = 8}, 640};
    const struct rec_change off = {.step = 1}, other = {.step = 0};

    (void)state;
    memsets_make(2);
    session.lane = &lane;
    gone = 32;
    session.memory.generation++;
    assert_int_equal(launch_with(NULL, 0), RECORD_ENDED);
    assert_int_equal(launch_with(&other, sizeof(other)), RECORD_ENDED);
    assert_int_equal(launch_with(&moved, sizeof(moved)), RECORD_STALLED);
    pushed_run();
    assert_int_equal(launch_with(&moved, sizeof(moved)), RECORD_TAKEN);
    assert_int_equal(nodes[3].dst, 640);
    assert_int_equal(launch_with(&off, sizeof(off)), RECORD_TAKEN);
    moved.dst = 32;
    assert_int_equal(launch_with(&moved, sizeof(moved)), RECORD_ENDED);
    gone = 0;
    session.lane = NULL;
}

/* The driver gets no node that names what is gone, not even to leave it out. */
static void a_node_of_what_is_gone_is_made_anew(void **state)
{
    static struct lane lane;
    const struct value_change first = value_of(0, 3), second = value_of(1, 7);
    const struct {
        struct rec_change off;
        struct value_change change;
    } both = {{.step = 0}, second};
    const struct rec_change off = {.step = 1};

    (void)state;
    memsets_make(2);
    session.lane = &lane;
    assert_int_equal(launch_with(&second, sizeof(second)), RECORD_TAKEN);
    assert_int_equal(launch_with(&off, sizeof(off)), RECORD_TAKEN);
    assert_int_equal(enables, 1);
    gone = 32;
    session.memory.generation++;
    assert_int_equal(launch_with(&off, sizeof(off)), RECORD_STALLED);
    pushed_run();
    assert_int_equal(empty_added, 1);
    assert_int_equal(launch_with(&off, sizeof(off)), RECORD_TAKEN);
    assert_int_equal(enables, 1);
    /* Set to what is there, and then that goes. */
    gone = 0;
    session.memory.generation++;
    assert_int_equal(launch_with(&first, sizeof(first)), RECORD_STALLED);
    pushed_run();
    assert_int_equal(launch_with(&first, sizeof(first)), RECORD_TAKEN);
    sets = 0;
    gone = 16;
    session.memory.generation++;
    assert_int_equal(launch_with(&both, sizeof(both)), RECORD_STALLED);
    pushed_run();
    assert_int_equal(launch_with(&both, sizeof(both)), RECORD_TAKEN);
    assert_int_equal(sets, 0);
    assert_int_equal(live, 1);
    gone = 0;
    session.lane = NULL;
}

/* What a tenant may write behind a graph's record. */
static void changes_name_bytes_of_steps_in_order(void **state)
{
    const uint16_t value = offsetof(struct rec_memset, value), size = sizeof(struct rec_memset);
    const struct {
        struct {
            struct rec_change change;
            uint64_t bytes;
        } first, second;
        uint32_t size;
        enum outcome outcome;
    } all[] = {
        {{{0, value, 4}, 1}, {{0, value, 4}, 1}, 32, RECORD_TAKEN},
        {{{0, value, 4}, 1}, {{1, 56, 8}, 0}, 32, RECORD_TAKEN},
        {{{0, size, 0}, 0}, {{0, 0, 0}, 0}, 8, RECORD_TAKEN},
        {{{1, value, 4}, 1}, {{0, value, 4}, 1}, 32, RECORD_ENDED}, /* the order */
        {{{2, value, 4}, 1}, {{0, 0, 0}, 0}, 16, RECORD_ENDED},
        {{{UINT32_MAX, 0, 0}, 1}, {{0, 0, 0}, 0}, 8, RECORD_ENDED},
        {{{0, 0, 4}, 1}, {{0, 0, 0}, 0}, 16, RECORD_ENDED}, /* the header */
        {{{0, 7, 4}, 1}, {{0, 0, 0}, 0}, 16, RECORD_ENDED},
        {{{0, 60, 8}, 1}, {{0, 0, 0}, 0}, 16, RECORD_ENDED}, /* the record's end */
        {{{0, UINT16_MAX, 8}, 1}, {{0, 0, 0}, 0}, 16, RECORD_ENDED},
        {{{0, 65, 0}, 1}, {{0, 0, 0}, 0}, 8, RECORD_ENDED},
        {{{0, 8, UINT16_MAX}, 1}, {{0, 0, 0}, 0}, 32, RECORD_ENDED}, /* the launch's end */
        {{{0, value, 4}, 1}, {{0, value, 4}, 1}, 28, RECORD_ENDED},
        {{{0, value, 4}, 1}, {{0, value, 4}, 1}, 20, RECORD_ENDED},
        {{{0, value, 4}, 1}, {{0, value, 4}, 1}, 1, RECORD_ENDED},
    };
    _Alignas(REC_ALIGN) struct rec_graph record = {.h = {.op = REC_GRAPH, .size = sizeof(record)},
                                                   .changes = 8};

    (void)state;
    memsets_make(2);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        assert_int_equal(launch_with(&all[i], all[i].size), all[i].outcome);
    assert_int_equal(graph_launch(&session, 0, &record), RECORD_ENDED);
    record.changes = UINT32_MAX;
    assert_int_equal(graph_launch(&session, 0, &record), RECORD_ENDED);
}

/* A tenant destroys a graph whose variant is to be made, and makes another one of its number. */
static void a_variant_of_a_graph_that_went_is_not_made(void **state)
{
    struct job *late;

    (void)state;
    assert_int_equal(launch_at(1), RECORD_STALLED);
    late = pushed;
    pushed = NULL;
    memsets_make(1);
    late->session = &session;
    late->kind->prepare(late);
    assert_int_equal(late->status, GS_ERR_INVALID_HANDLE);
    job_free(late);
    assert_int_equal(launch_at(1), RECORD_STALLED);
    pushed_run();
    assert_int_equal(launch_at(1), RECORD_TAKEN);
}

/* They would be made one after the other anyway, and a tenant has many streams. */
static void one_variant_of_a_session_is_made_at_a_time(void **state)
{
    struct rec_graph second = {.h = {.op = REC_GRAPH, .size = sizeof(second)}, .graph = 1};

    (void)state;
    job_run(job_new(&session, &job_graph_create));
    assert_int_equal(launch_at(1), RECORD_STALLED);
    struct job *first = pushed;
    assert_non_null(first);
    pushed = NULL;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(graph_launch(&session, 1, &second), RECORD_STALLED);
        assert_null(pushed);
    }
    job_run(first);
    assert_int_equal(graph_launch(&session, 1, &second), RECORD_STALLED);
    pushed_run();
    assert_int_equal(graph_launch(&session, 1, &second), RECORD_TAKEN);
    assert_int_equal(launch_at(1), RECORD_TAKEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_place_used_least_lately_gives_way, set, unset),
        cmocka_unit_test_setup_teardown(a_variant_that_was_never_launched_stays_before_older_ones,
                                        set, unset),
        cmocka_unit_test_setup_teardown(steps_wait_for_earlier_ones_alone, set, unset),
        cmocka_unit_test_setup_teardown(no_variant_gives_way_while_there_is_room, set, unset),
        cmocka_unit_test_setup_teardown(a_graph_of_very_many_nodes_is_checked_part_by_part, set,
                                        unset),
        cmocka_unit_test_setup_teardown(a_graph_of_more_nodes_is_refused, set, unset),
        cmocka_unit_test_setup_teardown(a_launch_sets_what_differs_and_no_more, set, unset),
        cmocka_unit_test_setup_teardown(a_step_is_left_out_and_taken_in_again, set, unset),
        cmocka_unit_test_setup_teardown(a_variant_that_cannot_be_set_is_made_anew, set, unset),
        cmocka_unit_test_setup_teardown(a_failure_to_make_a_variant_is_that_of_one_launch, set,
                                        unset),
        cmocka_unit_test_setup_teardown(a_change_replaces_what_is_gone, set, unset),
        cmocka_unit_test_setup_teardown(a_node_of_what_is_gone_is_made_anew, set, unset),
        cmocka_unit_test_setup_teardown(changes_name_bytes_of_steps_in_order, set, unset),
        cmocka_unit_test_setup_teardown(a_variant_of_a_graph_that_went_is_not_made, set, unset),
        cmocka_unit_test_setup_teardown(one_variant_of_a_session_is_made_at_a_time, set, unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
