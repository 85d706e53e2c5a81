/* exec.c - see exec.h. */
#include "cudart/graph/exec.h"

#include <pthread.h>
#include <stdlib.h>

#include "cudart/base/handles.h"
#include "cudart/graph/condition.h"
#include "cudart/graph/exec_nodes.h"
#include "cudart/graph/exec_pairs.h"
#include "cudart/graph/graph.h"
#include "cudart/graph/graph_memory.h"
#include "cudart/graph/recorded.h"
#include "cudart/state/managed.h"

#define EXECS_MAX    65536u
#define PATIENCE_MAX 64u

struct exec {
    pthread_mutex_t lock; /* guards all fields but `users` */
    struct exec_nodes nodes;
    size_t search_from; /* the index at which exec_node starts to search */
    int device;         /* result of exec_nodes_device */
    unsigned long long flags;
    struct recorded recorded; /* recorded.graph is the session's graph; NULL: there is none */
    bool changed;             /* the nodes may differ from those that the session knows */
    unsigned wait;            /* launches until the nodes are recorded again */
    unsigned patience;        /* how many launches to wait the next time */
    bool memory;              /* some nodes allocate or free memory */
    bool conditional;         /* some nodes are conditional */
    struct user_refs objects;
    unsigned users; /* guarded by execs_lock: the valid handle, and calls in progress */
};

static pthread_mutex_t execs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle_slot slots[EXECS_MAX];
static struct exec *execs[EXECS_MAX];
static struct handles handles = HANDLES_INIT(slots, EXECS_MAX, 11);

/* ---- Users ----------------------------------------------------------------------------------- */

static struct exec *exec_use(cudaGraphExec_t handle)
{
    struct exec *exec = NULL;
    int number;

    pthread_mutex_lock(&execs_lock);
    number = handles_find(&handles, (uint64_t)(uintptr_t)handle);
    if (number >= 0) {
        exec = execs[number];
        exec->users++;
    }
    pthread_mutex_unlock(&execs_lock);
    if (exec != NULL)
        pthread_mutex_lock(&exec->lock);
    return exec;
}

static void bodies_free(struct exec_nodes *nodes)
{
    for (size_t i = 0; i < nodes->count; i++) {
        for (unsigned j = 0; nodes->at[i].bodies != NULL && j < nodes->at[i].op.conditional.count;
             j++) {
            if (nodes->at[i].bodies[j] != NULL)
                exec_end(nodes->at[i].bodies[j]);
        }
        free(nodes->at[i].bodies);
        nodes->at[i].bodies = NULL;
    }
}

static void exec_free(struct exec *exec)
{
    recorded_free(&exec->recorded);
    bodies_free(&exec->nodes);
    exec_nodes_deinit(&exec->nodes);
    user_refs_free(&exec->objects);
    pthread_mutex_destroy(&exec->lock);
    free(exec);
}

static void exec_release(struct exec *exec)
{
    bool last;

    pthread_mutex_lock(&execs_lock);
    last = --exec->users == 0;
    pthread_mutex_unlock(&execs_lock);
    if (last)
        exec_free(exec);
}

static void exec_leave(struct exec *exec)
{
    pthread_mutex_unlock(&exec->lock);
    exec_release(exec);
}

/* ---- Making and ending ----------------------------------------------------------------------- */

/* Instantiates the bodies of conditional nodes. Each body is launched as a graph of its own. */
static cudaError_t bodies_make(struct exec *exec)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < exec->nodes.count && error == cudaSuccess; i++) {
        struct exec_node *node = &exec->nodes.at[i];

        if (node->op.type != cudaGraphNodeTypeConditional)
            continue;
        exec->conditional = true;
        node->bodies = calloc(node->op.conditional.count, sizeof(cudaGraphExec_t));
        if (node->bodies == NULL)
            error = cudaErrorMemoryAllocation;
        for (unsigned j = 0; j < node->op.conditional.count && error == cudaSuccess; j++)
            error = exec_new(node->op.conditional.handles[j], exec->flags, &node->bodies[j]);
    }
    return error;
}

