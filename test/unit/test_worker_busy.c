/*
 * test_worker_busy.c - names the session that keeps the device busy, in words: the one that has had
 * kernels there for longest, also when it is being closed, and how many others have some.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"
#include "worker/session/busy.h"

#define SESSIONS 4u
#define SECOND   UINT64_C(1000000000)

static struct lane lane;
static struct session session[SESSIONS];
static struct seg_client clients[SESSIONS];
static struct seg_server servers[SESSIONS];
static uint64_t begun;
static char text[BUSY_TEXT_MAX];

static int set(void **state)
{
    (void)state;
    begun = clock_ns();
    for (uint32_t i = 0; i < SESSIONS; i++) {
        session[i] = (struct session){.slot = i,
                                      .lane = &lane,
                                      .id = 10 + i,
                                      .client = &clients[i],
                                      .server_page = &servers[i]};
        snprintf(session[i].name, sizeof(session[i].name), "tenant-%u", i);
        session_table_add(&session[i]);
    }
    return 0;
}

static int unset(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        if (session[i].phase == SESSION_LIVE)
            session_table_closing(&session[i]);
        session_table_remove(&session[i]);
    }
    return 0;
}

static void has_work(uint32_t i, uint64_t since_ns)
{
    session[i].inflight.awaiting_fence = 1;
    session[i].poll.given_ns = begun - since_ns;
}

static void nobody_is_named_who_has_nothing_there(void **state)
{
    (void)state;
    assert_null(strstr(busy_describe(text), "session"));
}

static void the_one_that_was_there_first_is_named(void **state)
{
    (void)state;
    has_work(2, 4 * SECOND);
    assert_non_null(strstr(busy_describe(text), "session 12 has had some for "));
    has_work(1, 2 * SECOND);
    has_work(3, 6 * SECOND);
    busy_describe(text);
    assert_non_null(strstr(text, "session 13 has had some for "));
    assert_non_null(strstr(text, " (gsctl kill 13 ends it), as have 2 others"));
}

static void many_short_kernels_are_no_long_one(void **state)
{
    (void)state;
    has_work(0, 0);
    /* later than the test can end, however slow this machine is */
    session[0].poll.given_ns = clock_ns() + SECOND;
    assert_string_equal(busy_describe(text),
                        "session 10 has some all the time (gsctl kill 10 ends it)");
}

static void who_is_being_closed_is_named_too(void **state)
{
    (void)state;
    has_work(1, 2 * SECOND);
    session_table_closing(&session[1]);
    assert_non_null(strstr(busy_describe(text), "session 11 "));
}

static void the_longest_words_are_cut(void **state)
{
    (void)state;
    has_work(1, 2 * SECOND);
    has_work(2, 2 * SECOND);
    session[1].id = UINT64_MAX;
    session[1].poll.given_ns = 0;
    assert_true(strlen(busy_describe(text)) < BUSY_TEXT_MAX);
    assert_non_null(strstr(text, " (gsctl kill 18446744073709551615 ends it)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nobody_is_named_who_has_nothing_there, set, unset),
        cmocka_unit_test_setup_teardown(the_one_that_was_there_first_is_named, set, unset),
        cmocka_unit_test_setup_teardown(many_short_kernels_are_no_long_one, set, unset),
        cmocka_unit_test_setup_teardown(who_is_being_closed_is_named_too, set, unset),
        cmocka_unit_test_setup_teardown(the_longest_words_are_cut, set, unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
