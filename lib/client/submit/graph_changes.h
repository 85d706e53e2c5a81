/*
 * graph_changes.h - the changes that gs_graph_change has made to a recorded graph. It keeps the
 * steps' records as they were recorded, which the server has, and as they are now. Each launch
 * carries the difference, so that a change affects no launch before it, in whatever stream. A graph
 * of more than SEG_GRAPH_NODES steps consists of sections, each of which is a graph of the server
 * with a difference of its own.
 *
 * Each struct graph owns one. Any thread: its own lock guards the members that change.
 */
#ifndef GS_CLIENT_GRAPH_CHANGES_H
#define GS_CLIENT_GRAPH_CHANGES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "client/submit/recording.h"

/* The difference of one section, in the form that follows a rec_graph. */
struct graph_difference {
    unsigned char *bytes; /* NULL: the section was never changed */
    uint32_t size;
    bool due; /* the difference is out of date */
};

struct graph_changes {
    unsigned char *recorded;
    size_t bytes;
    uint32_t *offset; /* the offset of each step's record */
    uint32_t steps;
    pthread_mutex_t lock;                /* guards what follows */
    _Atomic bool ever;                   /* something has been changed; read without the lock */
    unsigned char *now;                  /* the records as they are now; NULL until ever */
    unsigned char *state;                /* each step's flags, see graph_changes.c */
    struct graph_difference *difference; /* of each section */
    unsigned char *draft;
};

/* Makes the changes of a new graph and takes the records over from the recording. NULL: no memory,
 * and the message is set. */
struct graph_changes *graph_changes_new(struct recording *recording);
void graph_changes_free(struct graph_changes *changes);

/* Replaces these steps by the calls of the recording; steps NULL: the first `count` steps. On
 * failure nothing has changed. GS_ERR_INVALID_VALUE, GS_ERR_NOT_SUPPORTED, GS_ERR_LIMIT,
 * GS_ERR_NO_MEMORY. */
gs_status graph_changes_put(struct graph_changes *changes, struct recording *recording,
                            const unsigned *steps, unsigned count);
/* Makes later launches include the steps, or leave them out. Statuses as above. */
gs_status graph_changes_enable(struct graph_changes *changes, const unsigned *steps, unsigned count,
                               bool enabled);

/* Returns the size of a section's difference in bytes. */
uint32_t graph_difference_size(struct graph_changes *changes, uint32_t section);
/* Copies a section's difference. Returns false if its size is no longer `size`. */
bool graph_difference_copy(struct graph_changes *changes, uint32_t section, void *to,
                           uint32_t size);

#endif
