/*
 * chain.c - kernels one after the other, as one executable graph whose parameters are set anew each
 * time, and whose last node tells the end where that is wanted. Runs on the dispatcher.
 *
 * Measured on an H200:
 *   - setting a node's parameters costs 0.16 us: not done where they are what they were;
 *   - a node runs on the SMs of the context that was current when it was added, whichever stream
 *     its graph is launched in, and is set with that context current only. So a stream's order
 *     holds when its launches move between partitions.
 */
#include "worker/chain.h"

#include <stdlib.h>
#include <string.h>

#include "worker/partition.h"
#include "worker/stock.h"

/* ---- What a node is made for ----------------------------------------------------------------- */

struct launch_key launch_key(const struct launch *launch)
{
    struct launch_key key = {.kernel = launch->kernel,
                             .serial = launch->kernel->serial,
                             .dynamic_smem = launch->dynamic_smem,
                             .priority = launch->priority,
                             .partition = launch->partition};

    memcpy(key.grid, launch->grid, sizeof(key.grid));
    memcpy(key.block, launch->block, sizeof(key.block));
    return key;
}

bool launch_key_is(const struct launch_key *key, const struct launch *launch)
{
    return key->kernel == launch->kernel && key->serial == launch->kernel->serial &&
           !memcmp(key->grid, launch->grid, sizeof(key->grid)) &&
           !memcmp(key->block, launch->block, sizeof(key->block)) &&
           key->dynamic_smem == launch->dynamic_smem && key->partition == launch->partition &&
           key->priority == launch->priority;
}

void launch_key_keep(const struct launch_key *key)
{
    if (key->partition)
        atomic_fetch_add_explicit(&key->partition->graphs, 1, memory_order_relaxed);
}

