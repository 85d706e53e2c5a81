/* test_worker_user.c - what a user's sessions hold together: counted, limited, from many threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "common/util.h"
#include "worker/memory/user.h"

static void sessions_of_one_user_share_a_sum_and_others_do_not(void **state)
{
    struct user *a, *b, *c;

    (void)state;
    a = user_hold(1000);
    b = user_hold(1000);
    c = user_hold(1001);
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_true(user_charge(a, 100, 0));
    assert_int_equal(user_used(b), 100);
    assert_int_equal(user_used(c), 0);
    user_release(a);
    assert_int_equal(user_used(b), 100);
    user_discharge(b, 100);
    user_release(b);
    user_release(c);
    user_release(NULL);
    a = user_hold(1000);
    assert_int_equal(user_used(a), 0);
    user_release(a);
}

static void nothing_goes_over_the_limit(void **state)
{
    struct user *user = user_hold(7);

    (void)state;
    assert_true(user_charge(user, 60, 100));
    assert_false(user_charge(user, 41, 100));
    assert_int_equal(user_used(user), 60);
    assert_true(user_charge(user, 40, 100));
    assert_false(user_charge(user, 1, 100));
    /* The limit falls below what is in use: nothing more is granted, and nothing wraps. */
    assert_false(user_charge(user, 1, 50));
    assert_false(user_charge(user, UINT64_MAX, 50));
    assert_false(user_charge(user, UINT64_MAX, 100));
    assert_true(user_charge(user, 1000, 0));
    user_discharge(user, 1100);
    user_release(user);
}

/* What other devices still have of the user's memory counts as in use here, with sessions or
 * without. */
static void what_lingers_on_other_devices_counts_until_it_is_gone(void **state)
{
    struct user *user;

    (void)state;
    user_linger(5, 0); /* nobody */
    user_linger(5, 60);
    user = user_hold(5);
    assert_int_equal(user_used(user), 60);
    assert_false(user_charge(user, 50, 100));
    assert_true(user_charge(user, 40, 100));
    user_linger(5, 10);
    assert_int_equal(user_used(user), 50);
    user_discharge(user, 40);
    user_release(user);
    user = user_hold(5);
    assert_int_equal(user_used(user), 10);
    user_linger(5, 0);
    user_linger(6, 10); /* another user */
    assert_int_equal(user_used(user), 0);
    user_release(user);
    assert_true(!users_several());
    user_linger(6, 0);
}

/* Returns how much of `all` a user gets that takes a piece at a time. */
static uint64_t host_take(struct user *user, uint64_t most, uint64_t all, bool granted)
{
    const struct host_limits limits = {most, all, granted};
    uint64_t taken = 0;

    while (user_host_bytes_charge(user, 1, &limits))
        taken++;
    return taken;
}

static void host_release(struct user *user)
{
    user_host_bytes_discharge(user, user_host_bytes(user));
    user_release(user);
}

#define GREEDY 64u

/* Each may have an eighth, so without a bound on the sum nine have more than there is. */
static void host_memory_of_all_users_is_bounded_and_each_gets_some(void **state)
{
    const uint64_t machine = 1 << 20, all = machine / 4 * 3;
    struct user *user[GREEDY];
    uint64_t sum = 0, taken[GREEDY];

    (void)state;
    for (uint32_t i = 0; i < GREEDY; i++) {
        user[i] = user_hold(100 + i);
        taken[i] = host_take(user[i], machine / 8, all, false);
        sum += taken[i];
        assert_true(sum <= all);
    }
    assert_int_equal(users_host_bytes(), sum);
    for (uint32_t i = 0; i < 5; i++) /* as many as leave an eighth */
        assert_int_equal(taken[i], machine / 8);
    assert_true(taken[5] >= machine / 16 && taken[15] >= 1);
    host_release(user[0]);
    assert_true(host_take(user[15], machine / 8, all, false) > machine / 17);
    for (uint32_t i = 1; i < GREEDY; i++)
        host_release(user[i]);
    assert_int_equal(users_host_bytes(), 0);
}

/* Root and the server's owner are not bounded, but what they have is gone. Who was granted more has
 * more, up to what all may have. */
static void host_memory_that_was_granted_counts_for_all(void **state)
{
    struct user *root = user_hold(0), *granted = user_hold(1), *other = user_hold(2);

    (void)state;
    assert_true(user_host_bytes_charge(root, 600, &(struct host_limits){0}));
    assert_int_equal(host_take(granted, 300, 1000, true), 300);
    assert_int_equal(host_take(other, 300, 1000, false), 50);
    assert_true(user_host_bytes_charge(root, 600, &(struct host_limits){0}));
    assert_false(user_host_bytes_charge(other, 1, &(struct host_limits){300, 1000, false}));
    assert_false(user_host_bytes_charge(granted, 1, &(struct host_limits){0, 1000, true}));
    host_release(root);
    host_release(granted);
    host_release(other);
    assert_int_equal(users_host_bytes(), 0);
}

/* A kernel may keep the driver from letting go of a freed block, which is pinned until then. */
static void a_freed_host_block_counts_for_all_until_the_driver_lets_go(void **state)
{
    const struct host_limits limits = {0, 1000, true};
    struct user *one = user_hold(1), *two = user_hold(2);

    (void)state;
    assert_true(user_host_charge(one, 0));
    assert_true(user_host_bytes_charge(one, 800, &limits));
    user_host_defer(one, 800);
    assert_int_equal(user_host_bytes(one), 0);
    assert_false(users_host_bytes_fit(two, 300, &limits));
    assert_false(user_host_bytes_charge(two, 300, &limits));
    user_host_defer_end(one, 800);
    assert_true(users_host_bytes_fit(two, 300, &limits));
    assert_true(user_host_bytes_charge(two, 300, &limits));
    host_release(two);
    user_release(one);
    assert_int_equal(users_host_bytes(), 0);
}

#define THREADS 4u
#define ROUNDS  20000u
#define LIMIT   (THREADS - 1)

/* Each thread takes one of three charges, and gives it back. */
static void *worker_run(void *argument)
{
    _Atomic uint32_t *inside = argument;
    struct user *user;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        user = user_hold(3);
        if (user_charge(user, 1, LIMIT)) {
            if (atomic_fetch_add(inside, 1) >= LIMIT)
                return argument;
            atomic_fetch_sub(inside, 1);
            user_discharge(user, 1);
        }
        user_release(user);
    }
    return NULL;
}

static void threads_charge_and_come_and_go_at_the_same_time(void **state)
{
    pthread_t thread[THREADS];
    _Atomic uint32_t inside = 0;
    struct user *user;
    void *failed;

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, worker_run, &inside), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    user = user_hold(3);
    assert_int_equal(user_used(user), 0);
    assert_int_equal(user->sessions, 1);
    user_release(user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_of_one_user_share_a_sum_and_others_do_not),
        cmocka_unit_test(nothing_goes_over_the_limit),
        cmocka_unit_test(what_lingers_on_other_devices_counts_until_it_is_gone),
        cmocka_unit_test(host_memory_of_all_users_is_bounded_and_each_gets_some),
        cmocka_unit_test(host_memory_that_was_granted_counts_for_all),
        cmocka_unit_test(a_freed_host_block_counts_for_all_until_the_driver_lets_go),
        cmocka_unit_test(threads_charge_and_come_and_go_at_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
