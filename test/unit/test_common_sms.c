/* test_common_sms.c - how SMs are rounded to groups, and a grant that changes while it is read. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/seg_grant.h"
#include "common/sm_groups.h"
#include "common/util.h"

/* 12 SMs: three pairs, then six that belong together, interleaved. */
static const uint8_t group[12] = {0, 1, 0, 1, 2, 2, 3, 3, 3, 3, 3, 3};

static struct sm_mask mask_of(uint64_t low)
{
    return (struct sm_mask){{low}};
}

static void a_mask_of_whole_groups_is_told_from_one_that_is_not(void **state)
{
    static const struct {
        uint64_t mask;
        bool whole;
    } table[] = {
        {0x000, true},  {0xFFF, true}, {0x005, true},  {0x00A, true},   {0x00F, true},
        {0x030, true},  {0xFC0, true}, {0x003, false}, {0x001, false},  {0x010, false},
        {0x7C0, false}, {0xFC5, true}, {0xFC1, false}, {0x1000, false}, {UINT64_C(1) << 63, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        struct sm_mask mask = mask_of(table[i].mask);
        assert_int_equal(sm_groups_whole(&mask, group, 12), table[i].whole);
    }
    struct sm_mask far = {{0}};
    far.word[GS_SM_MASK_WORDS - 1] = UINT64_C(1) << 63;
    assert_false(sm_groups_whole(&far, group, 12));
}

static void what_is_torn_is_told_by_its_whole_group(void **state)
{
    static const struct {
        uint64_t mask, torn;
    } table[] = {{0x000, 0x000}, {0xFFF, 0x000}, {0x001, 0x005}, {0x008, 0x00A},
                 {0x026, 0x00A}, {0x02F, 0x030}, {0x80F, 0xFC0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        struct sm_mask mask = mask_of(table[i].mask), torn = sm_groups_torn(&mask, group, 12);
        assert_int_equal(torn.word[0], table[i].torn);
    }
}

static void counts_take_the_first_groups_and_round_up(void **state)
{
    static const struct {
        uint64_t of;
        uint32_t wanted;
        uint64_t got;
    } table[] = {
        {0xFFF, 0, 0x000}, {0xFFF, 1, 0x005}, {0xFFF, 2, 0x005},  {0xFFF, 3, 0x00F},
        {0xFFF, 5, 0x03F}, {0xFFF, 7, 0xFFF}, {0xFFF, 12, 0xFFF}, {0xFFF, 99, 0xFFF},
        {0xFF0, 1, 0x030}, {0xFF0, 3, 0xFF0}, {0xFCA, 1, 0x00A},  {0x00A, 9, 0x00A},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        struct sm_mask of = mask_of(table[i].of), wanted = mask_of(table[i].got),
                       got = sm_groups_first(&of, table[i].wanted, group, 12);
        assert_true(sm_mask_equal(&got, &wanted));
    }
}

static void percentages_mean_at_least_so_many_sms(void **state)
{
    (void)state;
    assert_int_equal(sm_count_of_percentage(132, 1), 2);
    assert_int_equal(sm_count_of_percentage(132, 50), 66);
    assert_int_equal(sm_count_of_percentage(132, 99), 131);
    assert_int_equal(sm_count_of_percentage(132, 100), 132);
    assert_int_equal(sm_count_of_percentage(16, 13), 3);
    assert_int_equal(sm_percentage_of_count(16, 6, 2), 26);
    assert_int_equal(sm_percentage_of_count(16, 6, 1), 32);
    assert_int_equal(sm_percentage_of_count(132, 2, 2), 1);
    assert_int_equal(sm_percentage_of_count(132, 132, 2), 100);
    assert_int_equal(sm_percentage_of_count(0, 0, 0), 0);
    assert_int_equal(sm_percentage_of_count(16, 0, 2), 0);
}

/* What a session is told of its grant, asked for again, is that grant. */
static void percentages_of_a_grant_mean_that_grant(void **state)
{
    (void)state;
    for (uint32_t sms = 8; sms <= 512; sms += 8) {
        for (uint32_t unit = (sms + 99) / 100; unit <= 8; unit++) {
            for (uint32_t count = unit; sms % unit == 0 && count <= sms; count += unit) {
                uint32_t percentage = sm_percentage_of_count(sms, count, unit);
                uint32_t again = sm_count_of_percentage(sms, percentage);

                assert_int_equal((again + unit - 1) / unit * unit, count);
                if (count < sms && percentage > 1)
                    assert_true(sm_count_of_percentage(sms, percentage - 1) <= count - unit);
            }
        }
    }
}

/* ---- Grants ---- */

#define WRITES 200000u

static struct seg_grant shared;

static void *grants_write(void *unused)
{
    (void)unused;
    for (uint32_t i = 1; i <= WRITES; i++) {
        struct seg_grant grant = {
            .cls = i, .priority = (int32_t)i, .sm_count = i, .deadline_ns = i};
        grant.reserved = i;
        for (unsigned n = 0; n < GS_SM_MASK_WORDS; n++)
            grant.sm_mask[n] = i;
        seg_grant_write(&shared, &grant, 2 * i);
    }
    return NULL;
}

static void a_grant_is_read_whole_or_not_at_all(void **state)
{
    struct seg_grant grant = {0};
    uint32_t last = 0;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, grants_write, NULL), 0);
    while (last < WRITES) {
        if (!seg_grant_read(&shared, &grant))
            continue;
        assert_true(grant.cls >= last);
        last = grant.cls;
        assert_int_equal(grant.priority, last);
        assert_int_equal(grant.sm_count, last);
        assert_int_equal(grant.deadline_ns, last);
        assert_int_equal(grant.reserved, last);
        for (unsigned n = 0; n < GS_SM_MASK_WORDS; n++)
            assert_int_equal(grant.sm_mask[n], last);
    }
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mask_of_whole_groups_is_told_from_one_that_is_not),
        cmocka_unit_test(what_is_torn_is_told_by_its_whole_group),
        cmocka_unit_test(counts_take_the_first_groups_and_round_up),
        cmocka_unit_test(percentages_mean_at_least_so_many_sms),
        cmocka_unit_test(percentages_of_a_grant_mean_that_grant),
        cmocka_unit_test(a_grant_is_read_whole_or_not_at_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
