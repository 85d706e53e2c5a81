/*
 * test_worker_domain.c - scheduling domains: sessions wait for each other while they have work and
 * their SMs overlap; and nothing that they have in flight or are owed is lost when the domains
 * change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/partition/partition.h"
#include "worker/sched/domain.h"

#define SESSIONS 300u
#define SM_COUNT 300u

static struct session sessions[SESSIONS];
static struct partition partitions[SESSIONS];

/* Sets the session's grant to these SMs; all of them: no partition. */
static void grant_sms(uint32_t index, uint32_t from, uint32_t to)
{
    struct grant *grant = &sessions[index].grant;
    struct partition *partition = &partitions[index];

    memset(&partition->mask, 0, sizeof(partition->mask));
    for (uint32_t sm = from; sm < to; sm++)
        sm_mask_set(&partition->mask, sm);
    grant->partition = to - from < SM_COUNT ? partition : NULL;
    grant->mask = partition->mask;
    domains_moved();
}

static void poll_begin(uint32_t index)
{
    sessions[index].sched.polled = true;
    domains_add(&sessions[index]);
}

static void poll_end(uint32_t index)
{
    sessions[index].sched.polled = false;
    domains_idle();
}

static bool together(uint32_t a, uint32_t b)
{
    domains_update();
    return domain_of(&sessions[a]) == domain_of(&sessions[b]);
}

static int set(void **state)
{
    (void)state;
    worker_begin()->info.sm_count = SM_COUNT;
    memset(sessions, 0, sizeof(sessions));
    memset(partitions, 0, sizeof(partitions));
    for (uint32_t i = 0; i < SESSIONS; i++) {
        domain_join(&sessions[i]);
        grant_sms(i, 0, SM_COUNT);
    }
    domains_update();
    return 0;
}

static int unset(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        sched_remove(domain_of(&sessions[i]), &sessions[i].sched.entity);
        domains_remove(&sessions[i]);
    }
    for (uint32_t i = 0; i < DOMAINS_MAX; i++) {
        assert_int_equal(domain_at(i)->device_ns, 0);
        assert_int_equal(domain_at(i)->wide, 0);
        assert_int_equal(domain_at(i)->waiting, 0);
    }
    return 0;
}

static void who_shares_sms_waits_in_one_domain(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        poll_begin(i);
    assert_true(together(0, 3));
    grant_sms(0, 0, 100);
    grant_sms(1, 100, SM_COUNT);
    grant_sms(2, 0, 50);
    grant_sms(3, 200, 210);
    assert_false(together(0, 1));
    assert_true(together(0, 2));
    assert_true(together(1, 3));
    assert_true(domains_used() >= 2);
    /* Through a third session's SMs they wait for each other too. */
    grant_sms(2, 99, 101);
    assert_true(together(0, 1));
    assert_true(together(2, 3));
}

static void who_has_no_work_is_in_nobodys_way(void **state)
{
    const struct sched_work work = {1, 1, 1000, 1000, SCHED_WIDTH};

    (void)state;
    grant_sms(0, 0, 150);
    grant_sms(1, 150, SM_COUNT);
    for (uint32_t i = 0; i < 2; i++)
        poll_begin(i);
    assert_false(together(0, 1));
    poll_begin(2);
    assert_true(together(0, 1));
    assert_true(together(0, 2));
    /* The session is polled no longer, but something of it is still on the device. */
    sched_issued(domain_of(&sessions[2]), &sessions[2].sched.entity, &work, 1);
    poll_end(2);
    assert_true(together(0, 1));
    sched_done(domain_of(&sessions[2]), &sessions[2].sched.entity, &work, 1000, 2);
    domains_idle();
    assert_false(together(0, 1));
    poll_begin(2);
    assert_true(together(0, 1));
    domains_remove(&sessions[2]);
    assert_false(together(0, 1));
}

static void what_is_in_flight_and_waits_goes_along(void **state)
{
    const struct sched_work work = {1, 1, 1000, 500, 128}, more = {2, 2, 4000, 3000, 192};

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        poll_begin(i);
    domains_update();
    sched_issued(domain_of(&sessions[0]), &sessions[0].sched.entity, &work, 1);
    sched_issued(domain_of(&sessions[1]), &sessions[1].sched.entity, &more, 1);
    sched_overdue(domain_of(&sessions[1]), &sessions[1].sched.entity, &work);
    for (uint32_t i = 0; i < 3; i++)
        sched_wait(domain_of(&sessions[i]), &sessions[i].sched.entity, 1);
    grant_sms(0, 0, 150);
    grant_sms(1, 150, SM_COUNT);
    grant_sms(2, 0, 10);
    assert_false(together(0, 1));
    assert_int_equal(domain_of(&sessions[0])->device_ns, 500);
    assert_int_equal(domain_of(&sessions[0])->waiting, 2);
    assert_int_equal(domain_of(&sessions[1])->device_ns, 2500);
    assert_int_equal(domain_of(&sessions[1])->wide, 1);
    assert_true(sched_contended(domain_of(&sessions[0])));
    assert_false(sched_contended(domain_of(&sessions[1])));
    /* Half of the device needs twice as long. */
    assert_int_equal(sched_busy_ns(domain_of(&sessions[0])), 1000);
    grant_sms(2, 140, 160);
    assert_true(together(0, 1));
    assert_int_equal(domain_of(&sessions[0])->device_ns, 3000);
    assert_int_equal(domain_of(&sessions[0])->waiting, 3);
    assert_int_equal(sched_busy_ns(domain_of(&sessions[0])), 3000);
    sched_overdue_end(domain_of(&sessions[1]), &sessions[1].sched.entity, &work);
    sched_done(domain_of(&sessions[1]), &sessions[1].sched.entity, &more, 3000, 2);
    assert_int_equal(domain_of(&sessions[0])->device_ns, 500);
    /* A session that waits stays, whether it is polled or not. */
    for (uint32_t i = 0; i < 3; i++)
        poll_end(i);
    domains_update();
    assert_int_equal(domain_of(&sessions[0])->waiting, 3);
}

