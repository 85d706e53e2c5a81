// A value that is a handle in form, but was never given to the program, is an error and no crash.
#include <cstdint>

#include "show.h"

#define WRONG(call)                                                                                \
    do {                                                                                           \
        for (uintptr_t kind = 0; kind < 16; kind++) {                                              \
            const uintptr_t value = 100 << 4 | kind;                                               \
            const cudaError_t error = call;                                                        \
                                                                                                   \
            if (error != cudaErrorInvalidValue && error != cudaErrorInvalidResourceHandle)         \
                printf("%s of %zu: %s\n", #call, (size_t)value, cudaGetErrorName(error));          \
        }                                                                                          \
    } while (0)

int main()
{
    cudaGraphNodeType type;
    size_t count = 0;

    MUST(cudaFree(nullptr));
    WRONG(cudaStreamQuery((cudaStream_t)value));
    WRONG(cudaEventQuery((cudaEvent_t)value));
    WRONG(cudaGraphGetNodes((cudaGraph_t)value, nullptr, &count));
    WRONG(cudaGraphNodeGetType((cudaGraphNode_t)value, &type));
    WRONG(cudaGraphLaunch((cudaGraphExec_t)value, nullptr));
    WRONG(cudaGraphExecDestroy((cudaGraphExec_t)value));
    WRONG(cudaUserObjectRelease((cudaUserObject_t)value, 1));
    WRONG(cudaMemPoolTrimTo((cudaMemPool_t)value, 0));
    printf("done\n"); //> done
}
