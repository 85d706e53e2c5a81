// A user object is destroyed with the last reference: the program's, a graph's, an executable graph's.
#include <atomic>

#include "show.h"

static std::atomic<int> destroyed;

static void destroy(void *)
{
    destroyed++;
}

int main()
{
    cudaUserObject_t object;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    SHOW(cudaUserObjectCreate(&object, nullptr, destroy, 1, 0)); //> cudaUserObjectCreate(&object, nullptr, destroy, 1, 0): cudaErrorInvalidValue
    SHOW(cudaUserObjectCreate(&object, nullptr, destroy, 1, cudaUserObjectNoDestructorSync)); //> cudaUserObjectCreate(&object, nullptr, destroy, 1, cudaUserObjectNoDestructorSync): cudaSuccess
    MUST(cudaUserObjectRetain(object, 1));
    MUST(cudaUserObjectRelease(object, 1));
    printf("%d\n", (int)destroyed); //> 0
    MUST(cudaGraphCreate(&graph, 0));
    SHOW(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove)); //> cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove): cudaSuccess
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    printf("%d\n", (int)destroyed); //> 0
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaDeviceSynchronize());
    MUST(cudaGraphExecDestroy(exec));
    while (destroyed == 0) /* at some time afterwards */
        ;
    printf("%d\n", (int)destroyed); //> 1
}
