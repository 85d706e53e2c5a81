// The pool of closed sessions' segments: only the same user gets one, only when nobody else has it
// attached, and all of it is zero then.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/segment.h"
#include "common/wire.h"
#include "server/base/segment_pool.h"

// What the worker has of each segment is this process's second attachment.
struct rig {
    struct pooled_segment segment;
    unsigned char *worker;
};

static struct rig rig_new(uid_t uid)
{
    struct rig rig = {.segment.uid = uid};
    void *memory;

    assert_int_equal(segment_make(SEG_SIZE, 0600, geteuid(), &rig.segment.id, &memory), 0);
    rig.segment.memory = memory;
    rig.worker = shmat(rig.segment.id, NULL, 0);
    assert_true(rig.worker != (void *)-1);
    return rig;
}

static void rig_end(const struct rig *rig)
{
    shmdt(rig->worker);
}

static bool exists(int id)
{
    struct shmid_ds ds;

    return shmctl(id, IPC_STAT, &ds) == 0;
}

static void put(struct segment_pool *pool, const struct rig *rig)
{
    int dropped;

    assert_false(segment_pool_put(pool, &rig->segment, &dropped));
}

static void the_same_user_gets_it_again_and_nobody_else(void **state)
{
    struct segment_pool pool = {0};
    struct rig a = rig_new(1000), b = rig_new(1001);
    struct pooled_segment got;

    (void)state;
    assert_false(segment_pool_take(&pool, 1000, &got));
    put(&pool, &a);
    put(&pool, &b);
    assert_false(segment_pool_take(&pool, 0, &got));
    assert_true(segment_pool_take(&pool, 1000, &got));
    assert_int_equal(got.id, a.segment.id);
    assert_ptr_equal(got.memory, a.segment.memory);
    assert_int_equal(got.uid, 1000);
    assert_false(segment_pool_take(&pool, 1000, &got));
    assert_int_equal(pool.count, 1);
    segment_pool_deinit(&pool);
    assert_int_equal(pool.count, 0);
    shmdt(a.segment.memory);
    rig_end(&a);
    rig_end(&b);
    assert_false(exists(a.segment.id));
    assert_false(exists(b.segment.id)); // clearing the pool has detached it
}

static void what_somebody_else_has_attached_waits(void **state)
{
    struct segment_pool pool = {0};
    struct rig held = rig_new(1000), gone = rig_new(1000);
    struct pooled_segment got;
    void *client = shmat(held.segment.id, NULL, 0);

    (void)state;
    put(&pool, &gone);
    put(&pool, &held);
    assert_true(segment_pool_take(&pool, 1000, &got));
    assert_int_equal(got.id, gone.segment.id);
    assert_false(segment_pool_take(&pool, 1000, &got));
    assert_int_equal(pool.count, 1);
    // Nothing was cleared under the one who still looks.
    memset(client, 0xa5, SEG_SIZE);
    assert_false(segment_pool_take(&pool, 1000, &got));
    assert_int_equal(((unsigned char *)client)[SEG_SIZE - 1], 0xa5);
    shmdt(client);
    assert_true(segment_pool_take(&pool, 1000, &got));
    assert_int_equal(got.id, held.segment.id);
    // One that a worker does not have any more is not given out.
    put(&pool, &held);
    rig_end(&held);
    assert_false(segment_pool_take(&pool, 1000, &got));
    segment_pool_deinit(&pool);
    shmdt(gone.segment.memory);
    rig_end(&gone);
}

static void all_of_it_is_zero_in_every_mapping(void **state)
{
    static const unsigned char zeros[4096];
    struct segment_pool pool = {0};
    struct rig rig = rig_new(1000);
    struct pooled_segment got;

    (void)state;
    for (int round = 0; round < 3; round++) {
        memset(rig.worker, 0xff, SEG_SIZE);
        put(&pool, &rig);
        assert_true(segment_pool_take(&pool, 1000, &got));
        for (size_t at = 0; at < SEG_SIZE; at += sizeof(zeros)) {
            assert_memory_equal(rig.worker + at, zeros, sizeof(zeros));
            assert_memory_equal(got.memory + at, zeros, sizeof(zeros));
        }
        // Both still see the same memory.
        got.memory[SEG_OFF_RINGS] = 1;
        got.memory[SEG_OFF_COMPLETE] = 2;
        assert_int_equal(rig.worker[SEG_OFF_RINGS], 1);
        assert_int_equal(rig.worker[SEG_OFF_COMPLETE], 2);
    }
    shmdt(got.memory);
    rig_end(&rig);
}

