/* recording.c - see recording.h. */
#include "client/submit/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "common/wire.h"

struct recording *recording_new(void)
{
    return calloc(1, sizeof(struct recording));
}

void recording_free(struct recording *recording)
{
    if (!recording)
        return;
    free(recording->bytes);
    free(recording);
}

gs_status recording_reserve(struct recording *recording, uint32_t size, void **record)
{
    if (recording->size + size > RECORDING_BYTES_MAX)
        return error_set(GS_ERR_LIMIT, "the graph's records reach %u bytes, the limit",
                         RECORDING_BYTES_MAX);
    if (recording->size + size > recording->room) {
        /* The first room is so large that twice the room always holds one more record. */
        size_t room = recording->room ? recording->room * 2 : 2 * REC_SIZE_MAX;
        unsigned char *bytes = realloc(recording->bytes, room);
        if (!bytes)
            return error_set(GS_ERR_NO_MEMORY, "no memory for %zu bytes of graph records", room);
        recording->bytes = bytes;
        recording->room = room;
    }
    *record = recording->bytes + recording->size;
    memset(*record, 0, size); /* records of equal calls are equal: graph_changes.c compares them */
    return GS_OK;
}

void recording_commit(struct recording *recording, uint32_t size)
{
    const struct rec_header *record = (const void *)(recording->bytes + recording->size);

    recording->steps += record->op != REC_AFTER;
    recording->size += size;
}

void recording_fail(struct recording *recording, gs_status status, const char *message)
{
    if (recording->failed != GS_OK)
        return;
    recording->failed = status;
    snprintf(recording->message, sizeof(recording->message), "%s", message);
}
