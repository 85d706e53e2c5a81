/* api_user_object.c - objects that live as long as graphs refer to them. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/graph.h"
#include "cudart/graph/user_object.h"

#define REFERENCES_MAX 0x7fffffffu

CUDART_API cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *ptr,
                                            cudaHostFn_t destroy, unsigned count, unsigned flags)
{
    if (object == NULL || destroy == NULL || count == 0 || count > REFERENCES_MAX ||
        flags != cudaUserObjectNoDestructorSync)
        return error_record(cudaErrorInvalidValue);
    return error_record(user_object_new(ptr, destroy, count, object));
}

CUDART_API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
    return error_record(user_object_retain(object, count));
}

CUDART_API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
    return error_record(user_object_release(object, count));
}

/* cudaGraphUserObjectMove: the graph takes over the caller's references; otherwise it adds its own.
 */
CUDART_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                 unsigned count, unsigned flags)
{
    cudaError_t error =
        count > 0 && flags <= cudaGraphUserObjectMove ? cudaSuccess : cudaErrorInvalidValue;

    if (error == cudaSuccess && flags != cudaGraphUserObjectMove)
        error = user_object_retain(object, count);
    if (error == cudaSuccess)
        error = graph_retain(graph, object, count);
    return error_record(error);
}

CUDART_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                  unsigned count)
{
    return error_record(graph_release(graph, object, count));
}
