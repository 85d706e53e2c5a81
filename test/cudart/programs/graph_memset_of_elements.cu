// A memset node sets elements of 1, 2 or 4 bytes, in rows of a pitch.
#include "show.h"

int main()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, next;
    cudaMemsetParams set = {};
    unsigned char *p, host[64];

    MUST(cudaMalloc(&p, 64));
    MUST(cudaMemset(p, 0xff, 64));
    MUST(cudaGraphCreate(&graph, 0));
    set.dst = p;
    set.value = 0x1234;
    set.elementSize = 2;
    set.width = 3;
    set.height = 2;
    set.pitch = 16;
    MUST(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
    set.dst = p + 32;
    set.value = 0x01020304;
    set.elementSize = 4;
    set.width = 2;
    set.height = 1;
    set.pitch = 0;
    MUST(cudaGraphAddMemsetNode(&next, graph, &node, 1, &set));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaMemcpy(host, p, 64, cudaMemcpyDeviceToHost));
    for (int row = 0; row < 3; row++)
        printf("%02x %02x %02x %02x %02x %02x %02x %02x %02x\n", host[row * 16], host[row * 16 + 1],
               host[row * 16 + 2], host[row * 16 + 3], host[row * 16 + 4], host[row * 16 + 5],
               host[row * 16 + 6], host[row * 16 + 7], host[row * 16 + 8]);
    //> 34 12 34 12 34 12 ff ff ff
    //> 34 12 34 12 34 12 ff ff ff
    //> 04 03 02 01 04 03 02 01 ff
}