cudaError_t exec_new(cudaGraph_t graph, unsigned long long flags, cudaGraphExec_t *out)
{
    struct exec *exec = calloc(1, sizeof(*exec));
    cudaError_t error = cudaErrorMemoryAllocation;
    uint64_t handle;
    int number;

    if (exec == NULL)
        return error;
    pthread_mutex_init(&exec->lock, NULL);
    exec->flags = flags;
    exec->users = 1;
    exec->patience = 1;
    error = exec_nodes_init(&exec->nodes, graph);
    if (error == cudaSuccess && !graph_objects_copy(graph, &exec->objects))
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        error = bodies_make(exec);
    number = error == cudaSuccess ? handles_take(&handles, &handle) : -1;
    if (number < 0) {
        exec_free(exec);
        return error == cudaSuccess ? cudaErrorMemoryAllocation : error;
    }
    for (size_t i = 0; i < exec->nodes.count; i++)
        exec->memory |= op_has_memory(&exec->nodes.at[i].op);
    exec->device = exec_nodes_device(&exec->nodes);
    if (device_use() == cudaSuccess) {
        if (exec->device != OP_ANYWHERE)
            device_enter((unsigned)exec->device);
        recorded_make(&exec->recorded, &exec->nodes);
    }
    execs[number] = exec;
    handles_open(&handles, number);
    *out = (cudaGraphExec_t)(uintptr_t)handle; // NOLINT: a handle is a value
    return cudaSuccess;
}

cudaError_t exec_end(cudaGraphExec_t handle)
{
    struct exec *exec = NULL;
    int number;

    pthread_mutex_lock(&execs_lock);
    number = handles_close(&handles, (uint64_t)(uintptr_t)handle);
    if (number >= 0) {
        exec = execs[number];
        handles_free(&handles, number);
    }
    pthread_mutex_unlock(&execs_lock);
    if (exec == NULL)
        return cudaErrorInvalidValue;
    exec_release(exec);
    return cudaSuccess;
}

void execs_forget(void)
{
    pthread_mutex_lock(&execs_lock);
    for (uint32_t i = 0; i < handles.fresh; i++) {
        if (handles_of(&handles, (int)i) != 0 && execs[i]->recorded.device == device_number())
            execs[i]->recorded.graph = NULL;
    }
    pthread_mutex_unlock(&execs_lock);
    recorded_forget();
}

cudaError_t exec_flags(cudaGraphExec_t handle, unsigned long long *flags)
{
    struct exec *exec = exec_use(handle);

    if (exec == NULL)
        return cudaErrorInvalidValue;
    *flags = exec->flags & ~(unsigned long long)cudaGraphInstantiateFlagUpload; /* it is done */
    exec_leave(exec);
    return cudaSuccess;
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static cudaError_t recorded_launch(gs_graph graph, struct stream *stream)
{
    bool held;
    gs_status status = managed_work_begin(&held);

    if (status != GS_OK)
        return device_error(status);
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_graph_launch(graph, stream->handle);
    if (status == GS_OK)
        stream_leave(stream);
    managed_work_end(held);
    return stream_error(stream, status);
}

static cudaError_t exec_run(cudaGraphExec_t handle, struct stream *stream, bool whole);

/* Moves the work to the device, which is from op_device. */
static cudaError_t go_to(int device, struct stream *stream, struct stream **at)
{
    return device == OP_ANYWHERE ? cudaSuccess : stream_go_on(stream, (unsigned)device, at);
}

/* Waits for the work before the node, which sets the condition's value, and gives the stream the
 * body that the value selects. */
static cudaError_t conditional_issue(const struct exec_node *node, struct stream *stream)
{
    const bool loop = node->op.conditional.type == cudaGraphCondTypeWhile;
    cudaError_t error;

    do {
        unsigned value, chosen;

        error = condition_read(node->op.conditional.condition, stream, &value);
        if (error != cudaSuccess)
            return error;
        chosen = node->op.conditional.type == cudaGraphCondTypeSwitch ? value : value == 0;
        if (chosen >= node->op.conditional.count)
            return cudaSuccess;
        error = exec_run(node->bodies[chosen], stream, false);
    } while (error == cudaSuccess && loop);
    return error;
}

/* Issues the nodes one by one, each on its device. *at: as for stream_go_on. None is issued as a
 * programmatic dependent launch, because the previous node in the stream may not be the one on
 * which it depends. */
static cudaError_t nodes_issue(const struct exec *exec, struct stream *stream, struct stream **at)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < exec->nodes.count && error == cudaSuccess; i++) {
        const struct exec_node *node = &exec->nodes.at[i];

        if (node->disabled)
            continue;
        error = go_to(op_device(&node->op), stream, at);
        if (error == cudaSuccess && node->op.type == cudaGraphNodeTypeConditional)
            error = conditional_issue(node, *at);
        else if (error == cudaSuccess)
            error = op_issue(&node->op, *at, false);
    }
    return error;
}