/* How far one session is ahead of the other is kept; what a domain of their own has given them is
 * not owed. */
static void who_comes_from_another_domain_is_ahead_or_behind_as_much_as_there(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        poll_begin(i);
    grant_sms(0, 0, 150);
    grant_sms(1, 0, 150);
    grant_sms(2, 150, SM_COUNT);
    grant_sms(3, 150, SM_COUNT);
    domains_update();
    domain_of(&sessions[0])->vnow += 5000;
    domain_of(&sessions[2])->vnow += 900000;
    const uint64_t before[2] = {domain_of(&sessions[0])->vnow, domain_of(&sessions[2])->vnow};
    const int64_t ahead[4] = {100, -30, 2000, -400};
    for (uint32_t i = 0; i < 4; i++)
        sessions[i].sched.entity.vtime = before[i / 2] + (uint64_t)ahead[i];
    grant_sms(3, 149, SM_COUNT);
    assert_true(together(0, 2));
    const uint64_t vnow = domain_of(&sessions[0])->vnow;
    assert_true(vnow >= before[0] && vnow >= before[1]);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(sessions[i].sched.entity.vtime == vnow + (uint64_t)ahead[i]);
    /* And apart again. */
    grant_sms(3, 150, SM_COUNT);
    assert_false(together(0, 2));
    for (uint32_t i = 0; i < 4; i++)
        assert_true(sessions[i].sched.entity.vtime ==
                    domain_of(&sessions[i])->vnow + (uint64_t)ahead[i]);
}

/* Whatever domain the others have been left in. */
static void with_the_whole_device_for_all_there_is_one_domain(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        grant_sms(i, 100 * i, 100 * i + 100);
        poll_begin(i);
    }
    domains_update();
    poll_end(0);
    poll_end(1);
    domains_update();
    grant_sms(2, 0, SM_COUNT);
    domains_update();
    grant_sms(0, 0, SM_COUNT);
    grant_sms(1, 0, SM_COUNT);
    domains_update();
    poll_begin(0);
    assert_true(together(0, 2));
    poll_begin(3);
    assert_true(together(3, 2));
    poll_begin(1);
    assert_true(together(1, 2));
}

/* More components than there can be domains: some sessions wait for others without need, none is
 * lost. */
static void there_may_be_more_of_them_than_domains(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        grant_sms(i, i, i + 1);
        poll_begin(i);
        sched_wait(domain_of(&sessions[i]), &sessions[i].sched.entity, 1);
    }
    domains_update();
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < domains_used(); i++)
        waiting += domain_at(i)->waiting;
    assert_int_equal(waiting, SESSIONS);
    assert_int_equal(domains_used(), DOMAINS_MAX);
}

/* Compares with a search of the test's own: two sessions are in the same domain exactly where SMs
 * overlap, directly or not. */
static void any_sets_of_sms_come_to_the_right_domains(void **state)
{
    static bool linked[16][16];
    uint64_t dice = 1;

    (void)state;
    for (unsigned n = 0; n < 2000; n++) {
        uint32_t from[16], to[16];
        for (uint32_t i = 0; i < 16; i++) {
            dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
            from[i] = (uint32_t)(dice >> 33) % 250;
            to[i] = from[i] + 1 + (uint32_t)(dice >> 50) % 50;
            grant_sms(i, from[i], to[i]);
            if (dice >> 40 & 1)
                poll_begin(i);
            else
                poll_end(i);
        }
        domains_update();
        for (uint32_t a = 0; a < 16; a++) {
            for (uint32_t b = 0; b < 16; b++)
                linked[a][b] = sessions[a].sched.polled && sessions[b].sched.polled &&
                               from[a] < to[b] && from[b] < to[a];
        }
        for (uint32_t by = 0; by < 16; by++) {
            for (uint32_t a = 0; a < 16; a++) {
                for (uint32_t b = 0; b < 16; b++)
                    linked[a][b] = linked[a][b] || (linked[a][by] && linked[by][b]);
            }
        }
        for (uint32_t a = 0; a < 16; a++) {
            for (uint32_t b = 0; b < 16; b++) {
                if (sessions[a].sched.polled && sessions[b].sched.polled)
                    assert_int_equal(domain_of(&sessions[a]) == domain_of(&sessions[b]),
                                     linked[a][b]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_shares_sms_waits_in_one_domain, set, unset),
        cmocka_unit_test_setup_teardown(who_has_no_work_is_in_nobodys_way, set, unset),
        cmocka_unit_test_setup_teardown(what_is_in_flight_and_waits_goes_along, set, unset),
        cmocka_unit_test_setup_teardown(
            who_comes_from_another_domain_is_ahead_or_behind_as_much_as_there, set, unset),
        cmocka_unit_test_setup_teardown(with_the_whole_device_for_all_there_is_one_domain, set,
                                        unset),
        cmocka_unit_test_setup_teardown(there_may_be_more_of_them_than_domains, set, unset),
        cmocka_unit_test_setup_teardown(any_sets_of_sms_come_to_the_right_domains, set, unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
