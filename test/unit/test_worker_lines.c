/*
 * test_worker_lines.c - which sessions wait for the device with which: those whose SMs overlap,
 * while they have work; and that nothing is lost of what they have in flight or are owed when that
 * changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/lines.h"
#include "worker/partition.h"

#define SESSIONS 300u
#define SM_COUNT 300u

static struct session sessions[SESSIONS];
static struct partition partitions[SESSIONS];

/* Its grant is these SMs; all of them: no partition. */
static void place(uint32_t index, uint32_t from, uint32_t to)
{
    struct grant *grant = &sessions[index].grant;
    struct partition *partition = &partitions[index];

    memset(&partition->mask, 0, sizeof(partition->mask));
    for (uint32_t sm = from; sm < to; sm++)
        sm_mask_set(&partition->mask, sm);
    grant->partition = to - from < SM_COUNT ? partition : NULL;
    grant->mask = partition->mask;
    lines_moved();
}

static void heat(uint32_t index)
{
    sessions[index].hot = true;
    lines_enter(&sessions[index]);
}

static void cool(uint32_t index)
{
    sessions[index].hot = false;
    lines_cool();
}

static bool together(uint32_t a, uint32_t b)
{
    lines_look();
    return line_of(&sessions[a]) == line_of(&sessions[b]);
}

static int set(void **state)
{
    (void)state;
    worker.info.sm_count = SM_COUNT;
    memset(sessions, 0, sizeof(sessions));
    memset(partitions, 0, sizeof(partitions));
    for (uint32_t i = 0; i < SESSIONS; i++)
        place(i, 0, SM_COUNT);
    lines_look();
    return 0;
}

static int unset(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        sched_leave(line_of(&sessions[i]), &sessions[i].sched);
        lines_forget(&sessions[i]);
    }
    for (uint32_t i = 0; i < LINES_MAX; i++) {
        assert_int_equal(lines.line[i].device_ns, 0);
        assert_int_equal(lines.line[i].wide, 0);
        assert_int_equal(lines.line[i].waiting, 0);
    }
    return 0;
}

static void who_shares_sms_waits_in_one_line(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        heat(i);
    assert_true(together(0, 3));
    place(0, 0, 100);
    place(1, 100, SM_COUNT);
    place(2, 0, 50);
    place(3, 200, 210);
    assert_false(together(0, 1));
    assert_true(together(0, 2));
    assert_true(together(1, 3));
    assert_true(lines.used >= 2);
    /* Through another's they wait for each other too. */
    place(2, 99, 101);
    assert_true(together(0, 1));
    assert_true(together(2, 3));
}

static void who_has_no_work_is_in_nobodys_way(void **state)
{
    const struct sched_work work = {1, 1, 1000, 1000, SCHED_WIDTH};

    (void)state;
    place(0, 0, 150);
    place(1, 150, SM_COUNT);
    for (uint32_t i = 0; i < 2; i++)
        heat(i);
    assert_false(together(0, 1));
    heat(2);
    assert_true(together(0, 1));
    assert_true(together(0, 2));
    /* It is polled no longer, but something of it is still on the device. */
    sched_issued(line_of(&sessions[2]), &sessions[2].sched, &work, 1);
    cool(2);
    assert_true(together(0, 1));
    sched_done(line_of(&sessions[2]), &sessions[2].sched, &work, 1000, 2);
    lines_cool();
    assert_false(together(0, 1));
    heat(2);
    assert_true(together(0, 1));
    lines_forget(&sessions[2]);
    assert_false(together(0, 1));
}

static void what_is_in_flight_and_waits_goes_along(void **state)
{
    const struct sched_work work = {1, 1, 1000, 500, 128}, more = {2, 2, 4000, 3000, 192};

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        heat(i);
    lines_look();
    sched_issued(line_of(&sessions[0]), &sessions[0].sched, &work, 1);
    sched_issued(line_of(&sessions[1]), &sessions[1].sched, &more, 1);
    sched_overdue(line_of(&sessions[1]), &sessions[1].sched, &work);
    for (uint32_t i = 0; i < 3; i++)
        sched_wait(line_of(&sessions[i]), &sessions[i].sched, 1);
    place(0, 0, 150);
    place(1, 150, SM_COUNT);
    place(2, 0, 10);
    assert_false(together(0, 1));
    assert_int_equal(line_of(&sessions[0])->device_ns, 500);
    assert_int_equal(line_of(&sessions[0])->waiting, 2);
    assert_int_equal(line_of(&sessions[1])->device_ns, 2500);
    assert_int_equal(line_of(&sessions[1])->wide, 1);
    assert_true(sched_contended(line_of(&sessions[0])));
    assert_false(sched_contended(line_of(&sessions[1])));
    /* Half of the device needs twice as long. */
    assert_int_equal(sched_busy_ns(line_of(&sessions[0])), 1000);
    place(2, 140, 160);
    assert_true(together(0, 1));
    assert_int_equal(line_of(&sessions[0])->device_ns, 3000);
    assert_int_equal(line_of(&sessions[0])->waiting, 3);
    assert_int_equal(sched_busy_ns(line_of(&sessions[0])), 3000);
    sched_overdue_end(line_of(&sessions[1]), &sessions[1].sched, &work);
    sched_done(line_of(&sessions[1]), &sessions[1].sched, &more, 3000, 2);
    assert_int_equal(line_of(&sessions[0])->device_ns, 500);
    /* A session that waits stays, whether it is polled or not. */
    for (uint32_t i = 0; i < 3; i++)
        cool(i);
    lines_look();
    assert_int_equal(line_of(&sessions[0])->waiting, 3);
}

