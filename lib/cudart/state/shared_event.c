/* shared_event.c - see shared_event.h. */
#include "cudart/state/shared_event.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cudart/base/error.h"
#include "cudart/state/host_call.h"

/* The shared page. A process that writes garbage here only misleads the processes with which it
 * shares the event. */
struct page {
    uint64_t secret;
    _Atomic uint64_t recorded; /* number of records so far, in all processes */
    _Atomic uint64_t done;     /* the last record that is complete */
    _Atomic pid_t recorder;    /* the process that made the last record */
};

struct shared_event {
    struct page *page;
    int fd;               /* of the shared memory; -1: the event was opened, not made */
    _Atomic uint64_t own; /* this process's last record */
    _Atomic unsigned holders;
};

static struct shared_event *event_map(int fd)
{
    struct shared_event *event = calloc(1, sizeof(*event));
    void *page = MAP_FAILED;

    if (event != NULL)
        page = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        free(event);
        return NULL;
    }
    event->page = page;
    event->fd = -1;
    atomic_init(&event->holders, 1);
    return event;
}

struct shared_event *shared_event_new(void)
{
    int fd = memfd_create("gshare-event", MFD_CLOEXEC);
    struct shared_event *event = NULL;

    if (fd >= 0 && ftruncate(fd, sizeof(struct page)) == 0)
        event = event_map(fd);
    if (event != NULL && getrandom(&event->page->secret, sizeof(event->page->secret), 0) ==
                             (ssize_t)sizeof(event->page->secret)) {
        event->fd = fd;
        return event;
    }
    if (event != NULL)
        shared_event_release(event);
    if (fd >= 0)
        close(fd);
    return NULL;
}

struct shared_event *shared_event_open(const struct shared_event_name *name)
{
    struct shared_event *event = NULL;
    struct stat about;
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)name->process, (int)name->descriptor);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &about) == 0 && about.st_size == (off_t)sizeof(struct page))
        event = event_map(fd);
    if (fd >= 0)
        close(fd);
    if (event != NULL && event->page->secret != name->secret) {
        shared_event_release(event);
        return NULL;
    }
    return event;
}

void shared_event_release(struct shared_event *event)
{
    if (atomic_fetch_sub(&event->holders, 1) != 1)
        return;
    munmap(event->page, sizeof(struct page));
    if (event->fd >= 0)
        close(event->fd);
    free(event);
}

struct shared_event_name shared_event_name(const struct shared_event *event)
{
    return (struct shared_event_name){event->page->secret, (int32_t)getpid(), event->fd};
}

/* ---- Records --------------------------------------------------------------------------------- */

struct record {
    struct shared_event *event;
    uint64_t number;
};

/* Called when the caller's work up to the record is complete, or its session has ended. */
static void record_tell(cudaStream_t stream, cudaError_t error, void *data)
{
    struct record *record = data;
    uint64_t done = atomic_load(&record->event->page->done);

    (void)stream, (void)error;
    while (done < record->number &&
           !atomic_compare_exchange_weak(&record->event->page->done, &done, record->number))
        continue;
    shared_event_release(record->event);
    free(record);
}

cudaError_t shared_event_record(struct shared_event *event, struct stream *stream)
{
    struct record *record = malloc(sizeof(*record));
    cudaError_t error;

    if (record == NULL)
        return cudaErrorMemoryAllocation;
    atomic_fetch_add(&event->holders, 1);
    record->event = event;
    record->number = atomic_fetch_add(&event->page->recorded, 1) + 1;
    atomic_store(&event->own, record->number);
    atomic_store(&event->page->recorder, getpid());
    error = host_call_add(stream, NULL, record_tell, record);
    if (error != cudaSuccess &&
        error != error_sticky(device_session())) /* of which the caller was told */
        record_tell(NULL, error, record);
    return error;
}

bool shared_event_is_own(const struct shared_event *event)
{
    return atomic_load(&event->page->recorded) == atomic_load(&event->own);
}

bool shared_event_done(const struct shared_event *event)
{
    return atomic_load(&event->page->done) >= atomic_load(&event->page->recorded);
}

/* Polls like libgshare's waits, with growing sleeps. */
cudaError_t shared_event_wait(const struct shared_event *event)
{
    const uint64_t recorded = atomic_load(&event->page->recorded);
    struct timespec pause = {0, 10000};

    while (atomic_load(&event->page->done) < recorded) {
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 500000)
            pause.tv_nsec *= 2;
        else if (kill(atomic_load(&event->page->recorder), 0) < 0 && errno == ESRCH)
            return atomic_load(&event->page->done) >= recorded ? cudaSuccess
                                                               : cudaErrorMpsClientTerminated;
    }
    return cudaSuccess;
}
