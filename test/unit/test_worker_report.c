/*
 * test_worker_report.c - reports of launches: a round of the lane asks about one launch that goes
 * on, however many reports a session has, and each report comes all the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_driver.h"
#include "worker/session_parts.h"
#include "worker/submit/report.h"

static struct seg_server page;
static struct session session;
static bool ended[SEG_REPORTS];
static unsigned asked;

static CUresult event_query(CUevent event)
{
    asked++;
    return ended[(uintptr_t)event - 1] ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult event_elapsed(float *ms, CUevent start, CUevent end)
{
    (void)start, (void)end;
    *ms = 1;
    return CUDA_SUCCESS;
}

/* A session with a report in each slot. */
static int set(void **state)
{
    (void)state;
    memset(&page, 0, sizeof(page));
    memset(ended, 0, sizeof(ended));
    asked = 0;
    session = (struct session){.server_page = &page};
    session.submit.reports = calloc(SEG_REPORTS, sizeof(*session.submit.reports));
    session.submit.reports_open = SEG_REPORTS;
    for (uint32_t i = 0; session.submit.reports && i < SEG_REPORTS; i++) {
        session.submit.reports[i].id = SEG_REPORTS + i;
        // NOLINTNEXTLINE: the slot's number and 1
        session.submit.reports[i].end = (CUevent)(uintptr_t)(i + 1);
    }
    return session.submit.reports ? 0 : -1;
}

static int unset(void **state)
{
    (void)state;
    free(session.submit.reports);
    return 0;
}

static bool is_told(uint32_t slot)
{
    return atomic_load(&page.report[slot].id) == SEG_REPORTS + slot;
}

static void a_round_asks_about_one_launch_that_goes_on(void **state)
{
    (void)state;
    for (unsigned round = 1; round <= 3; round++) {
        reports_poll_some(&session);
        assert_int_equal(asked, round);
    }
}

static void those_that_have_ended_are_told_in_one_round(void **state)
{
    (void)state;
    memset(ended, true, sizeof(ended));
    reports_poll_some(&session);
    assert_int_equal(session.submit.reports_open, 0);
    reports_poll_some(&session);
    assert_int_equal(asked, SEG_REPORTS);
}

static void one_that_has_ended_is_told_beside_all_that_go_on(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 10; round++)
        reports_poll_some(&session);
    ended[5] = ended[40] = true;
    for (unsigned round = 0; round < SEG_REPORTS; round++)
        reports_poll_some(&session);
    assert_true(is_told(5) && is_told(40));
    assert_int_equal(session.submit.reports_open, SEG_REPORTS - 2);
}

static void a_worker_that_ends_tells_all_at_once(void **state)
{
    (void)state;
    ended[0] = ended[20] = ended[SEG_REPORTS - 1] = true;
    reports_poll(&session);
    assert_true(is_told(0) && is_told(20) && is_told(SEG_REPORTS - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_round_asks_about_one_launch_that_goes_on, set, unset),
        cmocka_unit_test_setup_teardown(those_that_have_ended_are_told_in_one_round, set, unset),
        cmocka_unit_test_setup_teardown(one_that_has_ended_is_told_beside_all_that_go_on, set,
                                        unset),
        cmocka_unit_test_setup_teardown(a_worker_that_ends_tells_all_at_once, set, unset),
    };

    fake_cu.cuEventQuery = event_query;
    fake_cu.cuEventElapsedTime = event_elapsed;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
