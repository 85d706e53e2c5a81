/* capture_list.c - see capture_list.h. */
#include "cudart/graph/capture_list.h"

#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *captures;
static uint64_t ids;
static _Atomic unsigned count; /* the number of captures, for captures_none */

void captures_enter(void)
{
    pthread_mutex_lock(&lock);
}

void captures_leave(void)
{
    pthread_mutex_unlock(&lock);
}

bool captures_none(void)
{
    /* relaxed: a thread that must see a capture was synchronised with its beginning */
    return atomic_load_explicit(&count, memory_order_relaxed) == 0;
}

void capture_list(struct capture *capture)
{
    capture->id = ++ids;
    capture->next = captures;
    captures = capture;
    atomic_fetch_add(&count, 1);
}

struct capture *capture_first(void)
{
    return captures;
}

struct capture *stream_capture(const struct stream *stream)
{
    return atomic_load_explicit(&stream->capture, memory_order_relaxed);
}

struct capture *capture_find(uint64_t id)
{
    struct capture *capture = captures;

    while (capture != NULL && capture->id != id)
        capture = capture->next;
    return capture;
}

cudaError_t capture_invalidate(struct capture *capture, cudaError_t error)
{
    capture->invalid = true;
    return error;
}

void capture_free(struct capture *capture)
{
    struct capture **link = &captures;

    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    for (struct stream *stream = capture->streams; stream != NULL; stream = stream->capture_next)
        atomic_store(&stream->capture, NULL);
    atomic_fetch_sub(&count, 1);
    free(capture->left);
    free(capture);
}
