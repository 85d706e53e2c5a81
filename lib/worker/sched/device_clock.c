/* device_clock.c - see device_clock.h. */
#include "worker/sched/device_clock.h"

#include "common/util.h"

/* How often the offset of the clocks is corrected. They drift by 2 us at most in this time. */
#define CLOCK_EVERY 20000000u

/* Reads the host's clock rather than use the time of the beginning of the round. If the thread lost
 * its CPU before it saw the fence, an earlier reading would put the device's clock ahead by that
 * loss, for seconds. Then that much time of each span that is issued before its predecessor has
 * ended would be charged to no session. */
uint64_t device_clock_host_ns(struct device_clock *clock, uint64_t device, uint64_t dispatch)
{
    const uint64_t now = clock_ns();

    if (!clock->known) {
        clock->known = true;
        clock->offset = device - now;
        clock->least_delay = 0;
        clock->next_correct = now + CLOCK_EVERY;
    }
    uint64_t delay = (now + clock->offset - device) & DEVICE_CLOCK_MASK;
    /* the fence's time is after now, so it was seen sooner than any before */
    if (delay > DEVICE_CLOCK_MASK / 2) {
        clock->offset = device - now;
        delay = 0;
    } else if (delay > now - dispatch) {
        clock->offset = device - dispatch;
        delay = now - dispatch;
    }
    if (delay < clock->least_delay)
        clock->least_delay = delay;
    if (now >= clock->next_correct) {
        clock->offset -= clock->least_delay;
        clock->least_delay = UINT64_MAX >> 1;
        clock->next_correct = now + CLOCK_EVERY;
    }
    return now - delay;
}
