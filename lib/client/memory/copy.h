/*
 * copy.h - copies between host and device, and within the device. A copy is one record if the
 * device can access the host memory; otherwise it goes slice by slice through the staging chunks.
 * Any thread.
 */
#ifndef GS_CLIENT_COPY_H
#define GS_CLIENT_COPY_H

#include <stdbool.h>

#include "client/session/session.h"

struct copy {
    enum rec_copy_kind kind;
    uint64_t device;    /* address: destination, or source of DTOH */
    uint64_t device_to; /* DTOD: destination; `device` is the source */
    void *host;         /* HTOD: only read */
    uint64_t size;      /* not 0 */
};

/* Queues the copy on the stream, and waits for it if `wait` is true. A copy to ordinary memory
 * always waits. */
gs_status copy_run(struct session *session, gs_stream stream, const struct copy *copy, bool wait);

/* Returns the size of each slice of a large copy of `size` bytes. */
uint64_t copy_slice(uint64_t size);

#endif
