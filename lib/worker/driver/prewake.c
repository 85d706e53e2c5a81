/*
 * prewake.c - pre-wake: threads are woken before there is work for them.
 *
 * A grant passes from the supervisor through the control thread, the main lane and, where its
 * partition has yet to be made, the quiet thread. A thread that has slept needs 100 to 300 us to
 * wake up (cpus.h), so three wake-ups one after the other take as long as making the partition.
 * Hence the first thread that learns of a grant wakes the later ones, and these stay awake for
 * PREWAKE_NS. A tenant tells the main lane before it asks the supervisor; the control thread tells
 * the others before it turns a message into a job. Pre-wake is used only where the machine has CPUs
 * to spare, and affects only latency.
 *
 * A tenant that announces grants and asks for none keeps three threads awake for a tenth of the
 * time.
 */
#include "worker/driver/prewake.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/log.h"
#include "common/util.h"
#include "worker/driver/wake.h"

#define PREWAKE_NS 1000000u
#define NEXT_NS    3000000u /* the time to make a partition, and a little more */
/* the least time between announcements when the announced grant has not come */
#define VAIN_NS    (10u * PREWAKE_NS)

static struct {
    bool enabled;
    int link;                                   /* eventfd */
    _Atomic uint64_t until_ns[PREWAKE_TARGETS]; /* each target stays awake until then */
    /* the time of an announcement whose grant has not come; 0: no such announcement */
    _Atomic uint64_t announced_ns;
} prewake_state = {.link = -1};

bool prewake_init(void)
{
    prewake_state.enabled = cpus_to_spare();
    prewake_state.link = prewake_state.enabled ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;
    return !prewake_state.enabled || prewake_state.link >= 0;
}

static void wake(enum prewake_target who)
{
    static const uint64_t one = 1;

    switch (who) {
    case PREWAKE_LINK:
        if (write(prewake_state.link, &one, sizeof(one)) < 0 && errno != EAGAIN)
            log_error("event=worker-failed reason=\"eventfd: %s\"", strerror(errno));
        break;
    case PREWAKE_JOBS:
        dispatch_wake();
        break;
    default:
        service_wake_quiet();
        break;
    }
}

void prewake(enum prewake_target who)
{
    uint64_t now, before;

    if (!prewake_state.enabled)
        return;
    now = clock_ns();
    /* relaxed, here and below: a thread that sees the value late sleeps or waits in vain, which
     * costs only time */
    before = atomic_exchange_explicit(&prewake_state.until_ns[who], now + PREWAKE_NS,
                                      memory_order_relaxed);
    if (before <= now)
        wake(who);
}

void prewake_met(enum prewake_target who)
{
    atomic_store_explicit(&prewake_state.until_ns[who], 0, memory_order_relaxed);
}

void prewake_grant(uint64_t now)
{
    uint64_t before = atomic_load_explicit(&prewake_state.announced_ns, memory_order_relaxed);

    if (before && now - before < VAIN_NS)
        return;
    atomic_store_explicit(&prewake_state.announced_ns, now, memory_order_relaxed);
    for (enum prewake_target who = 0; who < PREWAKE_TARGETS; who++)
        prewake(who);
}

/* Another grant often follows as soon as this one is in force, so the control thread stays awake
 * for NEXT_NS. */
void prewake_grant_met(void)
{
    atomic_store_explicit(&prewake_state.announced_ns, 0, memory_order_relaxed);
    if (prewake_state.enabled)
        atomic_store_explicit(&prewake_state.until_ns[PREWAKE_LINK], clock_ns() + NEXT_NS,
                              memory_order_relaxed);
}

bool prewake_pending(enum prewake_target who, uint64_t now)
{
    return now < atomic_load_explicit(&prewake_state.until_ns[who], memory_order_relaxed);
}

int prewake_descriptor(void)
{
    return prewake_state.link;
}