/* Drops the recorded graph. Recording waits for the server, so at least one launch is done without
 * a recorded graph. The number of such launches doubles each time that a recorded graph was not
 * used for a further launch. */
static void exec_unrecord(struct exec *exec)
{
    recorded_free(&exec->recorded);
    exec->wait = exec->patience - 1;
    if (exec->patience < PATIENCE_MAX)
        exec->patience *= 2;
}

static bool exec_record_anew(struct exec *exec)
{
    if (exec->wait > 0) {
        exec->wait--;
        return false;
    }
    recorded_make(&exec->recorded, &exec->nodes);
    /* After a failure, another attempt only makes sense after another change. */
    exec->changed = exec->recorded.graph != NULL;
    return exec->changed;
}

/* Whether the session of the call's device has a graph that equals the current nodes. If it is due,
 * records the graph or sends the session the changes. */
static bool exec_is_recorded(struct exec *exec)
{
    const bool before = exec->recorded.graph != NULL;

    if (before && exec->recorded.device != device_number())
        return false;
    if (!before && (!exec->changed || !exec_record_anew(exec)))
        return false;
    if (exec->changed && !recorded_tell(&exec->recorded, &exec->nodes)) {
        exec_unrecord(exec);
        return false;
    }
    exec->changed = false;
    if (before && exec->patience > 1)
        exec->patience /= 2;
    return true;
}

/* Accounts for the allocations and frees of the launch; the memory exists already. */
static cudaError_t nodes_memory(const struct exec *exec)
{
    const bool again = exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < exec->nodes.count && error == cudaSuccess; i++) {
        const struct op *op = &exec->nodes.at[i].op;

        if (op->type == cudaGraphNodeTypeMemAlloc)
            error = graph_memory_alloc(op->memory, again);
        else if (op->type == cudaGraphNodeTypeMemFree)
            error = graph_memory_free(op->memory);
    }
    return error;
}

/* Sets the conditions, including those within bodies, to the values with which a launch starts. */
static cudaError_t conditions_assign(const struct exec *exec, struct stream *stream,
                                     struct stream **at)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < exec->nodes.count && error == cudaSuccess; i++) {
        const struct exec_node *node = &exec->nodes.at[i];

        if (node->op.type != cudaGraphNodeTypeConditional)
            continue;
        error = go_to(op_device(&node->op), stream, at);
        if (error == cudaSuccess)
            error = condition_assign(node->op.conditional.condition, *at);
        for (unsigned j = 0; j < node->op.conditional.count && error == cudaSuccess; j++) {
            struct exec *body = exec_use(node->bodies[j]);

            if (body == NULL)
                return cudaErrorInvalidValue;
            error = conditions_assign(body, stream, at);
            exec_leave(body);
        }
    }
    return error;
}

/* whole: the graph is launched by itself, not as the body of another graph's node. */
static cudaError_t exec_run(cudaGraphExec_t handle, struct stream *stream, bool whole)
{
    struct exec *exec = exec_use(handle);
    struct stream *at = stream;
    cudaError_t error;

    if (exec == NULL)
        return cudaErrorInvalidValue;
    error = exec->memory ? nodes_memory(exec) : cudaSuccess;
    if (error == cudaSuccess && whole && exec->conditional)
        error = conditions_assign(exec, stream, &at);
    if (error == cudaSuccess)
        error = go_to(exec->device, stream, &at);
    if (error == cudaSuccess && exec_is_recorded(exec))
        error = recorded_launch(exec->recorded.graph, at);
    else if (error == cudaSuccess)
        error = nodes_issue(exec, stream, &at);
    exec_leave(exec);
    return error == cudaSuccess ? stream_go_on(stream, stream->device, &at) : error;
}

