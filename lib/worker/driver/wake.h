/*
 * wake.h - how a thread that sleeps in poll() is woken: an eventfd that is written only while the
 * thread says that it sleeps, so that waking one that is awake costs a load.
 */
#ifndef GS_WORKER_DRIVER_WAKE_H
#define GS_WORKER_DRIVER_WAKE_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

struct waker {
    int fd; /* for poll(): readable once somebody has woken the thread */
    _Atomic bool asleep;
};

/* false: no descriptor is left. */
bool waker_init(struct waker *waker);
/* Ends the thread's sleep. Any thread, after it has stored what the sleeper is to see. */
void waker_wake(struct waker *waker);
/* The thread itself: it is about to sleep. What it looks at next, others have stored before they
 * looked at `asleep`, or they see it asleep. */
void waker_doze(struct waker *waker);
/* It is awake again. */
void waker_up(struct waker *waker);

/* The main lane's. Any thread. */
struct waker *dispatch_waker(void);
void dispatch_wake(void);

/* Counts jobs for the service thread of quiet moments, and mere calls to wake up. */
sem_t *quiet_semaphore(void);
/* Wakes that thread, for which there will be a job (prewake.h). Any thread. */
void service_wake_quiet(void);

#endif
