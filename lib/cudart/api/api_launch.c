/* api_launch.c - launches. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/graph/submit.h"
#include "cudart/state/event.h"
#include "cudart/state/launch.h"

/* The stream for a kernel's launch; makes the call work on the stream's device. */
static cudaError_t launch_stream(const struct kernel *kernel, cudaStream_t handle, bool per_thread,
                                 struct stream **stream)
{
    return kernel != NULL ? stream_find(handle, per_thread, stream)
                          : cudaErrorInvalidResourceHandle;
}

/* attributes NULL: only those in the configuration. */
static cudaError_t launch(struct kernel *kernel, const gs_launch_config *config, size_t shared,
                          void **args, struct stream *stream,
                          const struct launch_attributes *attributes)
{
    cudaError_t error;

    if (stream_capturing(stream))
        return error_record(capture_launch(stream, kernel, config, shared, args, attributes));
    error = kernel_launch(kernel, config, shared, args, stream);
    if (error == cudaErrorStreamCaptureImplicit)
        capture_forbids_legacy(stream); /* invalidates the captures, as other work does */
    return error_record(error);
}

static cudaError_t launch_plain(struct kernel *kernel, dim3 grid, dim3 block, void **args,
                                size_t shared, cudaStream_t handle, bool per_thread,
                                bool cooperative)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_INIT;
    struct stream *stream;
    cudaError_t error = launch_stream(kernel, handle, per_thread, &stream);

    if (error != cudaSuccess)
        return error_record(error);
    config.grid = (gs_dim3){grid.x, grid.y, grid.z};
    config.block = (gs_dim3){block.x, block.y, block.z};
    config.dynamic_smem = (unsigned)shared;
    config.cooperative = cooperative;
    return launch(kernel, &config, shared, args, stream, NULL);
}

/* ---- What stubs call ------------------------------------------------------------------------- */

CUDART_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                          size_t shared, cudaStream_t stream)
{
    return launch_plain((struct kernel *)kernel, grid, block, args, shared, stream, false, false);
}

CUDART_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                               void **args, size_t shared, cudaStream_t stream)
{
    return launch_plain((struct kernel *)kernel, grid, block, args, shared, stream, true, false);
}

/* ---- What programs call ---------------------------------------------------------------------- */

CUDART_API cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **args,
                                        size_t shared, cudaStream_t stream)
{
    return launch_plain(kernel_find(stub), grid, block, args, shared, stream, false, false);
}

CUDART_API cudaError_t cudaLaunchKernel_ptsz(const void *stub, dim3 grid, dim3 block, void **args,
                                             size_t shared, cudaStream_t stream)
{
    return launch_plain(kernel_find(stub), grid, block, args, shared, stream, true, false);
}

CUDART_API cudaError_t cudaLaunchCooperativeKernel(const void *stub, dim3 grid, dim3 block,
                                                   void **args, size_t shared, cudaStream_t stream)
{
    return launch_plain(kernel_find(stub), grid, block, args, shared, stream, false, true);
}

CUDART_API cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *stub, dim3 grid, dim3 block,
                                                        void **args, size_t shared,
                                                        cudaStream_t stream)
{
    return launch_plain(kernel_find(stub), grid, block, args, shared, stream, true, true);
}

/* The attributes of a launch that a graph node does not keep. */
struct launch_extras {
    bool programmatic;
    /* Events of the launch; NULL: none. Either may complete as late as the kernel, so both are
     * recorded after it. */
    cudaEvent_t trigger, begun;
};

/* Accepts an event for a launch in the stream. */
static cudaError_t event_take(cudaEvent_t given, int flags, const struct stream *stream,
                              cudaEvent_t *taken)
{
    gs_event event;
    cudaError_t error = event_find(given, &event);

    if (error == cudaSuccess && event_device(given) != stream->device)
        error = cudaErrorInvalidResourceHandle;
    if (error != cudaSuccess)
        return error;
    if ((flags & ~cudaEventRecordExternal) != 0)
        return cudaErrorInvalidValue;
    if (flags != 0 && !stream_capturing(stream))
        return cudaErrorIllegalState;
    /* CUDA supports none of these for such launches. */
    if (flags != 0 || event_shared(given) != NULL || !(event_flags(given) & cudaEventDisableTiming))
        return cudaErrorNotSupported;
    *taken = given;
    return cudaSuccess;
}

/* Applies the attributes of a launch. Attributes that launch_attribute_set does not use are hints.
 */
static cudaError_t attributes_take(const cudaLaunchConfig_t *config, const struct stream *stream,
                                   struct launch_attributes *attributes,
                                   struct launch_extras *extras)
{
    cudaError_t error = cudaSuccess;

    for (unsigned i = 0; i < config->numAttrs && error == cudaSuccess; i++) {
        const cudaLaunchAttributeValue *value = &config->attrs[i].val;

        switch ((int)config->attrs[i].id) {
        case cudaLaunchAttributeIgnore:
        case cudaLaunchAttributeSynchronizationPolicy:
        case cudaLaunchAttributePreferredClusterDimension:
            break;
        case cudaLaunchAttributeProgrammaticStreamSerialization:
            extras->programmatic = value->programmaticStreamSerializationAllowed != 0;
            break;
        case cudaLaunchAttributeProgrammaticEvent:
            error = event_take(value->programmaticEvent.event, value->programmaticEvent.flags,
                               stream, &extras->trigger);
            break;
        case cudaLaunchAttributeLaunchCompletionEvent:
            error = event_take(value->launchCompletionEvent.event,
                               value->launchCompletionEvent.flags, stream, &extras->begun);
            break;
        default:
            error = launch_attribute_set(attributes, config->attrs[i].id, value);
        }
    }
    return error;
}

static cudaError_t launch_extended(const cudaLaunchConfig_t *config, const void *stub, void **args,
                                   bool per_thread)
{
    gs_launch_config plain = GS_LAUNCH_CONFIG_INIT;
    struct launch_attributes attributes = {0};
    struct kernel *kernel = kernel_find(stub);
    struct stream *stream;
    struct launch_extras extras = {0};
    cudaError_t error;

    if (config == NULL)
        return error_record(cudaErrorInvalidValue);
    error = launch_stream(kernel, config->stream, per_thread, &stream);
    if (error != cudaSuccess)
        return error_record(error);
    attributes.priority = stream->priority;
    error = attributes_take(config, stream, &attributes, &extras);
    if (error != cudaSuccess)
        return error_record(error);
    plain.grid = (gs_dim3){config->gridDim.x, config->gridDim.y, config->gridDim.z};
    plain.block = (gs_dim3){config->blockDim.x, config->blockDim.y, config->blockDim.z};
    plain.dynamic_smem = (unsigned)config->dynamicSmemBytes;
    plain.cooperative = attributes.cooperative;
    plain.programmatic = extras.programmatic;
    plain.cluster = launch_cluster(&attributes);
    error = launch(kernel, &plain, config->dynamicSmemBytes, args, stream, &attributes);
    if (error == cudaSuccess && extras.trigger != NULL)
        error = submit_record(stream, extras.trigger);
    if (error == cudaSuccess && extras.begun != NULL)
        error = submit_record(stream, extras.begun);
    return error_record(error);
}

CUDART_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *stub,
                                           void **args)
{
    return launch_extended(config, stub, args, false);
}

CUDART_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *stub,
                                                void **args)
{
    return launch_extended(config, stub, args, true);
}