// Its id may have become another's: nothing beyond it is touched then.
static void a_segment_of_another_size_is_not_attached(void **state)
{
    struct rig rig = rig_new(1000);
    void *memory = segment_attach(rig.segment.id, SEG_SIZE);
    struct shmid_ds ds;

    (void)state;
    assert_non_null(memory);
    shmdt(memory);
    assert_null(segment_attach(rig.segment.id, 2 * SEG_SIZE));
    assert_null(segment_attach(rig.segment.id, SEG_SIZE - 1));
    assert_int_equal(shmctl(rig.segment.id, IPC_STAT, &ds), 0);
    assert_int_equal(ds.shm_nattch, 2);
    shmdt(rig.segment.memory);
    rig_end(&rig);
}

// The driver has that page pinned, so the device writes there whatever is mapped later. A pipe that
// was given the page shows it as the device sees it.
static void the_completion_page_stays_the_same_memory(void **state)
{
    struct segment_pool pool = {0};
    struct rig rig = rig_new(1000);
    struct pooled_segment got;
    unsigned char *page = rig.worker + SEG_OFF_COMPLETE, seen[4096];
    struct iovec part = {page, sizeof(seen)};
    int ends[2];

    (void)state;
    memset(page, 0xff, sizeof(seen));
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(vmsplice(ends[1], &part, 1, 0), sizeof(seen));
    put(&pool, &rig);
    assert_true(segment_pool_take(&pool, 1000, &got));
    got.memory[SEG_OFF_COMPLETE + 100] = 1;
    assert_int_equal(read(ends[0], seen, sizeof(seen)), sizeof(seen));
    assert_int_equal(seen[99], 0);
    assert_int_equal(seen[100], 1);
    close(ends[0]);
    close(ends[1]);
    shmdt(got.memory);
    rig_end(&rig);
}

static void a_full_pool_gives_up_the_longest_unused(void **state)
{
    struct segment_pool pool = {0};
    struct rig rig[SEGMENT_POOL_MAX + 2];
    struct pooled_segment got;
    int dropped = -1;

    (void)state;
    for (unsigned i = 0; i < SEGMENT_POOL_MAX; i++) {
        rig[i] = rig_new(1000);
        put(&pool, &rig[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct rig *more = &rig[SEGMENT_POOL_MAX + i];
        *more = rig_new(1001);
        assert_true(segment_pool_put(&pool, &more->segment, &dropped));
        assert_int_equal(dropped, rig[i].segment.id);
        assert_int_equal(pool.count, SEGMENT_POOL_MAX);
        rig_end(&rig[i]);
        assert_false(exists(dropped)); // the pool has detached it
    }
    // The one used last is the first to be used again.
    assert_true(segment_pool_take(&pool, 1000, &got));
    assert_int_equal(got.id, rig[SEGMENT_POOL_MAX - 1].segment.id);
    shmdt(got.memory);
    segment_pool_deinit(&pool);
    for (unsigned i = 2; i < SEGMENT_POOL_MAX + 2; i++) {
        rig_end(&rig[i]);
        assert_false(exists(rig[i].segment.id));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_user_gets_it_again_and_nobody_else),
        cmocka_unit_test(what_somebody_else_has_attached_waits),
        cmocka_unit_test(all_of_it_is_zero_in_every_mapping),
        cmocka_unit_test(a_segment_of_another_size_is_not_attached),
        cmocka_unit_test(the_completion_page_stays_the_same_memory),
        cmocka_unit_test(a_full_pool_gives_up_the_longest_unused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
