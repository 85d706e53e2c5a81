/*
 * recording.h - the recording of a graph: the records given to a stream since gs_graph_begin. Under
 * the stream's lock.
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
    uint32_t steps;   /* records other than REC_AFTER */
    gs_status failed; /* status of the first failed call; GS_OK: none failed */
    char message[512];
};

struct recording *recording_new(void); /* NULL: no memory */
void recording_free(struct recording *recording);
/* Makes room for one more record, which the caller fills in. GS_ERR_LIMIT, GS_ERR_NO_MEMORY. */
gs_status recording_reserve(struct recording *recording, uint32_t size, void **record);
void recording_commit(struct recording *recording, uint32_t size);
/* Notes the first failed call, which gs_graph_end then returns, so that no graph silently lacks a
 * call. */
void recording_fail(struct recording *recording, gs_status status, const char *message);

#endif
