/* api_stream_attribute.c - attributes of streams: hints, which are stored and have no effect. */
#include <string.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/state/stream.h"

/* Where the stream stores the attribute; NULL: it does not. */
static cudaLaunchAttributeValue *attribute_at(struct stream *stream, cudaLaunchAttributeID id)
{
    switch ((int)id) {
    case cudaLaunchAttributeAccessPolicyWindow:
        return &stream->attributes[0];
    case cudaLaunchAttributeSynchronizationPolicy:
        return &stream->attributes[1];
    case cudaLaunchAttributeMemSyncDomainMap:
        return &stream->attributes[2];
    case cudaLaunchAttributeMemSyncDomain:
        return &stream->attributes[3];
    default:
        return NULL;
    }
}

static cudaError_t attribute_get(cudaStream_t handle, cudaLaunchAttributeID id,
                                 cudaLaunchAttributeValue *value, bool per_thread)
{
    const cudaLaunchAttributeValue *at;
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error != cudaSuccess)
        return error_record(error);
    at = attribute_at(stream, id);
    if (value == NULL || (at == NULL && id != cudaLaunchAttributePriority))
        return error_record(cudaErrorInvalidValue);
    if (at == NULL)
        value->priority = stream->priority;
    else
        *value = *at;
    /* NVIDIA's runtime returns this for a stream whose policy was not set. */
    if (id == cudaLaunchAttributeSynchronizationPolicy && value->syncPolicy == 0)
        value->syncPolicy = -1;
    return cudaSuccess;
}

static cudaError_t attribute_set(cudaStream_t handle, cudaLaunchAttributeID id,
                                 const cudaLaunchAttributeValue *value, bool per_thread)
{
    cudaLaunchAttributeValue *at;
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error != cudaSuccess)
        return error_record(error);
    at = attribute_at(stream, id);
    if (at == NULL || value == NULL)
        return error_record(cudaErrorInvalidValue);
    *at = *value;
    return cudaSuccess;
}

static cudaError_t attributes_copy(cudaStream_t to_handle, cudaStream_t from_handle,
                                   bool per_thread)
{
    struct stream *to, *from;
    cudaError_t error = stream_find(to_handle, per_thread, &to);

    if (error == cudaSuccess)
        error = stream_find(from_handle, per_thread, &from);
    if (error == cudaSuccess && to->device != from->device)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && to != from)
        memcpy(to->attributes, from->attributes, sizeof(to->attributes));
    return error_record(error);
}

CUDART_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                              cudaLaunchAttributeValue *value)
{
    return attribute_get(stream, id, value, false);
}

CUDART_API cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID id,
                                                   cudaLaunchAttributeValue *value)
{
    return attribute_get(stream, id, value, true);
}

CUDART_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                              const cudaLaunchAttributeValue *value)
{
    return attribute_set(stream, id, value, false);
}

CUDART_API cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID id,
                                                   const cudaLaunchAttributeValue *value)
{
    return attribute_set(stream, id, value, true);
}

CUDART_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    return attributes_copy(to, from, false);
}

CUDART_API cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from)
{
    return attributes_copy(to, from, true);
}
