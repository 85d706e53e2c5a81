/*
 * test_worker_prewake.c - pre-wake: which threads an announcement wakes before there is work for
 * them, for how long, and how often a tenant can announce.
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cpus.h"
#include "common/util.h"
#include "worker/driver/prewake.h"
#include "worker/driver/wake.h"

#define MS 1000000u

/* ---- The threads, and the machine ------------------------------------------------------------ */

static bool spare;
static unsigned woken[PREWAKE_TARGETS];

bool cpus_to_spare(void)
{
    return spare;
}

void dispatch_wake(void)
{
    woken[PREWAKE_JOBS]++;
}

void service_wake_quiet(void)
{
    woken[PREWAKE_QUIET]++;
}

/* The control thread looks at its descriptor. */
static void link_look(void)
{
    struct pollfd event = {prewake_descriptor(), POLLIN, 0};
    uint64_t count;

    if (poll(&event, 1, 0) != 1)
        return;
    assert_int_equal(read(event.fd, &count, sizeof(count)), sizeof(count));
    woken[PREWAKE_LINK] += (unsigned)count;
}

static void all_sleep(void)
{
    for (enum prewake_target who = 0; who < PREWAKE_TARGETS; who++) {
        while (prewake_pending(who, clock_ns()))
            continue;
    }
}

static void woken_are(unsigned link, unsigned jobs, unsigned quiet)
{
    link_look();
    assert_int_equal(woken[PREWAKE_LINK], link);
    assert_int_equal(woken[PREWAKE_JOBS], jobs);
    assert_int_equal(woken[PREWAKE_QUIET], quiet);
}

static void machine_begin(bool with)
{
    spare = with;
    assert_true(prewake_init());
    prewake_grant_met();
    all_sleep();
    for (enum prewake_target who = 0; who < PREWAKE_TARGETS; who++)
        woken[who] = 0;
}

static void machine_end(void)
{
    if (prewake_descriptor() >= 0)
        close(prewake_descriptor());
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void who_is_prewoken_wakes_up_and_stays_awake_for_a_while(void **state)
{
    uint64_t before;

    (void)state;
    machine_begin(true);
    before = clock_ns();
    prewake(PREWAKE_QUIET);
    woken_are(0, 0, 1);
    assert_false(prewake_pending(PREWAKE_LINK, before));
    assert_false(prewake_pending(PREWAKE_JOBS, before));
    assert_true(prewake_pending(PREWAKE_QUIET, before));
    all_sleep();
    prewake(PREWAKE_QUIET);
    woken_are(0, 0, 2);
    machine_end();
}

static void an_announced_grant_wakes_all_on_its_way(void **state)
{
    (void)state;
    machine_begin(true);
    prewake_grant(1000 * MS);
    woken_are(1, 1, 1);
    machine_end();
}

static void announcements_in_vain_wake_nobody_again_soon(void **state)
{
    (void)state;
    machine_begin(true);
    prewake_grant(1000 * MS);
    all_sleep();
    prewake_grant(1002 * MS);
    prewake_grant(1009 * MS);
    woken_are(1, 1, 1);
    prewake_grant(1011 * MS);
    woken_are(2, 2, 2);
    prewake_grant_met();
    all_sleep();
    prewake_grant(1013 * MS);
    woken_are(3, 3, 3);
    machine_end();
}

/* Another grant that follows one finds the control thread awake. */
static void after_a_grant_the_next_has_threads_awake(void **state)
{
    (void)state;
    machine_begin(true);
    const uint64_t before = clock_ns();
    prewake_grant_met();
    assert_true(prewake_pending(PREWAKE_LINK, before + 2 * MS));
    assert_false(prewake_pending(PREWAKE_JOBS, before));
    assert_false(prewake_pending(PREWAKE_QUIET, before));
    woken_are(0, 0, 0);
    machine_end();
}

static void without_processors_to_spare_nobody_waits_awake(void **state)
{
    (void)state;
    machine_begin(false);
    prewake(PREWAKE_JOBS);
    prewake_grant(1000 * MS);
    woken_are(0, 0, 0);
    for (enum prewake_target who = 0; who < PREWAKE_TARGETS; who++)
        assert_false(prewake_pending(who, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_processors_to_spare_nobody_waits_awake),
        cmocka_unit_test(who_is_prewoken_wakes_up_and_stays_awake_for_a_while),
        cmocka_unit_test(after_a_grant_the_next_has_threads_awake),
        cmocka_unit_test(an_announced_grant_wakes_all_on_its_way),
        cmocka_unit_test(announcements_in_vain_wake_nobody_again_soon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
