// What each user has of the server: accounts are few, allowances refill, log lines are counted.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/util.h"
#include "server/state/accounts.h"

#define SECOND UINT64_C(1000000000)

static void users_without_sessions_are_forgotten_first(void **state)
{
    struct accounts accounts = {0};

    (void)state;
    for (uint32_t i = 0; i < ACCOUNTS_MAX; i++) {
        struct account *account = account_get(&accounts, (uid_t)(i * 7919 % ACCOUNTS_MAX));

        assert_non_null(account);
        account->refilled_ns = account->uid;
        account->sessions = account->uid != 77 && account->uid != 78;
    }
    for (uint32_t i = 0; i < ACCOUNTS_MAX; i++)
        assert_int_equal(account_find(&accounts, i)->uid, i);
    account_get(&accounts, 5000)->sessions = 1; // in the place of 77, who asked before 78
    assert_null(account_find(&accounts, 77));
    assert_non_null(account_find(&accounts, 78));
    account_get(&accounts, 5001)->sessions = 1;
    assert_null(account_get(&accounts, 5002));
    assert_non_null(account_get(&accounts, 5000));
}

static void a_user_whose_faults_count_no_more_makes_room(void **state)
{
    struct accounts accounts = {0};

    (void)state;
    for (uid_t uid = 1; uid <= ACCOUNTS_MAX; uid++) {
        account_get(&accounts, uid)->faults = 1;
        account_get(&accounts, uid)->kept_out_ns = clock_ns();
    }
    account_get(&accounts, 77)->kept_out_ns -= 601 * SECOND;
    assert_non_null(account_get(&accounts, 5000));
    assert_null(account_find(&accounts, 77));
}

// Whoever has many users cannot keep others out by what counts against them.
static void users_with_faults_and_suspicions_make_room_where_all_have_some(void **state)
{
    struct accounts accounts = {0};
    const uint64_t now = clock_ns();

    (void)state;
    for (uid_t uid = 1; uid <= ACCOUNTS_MAX; uid++) {
        struct account *account = account_get(&accounts, uid);

        if (uid % 2) {
            account_suspect(account, now, now + uid);
        } else {
            account_fault(account, now);
            account->kept_out_ns = now + 60 * SECOND - uid;
        }
    }
    account_get(&accounts, 1)->sessions = 1;
    assert_non_null(account_get(&accounts, 5000));
    assert_null(account_find(&accounts, 3)); // a suspect for the shortest time
    assert_non_null(account_find(&accounts, 1));
    account_get(&accounts, 5000)->sessions = 1;
    assert_non_null(account_get(&accounts, 5001));
    assert_null(account_find(&accounts, 5));
}

// Makes accounts without end: of the lowest uid and of the highest in turn.
static void accounts_make(struct accounts *accounts)
{
    for (;;) {
        account_get(accounts, 1);
        account_get(accounts, 4 * ACCOUNTS_MAX);
    }
}

