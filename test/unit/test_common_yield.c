/* test_common_yield.c - yields that return late are left out for a while. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>

#include "common/util.h"
#include "common/yield.h"

static unsigned yields;
static uint64_t takes_ns;

/* In the place of the C library's. */
int sched_yield(void)
{
    const uint64_t until = clock_ns() + takes_ns;

    yields++;
    while (clock_ns() < until)
        ;
    return 0;
}

static void who_gets_the_processor_back_in_time_may_yield_again(void **state)
{
    (void)state;
    yields = 0;
    takes_ns = 0;
    for (unsigned i = 0; i < 100 && !yields_late(clock_ns()); i++)
        yield_timed();
    /* All of them, but where this machine itself was late. */
    assert_true(yields == 100 || yields_late(clock_ns()));
}

static void after_a_late_yield_there_is_none_for_a_hundred_times_as_long(void **state)
{
    (void)state;
    yields = 0;
    takes_ns = 3 * YIELD_LATE_NS;
    const uint64_t before = clock_ns();
    yield_timed();
    const uint64_t after = clock_ns();

    assert_int_equal(yields, 1);
    assert_true(yields_late(before + YIELD_WITHOUT_FACTOR * takes_ns));
    assert_false(yields_late(after + YIELD_WITHOUT_NS));
}

static void but_for_a_second_at_most(void **state)
{
    (void)state;
    takes_ns = 2 * YIELD_WITHOUT_NS / YIELD_WITHOUT_FACTOR;
    yield_timed();
    const uint64_t after = clock_ns();

    assert_true(yields_late(after));
    assert_false(yields_late(after + YIELD_WITHOUT_NS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_gets_the_processor_back_in_time_may_yield_again),
        cmocka_unit_test(after_a_late_yield_there_is_none_for_a_hundred_times_as_long),
        cmocka_unit_test(but_for_a_second_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
