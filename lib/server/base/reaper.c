/* reaper.c - see reaper.h. */
#include "server/base/reaper.h"

#include <sys/wait.h>

#include "common/util.h"
#include "server/base/leftovers.h"

#define LATER_NS 250000000u

/* Reaps all children, then removes their segments: a segment counts as left behind only once its
 * maker's process is gone. */
static void reap_all(struct reaper *reaper)
{
    while (reaper->count)
        waitpid(reaper->pid[--reaper->count], NULL, WNOHANG);
    leftover_segments_remove();
}

static void later_fire(struct timer *timer)
{
    reap_all(container_of(timer, struct reaper, timer));
}

static void reap_later(struct reaper *reaper, pid_t pid)
{
    if (reaper->count == REAPER_MOST)
        reap_all(reaper);
    reaper->pid[reaper->count++] = pid;
}

bool reaper_ended(struct reaper *reaper, struct loop *loop, struct child *child, int *status)
{
    if (!child_ended(child, &reaper->orphans, status))
        return false;
    if (!child->ended_ns)
        reap_later(reaper, child->pid);
    timer_set(loop, &reaper->timer, clock_ns() + LATER_NS, later_fire);
    return true;
}

void reaper_restore(struct reaper *reaper)
{
    reaper->timer = (struct timer){0};
    reaper->count = 0;
}

void reaper_deinit(struct reaper *reaper, struct loop *loop)
{
    timer_cancel(loop, &reaper->timer);
    reap_all(reaper);
}
