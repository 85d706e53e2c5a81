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
    *transfer = (struct transfer){
        .kind = TRANSFER_SET, .bytes = set->bytes, .element = set->element, .block = SEG_HOSTS};
    checked++;
    return NULL;
}

void launch_params(const struct launch *launch, const struct completion_params *tell,
                   void **pointers, CUDA_KERNEL_NODE_PARAMS *params)
{
    (void)launch, (void)tell, (void)pointers, (void)params;
    abort();
}

const struct completion_params completion_none;

CUresult node_prioritize(CUgraphNode node, int priority)
{
    (void)node, (void)priority;
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
    *exec = (CUgraphExec)&made;
    made++;
    live++;
    return CUDA_SUCCESS;
}

static CUresult memset_add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                           size_t count, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    (void)graph, (void)dependencies, (void)count, (void)params, (void)context;
    *node = (CUgraphNode)&made;
    return CUDA_SUCCESS;
}

static CUresult exec_destroy(CUgraphExec exec)
{
    (void)exec;
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
    job->kind->prepare(job);
    if (job->status == GS_OK)
        job->kind->work(job);
    if (job->status == GS_OK && job->kind->install)
        job->kind->install(job);
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

static enum outcome launch_at(unsigned index)
{
    place = &places[index];
    return graph_launch(&session, 0, 0);
}

/* A launch there waits for a variant, which is made but not launched. */
static void variant_come(unsigned index)
{
    assert_int_equal(launch_at(index), RECORD_STALLED);
    assert_non_null(pushed);
    struct job *job = pushed;
    pushed = NULL;
    job_run(job);
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
static void a_graph_of_very_many_nodes_is_checked_piece_by_piece(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_place_used_least_lately_gives_way, set, unset),
        cmocka_unit_test_setup_teardown(a_variant_that_was_never_launched_stays_before_older_ones,
                                        set, unset),
        cmocka_unit_test_setup_teardown(steps_wait_for_earlier_ones_alone, set, unset),
        cmocka_unit_test_setup_teardown(no_variant_gives_way_while_there_is_room, set, unset),
        cmocka_unit_test_setup_teardown(a_graph_of_very_many_nodes_is_checked_piece_by_piece, set,
                                        unset),
        cmocka_unit_test_setup_teardown(a_graph_of_more_nodes_is_refused, set, unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
