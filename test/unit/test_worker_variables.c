/*
 * test_worker_variables.c - which addresses of a module's variables copies may name, until the
 * module is unloaded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "worker/jobs/job.h"
#include "worker/memory/allocations.h"

#define SIZE      256u
#define MANY      10000u
#define VARIABLES 40u

static struct session session;

static struct module *module_loaded(uint32_t id)
{
    struct module *module = calloc(1, sizeof(*module));

    assert_non_null(module);
    module->id = id;
    return session.module.modules[id] = module;
}

static void variable_asked(struct module *module, uint64_t address)
{
    struct job job = {.session = &session, .object = module, .ret = {address, SIZE}};

    job_global_get.install(&job);
    assert_int_equal(job.status, GS_OK);
}

static void unloaded(struct module *module)
{
    struct job job = {.session = &session, .object = module};

    job_module_unload.install(&job);
}

/* The places of variables lie between allocations: MANY of SIZE bytes each, every other one free.
 */
static uint64_t place(uint32_t number)
{
    return (uint64_t)number * 2 * SIZE + SIZE;
}

static bool may_name(uint64_t address)
{
    return allocations_containing(&session.memory.allocations, address, SIZE);
}

static void variables_go_with_their_module_and_nothing_else_does(void **state)
{
    struct module *modules[2];

    (void)state;
    session.module.modules = calloc(2, sizeof(struct module *));
    assert_non_null(session.module.modules);
    session.module.module_capacity = 2;
    for (uint32_t i = 0; i < MANY; i++)
        assert_true(allocations_put(&session.memory.allocations, place(i) + SIZE, SIZE, NULL));
    for (uint32_t m = 0; m < 2; m++)
        modules[m] = module_loaded(m);
    for (uint32_t i = 0; i < VARIABLES; i++) {
        variable_asked(modules[i % 2], place(i * 100));
        variable_asked(modules[i % 2], place(i * 100)); /* again */
    }
    unloaded(modules[0]);
    for (uint32_t i = 0; i < VARIABLES; i++)
        assert_int_equal(may_name(place(i * 100)), i % 2 == 1);
    unloaded(modules[1]);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_false(may_name(place(i)));
        assert_true(may_name(place(i) + SIZE));
    }
    allocations_deinit(&session.memory.allocations);
    free(session.module.modules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_go_with_their_module_and_nothing_else_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
