/* peer.c - see peer.h. */
#include "cudart/state/peer.h"

#include <pthread.h>

#include "cudart/base/error.h"
#include "cudart/state/managed.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/peer_access.h"
#include "cudart/state/pinned.h"

#define SLICE ((size_t)4 << 20)

/* Pinned memory of the device that is read, by device number; NULL: none yet. One copy at a time
 * uses it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    gs_session session; /* the session that owns it */
    char *buffer;       /* room for two slices */
} means[DEVICES_MAX];

/* The device whose memory the address is; -1: host memory, or memory of the stream's device. */
static int side_device(const void *ptr)
{
    struct memory_range range;

    if (memory_map_find(ptr, &range))
        return memory_is_host(&range) && range.kind != MEMORY_MAPPED ? -1 : (int)range.device;
    return device_of_window(ptr);
}

/* Makes a copy that involves one device, and waits until it is complete. */
static cudaError_t one_copy(unsigned number, void *dst, size_t dst_pitch, const void *src,
                            size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                            bool wait)
{
    struct stream *stream = stream_legacy(number);
    cudaError_t error;

    device_enter(number);
    error = copy_rows(stream, dst, dst_pitch, src, src_pitch, width, height, kind, false);
    return error == cudaSuccess && wait ? stream_error(stream, stream_wait(stream)) : error;
}

/* ---- Between two devices: the lock is held --------------------------------------------------- */

/* NULL: *error says why. */
static char *buffer_of(unsigned number, cudaError_t *error)
{
    void *made;

    device_enter(number);
    *error = cudaSuccess;
    if (means[number].buffer != NULL && means[number].session == device_session())
        return means[number].buffer;
    *error = device_host_error(gs_host_alloc(device_session(), 2 * SLICE, &made));
    if (*error != cudaSuccess)
        return NULL;
    if (!pinned_add(made, 2 * SLICE, 0)) {
        gs_host_free(device_session(), made);
        *error = cudaErrorMemoryAllocation;
        return NULL;
    }
    means[number].session = device_session();
    means[number].buffer = made;
    return made;
}

static size_t slice_size(size_t size, size_t at)
{
    return size - at < SLICE ? size - at : SLICE;
}

/* Starts to read the slice at `at`, if the row continues there. */
static cudaError_t slice_read(unsigned from, const char *src, size_t size, size_t at, char *buffer)
{
    const size_t now = at < size ? slice_size(size, at) : 0;

    return now == 0 ? cudaSuccess
                    : one_copy(from, buffer + at / SLICE % 2 * SLICE, now, src + at, now, now, 1,
                               cudaMemcpyDeviceToHost, false);
}

/* Copies one row slice by slice: the next slice is read while one is written. */
static cudaError_t row_copy(unsigned to, char *dst, unsigned from, const char *src, size_t size,
                            char *buffer)
{
    struct stream *reads = stream_legacy(from);
    cudaError_t error = slice_read(from, src, size, 0, buffer);

    for (size_t at = 0; at < size && error == cudaSuccess; at += SLICE) {
        const size_t now = slice_size(size, at);

        device_enter(from);
        error = stream_error(reads, stream_wait(reads));
        if (error == cudaSuccess)
            error = slice_read(from, src, size, at + SLICE, buffer);
        if (error == cudaSuccess)
            error = one_copy(to, dst + at, now, buffer + at / SLICE % 2 * SLICE, now, now, 1,
                             cudaMemcpyHostToDevice, true);
    }
    return error;
}

