/* exec.c - see exec.h. */
#include "cudart/graph/exec.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "cudart/base/handles.h"
#include "cudart/graph/graph.h"
#include "cudart/graph/graph_memory.h"
#include "cudart/state/managed.h"

#define EXECS_MAX 65536u

struct exec {
    pthread_mutex_t lock; /* of all but users */
    struct step *steps;
    size_t count;
    unsigned long long flags;
    gs_graph recorded; /* what the steps were when it was instantiated; NULL: not recorded */
    bool changed;      /* the steps are others now */
    bool memory;       /* some steps allocate or free */
    struct user_refs objects;
    unsigned users; /* under execs_lock: the handle, and calls in progress */
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

static void exec_free(struct exec *exec)
{
    if (exec->recorded != NULL && device_session() != NULL)
        gs_graph_destroy(exec->recorded);
    steps_free(exec->steps, exec->count);
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

/* ---- Issuing --------------------------------------------------------------------------------- */

static cudaError_t steps_issue(const struct exec *exec, struct stream *stream)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < exec->count && error == cudaSuccess; i++) {
        if (!exec->steps[i].disabled)
            error = op_issue(&exec->steps[i].op, stream);
    }
    return error;
}

/* ---- Recording ------------------------------------------------------------------------------- */

#define NO_STEP   UINT_MAX
#define EDGES_MAX 8192u /* that are told; gs_graph_after allows some more */

struct recording {
    const struct exec *exec;
    struct stream stream;
    unsigned *last;   /* by step: the last one of the session's graph that it became, or NO_STEP */
    unsigned *before; /* those that the step at hand waits for */
};

static bool makes_steps(const struct op *op)
{
    return op->type == cudaGraphNodeTypeKernel || op->type == cudaGraphNodeTypeMemcpy ||
           op->type == cudaGraphNodeTypeMemset;
}

/* Whether the edges can be told: what becomes no step waits for one at most, and a child graph has
 * ends that no edge names. */
static bool has_branches(const struct exec *exec)
{
    bool branches = false;
    size_t edges = 0;

    for (size_t i = 0; i < exec->count; i++) {
        const struct step *step = &exec->steps[i];

        if (step->op.type == cudaGraphNodeTypeGraph ||
            (!makes_steps(&step->op) && step->before_count > 1))
            return false;
        branches |= i > 0 && (step->before_count != 1 || step->before[0] != i - 1);
        edges += step->before_count;
    }
    return branches && edges <= EDGES_MAX;
}

/* Fills in what step i waits for, each once. */
static unsigned before_find(struct recording *recording, size_t i)
{
    const struct step *step = &recording->exec->steps[i];
    unsigned count = 0, known;

    for (size_t k = 0; k < step->before_count; k++) {
        const unsigned last = recording->last[step->before[k]];

        for (known = 0; known < count && recording->before[known] != last; known++)
            ;
        if (last != NO_STEP && known == count)
            recording->before[count++] = last;
    }
    return count;
}

/* false: it has become no step, so that the next one would wait for what it should wait for. */
static bool branch_record(struct recording *recording, size_t i)
{
    const struct op *op = &recording->exec->steps[i].op;
    const unsigned count = before_find(recording, i);
    gs_stream stream = recording->stream.handle;
    unsigned steps, now;

    if (!makes_steps(op)) {
        recording->last[i] = count == 1 ? recording->before[0] : NO_STEP;
        return op_issue(op, &recording->stream) == cudaSuccess;
    }
    if (gs_graph_steps(device_session(), stream, &steps) != GS_OK ||
        (!(count == 1 && recording->before[0] + 1 == steps) &&
         gs_graph_after(device_session(), stream, recording->before, count) != GS_OK) ||
        op_issue(op, &recording->stream) != cudaSuccess ||
        gs_graph_steps(device_session(), stream, &now) != GS_OK || now == steps)
        return false;
    recording->last[i] = now - 1;
    return true;
}

static bool branches_record(struct recording *recording)
{
    const size_t count = recording->exec->count;
    bool done;

    recording->last = malloc(count * sizeof(unsigned));
    recording->before = malloc(count * sizeof(unsigned));
    done = recording->last != NULL && recording->before != NULL;
    for (size_t i = 0; i < count && done; i++)
        done = branch_record(recording, i);
    free(recording->last);
    free(recording->before);
    return done;
}

/* Records the steps with their branches, or one after the other. *changed: some are missing. NULL:
 * there is no graph. */
