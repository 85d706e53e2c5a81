/* api_graph_dot.c - a graph as text for Graphviz. */
#include <stdio.h>
#include <stdlib.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/graph.h"
#include "cudart/state/module.h"

static const char *type_name(enum cudaGraphNodeType type)
{
    static const char *const names[] = {[cudaGraphNodeTypeKernel] = "KERNEL",
                                        [cudaGraphNodeTypeMemcpy] = "MEMCPY",
                                        [cudaGraphNodeTypeMemset] = "MEMSET",
                                        [cudaGraphNodeTypeHost] = "HOST",
                                        [cudaGraphNodeTypeGraph] = "GRAPH",
                                        [cudaGraphNodeTypeEmpty] = "EMPTY",
                                        [cudaGraphNodeTypeWaitEvent] = "EVENT_WAIT",
                                        [cudaGraphNodeTypeEventRecord] = "EVENT_RECORD",
                                        [cudaGraphNodeTypeMemAlloc] = "MEM_ALLOC",
                                        [cudaGraphNodeTypeMemFree] = "MEM_FREE",
                                        [cudaGraphNodeTypeConditional] = "CONDITIONAL"};

    return (size_t)type < sizeof(names) / sizeof(names[0]) && names[type] != NULL ? names[type]
                                                                                  : "OTHER";
}

static unsigned long long number_of(cudaGraphNode_t node)
{
    return (unsigned long long)(uintptr_t)node;
}

static void node_print(FILE *out, cudaGraphNode_t node)
{
    struct op op;

    if (node_op(node, &op) != cudaSuccess)
        return;
    fprintf(out, "  n%llx [label=\"%s", number_of(node), type_name(op.type));
    /* The image may have been unregistered meanwhile. */
    if (op.type == cudaGraphNodeTypeKernel && kernel_find(op.launch.kernel) == op.launch.kernel)
        fprintf(out, "\\n%s\\n<<<(%u,%u,%u),(%u,%u,%u),%u>>>", op.launch.kernel->name,
                op.launch.grid.x, op.launch.grid.y, op.launch.grid.z, op.launch.block.x,
                op.launch.block.y, op.launch.block.z, op.launch.shared);
    fprintf(out, "\"];\n");
}

static cudaError_t graph_print(FILE *out, cudaGraph_t graph)
{
    size_t count = 0, edges = 0;
    cudaError_t error = graph_nodes(graph, false, NULL, &count);
    cudaGraphEdgeData *data;
    cudaGraphNode_t *nodes;

    if (error == cudaSuccess)
        error = graph_edges(graph, NULL, NULL, NULL, &edges);
    if (error != cudaSuccess)
        return error;
    nodes = calloc(count + 2 * edges + 1, sizeof(*nodes));
    data = calloc(edges + 1, sizeof(*data));
    if (nodes == NULL || data == NULL) {
        free(nodes);
        free(data);
        return cudaErrorMemoryAllocation;
    }
    error = graph_nodes(graph, false, nodes, &count);
    if (error == cudaSuccess)
        error = graph_edges(graph, nodes + count, nodes + count + edges, data, &edges);
    fprintf(out, "digraph graph_%llx {\n", (unsigned long long)(uintptr_t)graph);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        node_print(out, nodes[i]);
    for (size_t i = 0; i < edges && error == cudaSuccess; i++)
        fprintf(out, "  n%llx -> n%llx%s;\n", number_of(nodes[count + i]),
                number_of(nodes[count + edges + i]),
                data[i].type == cudaGraphDependencyTypeProgrammatic ? " [style=dashed]" : "");
    fprintf(out, "}\n");
    free(nodes);
    free(data);
    return error;
}

/* The flags ask for more details of each node. */
CUDART_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    cudaError_t error;
    FILE *out;

    (void)flags;
    if (path == NULL || !graph_is(graph))
        return error_record(cudaErrorInvalidValue);
    out = fopen(path, "we");
    if (out == NULL)
        return error_record(cudaErrorOperatingSystem);
    error = graph_print(out, graph);
    if (fclose(out) != 0 && error == cudaSuccess)
        error = cudaErrorOperatingSystem;
    return error_record(error);
}