static cudaError_t two_copy(unsigned to, char *dst, size_t dst_pitch, unsigned from,
                            const char *src, size_t src_pitch, size_t width, size_t height)
{
    cudaError_t error;
    char *buffer;

    if (width == dst_pitch && width == src_pitch) {
        width *= height;
        height = 1;
    }
    pthread_mutex_lock(&lock);
    buffer = buffer_of(from, &error);
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error = row_copy(to, dst + row * dst_pitch, from, src + row * src_pitch, width, buffer);
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- What is called -------------------------------------------------------------------------- */

/* Whether memory of a device other than the stream's is involved. */
static bool is_elsewhere(const struct stream *stream, int device)
{
    return device >= 0 && (unsigned)device != stream->device;
}

/* Whether both sides may be device memory. Managed memory is host memory, too. */
static cudaError_t between_check(const void *dst, const void *src, enum cudaMemcpyKind kind)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (((kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) && !managed_has(src)) ||
        ((kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) && !managed_has(dst)))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* to, from: the devices of the two sides, from side_device. */
static cudaError_t elsewhere_copy(struct stream *stream, int to, void *dst, size_t dst_pitch,
                                  int from, const void *src, size_t src_pitch, size_t width,
                                  size_t height, enum cudaMemcpyKind kind)
{
    cudaError_t error;

    if (width > dst_pitch || width > src_pitch)
        return width == 0 || height == 0 ? cudaSuccess : cudaErrorInvalidPitchValue;
    error = stream_wait_earlier(stream);
    if (error != cudaSuccess || width == 0 || height == 0)
        return error;
    if (to < 0 || from < 0 || to == from)
        return one_copy((unsigned)(to >= 0 ? to : from), dst, dst_pitch, src, src_pitch, width,
                        height, kind, true);
    error = between_check(dst, src, kind);
    if (error != cudaSuccess)
        return error;
    return two_copy((unsigned)to, dst, dst_pitch, (unsigned)from, src, src_pitch, width, height);
}

/* Whether the stream's device reaches the side's memory, which is mapped if it is another device's.
 */
static bool side_reached(const struct stream *stream, int device, const void *ptr)
{
    return !is_elsewhere(stream, device) || pinned_reached(stream->device, ptr) ||
           peer_access_reaches(stream->device, (unsigned)device, ptr);
}

/* Waits for the legacy stream of another device. */
static cudaError_t legacy_wait(int device)
{
    struct stream *stream = stream_legacy((unsigned)device);
    gs_status status;

    device_enter((unsigned)device);
    status = stream_enter(stream);
    if (status == GS_OK)
        status = stream_wait(stream);
    return stream_error(stream, status);
}

/* A copy that the stream's device makes by itself. As in CUDA, the legacy streams of both devices
 * share one order for it: earlier work of either comes before the copy, later work after it. */
static cudaError_t reached_copy(struct stream *stream, int to, void *dst, size_t dst_pitch,
                                int from, const void *src, size_t src_pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind, bool wait)
{
    const bool legacy = stream == stream_legacy(stream->device);
    cudaError_t error = cudaSuccess;

    if (legacy && is_elsewhere(stream, to))
        error = legacy_wait(to);
    if (legacy && is_elsewhere(stream, from) && error == cudaSuccess)
        error = legacy_wait(from);
    device_enter(stream->device);
    if (error == cudaSuccess)
        error = copy_rows(stream, dst, dst_pitch, src, src_pitch, width, height, kind, wait);
    if (error == cudaSuccess && legacy)
        error = stream_error(stream, stream_wait(stream));
    return error;
}

cudaError_t peer_copy_rows(struct stream *stream, void *dst, size_t dst_pitch, const void *src,
                           size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                           bool wait)
{
    const unsigned own = device_number();
    int to, from;
    cudaError_t error;

    if (device_count() < 2)
        return copy_rows(stream, dst, dst_pitch, src, src_pitch, width, height, kind, wait);
    to = side_device(dst);
    from = side_device(src);
    if (!is_elsewhere(stream, to) && !is_elsewhere(stream, from))
        return copy_rows(stream, dst, dst_pitch, src, src_pitch, width, height, kind, wait);
    if (side_reached(stream, to, dst) && side_reached(stream, from, src))
        error = reached_copy(stream, to, dst, dst_pitch, from, src, src_pitch, width, height, kind,
                             wait);
    else
        error =
            elsewhere_copy(stream, to, dst, dst_pitch, from, src, src_pitch, width, height, kind);
    /* The call may have more work for the stream: another slice, or another copy of a batch. */
    device_enter(own);
    return error;
}

/* A memset of memory of another device. */
static cudaError_t elsewhere_set(unsigned number, void *dst, size_t pitch,
                                 const struct pattern *pattern, size_t width, size_t height)
{
    struct stream *stream = stream_legacy(number);
    cudaError_t error;

    device_enter(number);
    error = set_rows(stream, dst, pitch, pattern, width, height);
    return error == cudaSuccess ? stream_error(stream, stream_wait(stream)) : error;
}

cudaError_t peer_set_rows(struct stream *stream, void *dst, size_t pitch,
                          const struct pattern *pattern, size_t width, size_t height)
{
    const int device = device_count() > 1 ? memory_map_device(dst) : -1;
    const unsigned own = device_number();
    struct memory_range range;
    cudaError_t error;

    if (side_reached(stream, device, dst))
        return set_rows(stream, dst, pitch, pattern, width, height);
    if (!managed_has(dst) && !(memory_map_find(dst, &range) && memory_is_host(&range)))
        return cudaErrorInvalidValue;
    error = stream_wait_earlier(stream);
    if (error == cudaSuccess)
        error = elsewhere_set((unsigned)device, dst, pitch, pattern, width, height);
    device_enter(own); /* as above */
    return error;
}

/* The beginning of the box, and the distance from one slice to the next. */
static char *box_at(const struct cudaPitchedPtr *memory, const struct cudaPos *at, size_t *slice)
{
    *slice = memory->pitch * memory->ysize;
    return (char *)memory->ptr + at->z * *slice + at->y * memory->pitch + at->x;
}

cudaError_t peer_copy_box(struct stream *stream, const struct cudaMemcpy3DParms *p, bool wait)
{
    size_t dst_slice, src_slice;
    char *dst = box_at(&p->dstPtr, &p->dstPos, &dst_slice);
    const char *src = box_at(&p->srcPtr, &p->srcPos, &src_slice);
    cudaError_t error = cudaSuccess;

    for (size_t z = 0; z < p->extent.depth && error == cudaSuccess; z++)
        error = peer_copy_rows(stream, dst + z * dst_slice, p->dstPtr.pitch, src + z * src_slice,
                               p->srcPtr.pitch, p->extent.width, p->extent.height, p->kind,
                               wait && z + 1 == p->extent.depth);
    return error;
}
