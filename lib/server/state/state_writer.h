/*
 * state_writer.h - writes the state file beside the loop: a disk may take its time. The loop hands
 * over text and goes on; a thread of its own, which touches nothing else, writes the newest.
 */
#ifndef GS_SERVER_STATE_WRITER_H
#define GS_SERVER_STATE_WRITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "server/base/loop.h"
#include "server/state/settings.h"
#include "server/state/state_file.h"

struct state_writer {
    const char *path;  /* NULL: nothing is kept */
    struct watch done; /* an eventfd: the thread has written something */
    bool running;
    bool unheard; /* text was handed over, and what became of it is not known here yet */
    char failure[STATE_ERROR_MAX]; /* of the last write; "": it was good */
    /* Shared with the thread. */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    char *text; /* to be written; NULL: nothing new */
    size_t length;
    int held; /* the descriptor that holds the file */
    bool busy, stop;
    char result[STATE_ERROR_MAX];
};

/* path: NULL for none. held: of state_take, taken over in any case. What has become of a write is
 * known in the round after it. 0 or -errno. */
int state_writer_init(struct state_writer *writer, struct loop *loop, const char *path, int held);
/* Waits for what is to be written. Harmless on one that is not initialised. */
void state_writer_deinit(struct state_writer *writer, struct loop *loop);
/* Has a copy of the text written. */
void state_writer_write(struct state_writer *writer, const struct settings *settings);
/* Whether all that was handed over has been written, or state_writer_failure() says why not. */
bool state_writer_idle(const struct state_writer *writer);
/* Why the last write failed, or NULL. */
const char *state_writer_failure(const struct state_writer *writer);

#endif
