/*
 * test_worker_pace.c - how fast a user's modules are compiled: what is saved up goes at once, then
 * a user gets its share, whoever it is, and no other one waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "worker/jobs/pace.h"

#define SECOND UINT64_C(1000000000)
#define SAVED  (PACE_SAVED_NS / SECOND)

static struct pace pace;
static uint64_t now = 1000 * SECOND;

static void take(uint32_t uid, uint32_t percent, uint64_t seconds)
{
    pace_take(&pace, uid, percent, seconds * SECOND, now);
}

/* In whole seconds from now. */
static uint64_t due(uint32_t uid, uint32_t percent)
{
    const uint64_t at = pace_due(&pace, uid, percent, now);

    return at > now ? (at - now) / SECOND : 0;
}

/* A year later there is no account but the asker's, who has none. */
static void all_is_made_up_for(void)
{
    now += UINT64_C(365) * 86400 * SECOND;
    take(UINT32_MAX, 0, 0);
    assert_null(pace.first);
}

static void what_is_saved_up_goes_at_once(void **state)
{
    (void)state;
    assert_int_equal(due(1, 50), 0);
    take(1, 50, SAVED / 2);
    assert_int_equal(due(1, 50), 0);
    take(1, 50, 10);
    assert_int_equal(due(1, 50), 20);
    now += 15 * SECOND;
    assert_int_equal(due(1, 50), 5);
    now += 6 * SECOND;
    assert_int_equal(due(1, 50), 0);
    all_is_made_up_for();
}

static void without_end_a_user_gets_its_share(void **state)
{
    static const uint32_t percents[] = {1, 50, 100, 400, 6400};

    (void)state;
    for (unsigned i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        const uint64_t began = now;
        uint64_t taken = 0;
        while (now < began + 100000 * SECOND) {
            if (pace_due(&pace, 7, percents[i], now) <= now) {
                take(7, percents[i], 1);
                taken++;
            }
            now += SECOND / 64;
        }
        /* the most that such a caller can take is 64 in a second */
        const uint64_t share = 1000 * (uint64_t)percents[i] + SAVED * percents[i] / 100;
        assert_in_range(taken, share * 98 / 100, share + 2);
        all_is_made_up_for();
    }
}

static void accounts_are_apart_and_outlive_a_change_of_the_share(void **state)
{
    (void)state;
    take(1, 100, SAVED + 100);
    assert_int_equal(due(1, 100), 100);
    assert_int_equal(due(2, 100), 0);
    take(2, 100, 1);
    assert_int_equal(due(1, 100), 100);
    assert_int_equal(due(1, 0), 0);
    assert_int_equal(due(1, 200), (SAVED + 100 - 2 * SAVED) / 2);
    now += 1000 * SECOND;
    take(2, 100, SAVED + 5); /* settles the first one's */
    assert_int_equal(due(1, 100), 0);
    assert_int_equal(due(2, 100), 5);
    now += UINT64_C(400) * 86400 * SECOND;
    assert_int_equal(due(2, 100), 0);
    all_is_made_up_for();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_up_goes_at_once),
        cmocka_unit_test(without_end_a_user_gets_its_share),
        cmocka_unit_test(accounts_are_apart_and_outlive_a_change_of_the_share),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
