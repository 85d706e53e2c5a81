/*
 * test_worker_late.c - a session that is taken up is late, and the others go on, where its modules
 * are not there in time.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/resume.h"
#include "worker/memory/user.h"
#include "worker/module/module.h"
#include "worker/module/module_table.h"

#define MODULES 3u

/* Machine code, which needs no compiler. */
static const Elf64_Ehdr code = {
    .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB}, .e_machine = EM_CUDA};

static struct session session;
static struct link_stats stats;

static int set(void **state)
{
    const uint64_t value[JOURNAL_VALUES] = {0};

    (void)state;
    session = (struct session){.id = 1, .stats = &stats};
    session.memory.user = user_hold(0);
    session.journal = journal_new(1, 0);
    session.resume = resume_new(0);
    if (!session.memory.user || !session.journal || !session.resume)
        return -1;
    for (uint32_t i = 0; i < MODULES; i++)
        journal_put(session.journal, JOURNAL_MODULE, i, value, &code, sizeof(code));
    return 0;
}

static int unset(void **state)
{
    (void)state;
    modules_deinit(&session);
    resume_free(session.resume);
    journal_free(session.journal);
    user_release(session.memory.user);
    return 0;
}

static uint32_t modules(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < MODULES; i++)
        count += module_find(&session, i) != NULL;
    return count;
}

static void who_is_in_time_is_not_late(void **state)
{
    struct job job = {.session = &session};

    (void)state;
    assert_int_equal(modules_resume(&job), GS_OK);
    assert_false(session.resume->late);
    assert_int_equal(modules(), MODULES);
}

static void whose_modules_take_long_is_late_and_gets_the_rest_later(void **state)
{
    struct job job = {.session = &session};

    (void)state;
    session.resume->prompt_until = 0;
    assert_int_equal(modules_resume(&job), GS_OK);
    assert_true(session.resume->late);
    assert_int_equal(modules(), 0);
    assert_int_equal(modules_resume_late(&job), GS_OK);
    assert_int_equal(modules(), MODULES);
}

static void who_closes_gets_no_module_any_more(void **state)
{
    struct job job = {.session = &session};

    (void)state;
    session.resume->prompt_until = 0;
    assert_int_equal(modules_resume(&job), GS_OK);
    atomic_store(&session.jobs.closing, true);
    assert_int_equal(modules_resume_late(&job), GS_ERR_INTERRUPTED);
    assert_int_equal(modules(), 0);
}

#define LATE_TEST(name) cmocka_unit_test_setup_teardown(name, set, unset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LATE_TEST(who_is_in_time_is_not_late),
        LATE_TEST(whose_modules_take_long_is_late_and_gets_the_rest_later),
        LATE_TEST(who_closes_gets_no_module_any_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
