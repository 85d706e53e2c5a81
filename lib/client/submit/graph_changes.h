/*
 * graph_changes.h - what the steps of a recorded graph do now: their records as they were recorded,
 * which the server has, and as they are since gs_graph_change. A launch carries the difference, so
 * that it stands for itself: those before it and in other streams have theirs. A graph of more than
 * SEG_GRAPH_NODES steps is several graphs of the server's, its sections, and each has a difference.
 *
 * The session's graph owns one. Any thread: a lock of its own guards what changes.
 */
#ifndef GS_CLIENT_GRAPH_CHANGES_H
#define GS_CLIENT_GRAPH_CHANGES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "client/submit/recording.h"

/* The difference of one graph of the server's, as it follows a rec_graph. */
struct graph_difference {
    unsigned char *bytes; /* NULL: nothing was ever different */
    uint32_t size;
    bool due; /* it is to be made anew */
};

struct graph_changes {
    unsigned char *recorded;
    size_t bytes;
    uint32_t *offset; /* of each step's record */
    uint32_t steps;
    pthread_mutex_t lock;                /* guards what follows */
    _Atomic bool ever;                   /* something has been changed; read without the lock */
    unsigned char *now;                  /* the records as they are now; NULL until ever */
    unsigned char *state;                /* of each step: its flags, see graph_changes.c */
    struct graph_difference *difference; /* of each graph of the server's */
    unsigned char *draft;
};

/* Takes the records from the recording. NULL: there is no memory, which the message says. */
struct graph_changes *graph_changes_new(struct recording *recording);
void graph_changes_free(struct graph_changes *changes);

/* Puts the recording's calls in the places of these steps; steps NULL: of the first `count`. On
 * failure nothing has changed. GS_ERR_INVALID_VALUE, GS_ERR_NOT_SUPPORTED, GS_ERR_LIMIT,
 * GS_ERR_NO_MEMORY. */
gs_status graph_changes_put(struct graph_changes *changes, struct recording *recording,
                            const unsigned *steps, unsigned count);
/* Has launches leave the steps out, or make them again. Statuses as above. */
gs_status graph_changes_enable(struct graph_changes *changes, const unsigned *steps, unsigned count,
                               bool enabled);

/* The bytes of a section's difference. */
uint32_t graph_difference_size(struct graph_changes *changes, uint32_t section);
/* Copies it. False: its size is not `size` any more. */
bool graph_difference_copy(struct graph_changes *changes, uint32_t section, void *to,
                           uint32_t size);

#endif
