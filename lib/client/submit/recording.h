/*
 * recording.h - a graph in the making: the records that a stream was given since gs_graph_begin.
 * Under the stream's lock.
 */
#ifndef GS_CLIENT_RECORDING_H
#define GS_CLIENT_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "gshare.h"

#define RECORDING_BYTES_MAX (64u << 20)

struct recording {
    unsigned char *bytes;
    size_t size, room;
    gs_status failed; /* of the first call that failed; GS_OK: none */
    char message[512];
};

struct recording *recording_new(void); /* NULL: no memory */
void recording_free(struct recording *recording);
/* Room for one more record. The caller adds its size to recording->size when it is filled in. */
gs_status recording_reserve(struct recording *recording, uint32_t size, void **record);
/* Keeps the first failure: a graph must not lack what its maker believes is in it. */
void recording_fail(struct recording *recording, gs_status status, const char *message);

#endif
