/* state_writer.c - see state_writer.h. */
#include "server/state/state_writer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/log.h"
#include "server/base/thread.h"

static void *writer_run(void *argument)
{
    struct state_writer *writer = argument;
    uint64_t one = 1;

    pthread_mutex_lock(&writer->lock);
    for (;;) {
        char result[STATE_ERROR_MAX] = "", *text;
        size_t length;

        while (!writer->text && !writer->stop)
            pthread_cond_wait(&writer->more, &writer->lock);
        if (!writer->text)
            break;
        text = writer->text;
        length = writer->length;
        writer->text = NULL;
        writer->busy = true;
        pthread_mutex_unlock(&writer->lock);
        state_save(writer->path, &writer->held, text, length, result);
        free(text);
        pthread_mutex_lock(&writer->lock);
        writer->busy = false;
        memcpy(writer->result, result, sizeof(result));
        /* The write fails only if the eventfd is readable already. */
        ssize_t n = write(writer->done.fd, &one, sizeof(one));
        (void)n;
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

static void done_ready(struct watch *watch, uint32_t events)
{
    struct state_writer *writer = container_of(watch, struct state_writer, done);
    char before[STATE_ERROR_MAX];
    uint64_t count;

    (void)events;
    if (read(watch->fd, &count, sizeof(count)) != sizeof(count))
        return;
    memcpy(before, writer->failure, sizeof(before));
    pthread_mutex_lock(&writer->lock);
    memcpy(writer->failure, writer->result, sizeof(writer->failure));
    writer->unheard = writer->text || writer->busy;
    pthread_mutex_unlock(&writer->lock);
    if (writer->failure[0])
        log_error("event=state-failed file=%s reason=%s", writer->path, writer->failure);
    else if (before[0])
        log_info("event=state-written file=%s", writer->path);
}

int state_writer_init(struct state_writer *writer, struct loop *loop, const char *path, int held)
{
    int fd, r;

    *writer = (struct state_writer){.path = path, .held = held, .done.fd = -1};
    if (!path)
        return 0;
    fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    r = fd < 0 ? -errno : watch_add(loop, &writer->done, fd, EPOLLIN, done_ready);
    if (r < 0) {
        if (fd >= 0)
            close(fd);
        close(held);
        writer->path = NULL;
        return r;
    }
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->more, NULL);
    r = server_thread_start(&writer->thread, writer_run, writer);
    writer->running = r == 0;
    if (r < 0)
        state_writer_deinit(writer, loop);
    return r;
}

void state_writer_deinit(struct state_writer *writer, struct loop *loop)
{
    int fd = writer->done.fd;

    if (writer->running) {
        pthread_mutex_lock(&writer->lock);
        writer->stop = true;
        pthread_cond_signal(&writer->more);
        pthread_mutex_unlock(&writer->lock);
        pthread_join(writer->thread, NULL);
        if (writer->result[0])
            log_error("event=state-failed file=%s reason=%s", writer->path, writer->result);
    }
    writer->running = false;
    if (writer->path && fd >= 0) {
        watch_remove(loop, &writer->done);
        close(fd);
        close(writer->held);
        pthread_mutex_destroy(&writer->lock);
        pthread_cond_destroy(&writer->more);
    }
    writer->path = NULL;
}

void state_writer_write(struct state_writer *writer, const struct settings *settings)
{
    size_t length;
    char *text;

    if (!writer->running)
        return;
    text = state_print(settings, &length);
    if (!text) {
        snprintf(writer->failure, sizeof(writer->failure), "no memory");
        log_error("event=state-failed file=%s reason=\"no memory to write it\"", writer->path);
        return;
    }
    pthread_mutex_lock(&writer->lock);
    free(writer->text);
    writer->text = text;
    writer->length = length;
    writer->unheard = true;
    pthread_cond_signal(&writer->more);
    pthread_mutex_unlock(&writer->lock);
}

/* Tells what the loop knows, since the thread's notice of a finished write may still be on its
 * way. */
bool state_writer_idle(const struct state_writer *writer)
{
    return !writer->running || !writer->unheard;
}

const char *state_writer_failure(const struct state_writer *writer)
{
    return writer->running && writer->failure[0] ? writer->failure : NULL;
}