cudaError_t exec_launch(cudaGraphExec_t handle, struct stream *stream)
{
    return exec_run(handle, stream, true);
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Finds the node. The search starts where the last one ended, since a program that changes all
 * nodes goes through them in order. */
static struct exec_node *exec_node(struct exec *exec, cudaGraphNode_t node)
{
    for (size_t i = 0; i < exec->nodes.count; i++) {
        const size_t index = (exec->search_from + i) % exec->nodes.count;
        struct exec_node *found = &exec->nodes.at[index];

        if (found->node != node || found->ends_child)
            continue;
        exec->search_from = index + 1;
        return found;
    }
    return NULL;
}

/* Gives the node the op, on the node's device; *op becomes the node's former op. */
static void node_take(struct exec *exec, struct exec_node *node, struct op *op)
{
    struct op former = node->op;

    op->device = former.device;
    if (op_same(&node->op, op))
        return;
    node->op = *op;
    node->changed = true;
    *op = former;
    exec->changed = true;
}

cudaError_t exec_set(cudaGraphExec_t handle, cudaGraphNode_t node, struct op *op)
{
    struct exec *exec = exec_use(handle);
    struct exec_node *own = exec != NULL ? exec_node(exec, node) : NULL;
    cudaError_t error = cudaErrorInvalidValue;

    if (own != NULL && own->op.type == op->type) {
        node_take(exec, own, op);
        error = cudaSuccess;
    }
    op_free(op);
    if (exec != NULL)
        exec_leave(exec);
    return error;
}

cudaError_t exec_enable(cudaGraphExec_t handle, cudaGraphNode_t node, bool enabled)
{
    struct exec *exec = exec_use(handle);
    struct exec_node *own = exec != NULL ? exec_node(exec, node) : NULL;
    cudaError_t error = cudaErrorInvalidValue;

    if (own != NULL && own->op.type <= cudaGraphNodeTypeMemset) {
        if (own->disabled == enabled)
            exec->changed = true;
        own->disabled = !enabled;
        error = cudaSuccess;
    }
    if (exec != NULL)
        exec_leave(exec);
    return error;
}

cudaError_t exec_enabled(cudaGraphExec_t handle, cudaGraphNode_t node, unsigned *enabled)
{
    struct exec *exec = exec_use(handle);
    const struct exec_node *own = exec != NULL ? exec_node(exec, node) : NULL;

    if (own != NULL)
        *enabled = !own->disabled;
    if (exec != NULL)
        exec_leave(exec);
    return own != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

static void nodes_take(struct exec *exec, const size_t *own_of, struct exec_nodes *other)
{
    for (size_t i = 0; i < other->count; i++)
        node_take(exec, &exec->nodes.at[own_of[i]], &other->at[i].op);
}

/* Whether the child graph whose nodes begin at `first` has `count` nodes. */
static bool child_is_of(const struct exec_nodes *nodes, size_t first, size_t count)
{
    return count < nodes->count - first && nodes->at[first + count].ends_child &&
           nodes->at[first + count].node == nodes->at[first - 1].node;
}

cudaError_t exec_set_child(cudaGraphExec_t handle, cudaGraphNode_t node, cudaGraph_t child)
{
    struct exec *exec = exec_use(handle);
    const struct exec_node *own = exec != NULL ? exec_node(exec, node) : NULL;
    struct exec_nodes other = {NULL, 0, 0};
    size_t *own_of = NULL;
    cudaGraphExecUpdateResultInfo info;
    size_t first;
    cudaError_t error = cudaErrorInvalidValue;

    if (own != NULL && own->op.type == cudaGraphNodeTypeGraph)
        error = exec_nodes_init(&other, child);
    if (error == cudaSuccess) {
        first = (size_t)(own - exec->nodes.at) + 1;
        error = child_is_of(&exec->nodes, first, other.count)
                    ? exec_pairs_make(&exec->nodes, first, &other, &own_of, &info)
                    : cudaErrorGraphExecUpdateFailure;
    }
    if (error == cudaSuccess)
        nodes_take(exec, own_of, &other);
    free(own_of);
    exec_nodes_deinit(&other);
    if (exec != NULL)
        exec_leave(exec);
    return error;
}

cudaError_t exec_update(cudaGraphExec_t handle, cudaGraph_t graph,
                        cudaGraphExecUpdateResultInfo *info)
{
    struct exec *exec = exec_use(handle);
    struct exec_nodes other = {NULL, 0, 0};
    size_t *own_of = NULL;
    cudaError_t error = exec != NULL ? exec_nodes_init(&other, graph) : cudaErrorInvalidValue;

    *info = (cudaGraphExecUpdateResultInfo){cudaGraphExecUpdateError, NULL, NULL};
    if (error == cudaSuccess && other.count != exec->nodes.count) {
        info->result = cudaGraphExecUpdateErrorTopologyChanged;
        error = cudaErrorGraphExecUpdateFailure;
    }
    if (error == cudaSuccess)
        error = exec_pairs_make(&exec->nodes, 0, &other, &own_of, info);
    if (error == cudaSuccess)
        nodes_take(exec, own_of, &other);
    free(own_of);
    exec_nodes_deinit(&other);
    if (exec != NULL)
        exec_leave(exec);
    return error;
}
