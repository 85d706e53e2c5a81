/* api_graph_attribute.c - attributes of kernel nodes; see state/launch_attribute.h. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/graph.h"

/* Gets the node's op; cudaErrorInvalidValue: the node is not a kernel. */
static cudaError_t kernel_node(cudaGraphNode_t node, struct op *op)
{
    cudaError_t error = node_op(node, op);

    return error == cudaSuccess && op->type != cudaGraphNodeTypeKernel ? cudaErrorInvalidValue
                                                                       : error;
}

/* Gives the node the attributes, replacing those of OP, its current op. */
static cudaError_t attributes_give(cudaGraphNode_t node, const struct op *op,
                                   const struct launch_attributes *attributes)
{
    struct op changed;
    cudaError_t error = op_clone(&changed, op);

    if (error != cudaSuccess)
        return error;
    changed.launch.attributes = *attributes;
    return node_set(node, &changed);
}

CUDART_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node,
                                                       cudaLaunchAttributeID id,
                                                       cudaLaunchAttributeValue *value)
{
    struct op op;
    cudaError_t error = value != NULL ? kernel_node(node, &op) : cudaErrorInvalidValue;

    if (error == cudaSuccess)
        error = launch_attribute_get(&op.launch.attributes, id, value);
    return error_record(error);
}

CUDART_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node,
                                                       cudaLaunchAttributeID id,
                                                       const cudaLaunchAttributeValue *value)
{
    struct launch_attributes attributes;
    struct op op;
    cudaError_t error = value != NULL ? kernel_node(node, &op) : cudaErrorInvalidValue;

    if (error != cudaSuccess)
        return error_record(error);
    attributes = op.launch.attributes;
    error = launch_attribute_set(&attributes, id, value);
    return error_record(error == cudaSuccess ? attributes_give(node, &op, &attributes) : error);
}

CUDART_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    struct op op, other;
    cudaError_t error = kernel_node(to, &op);

    if (error == cudaSuccess)
        error = kernel_node(from, &other);
    if (error == cudaSuccess)
        error = attributes_give(to, &op, &other.launch.attributes);
    return error_record(error);
}