// Whoever is kept out stays so, whatever the supervisor was doing when it was killed.
static void a_supervisor_that_is_killed_leaves_the_accounts_to_the_next(void **state)
{
    struct accounts *accounts =
        mmap(NULL, sizeof(*accounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const uint64_t until = clock_ns() + 1000 * SECOND;

    (void)state;
    assert_ptr_not_equal(accounts, MAP_FAILED);
    for (uid_t uid = 1; uid < ACCOUNTS_MAX; uid++) {
        account_get(accounts, 3 * uid)->faults = 2;
        account_get(accounts, 3 * uid)->kept_out_ns = until;
    }
    for (unsigned kill_at = 0; kill_at < 100; kill_at++) {
        const pid_t supervisor = fork();

        assert_true(supervisor >= 0);
        if (supervisor == 0)
            accounts_make(accounts);
        usleep(200 + 37 * kill_at); // another moment each time
        assert_return_code(kill(supervisor, SIGKILL), 0);
        assert_int_equal(waitpid(supervisor, NULL, 0), supervisor);
        accounts_restore(accounts);
        for (uid_t uid = 1; uid < ACCOUNTS_MAX; uid++) {
            assert_non_null(account_find(accounts, 3 * uid));
            assert_int_equal(account_find(accounts, 3 * uid)->kept_out_ns, until);
        }
        assert_non_null(account_get(accounts, 1));
    }
    munmap(accounts, sizeof(*accounts));
}

static void an_allowance_refills_with_time(void **state)
{
    struct accounts accounts = {0};
    struct account *account = account_get(&accounts, 1);
    uint64_t now = 100 * SECOND;

    (void)state;
    for (int i = 0; i < REQUESTS_BURST; i++)
        assert_true(account_ask(account, now));
    assert_false(account_ask(account, now));
    now += SECOND / REQUESTS_RATE;
    assert_true(account_ask(account, now));
    assert_false(account_ask(account, now));
    now += SECOND;
    for (uint32_t i = 0; i < REQUESTS_RATE; i++)
        assert_true(account_ask(account, now));
    assert_false(account_ask(account, now));
    now += 100 * SECOND;
    for (int i = 0; i < REQUESTS_BURST; i++)
        assert_true(account_ask(account, now));
    assert_false(account_ask(account, now));
}

static void a_request_that_takes_long_counts_as_several(void **state)
{
    struct accounts accounts = {0};
    struct account *account = account_get(&accounts, 1);
    const uint64_t now = 100 * SECOND;

    (void)state;
    assert_true(account_ask(account, now));
    account_took(account, REQUEST_NS - 1);
    account_took(account, (REQUESTS_BURST - 11) * (uint64_t)REQUEST_NS);
    for (uint32_t i = 0; i < 10; i++)
        assert_true(account_ask(account, now));
    assert_false(account_ask(account, now));
}

/* Also once the burst is used up, and beyond what a refill gives at a time. */
static void a_user_has_a_quarter_of_a_processor_for_its_requests(void **state)
{
    struct accounts accounts = {0};
    struct account *account = account_get(&accounts, 1);
    const uint64_t begin = 100 * SECOND, request = SECOND / 1000;
    uint64_t spent = 0;

    (void)state;
    while (account_ask(account, begin))
        ;
    for (uint64_t now = begin; now < begin + 10 * SECOND; now += request)
        if (account_ask(account, now)) {
            account_took(account, request);
            spent += request;
        }
    assert_in_range(spent, 10 * SECOND / 5, 10 * SECOND / 4);
    account_took(account, 1000 * SECOND); /* a debt has an end */
    assert_true(account_ask(account, begin + 30 * SECOND));
}

static void faults_keep_a_user_out_for_a_growing_time(void **state)
{
    static const unsigned seconds[] = {0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600};
    struct account account = {0};
    uint64_t now = 1000 * SECOND;

    (void)state;
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        assert_int_equal(account_fault(&account, now), seconds[i] * SECOND);
        assert_int_equal(account.kept_out_ns, now + seconds[i] * SECOND);
        now = account.kept_out_ns + 599 * SECOND;
    }
    now += 2 * SECOND;
    assert_int_equal(account_fault(&account, now), 0); // forgotten
    assert_int_equal(account_fault(&account, now), SECOND);
}

static uint64_t suspected_for(struct account *account, uint64_t ready, uint64_t now)
{
    account_suspect(account, ready, now);
    return (account->suspect_ns - now) / SECOND;
}

static void losses_make_a_user_a_suspect_for_a_growing_time(void **state)
{
    struct accounts accounts = {0};
    struct account *account = account_get(&accounts, 1);
    uint64_t now = 1000 * SECOND;

    (void)state;
    assert_int_equal(suspected_for(account, 1, now), 30);
    assert_int_equal(suspected_for(account, 1, now), 30); // another session of the user's
    for (uint64_t seconds = 60; seconds < 4000; seconds *= 2) {
        const uint64_t ready = now + 1;

        now += 500 * SECOND;
        for (unsigned sessions = 0; sessions < 2; sessions++)
            assert_int_equal(suspected_for(account, ready, now), seconds < 960 ? seconds : 960);
    }
    now += (960 + 601) * SECOND;
    assert_int_equal(suspected_for(account, now - 1, now), 30);
    assert_int_equal(suspected_for(account, now + 1, now + 2), 60);
    accounts_culprit(&accounts, 1, now);
    assert_int_equal(suspected_for(account, now + 3, now + 4), 30);
}

// Its sessions on both are told of in any order.
static void one_event_that_loses_two_devices_counts_once(void **state)
{
    struct accounts accounts = {0};
    struct account *account = account_get(&accounts, 1);
    const uint64_t lost = 1000 * SECOND, next[] = {lost + 5, lost + 6};

    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(suspected_for(account, 10 + i % 2, lost + i), 30);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(suspected_for(account, next[i % 2], lost + 20 * SECOND + i), 60);
}

static void a_suspect_that_is_the_culprit_clears_the_others(void **state)
{
    struct accounts accounts = {0};

    (void)state;
    for (uid_t uid = 1; uid <= 3; uid++)
        account_get(&accounts, uid)->suspect_ns = uid < 3 ? 50 * SECOND : 0;
    accounts_culprit(&accounts, 4, 20 * SECOND); // of no account
    accounts_culprit(&accounts, 3, 20 * SECOND); // was no suspect, so the suspects stay
    accounts_culprit(&accounts, 1, 50 * SECOND); // is none any more
    assert_int_equal(account_find(&accounts, 2)->suspect_ns, 50 * SECOND);
    accounts_culprit(&accounts, 1, 20 * SECOND);
    for (uid_t uid = 1; uid <= 3; uid++)
        assert_int_equal(account_find(&accounts, uid)->suspect_ns, 0);
}

static void log_lines_are_few_in_a_window(void **state)
{
    struct accounts accounts = {0};
    struct account *account = account_get(&accounts, 1);
    unsigned lines = 0;

    (void)state;
    for (int i = 0; i < 1000; i++)
        lines += account_log(account, 50 * SECOND + (uint64_t)i);
    assert_int_equal(lines, 8);
    assert_int_equal(account->log.dropped, 992);
    assert_true(account_log(account, 61 * SECOND));
    assert_int_equal(account->log.dropped, 0);
    assert_false(account_log(NULL, 0));
    lines = 0;
    for (int i = 0; i < 10000; i++)
        lines += account_event(account, 100 * SECOND + (uint64_t)i);
    assert_int_equal(lines, 2048);
    assert_true(account_event(account, 161 * SECOND));
    assert_false(account_event(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_without_sessions_are_forgotten_first),
        cmocka_unit_test(a_user_whose_faults_count_no_more_makes_room),
        cmocka_unit_test(users_with_faults_and_suspicions_make_room_where_all_have_some),
        cmocka_unit_test(a_supervisor_that_is_killed_leaves_the_accounts_to_the_next),
        cmocka_unit_test(an_allowance_refills_with_time),
        cmocka_unit_test(a_request_that_takes_long_counts_as_several),
        cmocka_unit_test(a_user_has_a_quarter_of_a_processor_for_its_requests),
        cmocka_unit_test(faults_keep_a_user_out_for_a_growing_time),
        cmocka_unit_test(losses_make_a_user_a_suspect_for_a_growing_time),
        cmocka_unit_test(one_event_that_loses_two_devices_counts_once),
        cmocka_unit_test(a_suspect_that_is_the_culprit_clears_the_others),
        cmocka_unit_test(log_lines_are_few_in_a_window),
    };

    log_init("test", "error");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
