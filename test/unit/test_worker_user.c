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
        cmocka_unit_test(threads_charge_and_come_and_go_at_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