/* By how much one is ahead of the other is kept; what lines of their own have had is not owed. */
static void who_comes_from_another_line_is_ahead_or_behind_as_much_as_there(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        heat(i);
    place(0, 0, 150);
    place(1, 0, 150);
    place(2, 150, SM_COUNT);
    place(3, 150, SM_COUNT);
    lines_look();
    line_of(&sessions[0])->vnow += 5000;
    line_of(&sessions[2])->vnow += 900000;
    const uint64_t before[2] = {line_of(&sessions[0])->vnow, line_of(&sessions[2])->vnow};
    const int64_t ahead[4] = {100, -30, 2000, -400};
    for (uint32_t i = 0; i < 4; i++)
        sessions[i].sched.vtime = before[i / 2] + (uint64_t)ahead[i];
    place(3, 149, SM_COUNT);
    assert_true(together(0, 2));
    const uint64_t vnow = line_of(&sessions[0])->vnow;
    assert_true(vnow >= before[0] && vnow >= before[1]);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(sessions[i].sched.vtime == vnow + (uint64_t)ahead[i]);
    /* And apart again. */
    place(3, 150, SM_COUNT);
    assert_false(together(0, 2));
    for (uint32_t i = 0; i < 4; i++)
        assert_true(sessions[i].sched.vtime == line_of(&sessions[i])->vnow + (uint64_t)ahead[i]);
}

/* Whatever line the others have been left in. */
static void with_the_whole_device_for_all_there_is_one_line(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        place(i, 100 * i, 100 * i + 100);
        heat(i);
    }
    lines_look();
    cool(0);
    cool(1);
    lines_look();
    place(2, 0, SM_COUNT);
    lines_look();
    place(0, 0, SM_COUNT);
    place(1, 0, SM_COUNT);
    lines_look();
    heat(0);
    assert_true(together(0, 2));
    heat(3);
    assert_true(together(3, 2));
    heat(1);
    assert_true(together(1, 2));
}

/* More than there can be lines: some wait for others without need, none is lost. */
static void there_may_be_more_of_them_than_lines(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        place(i, i, i + 1);
        heat(i);
        sched_wait(line_of(&sessions[i]), &sessions[i].sched, 1);
    }
    lines_look();
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < lines.used; i++)
        waiting += lines.line[i].waiting;
    assert_int_equal(waiting, SESSIONS);
    assert_int_equal(lines.used, LINES_MAX);
}

/* Against a search of its own: the same line exactly where SMs overlap, directly or not. */
static void any_sets_of_sms_come_to_the_right_lines(void **state)
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
            place(i, from[i], to[i]);
            if (dice >> 40 & 1)
                heat(i);
            else
                cool(i);
        }
        lines_look();
        for (uint32_t a = 0; a < 16; a++) {
            for (uint32_t b = 0; b < 16; b++)
                linked[a][b] =
                    sessions[a].hot && sessions[b].hot && from[a] < to[b] && from[b] < to[a];
        }
        for (uint32_t by = 0; by < 16; by++) {
            for (uint32_t a = 0; a < 16; a++) {
                for (uint32_t b = 0; b < 16; b++)
                    linked[a][b] = linked[a][b] || (linked[a][by] && linked[by][b]);
            }
        }
        for (uint32_t a = 0; a < 16; a++) {
            for (uint32_t b = 0; b < 16; b++) {
                if (sessions[a].hot && sessions[b].hot)
                    assert_int_equal(line_of(&sessions[a]) == line_of(&sessions[b]), linked[a][b]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_shares_sms_waits_in_one_line, set, unset),
        cmocka_unit_test_setup_teardown(who_has_no_work_is_in_nobodys_way, set, unset),
        cmocka_unit_test_setup_teardown(what_is_in_flight_and_waits_goes_along, set, unset),
        cmocka_unit_test_setup_teardown(
            who_comes_from_another_line_is_ahead_or_behind_as_much_as_there, set, unset),
        cmocka_unit_test_setup_teardown(with_the_whole_device_for_all_there_is_one_line, set,
                                        unset),
        cmocka_unit_test_setup_teardown(there_may_be_more_of_them_than_lines, set, unset),
        cmocka_unit_test_setup_teardown(any_sets_of_sms_come_to_the_right_lines, set, unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
