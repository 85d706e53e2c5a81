/*
 * loop.h - the supervisor's event loop: watched descriptors and timers, one thread, no blocking.
 *
 * A watch or a timer is part of the object that it serves (container_of finds it) and must be
 * removed before that object goes. Callbacks may add and remove anything, themselves included.
 */
#ifndef GS_SERVER_LOOP_H
#define GS_SERVER_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define container_of(pointer, type, member)                                                        \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

struct watch;
/* `events`: as epoll's. */
typedef void watch_ready(struct watch *watch, uint32_t events);
struct watch {
    watch_ready *ready;
    int fd; /* -1: not watched. Owned by the caller of watch_add. */
};

struct timer {
    void (*fire)(struct timer *timer);
    uint64_t due_ns; /* clock_ns(); 0: not set */
    struct timer *next;
};

struct loop {
    int epoll_fd;
    struct watch clock;   /* a timerfd */
    uint64_t armed_ns;    /* the time that the timerfd is set to; 0: none */
    struct timer *timers; /* unsorted: there are few */
    uint32_t expected;    /* number of events for which the loop stays awake, ... */
    uint64_t awake_ns;    /* ... until this time */
};
#define LOOP_INIT                                                                                  \
    {                                                                                              \
        .epoll_fd = -1, .clock = { NULL, -1 }                                                      \
    }

/* 0 or -errno. */
int loop_init(struct loop *loop);
void loop_deinit(struct loop *loop);
/* Waits for one event and calls its watch. Returns 0 or -errno. */
int loop_round(struct loop *loop);

/* Makes the loop stay awake for an event that comes soon and that a client waits for: until 2 ms
 * after the last call at most, and only if there are processors to spare (cpus.h). */
void loop_expect(struct loop *loop);
/* Notes that one of the expected events has come. */
void loop_expected(struct loop *loop);

/* Watches a descriptor. `events`: EPOLLIN, EPOLLOUT; level-triggered. Returns 0 or -errno. */
int watch_add(struct loop *loop, struct watch *watch, int fd, uint32_t events, watch_ready *ready);
int watch_change(struct loop *loop, struct watch *watch, uint32_t events);
/* Moves the descriptor to another struct, which watches it for EPOLLIN. */
void watch_move(struct loop *loop, struct watch *from, struct watch *to, watch_ready *ready);
/* Stops watching, and does not close the descriptor. Does nothing if it is not watched. */
void watch_remove(struct loop *loop, struct watch *watch);

/* (Re)sets the timer. */
void timer_set(struct loop *loop, struct timer *timer, uint64_t due_ns,
               void (*fire)(struct timer *timer));
/* Does nothing if the timer is not set. */
void timer_cancel(struct loop *loop, struct timer *timer);

#endif