static gs_graph steps_record(struct recording *recording, bool branches, bool *changed)
{
    gs_stream stream = recording->stream.handle;
    gs_graph graph;

    if (gs_graph_begin(device_session(), stream) != GS_OK)
        return NULL;
    *changed = branches ? !branches_record(recording)
                        : steps_issue(recording->exec, &recording->stream) != cudaSuccess;
    return gs_graph_end(device_session(), stream, &graph) == GS_OK ? graph : NULL;
}

/* A session's graph is recorded on a stream that nobody else uses. An exec without one works too,
 * so that a failure here is none of the caller's. */
static void exec_record(struct exec *exec)
{
    static struct ring own = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* never shared */
    struct recording recording = {.exec = exec, .stream = {.ring = &own, .records = true}};

    for (size_t i = 0; i < exec->count; i++) {
        if (!op_recordable(&exec->steps[i].op))
            return;
    }
    if (exec->count == 0 || device_use() != cudaSuccess ||
        gs_stream_create(device_session(), NULL, &recording.stream.handle) != GS_OK)
        return;
    if (has_branches(exec))
        exec->recorded = steps_record(&recording, true, &exec->changed);
    if (exec->recorded != NULL && exec->changed) {
        gs_graph_destroy(exec->recorded);
        exec->recorded = NULL;
    }
    if (exec->recorded == NULL)
        exec->recorded = steps_record(&recording, false, &exec->changed);
    gs_stream_destroy(recording.stream.handle);
}

/* ---- Making and ending ----------------------------------------------------------------------- */

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
    error = graph_steps(graph, &exec->steps, &exec->count);
    if (error == cudaSuccess && !graph_objects_copy(graph, &exec->objects))
        error = cudaErrorMemoryAllocation;
    number = error == cudaSuccess ? handles_take(&handles, &handle) : -1;
    if (number < 0) {
        exec_free(exec);
        return error == cudaSuccess ? cudaErrorMemoryAllocation : error;
    }
    for (size_t i = 0; i < exec->count; i++)
        exec->memory |= exec->steps[i].op.type == cudaGraphNodeTypeMemAlloc ||
                        exec->steps[i].op.type == cudaGraphNodeTypeMemFree;
    exec_record(exec);
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
        if (handles_of(&handles, (int)i) != 0)
            execs[i]->recorded = NULL;
    }
    pthread_mutex_unlock(&execs_lock);
}

cudaError_t exec_flags(cudaGraphExec_t handle, unsigned long long *flags)
{
    struct exec *exec = exec_use(handle);

    if (exec == NULL)
        return cudaErrorInvalidValue;
    *flags = exec->flags;
    exec_leave(exec);
    return cudaSuccess;
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static cudaError_t recorded_launch(gs_graph graph, struct stream *stream)
{
    bool held;
    cudaError_t error = managed_work_begin(&held);
    gs_status status;

    if (error != cudaSuccess)
        return error;
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_graph_launch(graph, stream->handle);
    if (status == GS_OK)
        stream_leave(stream);
    managed_work_end(held);
    return stream_error(stream, status);
}

/* What the launch allocates and frees; the memory is there. */
static cudaError_t steps_memory(const struct exec *exec)
{
    const bool again = exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < exec->count && error == cudaSuccess; i++) {
        const struct op *op = &exec->steps[i].op;

        if (op->type == cudaGraphNodeTypeMemAlloc)
            error = graph_memory_alloc(op->memory, again);
        else if (op->type == cudaGraphNodeTypeMemFree)
            error = graph_memory_free(op->memory);
    }
    return error;
}

cudaError_t exec_launch(cudaGraphExec_t handle, struct stream *stream)
{
    struct exec *exec = exec_use(handle);
    cudaError_t error;

    if (exec == NULL)
        return cudaErrorInvalidValue;
    error = exec->memory ? steps_memory(exec) : cudaSuccess;
    if (error != cudaSuccess) {
        exec_leave(exec);
        return error;
    }
    if (exec->recorded != NULL && !exec->changed)
        error = recorded_launch(exec->recorded, stream);
    else
        error = steps_issue(exec, stream);
    exec_leave(exec);
    return error;
}

/* ---- Changes --------------------------------------------------------------------------------- */

static struct step *exec_step(struct exec *exec, cudaGraphNode_t node)
{
    for (size_t i = 0; i < exec->count; i++) {
        if (exec->steps[i].node == node)
            return &exec->steps[i];
    }
    return NULL;
}

