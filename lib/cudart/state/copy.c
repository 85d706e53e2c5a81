/* copy.c - see copy.h. */
#include "cudart/state/copy.h"

#include <string.h>

#include "cudart/state/managed.h"
#include "cudart/state/memory_map.h"

bool copy_is_device(const void *ptr)
{
    struct memory_range range;

    return copy_host_cannot_reach(ptr) || (memory_map_find(ptr, &range) && !memory_is_host(&range));
}

bool copy_host_cannot_reach(const void *ptr)
{
    struct memory_range range;

    return device_of_window(ptr) >= 0 &&
           !(memory_map_find(ptr, &range) && range.kind == MEMORY_PINNED);
}

/* Resolves cudaMemcpyDefault by the addresses. For other kinds, checks that the host's side is host
 * memory; libgshare checks the device's side. */
static cudaError_t kind_resolve(const void *dst, const void *src, enum cudaMemcpyKind *kind)
{
    bool to_device, from_device;

    if ((unsigned)*kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    /* Memory that host and device both reach counts as device memory: libgshare must not touch the
     * host's pages. */
    if (*kind == cudaMemcpyDefault) {
        to_device = copy_is_device(dst) || managed_has(dst);
        from_device = copy_is_device(src) || managed_has(src);
    } else {
        to_device = *kind == cudaMemcpyHostToDevice || *kind == cudaMemcpyDeviceToDevice ||
                    managed_has(dst);
        from_device = *kind == cudaMemcpyDeviceToHost || *kind == cudaMemcpyDeviceToDevice ||
                      managed_has(src);
        if ((!to_device && copy_host_cannot_reach(dst)) ||
            (!from_device && copy_host_cannot_reach(src)))
            return cudaErrorInvalidValue;
    }
    *kind = from_device ? to_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost
            : to_device ? cudaMemcpyHostToDevice
                        : cudaMemcpyHostToHost;
    return cudaSuccess;
}

/* Whether rows of device memory lie within one allocation. libgshare cannot tell: to it, all blocks
 * of an arena are one allocation. */
static bool rows_allowed(const void *ptr, size_t pitch, size_t width, size_t height)
{
    size_t size;

    return !__builtin_mul_overflow(pitch, height - 1, &size) &&
           !__builtin_add_overflow(size, width, &size) && memory_map_allows(ptr, size);
}

static gs_status copy_row(struct stream *stream, void *dst, const void *src, size_t size,
                          enum cudaMemcpyKind kind)
{
    gs_session session = device_session();

    switch (kind) {
    case cudaMemcpyHostToDevice:
        return gs_memcpy_htod_async(session, (uint64_t)(uintptr_t)dst, src, size, stream->handle);
    case cudaMemcpyDeviceToHost:
        return gs_memcpy_dtoh_async(session, dst, (uint64_t)(uintptr_t)src, size, stream->handle);
    case cudaMemcpyDeviceToDevice:
        return gs_memcpy_dtod_async(session, (uint64_t)(uintptr_t)dst, (uint64_t)(uintptr_t)src,
                                    size, stream->handle);
    default:
        memcpy(dst, src, size);
        return GS_OK;
    }
}

/* Gives the rows to the session as one copy; a stream that records a graph only takes plain copies.
 */
static gs_status copy_rows_give(struct stream *stream, void *dst, size_t dst_pitch, const void *src,
                                size_t src_pitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind)
{
    gs_memcpy_3d_params params = GS_MEMCPY_3D_PARAMS_INIT;
    gs_status status = GS_OK;

    if (height > 1 && kind != cudaMemcpyHostToHost && !stream->records) {
        params.width = width;
        params.height = height;
        params.dst.pitch = dst_pitch;
        params.src.pitch = src_pitch;
        if (kind == cudaMemcpyDeviceToHost)
            params.dst.host = dst;
        else
            params.dst.device = (uint64_t)(uintptr_t)dst;
        if (kind == cudaMemcpyHostToDevice)
            params.src.host = (void *)(uintptr_t)src; // NOLINT: it is only read
        else
            params.src.device = (uint64_t)(uintptr_t)src;
        return gs_memcpy_3d_async(device_session(), &params, stream->handle);
    }
    for (size_t row = 0; row < height && status == GS_OK; row++)
        status = copy_row(stream, (char *)dst + row * dst_pitch,
                          (const char *)src + row * src_pitch, width, kind);
    return status;
}

cudaError_t copy_rows(struct stream *stream, void *dst, size_t dst_pitch, const void *src,
                      size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                      bool wait)
{
    cudaError_t error = kind_resolve(dst, src, &kind);
    gs_status status;
    bool held;

    if (width == 0 || height == 0)
        return error == cudaErrorInvalidMemcpyDirection ? error : cudaSuccess;
    if (error != cudaSuccess)
        return error;
    if (width > dst_pitch || width > src_pitch)
        return cudaErrorInvalidPitchValue;
    if (width == dst_pitch && width == src_pitch) {
        width *= height;
        height = 1;
    }
    if (((kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) &&
         !rows_allowed(dst, dst_pitch, width, height)) ||
        ((kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice) &&
         !rows_allowed(src, src_pitch, width, height)))
        return cudaErrorInvalidValue;
    status = managed_work_begin(&held);
    if (status != GS_OK)
        return device_error(status);
    status = stream_enter(stream);
    /* A copy by the host itself must keep the stream's order, too. */
    if (status == GS_OK && kind == cudaMemcpyHostToHost)
        status = stream_wait(stream);
    if (status == GS_OK)
        status = copy_rows_give(stream, dst, dst_pitch, src, src_pitch, width, height, kind);
    managed_work_end(held);
    if (status == GS_OK)
        stream_leave(stream);
    if (status == GS_OK && wait && kind != cudaMemcpyDeviceToDevice)
        status = stream_wait(stream);
    return stream_error(stream, status);
}

static gs_status set_row(struct stream *stream, gs_devptr dst, const struct pattern *pattern,
                         size_t width)
{
    gs_session session = device_session();

    switch (pattern->element) {
    case 2:
        return gs_memset_d16_async(session, dst, (uint16_t)pattern->value, width / 2,
                                   stream->handle);
    case 4:
        return gs_memset_d32_async(session, dst, pattern->value, width / 4, stream->handle);
    default:
        return gs_memset_async(session, dst, (int)(pattern->value & 0xff), width, stream->handle);
    }
}

/* Sets the first row, then copies it in doubling steps: 13 records for 4,096 rows. */
static gs_status set_rows_give(struct stream *stream, char *dst, size_t pitch,
                               const struct pattern *pattern, size_t width, size_t height)
{
    gs_status status = set_row(stream, (uint64_t)(uintptr_t)dst, pattern, width);

    for (size_t done = 1, more; done < height && status == GS_OK; done += more) {
        more = stream->records ? 1 : done < height - done ? done : height - done;
        if (stream->records)
            status = set_row(stream, (uint64_t)(uintptr_t)(dst + done * pitch), pattern, width);
        else
            status = copy_rows_give(stream, dst + done * pitch, pitch, dst, pitch, width, more,
                                    cudaMemcpyDeviceToDevice);
    }
    return status;
}

cudaError_t set_rows(struct stream *stream, void *dst, size_t pitch, const struct pattern *pattern,
                     size_t width, size_t height)
{
    gs_status status;
    bool held;

    if (width == 0 || height == 0)
        return cudaSuccess;
    if (width > pitch && height > 1)
        return cudaErrorInvalidValue;
    if (width == pitch) {
        width *= height;
        height = 1;
    }
    if (!rows_allowed(dst, pitch, width, height))
        return cudaErrorInvalidValue;
    status = managed_work_begin(&held);
    if (status != GS_OK)
        return device_error(status);
    status = stream_enter(stream);
    if (status == GS_OK)
        status = set_rows_give(stream, dst, pitch, pattern, width, height);
    managed_work_end(held);
    if (status == GS_OK)
        stream_leave(stream);
    return stream_error(stream, status);
}
