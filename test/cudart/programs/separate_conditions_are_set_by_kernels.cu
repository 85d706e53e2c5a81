// A conditional node runs a body or none by the value that a kernel before it has set: if and else,
// while, and switch, within each other too, made by hand or captured. A value that is assigned by
// default counts for each launch. The nodes behind it wait for it, and the executable graph stays
// when the graph ends.
#include <cstring>

#include "show.h"

__device__ void choose(cudaGraphConditionalHandle condition, unsigned value);

// Sets the condition to what *at is, counted down first if `down`.
__global__ void ask(int *at, cudaGraphConditionalHandle condition, bool down)
{
    if (down)
        --*at;
    choose(condition, (unsigned)*at);
}
__global__ void even(const int *at, cudaGraphConditionalHandle condition)
{
    choose(condition, *at % 2 == 0);
}
__global__ void add(int *at, int what)
{
    *at = *at * 10 + what;
}

static int *number, *trace; // managed

template <class... Args>
static cudaGraphNode_t kernel_node(cudaGraph_t graph, cudaGraphNode_t after, void (*kernel)(Args...),
                                   Args... args)
{
    void *values[] = {&args...};
    cudaGraphNodeParams params = {};
    cudaGraphNode_t node;

    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = (void *)kernel;
    params.kernel.gridDim = params.kernel.blockDim = dim3(1);
    params.kernel.kernelParams = values;
    MUST(cudaGraphAddNode(&node, graph, &after, nullptr, after != nullptr, &params));
    return node;
}

struct conditional {
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node = nullptr;
    cudaGraph_t *bodies = nullptr;
};

static cudaError_t conditional_add(conditional &c, cudaGraph_t graph, cudaGraphNode_t after,
                                   cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraphNodeParams params = {};
    cudaError_t error;

    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = c.handle;
    params.conditional.type = type;
    params.conditional.size = size;
    error = cudaGraphAddNode(&c.node, graph, &after, nullptr, after != nullptr, &params);
    c.bodies = params.conditional.phGraph_out;
    return error;
}

static void launch(cudaGraphExec_t exec, int from)
{
    *number = from;
    *trace = 0;
    MUST(cudaGraphLaunch(exec, nullptr));
    MUST(cudaDeviceSynchronize());
    printf("%d: %d\n", from, *trace);
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t exec;

    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    return exec;
}

static cudaGraph_t made_by_hand(cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraph_t graph;
    conditional c;

    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphConditionalHandleCreate(&c.handle, graph, 0, 0));
    MUST(conditional_add(c, graph, kernel_node(graph, nullptr, ask, number, c.handle, false), type,
                         size));
    for (unsigned i = 0; i < size; i++)
        kernel_node(c.bodies[i], nullptr, add, trace, (int)i + 1);
    kernel_node(graph, c.node, add, trace, 9);
    return graph;
}

static cudaGraph_t loop_within_loop()
{
    cudaGraph_t graph, steps;
    cudaGraphNode_t last;
    conditional outer, inner;

    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphConditionalHandleCreate(&outer.handle, graph, 1, cudaGraphCondAssignDefault));
    MUST(conditional_add(outer, graph, nullptr, cudaGraphCondTypeWhile, 1));
    MUST(cudaGraphConditionalHandleCreate(&inner.handle, outer.bodies[0], 0, 0));
    MUST(conditional_add(inner, outer.bodies[0],
                         kernel_node(outer.bodies[0], nullptr, even, (const int *)number,
                                     inner.handle),
                         cudaGraphCondTypeIf, 1));
    MUST(cudaGraphCreate(&steps, 0));
    kernel_node(steps, nullptr, add, trace, 2);
    MUST(cudaGraphAddChildGraphNode(&last, inner.bodies[0], nullptr, 0, steps));
    MUST(cudaGraphDestroy(steps));
    last = kernel_node(outer.bodies[0], inner.node, add, trace, 1);
    kernel_node(outer.bodies[0], last, ask, number, outer.handle, true);
    return graph;
}

static cudaGraph_t captured_loop()
{
    cudaStream_t stream;
    cudaStreamCaptureStatus status;
    cudaGraph_t graph;
    const cudaGraphNode_t *deps;
    size_t count;
    conditional c;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    MUST(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &deps, nullptr, &count));
    MUST(cudaGraphConditionalHandleCreate(&c.handle, graph, 0, 0));
    ask<<<1, 1, 0, stream>>>(number, c.handle, false);
    MUST(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &deps, nullptr, &count));
    MUST(conditional_add(c, graph, deps[0], cudaGraphCondTypeWhile, 1));
    MUST(cudaStreamUpdateCaptureDependencies(stream, &c.node, nullptr, 1,
                                             cudaStreamSetCaptureDependencies));
    add<<<1, 1, 0, stream>>>(trace, 9);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaStreamBeginCaptureToGraph(stream, c.bodies[0], nullptr, nullptr, 0,
                                       cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(trace, 1);
    ask<<<1, 1, 0, stream>>>(number, c.handle, true);
    MUST(cudaStreamEndCapture(stream, nullptr)); // the program knows the graph
    MUST(cudaStreamDestroy(stream));
    return graph;
}

int main()
{
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    cudaGraphNodeType type;
    conditional c;

    MUST(cudaMallocManaged(&number, sizeof(int)));
    MUST(cudaMallocManaged(&trace, sizeof(int)));

    exec = instantiate(made_by_hand(cudaGraphCondTypeIf, 1));
    launch(exec, 0); //> 0: 9
    launch(exec, 5); //> 5: 19
    MUST(cudaGraphExecDestroy(exec));
    exec = instantiate(made_by_hand(cudaGraphCondTypeIf, 2));
    launch(exec, 0); //> 0: 29
    launch(exec, 5); //> 5: 19
    MUST(cudaGraphExecDestroy(exec));
    exec = instantiate(made_by_hand(cudaGraphCondTypeSwitch, 3));
    launch(exec, 0); //> 0: 19
    launch(exec, 2); //> 2: 39
    launch(exec, 3); //> 3: 9
    MUST(cudaGraphExecDestroy(exec));
    exec = instantiate(loop_within_loop());
    launch(exec, 4); //> 4: 211211
    launch(exec, 3); //> 3: 1211
    MUST(cudaGraphExecDestroy(exec));
    exec = instantiate(captured_loop());
    launch(exec, 0); //> 0: 9
    launch(exec, 3); //> 3: 1119
    MUST(cudaGraphExecDestroy(exec));

    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphConditionalHandleCreate(&c.handle, graph, 0, 0));
    SHOW(conditional_add(c, graph, nullptr, cudaGraphCondTypeWhile, 2)); //> conditional_add(c, graph, nullptr, cudaGraphCondTypeWhile, 2): cudaErrorInvalidValue
    SHOW(conditional_add(c, graph, nullptr, cudaGraphCondTypeIf, 0)); //> conditional_add(c, graph, nullptr, cudaGraphCondTypeIf, 0): cudaErrorInvalidValue
    SHOW(conditional_add(c, graph, nullptr, cudaGraphCondTypeIf, 1)); //> conditional_add(c, graph, nullptr, cudaGraphCondTypeIf, 1): cudaSuccess
    MUST(cudaGraphNodeGetType(c.node, &type));
    HOLDS(type == cudaGraphNodeTypeConditional); //> type == cudaGraphNodeTypeConditional: yes
    SHOW(cudaGraphDestroy(graph));       //> cudaGraphDestroy(graph): cudaSuccess
}
