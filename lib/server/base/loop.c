/* loop.c - see loop.h. */
#include "server/base/loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/util.h"
#include "common/yield.h"

#define AWAKE_NS 2000000u

/* ---- Watches --------------------------------------------------------------------------------- */

int watch_add(struct loop *loop, struct watch *watch, int fd, uint32_t events, watch_ready *ready)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
        return -errno;
    watch->fd = fd;
    watch->ready = ready;
    return 0;
}

int watch_change(struct loop *loop, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event) < 0 ? -errno : 0;
}

void watch_move(struct loop *loop, struct watch *from, struct watch *to, watch_ready *ready)
{
    to->fd = from->fd;
    to->ready = ready;
    from->fd = -1;
    watch_change(loop, to, EPOLLIN); /* cannot fail: the descriptor is there, and is watched */
}

void watch_remove(struct loop *loop, struct watch *watch)
{
    if (watch->fd >= 0)
        epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->fd = -1;
}

/* ---- Timers ---------------------------------------------------------------------------------- */

static void clock_arm(struct loop *loop, uint64_t due_ns)
{
    struct itimerspec at = {
        .it_value = {(time_t)(due_ns / 1000000000u), (long)(due_ns % 1000000000u)}};

    /* Cannot fail: the descriptor and the time are our own. */
    timerfd_settime(loop->clock.fd, TFD_TIMER_ABSTIME, &at, NULL);
    loop->armed_ns = due_ns;
}

void timer_cancel(struct loop *loop, struct timer *timer)
{
    struct timer **link = &loop->timers;

    if (timer->due_ns == 0)
        return;
    while (*link != timer)
        link = &(*link)->next;
    *link = timer->next;
    timer->due_ns = 0;
}

void timer_set(struct loop *loop, struct timer *timer, uint64_t due_ns,
               void (*fire)(struct timer *timer))
{
    timer_cancel(loop, timer);
    timer->due_ns = due_ns;
    timer->fire = fire;
    timer->next = loop->timers;
    loop->timers = timer;
    if (loop->armed_ns == 0 || due_ns < loop->armed_ns)
        clock_arm(loop, due_ns);
}

static struct timer *timer_first(const struct loop *loop)
{
    struct timer *first = loop->timers;

    for (struct timer *t = loop->timers; t; t = t->next)
        first = t->due_ns < first->due_ns ? t : first;
    return first;
}

/* Fires the due timers. A callback may change the list, so each iteration searches it from the
 * start. */
static void clock_ready(struct watch *watch, uint32_t events)
{
    struct loop *loop = container_of(watch, struct loop, clock);
    uint64_t expirations, now = clock_ns();
    struct timer *first;

    (void)events;
    /* EAGAIN when the clock was set anew since: the timers are looked at all the same. */
    ssize_t n = read(watch->fd, &expirations, sizeof(expirations));
    (void)n;
    loop->armed_ns = 0;
    while ((first = timer_first(loop)) && first->due_ns <= now) {
        timer_cancel(loop, first);
        first->fire(first);
    }
    if (first)
        clock_arm(loop, first->due_ns);
}

/* ---- Loop ------------------------------------------------------------------------------------ */

int loop_init(struct loop *loop)
{
    int r;

    *loop = (struct loop)LOOP_INIT;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll_fd < 0)
        return -errno;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    r = fd < 0 ? -errno : watch_add(loop, &loop->clock, fd, EPOLLIN, clock_ready);
    if (r < 0) {
        if (fd >= 0)
            close(fd);
        loop_deinit(loop);
    }
    return r;
}

void loop_deinit(struct loop *loop)
{
    if (loop->clock.fd >= 0)
        close(loop->clock.fd);
    if (loop->epoll_fd >= 0)
        close(loop->epoll_fd);
    *loop = (struct loop)LOOP_INIT;
}

void loop_expect(struct loop *loop)
{
    if (!cpus_to_spare())
        return;
    loop->expected++;
    loop->awake_ns = clock_ns() + AWAKE_NS;
}

void loop_expected(struct loop *loop)
{
    if (loop->expected)
        loop->expected--;
}

/* Returns the timeout for epoll_wait. */
static int loop_patience(struct loop *loop)
{
    if (!loop->expected)
        return -1;
    const uint64_t now = clock_ns();
    if (now >= loop->awake_ns)
        loop->expected = 0;
    return loop->expected && !yields_late(now) ? 0 : -1;
}

/* Handles one event per round, since a callback may end an object whose event would be next in a
 * batch. */
int loop_round(struct loop *loop)
{
    for (;;) {
        struct epoll_event event;
        int n = epoll_wait(loop->epoll_fd, &event, 1, loop_patience(loop));

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0) {
            struct watch *watch = event.data.ptr;
            watch->ready(watch, event.events);
            return 0;
        }
        if (n == 0)
            yield_timed(); /* stays awake for expected events */
    }
}
