/* wake.c - see wake.h. */
#include "worker/driver/wake.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/log.h"

static struct waker main_waker = {.fd = -1};
static sem_t quiet;

bool waker_init(struct waker *waker)
{
    atomic_init(&waker->asleep, false);
    waker->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return waker->fd >= 0;
}

void waker_wake(struct waker *waker)
{
    static const uint64_t one = 1;

    /* seq_cst: orders the load after the caller's store; pairs with waker_doze */
    if (atomic_load(&waker->asleep) && write(waker->fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
        log_error("event=worker-failed reason=\"eventfd: %s\"", strerror(errno));
}

void waker_doze(struct waker *waker)
{
    /* seq_cst: orders the store before the sleeper's check for work; pairs with waker_wake */
    atomic_store(&waker->asleep, true);
}

void waker_up(struct waker *waker)
{
    uint64_t count;

    atomic_store_explicit(&waker->asleep, false, memory_order_relaxed);
    if (read(waker->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
        log_error("event=worker-failed reason=\"eventfd: %s\"", strerror(errno));
}

struct waker *dispatch_waker(void)
{
    return &main_waker;
}

void dispatch_wake(void)
{
    waker_wake(&main_waker);
}

sem_t *quiet_semaphore(void)
{
    return &quiet;
}

void service_wake_quiet(void)
{
    sem_post(&quiet);
}
