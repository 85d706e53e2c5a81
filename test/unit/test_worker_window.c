/*
 * test_worker_window.c - what sessions of a user may have open of their windows, where memory comes
 * beside their kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_driver.h"
#include "worker/memory/user.h"
#include "worker/memory/window.h"

#define GRANULE  (UINT64_C(2) << 20)
#define GIB      (UINT64_C(1) << 30)
#define WINDOW   (128 * GIB)
#define SESSIONS 8u

static struct session session[SESSIONS];

static CUresult reserve(CUdeviceptr *address, size_t size, size_t alignment, CUdeviceptr hint,
                        unsigned long long flags)
{
    (void)size;
    (void)alignment;
    (void)flags;
    *address = hint;
    return CUDA_SUCCESS;
}

static CUresult give(CUdeviceptr address, size_t size)
{
    (void)address;
    (void)size;
    return CUDA_SUCCESS;
}

static int set(void **state)
{
    (void)state;
    fake_cu.cuMemAddressReserve = reserve;
    fake_cu.cuMemAddressFree = give;
    worker_begin()->granularity = GRANULE;
    return 0;
}

/* A session that a next worker takes up, whose kernels are kept to the first 4 GiB. */
static void session_begin(unsigned i, uint32_t uid)
{
    struct job job = {.session = &session[i]};

    session[i] = (struct session){.id = i + 1, .uid = uid, .fenced = true};
    job.open.resume = true;
    job.open.window_base = (i + 1) * UINT64_C(0x10000000000);
    job.open.window_size = WINDOW;
    atomic_store(&session[i].memory.limit, WINDOW);
    assert_int_equal(window_init(&job), GS_OK);
    session[i].memory.cover = COVER_WINDOW;
    session[i].memory.covered_end = job.open.window_base + 4 * GIB + GRANULE;
}

static void session_end(unsigned i)
{
    struct user *user = session[i].memory.user;

    space_deinit(&session[i].memory.window);
    window_deinit(&session[i]);
    user_release(user);
}

/* Has memory at the window's end. */
static void opens_all(unsigned i)
{
    struct session_memory *memory = &session[i].memory;

    assert_true(
        window_put(&session[i], memory->window_base + WINDOW - 2 * GRANULE, GRANULE, memory));
    assert_int_equal(window_open_size(&session[i]), WINDOW);
}

/* A job for memory that needs all of the window open. */
static struct job asked(unsigned i)
{
    struct job job = {.session = &session[i]};

    window_await(&job, 80 * GIB);
    assert_true(job.session_idle && job.beside);
    return job;
}

/* Whether it need not wait for kernels. */
static bool comes_beside(struct job job)
{
    window_go_beside(&job);
    return job_beside(&job);
}

static void a_users_sessions_open_a_bounded_part_beside_kernels(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SESSIONS; i++)
        session_begin(i, i < SESSIONS - 1 ? 1000 : 1001);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(comes_beside(asked(i)));
        opens_all(i);
    }
    assert_false(comes_beside(asked(4)));
    assert_true(comes_beside(asked(SESSIONS - 1))); /* another user's */
    session_end(0);
    assert_true(comes_beside(asked(4)));
    for (unsigned i = 1; i < SESSIONS; i++)
        session_end(i);
}

/* None of them has opened anything by then. */
static void also_where_they_all_ask_before_one_of_them_has_it(void **state)
{
    struct job job[SESSIONS];

    (void)state;
    for (unsigned i = 0; i < SESSIONS; i++) {
        session_begin(i, 1000);
        job[i] = asked(i);
    }
    for (unsigned i = 0; i < SESSIONS; i++)
        assert_int_equal(comes_beside(job[i]), i < 4);
    /* Opened by less, or not at all: the charge is the same, and is given back. */
    assert_true(comes_beside(asked(0)));
    opens_all(1);
    session_end(0);
    session_end(1);
    assert_true(comes_beside(job[4]) && comes_beside(job[5]));
    assert_false(comes_beside(job[6]));
    for (unsigned i = 2; i < SESSIONS; i++)
        session_end(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_users_sessions_open_a_bounded_part_beside_kernels),
        cmocka_unit_test(also_where_they_all_ask_before_one_of_them_has_it),
    };

    return cmocka_run_group_tests(tests, set, NULL);
}
