/*
 * state_writer.h - writes the state file in a thread of its own, because a disk may be slow. The
 * loop hands text over and continues; the thread writes the newest text and touches nothing else.
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
    const char *path;  /* NULL: there is no state file */
    struct watch done; /* an eventfd: the thread has written something */
    bool running;
    bool unheard; /* text was handed over, and the loop has not learned the result yet */
    char failure[STATE_ERROR_MAX]; /* of the last write; "": it succeeded */
    /* Shared with the thread. */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    char *text; /* text to be written; NULL: nothing new */
    size_t length;
    int held; /* the descriptor that holds the file */
    bool busy, stop;
    char result[STATE_ERROR_MAX];
};

/* Starts the thread. `path`: NULL for no file. `held` is state_take's, and the writer owns it even
 * on failure. The loop learns the result of a write in the round after it. Returns 0 or -errno. */
int state_writer_init(struct state_writer *writer, struct loop *loop, const char *path, int held);
/* Waits until all text is written, and ends the thread. Does nothing on a writer that is not
 * initialised. */
void state_writer_deinit(struct state_writer *writer, struct loop *loop);
/* Hands the settings' text to the thread. */
void state_writer_write(struct state_writer *writer, const struct settings *settings);
/* Returns whether all text that was handed over has been written, or has failed
 * (state_writer_failure). */
bool state_writer_idle(const struct state_writer *writer);
/* Returns why the last write failed, or NULL. */
const char *state_writer_failure(const struct state_writer *writer);

#endif