void launch_key_drop(const struct launch_key *key)
{
    if (key->partition)
        /* release: the graphs are gone; pairs with the look before it is destroyed */
        atomic_fetch_sub_explicit(&key->partition->graphs, 1, memory_order_release);
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* The completing kernel is in the partition of the last kernel. */
static const struct partition *end_partition(const struct chain *chain,
                                             const struct launch *launches)
{
    return launches[chain->length - 1].partition;
}

static int end_priority(const struct chain *chain, const struct launch *launches)
{
    return done_priority(launches[chain->length - 1].priority);
}

/* Where one node has a priority of its own, all have one, or the lowest. */
static bool own_priorities(const struct chain *chain, const struct launch *launches,
                           int stream_priority)
{
    for (uint32_t i = 0; i < chain->length; i++) {
        if (launches[i].priority != stream_priority)
            return true;
    }
    return chain->ending == ENDS_BY_KERNEL && end_priority(chain, launches) != stream_priority;
}

/* Memory for the nodes and for what they are set to. */
static bool chain_store(struct chain *chain, const struct launch *launches)
{
    size_t params = 0;

    for (uint32_t i = 0; i < chain->length; i++)
        params += launches[i].kernel->param_bytes;
    chain->node = malloc(chain->length * sizeof(*chain->node) + params);
    chain->params = (unsigned char *)(chain->node + chain->length);
    return chain->node != NULL;
}

static CUresult kernels_add(struct chain *chain, const struct launch *launches, bool own_priority)
{
    unsigned char *set = chain->params;
    CUresult result = CUDA_SUCCESS;

    for (uint32_t i = 0; i < chain->length && !result; i++) {
        const uint32_t bytes = launches[i].kernel->param_bytes;
        void *pointers[REQ_PARAMS_MAX];
        CUDA_KERNEL_NODE_PARAMS params;

        launch_params(&launches[i], pointers, &params);
        memcpy(set, launches[i].params, bytes);
        set += bytes;
        partition_enter(launches[i].partition);
        result = DRV(cuGraphAddKernelNode_v2, &chain->node[i], chain->graph,
                     i ? &chain->node[i - 1] : NULL, i ? 1 : 0, &params);
        if (!result && own_priority)
            result = node_prioritize(chain->node[i], launches[i].priority);
    }
    return result;
}

static CUresult end_add(struct chain *chain, const struct launch *launches, struct done *done,
                        bool own_priority)
{
    const CUgraphNode *last = &chain->node[chain->length - 1];

    if (chain->ending == ENDS_BY_WRITE) {
        CUstreamBatchMemOpParams operation;
        partition_enter(NULL);
        CUDA_BATCH_MEM_OP_NODE_PARAMS write =
            completion_node(done->word, done->position, &operation);
        return DRV(cuGraphAddBatchMemOpNode, &chain->end, chain->graph, last, 1, &write);
    }
    void *pointers[DONE_PARAMS];
    const CUDA_KERNEL_NODE_PARAMS end = done_params(done, pointers);
    partition_enter(end_partition(chain, launches));
    CUresult result = DRV(cuGraphAddKernelNode_v2, &chain->end, chain->graph, last, 1, &end);
    if (!result && own_priority)
        result = node_prioritize(chain->end, end_priority(chain, launches));
    return result;
}

CUresult chain_make(struct chain *chain, const struct launch *launches, uint32_t length,
                    enum ending ending, struct done *done, int stream_priority)
{
    *chain = (struct chain){.length = length, .ending = ending};
    const bool own_priority = own_priorities(chain, launches, stream_priority);
    if (!chain_store(chain, launches)) {
        *chain = (struct chain){0};
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = DRV(cuGraphCreate, &chain->graph, 0);
    if (!result)
        result = kernels_add(chain, launches, own_priority);
    if (!result && ending != ENDS_SILENT)
        result = end_add(chain, launches, done, own_priority);
    partition_enter(NULL);
    if (!result)
        stock_graph_room();
    if (!result)
        result = DRV(cuGraphInstantiateWithFlags, &chain->exec, chain->graph,
                     own_priority ? CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY : 0);
    if (result) {
        if (chain->graph)
            DRV_MUST(cuGraphDestroy, chain->graph);
        free(chain->node);
        *chain = (struct chain){0};
    }
    return result;
}

void chain_clear(struct chain *chain)
{
    if (!chain->exec)
        return;
    DRV_MUST(cuGraphExecDestroy, chain->exec);
    DRV_MUST(cuGraphDestroy, chain->graph);
    free(chain->node);
    *chain = (struct chain){0};
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Sets the kernels to these launches, where they are not so set already. */
static CUresult kernels_set(struct chain *chain, const struct launch *launches)
{
    unsigned char *set = chain->params;

    for (uint32_t i = 0; i < chain->length; i++) {
        const uint32_t bytes = launches[i].kernel->param_bytes;
        void *pointers[REQ_PARAMS_MAX];
        CUDA_KERNEL_NODE_PARAMS params;

        if (memcmp(set, launches[i].params, bytes)) {
            launch_params(&launches[i], pointers, &params);
            partition_enter(launches[i].partition);
            CUresult result =
                DRV(cuGraphExecKernelNodeSetParams_v2, chain->exec, chain->node[i], &params);
            if (result)
                return result;
            memcpy(set, launches[i].params, bytes);
        }
        set += bytes;
    }
    return CUDA_SUCCESS;
}

static CUresult end_set(const struct chain *chain, const struct launch *launches, struct done *done)
{
    if (chain->ending == ENDS_BY_WRITE) {
        CUstreamBatchMemOpParams operation;
        partition_enter(NULL);
        CUDA_BATCH_MEM_OP_NODE_PARAMS write =
            completion_node(done->word, done->position, &operation);
        return DRV(cuGraphExecBatchMemOpNodeSetParams, chain->exec, chain->end, &write);
    }
    void *pointers[DONE_PARAMS];
    const CUDA_KERNEL_NODE_PARAMS end = done_params(done, pointers);
    partition_enter(end_partition(chain, launches));
    return DRV(cuGraphExecKernelNodeSetParams_v2, chain->exec, chain->end, &end);
}

CUresult chain_launch(struct chain *chain, const struct launch *launches, struct done *done,
                      CUstream stream)
{
    CUresult result = kernels_set(chain, launches);

    if (!result && chain->ending != ENDS_SILENT)
        result = end_set(chain, launches, done);
    partition_enter(NULL);
    return result ? result : DRV(cuGraphLaunch, chain->exec, stream);
}
