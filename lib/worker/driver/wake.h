/*
 * wake.h - wakes a thread that sleeps in poll().
 *
 * The sleeper polls an eventfd, which others write only while the thread says that it sleeps; so
 * waking a thread that is awake costs one load.
 */
#ifndef GS_WORKER_DRIVER_WAKE_H
#define GS_WORKER_DRIVER_WAKE_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

struct waker {
    int fd; /* for poll(): readable once another thread has woken this one */
    _Atomic bool asleep;
};

/* Initializes the waker. Returns false when no descriptor is left. */
bool waker_init(struct waker *waker);
/* Ends the thread's sleep. Any thread, after it has stored what the sleeper is to see. */
void waker_wake(struct waker *waker);
/* Called by the thread itself before it checks for work and sleeps. Either the check finds what
 * another thread has stored, or the other thread sees `asleep` and wakes the sleeper. */
void waker_doze(struct waker *waker);
/* Called by the thread itself when it is awake again. */
void waker_up(struct waker *waker);

/* Returns the main lane's waker. Any thread. */
struct waker *dispatch_waker(void);
void dispatch_wake(void);

/* Returns the semaphore that counts jobs for the service thread of quiet moments, and its wake-ups
 * without a job. */
sem_t *quiet_semaphore(void);
/* Wakes the service thread of quiet moments, which will have a job soon (prewake.h). Any thread. */
void service_wake_quiet(void);

#endif
