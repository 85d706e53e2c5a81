/*
 * capture_list.h - the captures in progress. One lock guards all captures, and their fields in
 * streams and events.
 */
#ifndef GS_CUDART_CAPTURE_LIST_H
#define GS_CUDART_CAPTURE_LIST_H

#include <pthread.h>

#include "cudart/state/stream.h"

struct capture {
    struct capture *next;
    uint64_t id;
    enum cudaStreamCaptureMode mode;
    pthread_t thread; /* the thread that began it */
    cudaGraph_t graph;
    bool graph_given;       /* the program provided the graph, and keeps it */
    struct stream *origin;  /* the stream in which the capture began, and has to end */
    struct stream *streams; /* all streams of the capture, linked by capture_next */
    cudaGraphNode_t *left;  /* the last nodes of streams that were destroyed during the capture */
    size_t left_count;
    bool invalid; /* a call could not be captured: ending the capture yields no graph */
};

/* Lock and unlock all captures. */
void captures_enter(void);
void captures_leave(void);
/* Whether no stream captures. Takes no lock, so that calls are fast while there are no captures. */
bool captures_none(void);

/* The functions below need the lock. */

/* Adds a capture to the list, and gives it a number. */
void capture_list(struct capture *capture);
/* The first capture of the list; NULL: the list is empty. */
struct capture *capture_first(void);
/* The capture with that number; NULL: it has ended. */
struct capture *capture_find(uint64_t id);
/* The capture of the stream; NULL: the stream does not capture. */
struct capture *stream_capture(const struct stream *stream);
/* Invalidates the capture, and returns `error`. */
cudaError_t capture_invalidate(struct capture *capture, cudaError_t error);
/* Removes the capture from the list, and frees it. Its streams stop capturing. */
void capture_free(struct capture *capture);

#endif
