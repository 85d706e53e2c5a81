/*
 * test_worker_unload.c - what goes when a module is unloaded: its kernels from their table and its
 * variables from what copies may name, a few at a time, since the main lane does it.
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

/* As route.c has it done, when the module is out of the context. */
static void unloaded(struct module *module)
{
    struct job job = {.session = &session, .object = module, .kind = &job_module_unload};

    while (job.kind) {
        if (job.kind->install)
            job.kind->install(&job);
        job.kind = job.kind->then;
        if (job.kind)
            job.kind->work(&job);
    }
    assert_int_equal(job.status, GS_OK);
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

static uint32_t kernels_there(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < session.kernels.capacity; i++)
        count += session.kernels.table[i] != NULL;
    return count;
}

/* Others' launches wait for each step. */
static void no_step_of_the_main_lane_is_long(void **state)
{
    struct job job = {.session = &session, .kind = &job_module_unload};
    uint32_t before = MANY, steps = 0;

    (void)state;
    session.module.modules = calloc(1, sizeof(struct module *));
    session.kernels.table = calloc(MANY, sizeof(struct kernel *));
    assert_true(session.module.modules && session.kernels.table);
    session.module.module_capacity = 1;
    session.kernels.capacity = MANY;
    struct module *module = job.object = module_loaded(0);
    for (uint32_t i = 0; i < MANY; i++) {
        struct kernel *kernel = calloc(1, sizeof(*kernel));
        assert_non_null(kernel);
        *kernel = (struct kernel){.id = i, .next = module->kernels};
        session.kernels.table[i] = module->kernels = kernel;
        variable_asked(module, place(i));
    }
    for (bool more = true; more; steps++) {
        job.kind->install(&job);
        assert_in_range(before - kernels_there(), 1, 256);
        before = kernels_there();
        job.kind = job.kind->then;
        job.kind->work(&job);
        more = job.kind->install;
    }
    assert_int_equal(before, 0);
    assert_in_range(steps, MANY / 256, MANY / 256 + 1);
    assert_int_equal(session.memory.allocations.count, 0);
    assert_null(session.module.modules[0]);
    assert_int_equal(session.kernels.lowest, 0);
    free(session.kernels.table);
    free(session.module.modules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_go_with_their_module_and_nothing_else_does),
        cmocka_unit_test(no_step_of_the_main_lane_is_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