/* The step takes the op; the former one is in its place. */
static void step_swap(struct step *step, struct op *op)
{
    struct op former = step->op;

    step->op = *op;
    *op = former;
}

cudaError_t exec_set(cudaGraphExec_t handle, cudaGraphNode_t node, struct op *op)
{
    struct exec *exec = exec_use(handle);
    struct step *step = exec != NULL ? exec_step(exec, node) : NULL;
    cudaError_t error = cudaErrorInvalidValue;

    if (step != NULL && step->op.type == op->type) {
        step_swap(step, op);
        exec->changed = true;
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
    struct step *step = exec != NULL ? exec_step(exec, node) : NULL;
    cudaError_t error = cudaErrorInvalidValue;

    if (step != NULL && step->op.type <= cudaGraphNodeTypeMemset) {
        exec->changed = exec->changed || step->disabled == enabled;
        step->disabled = !enabled;
        error = cudaSuccess;
    }
    if (exec != NULL)
        exec_leave(exec);
    return error;
}

cudaError_t exec_enabled(cudaGraphExec_t handle, cudaGraphNode_t node, unsigned *enabled)
{
    struct exec *exec = exec_use(handle);
    const struct step *step = exec != NULL ? exec_step(exec, node) : NULL;

    if (step != NULL)
        *enabled = !step->disabled;
    if (exec != NULL)
        exec_leave(exec);
    return step != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

/* Compares steps in pairs; base: the number of the first one of these. */
static enum cudaGraphExecUpdateResult steps_compare(const struct step *own, size_t base,
                                                    const struct step *other, size_t count,
                                                    size_t *wrong)
{
    for (size_t i = 0; i < count; i++) {
        *wrong = i;
        if (own[i].op.type != other[i].op.type)
            return cudaGraphExecUpdateErrorNodeTypeChanged;
        if (own[i].before_count != other[i].before_count)
            return cudaGraphExecUpdateErrorTopologyChanged;
        for (size_t j = 0; j < own[i].before_count; j++) {
            if (own[i].before[j] != other[i].before[j] + base)
                return cudaGraphExecUpdateErrorTopologyChanged;
        }
    }
    return cudaGraphExecUpdateSuccess;
}

static void steps_take(struct exec *exec, size_t first, struct step *other, size_t count)
{
    for (size_t i = 0; i < count; i++)
        step_swap(&exec->steps[first + i], &other[i].op);
    exec->changed = true;
}

cudaError_t exec_set_child(cudaGraphExec_t handle, cudaGraphNode_t node, cudaGraph_t child)
{
    struct exec *exec = exec_use(handle);
    const struct step *step = exec != NULL ? exec_step(exec, node) : NULL;
    struct step *other = NULL;
    size_t count = 0, wrong, first;
    cudaError_t error = cudaErrorInvalidValue;

    if (step != NULL && step->op.type == cudaGraphNodeTypeGraph)
        error = graph_steps(child, &other, &count);
    if (error == cudaSuccess) {
        first = (size_t)(step - exec->steps) + 1;
        if (count <= exec->count - first && steps_compare(&exec->steps[first], first, other, count,
                                                          &wrong) == cudaGraphExecUpdateSuccess)
            steps_take(exec, first, other, count);
        else
            error = cudaErrorGraphExecUpdateFailure;
    }
    steps_free(other, count);
    if (exec != NULL)
        exec_leave(exec);
    return error;
}

cudaError_t exec_update(cudaGraphExec_t handle, cudaGraph_t graph,
                        cudaGraphExecUpdateResultInfo *info)
{
    struct exec *exec = exec_use(handle);
    struct step *other = NULL;
    size_t count = 0, wrong = 0;
    cudaError_t error = exec != NULL ? graph_steps(graph, &other, &count) : cudaErrorInvalidValue;

    *info = (cudaGraphExecUpdateResultInfo){cudaGraphExecUpdateError, NULL, NULL};
    if (error == cudaSuccess) {
        info->result = count == exec->count ? steps_compare(exec->steps, 0, other, count, &wrong)
                                            : cudaGraphExecUpdateErrorTopologyChanged;
        if (info->result == cudaGraphExecUpdateSuccess) {
            steps_take(exec, 0, other, count);
        } else {
            if (count == exec->count)
                info->errorNode = other[wrong].node;
            error = cudaErrorGraphExecUpdateFailure;
        }
    }
    steps_free(other, count);
    if (exec != NULL)
        exec_leave(exec);
    return error;
}
