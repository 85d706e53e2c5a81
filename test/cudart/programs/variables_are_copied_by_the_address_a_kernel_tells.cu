// Device memory has one space of addresses: a kernel can tell the address of a variable that no
// call has named, and copies, memsets and cudaPointerGetAttributes take it.
#include "show.h"

struct item {
    int value;
    item *next;
};

static __device__ item last = {30, nullptr}, second = {20, &last}, first = {10, &second};
__device__ const char name[] = "a name";
__device__ int counter = 5;

struct told {
    const item *first;
    const char *name;
    int *counter;
};

__global__ void tell(told *out)
{
    *out = {&first, name, &counter};
}

__global__ void add(int *sum)
{
    *sum = counter;
}

static void copy_in_a_graph(int *there)
{
    cudaMemsetParams params = {there, 0, 7, 4, 1, 1};
    cudaGraph_t graph;
    cudaGraphNode_t set, copy;
    cudaGraphExec_t exec;
    int value = 0;

    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &params));
    MUST(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, &value, there, 4, cudaMemcpyDefault));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, nullptr));
    MUST(cudaDeviceSynchronize());
    printf("in a graph: %d\n", value);
}

int main()
{
    cudaPointerAttributes attributes;
    char text[sizeof(name)];
    told *out, at;
    int value = 0;
    item one;

    MUST(cudaMalloc(&out, sizeof(*out)));
    tell<<<1, 1>>>(out);
    MUST(cudaMemcpy(&at, out, sizeof(at), cudaMemcpyDeviceToHost));
    for (const item *i = at.first; i != nullptr; i = one.next) {
        MUST(cudaMemcpy(&one, i, sizeof(one), cudaMemcpyDefault));
        printf("%d\n", one.value); //> 10
    } //> 20
    //> 30
    MUST(cudaMemcpy(text, at.name, sizeof(text), cudaMemcpyDeviceToHost));
    printf("%s\n", text); //> a name
    MUST(cudaPointerGetAttributes(&attributes, at.counter));
    HOLDS(attributes.type == cudaMemoryTypeDevice); //> attributes.type == cudaMemoryTypeDevice: yes
    MUST(cudaMemset(at.counter, 1, sizeof(int)));
    add<<<1, 1>>>((int *)out);
    MUST(cudaMemcpy(&value, out, sizeof(value), cudaMemcpyDeviceToHost));
    printf("%x\n", value); //> 1010101
    copy_in_a_graph(at.counter); //> in a graph: 7
}
