/* lost.c - see lost.h. */
#include "worker/driver/lost.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/util.h"
#include "worker/driver/supervisor_link.h"
#include "worker/driver/wake.h"

#define STOP_NS 1000000000u

static struct {
    pthread_mutex_t lock; /* protects result and text, which the first thread sets */
    pthread_t control;    /* the thread that called lost_init */
    int fd;
    _Atomic bool pending;
    _Atomic uint32_t lanes, stopped;
    CUresult result;
    uint32_t evicted; /* the slot that device_evict named; LINK_SLOT_NONE: none */
    char text[192];
} lost = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1, .evicted = LINK_SLOT_NONE};

static _Thread_local bool is_lane;

bool lost_init(void)
{
    lost.control = pthread_self();
    lost.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return lost.fd >= 0;
}

void lost_join(void)
{
    atomic_fetch_add(&lost.lanes, 1);
}

void lost_lane(void)
{
    is_lane = true;
}

bool lost_pending(void)
{
    /* seq_cst: orders the load after waker_doze, and pairs with the store in give_up, for the
     * result and the text */
    return atomic_load(&lost.pending);
}

void lost_stop(void)
{
    /* release: publishes all that the lane has written; pairs with lost_wait */
    atomic_fetch_add_explicit(&lost.stopped, 1, memory_order_release);
    for (;;)
        pause();
}

int lost_descriptor(void)
{
    return lost.fd;
}

bool lost_wait(void)
{
    const uint64_t until = clock_ns() + STOP_NS;

    /* acquire: makes the lanes' tables visible; pairs with lost_stop */
    while (atomic_load_explicit(&lost.stopped, memory_order_acquire) < atomic_load(&lost.lanes)) {
        if (clock_ns() > until)
            return false;
        cpu_relax();
    }
    return true;
}

CUresult lost_result(void)
{
    return lost.result;
}

const char *lost_text(void)
{
    return lost.text;
}

/* Describes what ended the context, and which driver call showed it. */
static void describe(char *text, size_t size, CUresult result)
{
    const char *why = NULL;
    char seen[96];

    driver_describe(seen, sizeof(seen));
    if (!driver_fatal(result) || !cu->cuGetErrorString || cu->cuGetErrorString(result, &why) ||
        !why)
        snprintf(text, size, "%s", seen);
    else
        snprintf(text, size, "%s (%s)", why, seen);
}

uint32_t lost_evicted(void)
{
    return lost.evicted;
}

/* Notes the first loss, and stops the calling thread. */
static _Noreturn void give_up(CUresult result, uint32_t evicted, const char *text)
{
    static const uint64_t one = 1;

    /* The control thread, which would find the session to blame, cannot wait for itself. */
    if (pthread_equal(pthread_self(), lost.control)) {
        const struct link_blame blame = {.slot = lost.evicted, .fatal.kind = GS_FAULT_EVICTED};

        worker_end(result, text, lost.evicted != LINK_SLOT_NONE ? &blame : NULL, false);
    }
    pthread_mutex_lock(&lost.lock);
    if (!atomic_load(&lost.pending)) {
        lost.result = result;
        lost.evicted = evicted;
        snprintf(lost.text, sizeof(lost.text), "%s", text);
        /* While the worker starts, no session exists that could be blamed. */
        if (atomic_load(&lost.lanes) == 0)
            worker_end(result, lost.text, NULL, false);
        atomic_store(&lost.pending, true);
        if (write(lost.fd, &one, sizeof(one)) < 0)
            worker_end(result, lost.text, NULL, false);
    }
    pthread_mutex_unlock(&lost.lock);
    dispatch_wake();
    if (is_lane)
        lost_stop();
    for (;;)
        pause();
}

void device_lost(CUresult result)
{
    char text[192];

    describe(text, sizeof(text), result);
    give_up(result, LINK_SLOT_NONE, text);
}

void device_evict(uint32_t slot, const char *why)
{
    give_up(CUDA_ERROR_LAUNCH_TIMEOUT, slot, why);
}

void worker_broken(CUresult result)
{
    char text[192];

    lost_check(result);
    describe(text, sizeof(text), result);
    worker_end(result, text, NULL, false);
}
