/*
 * test_worker_partition.c - how many sets of SMs there can be at a time: a fixed number, of which
 * the one goes that has not been used for longest; or, where the driver keeps what a destroyed
 * green context took, as many as fit in a sixteenth of the device's memory, of which none goes.
 *
 * There is no device: a caller that asks for a partition finds it being made, and the test says
 * when it is ready. The table lasts as long as the process, so the tests go on from one another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "common/util.h"
#include "worker/submit/placement.h"

#define EACH      (UINT64_C(4) << 20) /* what the driver keeps of each */
#define FOR_GOOD  400u                /* the number of sets then */
#define LAUNCHES  (FOR_GOOD / 4 * 3)
/* From this one on they are made for a user, of whom so many are. */
#define USERS     240u
#define USER_SETS 16u
#define USER_MOST (USER_SETS * (FOR_GOOD / LINK_SETS_MAX))

static int supervisor; /* the supervisor's end of the link */
static const struct session *asker;

/* The set of that number; no two sets are the same. */
static struct sm_mask mask_of(uint32_t number)
{
    struct sm_mask mask = {{0}};

    for (uint32_t bit = 0; bit < 16; bit++)
        sm_mask_set(&mask, 2 * bit + (number >> bit & 1));
    return mask;
}

/* Makes the set's partition. NULL: refused, with *status. */
static struct partition *made(uint32_t number, gs_status *status)
{
    const struct sm_mask mask = mask_of(number);
    struct partition *partition = placement_get(&mask, asker, status);

    if (partition)
        partition->state = PARTITION_READY;
    partitions_keep();
    return partition;
}

static void the_one_that_was_used_least_lately_goes(void **state)
{
    static struct partition *first[PARTITIONS_MAX];
    gs_status status;

    (void)state;
    worker_begin()->info.sm_count = 32;
    worker_begin()->info.memory_total = FOR_GOOD * EACH * 16;
    assert_int_equal(partitions_init(), GS_OK);
    for (uint32_t i = 0; i < PARTITIONS_MAX; i++)
        assert_non_null(first[i] = made(i, &status));
    partition_hold(first[0]);
    assert_ptr_equal(made(1, &status), first[1]); /* now number 2 is the oldest that can go */
    uint64_t losses = partition_losses();
    assert_non_null(made(PARTITIONS_MAX, &status));
    assert_int_equal(partition_losses(), losses + 1);
    assert_ptr_equal(made(0, &status), first[0]);
    assert_ptr_equal(made(1, &status), first[1]);
    for (uint32_t i = 3; i < PARTITIONS_MAX; i++)
        assert_ptr_equal(made(i, &status), first[i]);
    assert_int_equal(partition_losses(), losses + 1);
    partition_release(first[0]);
}

static void all_held_is_a_limit(void **state)
{
    static struct partition *held[PARTITIONS_MAX];
    gs_status status = GS_OK;

    (void)state;
    for (uint32_t i = 0; i < PARTITIONS_MAX; i++) {
        assert_non_null(held[i] = made(i, &status));
        partition_hold(held[i]);
    }
    assert_null(made(PARTITIONS_MAX + 1, &status));
    assert_int_equal(status, GS_ERR_LIMIT);
    assert_non_null(strstr(partition_trouble(status), "160"));
    for (uint32_t i = 0; i < PARTITIONS_MAX; i++)
        partition_release(held[i]);
}

/* Takes a message to the supervisor; false: there is none. */
static bool told(struct link_message *message)
{
    return recv(supervisor, message, sizeof(*message), MSG_DONTWAIT) == sizeof(*message);
}

/* From here on, the driver gives nothing back. */
static void none_goes_where_nothing_is_given_back(void **state)
{
    static struct partition *kept[FOR_GOOD];
    struct link_message message = {0};
    gs_status status = GS_OK;
    static const struct session one = {.uid = 1001, .grant.link.user_sets = USER_SETS},
                                two = {.uid = 1002, .grant.link.user_sets = USER_SETS};
    unsigned worn = 0;
    uint64_t losses = partition_losses();

    (void)state;
    worker_begin()->partition_lost = EACH;
    assert_int_equal(partitions_init(), GS_OK);
    for (uint32_t i = 0; i < FOR_GOOD; i++) {
        const struct sm_mask next = mask_of(i);
        if (i == USERS)
            asker = &one;
        if (i == USERS + USER_MOST) { /* the user has had enough, and the next one has not */
            assert_null(made(i, &status));
            assert_int_equal(status, GS_ERR_LIMIT);
            assert_non_null(strstr(partition_trouble(status), "user-sets"));
            assert_ptr_equal(made(i - 1, &status), kept[i - 1]);
            asker = &two;
        }
        if (i == LAUNCHES)
            asker = NULL;
        if (i == LAUNCHES)
            assert_null(placement_get_in_turn(&next, NULL, &status));
        assert_non_null(kept[i] = made(i, &status));
        worn += told(&message);
        assert_int_equal(worn, i >= FOR_GOOD / 2 - 1);
    }
    assert_int_equal(message.op, LINK_NEEDS_RECYCLING);
    assert_null(made(FOR_GOOD, &status));
    assert_int_equal(status, GS_ERR_LIMIT);
    assert_non_null(strstr(partition_trouble(status), "400 is the limit (300 for launches)"));
    for (uint32_t i = 0; i < FOR_GOOD; i++)
        assert_ptr_equal(made(i, &status), kept[i]);
    assert_int_equal(partition_losses(), losses);
}

static void launches_leave_room_for_grants(void **state)
{
    const struct sm_mask known = mask_of(FOR_GOOD - 1), other = mask_of(FOR_GOOD);
    gs_status status = GS_OK;

    (void)state;
    assert_non_null(placement_get_in_turn(&known, NULL, &status));
    assert_null(placement_get_in_turn(&other, NULL, &status));
    assert_int_equal(status, GS_ERR_LIMIT);
}

static void one_that_could_not_be_made_makes_room(void **state)
{
    gs_status status = GS_OK;
    struct partition *failed = made(7, &status);
    uint32_t id = failed->id;

    (void)state;
    failed->state = PARTITION_FAILED;
    assert_non_null(made(FOR_GOOD, &status));
    assert_null(made(7, &status));
    assert_int_equal(status, GS_ERR_LIMIT);
    assert_non_null(failed = made(FOR_GOOD, &status));
    assert_true(failed->id > id); /* no number is used twice */
}

/* The worker's end of the link has a fixed descriptor number. */
static int link_open(void **state)
{
    int pair[2];

    (void)state;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
        return -1;
    supervisor = fcntl(pair[1], F_DUPFD, LINK_FD + 1);
    return dup2(pair[0], LINK_FD) < 0 || supervisor < 0 ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_that_was_used_least_lately_goes),
        cmocka_unit_test(all_held_is_a_limit),
        cmocka_unit_test(none_goes_where_nothing_is_given_back),
        cmocka_unit_test(launches_leave_room_for_grants),
        cmocka_unit_test(one_that_could_not_be_made_makes_room),
    };

    return cmocka_run_group_tests_name("worker_partition", tests, link_open, NULL);
}
