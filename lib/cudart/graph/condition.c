/* condition.c - see condition.h. One lock guards the list and the holds. */
#include "cudart/graph/condition.h"

#include <pthread.h>
#include <stdlib.h>

#include "cudart/graph/graph_memory.h"
#include "cudart/state/peer.h"

struct condition {
    struct condition *next;
    struct graph_memory *word; /* its address is 0 once the session is gone */
    cudaGraphConditionalHandle handle;
    unsigned value, holders;
    bool assigned;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct condition *conditions;

cudaError_t condition_new(unsigned value, bool assigned, struct condition **out)
{
    struct condition *condition = calloc(1, sizeof(*condition));
    cudaError_t error = cudaErrorMemoryAllocation;

    if (condition != NULL)
        error = graph_memory_new(sizeof(unsigned), &condition->word);
    if (error != cudaSuccess) {
        free(condition);
        return error;
    }
    condition->handle = (uintptr_t)graph_memory_at(condition->word);
    condition->value = value;
    condition->assigned = assigned;
    condition->holders = 1;
    pthread_mutex_lock(&lock);
    condition->next = conditions;
    conditions = condition;
    pthread_mutex_unlock(&lock);
    *out = condition;
    return cudaSuccess;
}

struct condition *condition_find(cudaGraphConditionalHandle handle)
{
    struct condition *condition;

    pthread_mutex_lock(&lock);
    for (condition = conditions; condition != NULL; condition = condition->next) {
        if (condition->handle == handle && graph_memory_at(condition->word) != NULL)
            break;
    }
    if (condition != NULL)
        condition->holders++;
    pthread_mutex_unlock(&lock);
    return condition;
}

cudaGraphConditionalHandle condition_handle(const struct condition *condition)
{
    return condition->handle;
}

unsigned condition_device(const struct condition *condition)
{
    return graph_memory_device(condition->word);
}

void condition_hold(struct condition *condition)
{
    pthread_mutex_lock(&lock);
    condition->holders++;
    pthread_mutex_unlock(&lock);
}

void condition_release(struct condition *condition)
{
    struct condition **link = &conditions;
    bool last;

    pthread_mutex_lock(&lock);
    last = --condition->holders == 0;
    while (last && *link != condition)
        link = &(*link)->next;
    if (last)
        *link = condition->next;
    pthread_mutex_unlock(&lock);
    if (!last)
        return;
    graph_memory_release(condition->word);
    free(condition);
}

cudaError_t condition_assign(const struct condition *condition, struct stream *stream)
{
    const struct pattern pattern = {condition->value, sizeof(condition->value)};
    void *word = graph_memory_at(condition->word);

    if (word == NULL)
        return cudaErrorInvalidValue;
    if (!condition->assigned)
        return cudaSuccess;
    return peer_set_rows(stream, word, sizeof(unsigned), &pattern, sizeof(unsigned), 1);
}

cudaError_t condition_read(const struct condition *condition, struct stream *stream,
                           unsigned *value)
{
    const void *word = graph_memory_at(condition->word);

    if (word == NULL)
        return cudaErrorInvalidValue;
    return peer_copy_rows(stream, value, sizeof(*value), word, sizeof(*value), sizeof(*value), 1,
                          cudaMemcpyDeviceToHost, true);
}
