/*
 * test_vault.c - what a tenant has been given outlives the worker, whenever that is lost: its
 * memory is in the supervisor's vault, or on its way there, when gs_malloc returns.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "driver_server.h"

#define MIB    ((size_t)1 << 20)
#define ROUNDS 24u

/* A piece of its own, a part of a shared one, one that is both. */
static const size_t sizes[] = {4 * MIB, 1000, MIB + 4096};

struct block {
    gs_devptr memory;
    size_t size;
    unsigned char value;
};

static gs_session attach_replaying(void)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    params.on_fault = GS_ON_FAULT_REPLAY;
    CHECK_OK(gs_attach(&params, &session));
    return session;
}

static void worker_kill(const struct server *server)
{
    pid_t worker;

    CHECK_WITHIN(20000, (worker = server_worker_pid(server)) > 0);
    CHECK_EQUAL(kill(worker, SIGKILL), 0);
}

static void block_allocate(gs_session session, struct block *block, unsigned round)
{
    block->size = sizes[round % ARRAY_SIZE(sizes)];
    CHECK_OK(gs_malloc(session, block->size, &block->memory));
}

static void block_write(gs_session session, struct block *block, unsigned round)
{
    block->value = (unsigned char)(1 + round % 251);
    CHECK_OK(gs_memset(session, block->memory, block->value, block->size));
    CHECK_OK(gs_sync(session));
}

static void block_check(gs_session session, const struct block *block)
{
    unsigned char *bytes = malloc(block->size);

    CHECK(bytes != NULL);
    memset(bytes, 0xee, block->size);
    CHECK_OK(gs_memcpy_dtoh(session, bytes, block->memory, block->size));
    for (size_t i = 0; i < block->size; i++)
        CHECK_EQUAL(bytes[i], block->value);
    free(bytes);
}

/* In turn at the answer of gs_malloc, and when something has been written there. */
static void memory_outlives_a_worker_that_is_killed_at_the_answer(void)
{
    struct server *server = server_start(NULL);
    struct block blocks[ROUNDS];
    gs_session session = attach_replaying();

    for (unsigned round = 0; round < ROUNDS; round++) {
        block_allocate(session, &blocks[round], round);
        if (round % 2)
            block_write(session, &blocks[round], round);
        worker_kill(server);
        if (round % 2 == 0)
            block_write(session, &blocks[round], round);
        for (unsigned i = 0; i <= round; i++)
            block_check(session, &blocks[i]);
    }
    for (unsigned i = 0; i < ROUNDS; i++)
        CHECK_OK(gs_free(session, blocks[i].memory));
    CHECK_OK(gs_detach(session));
    CHECK_WITHIN(10000, server_memory_used(server) == 0);
    server_stop(server);
}

struct churn {
    void (*run)(struct churn *churn, gs_session session);
    struct gate rounds;
    _Atomic uint32_t stop;
};

/* Has a few blocks, and frees and makes one all the time. */
static void memory_churn(struct churn *churn, gs_session session)
{
    struct block blocks[5] = {{0}};

    for (unsigned round = 0; !atomic_load(&churn->stop); round++) {
        struct block *block = &blocks[round % ARRAY_SIZE(blocks)];

        if (block->memory) {
            block_check(session, block);
            CHECK_OK(gs_free(session, block->memory));
        }
        block_allocate(session, block, round);
        block_write(session, block, round);
        gate_pass(&churn->rounds);
    }
}

/* The same with host memory. */
static void host_churn(struct churn *churn, gs_session session)
{
    unsigned char *blocks[5] = {NULL};

    for (unsigned round = 0; !atomic_load(&churn->stop); round++) {
        unsigned char **block = &blocks[round % ARRAY_SIZE(blocks)];

        if (*block) {
            CHECK_EQUAL(**block, (unsigned char)(round - ARRAY_SIZE(blocks)));
            CHECK_OK(gs_host_free(session, *block));
        }
        CHECK_OK(gs_host_alloc(session, sizes[round % ARRAY_SIZE(sizes)], (void **)block));
        **block = (unsigned char)round;
        gate_pass(&churn->rounds);
    }
}

static void churn_run(void *argument)
{
    struct churn *churn = argument;
    gs_session session = attach_replaying();

    churn->run(churn, session);
    CHECK_OK(gs_detach(session));
}

static void outlives_worker_after_worker(void (*run)(struct churn *churn, gs_session session))
{
    struct server *server = server_start(NULL);
    struct churn *churn = shared_alloc(sizeof(*churn));

    churn->run = run;
    const pid_t tenant = tenant_start(churn_run, churn);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        gate_wait(&churn->rounds, atomic_load(&churn->rounds.count) + 1 + test_random() % 4);
        worker_kill(server);
    }
    gate_wait(&churn->rounds, atomic_load(&churn->rounds.count) + 5);
    atomic_store(&churn->stop, 1);
    tenant_join(tenant);
    server_stop(server);
}

static void who_allocates_all_the_time_outlives_worker_after_worker(void)
{
    outlives_worker_after_worker(memory_churn);
}

static void who_allocates_host_memory_outlives_worker_after_worker(void)
{
    outlives_worker_after_worker(host_churn);
}

struct allocation {
    gs_session session;
    struct block block;
};

static void *allocate(void *argument)
{
    struct allocation *allocation = argument;

    block_allocate(allocation->session, &allocation->block, 0);
    return NULL;
}

/* The driver is slow to make the descriptor, and the worker is killed meanwhile. */
static void no_memory_is_given_before_the_vault_has_it(void)
{
    struct driver_plan *plan;
    struct server *server = driver_server_start(NULL, 0, &plan);
    struct allocation allocation = {.session = attach_replaying()};
    pthread_t thread;

    driver_hold(plan, "cuMemExportToShareableHandle");
    CHECK_EQUAL(pthread_create(&thread, NULL, allocate, &allocation), 0);
    CHECK_WITHIN(10000, atomic_load(&plan->waiting) == 1);
    worker_kill(server);
    driver_go_on(plan);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    block_write(allocation.session, &allocation.block, 7);
    worker_kill(server);
    block_check(allocation.session, &allocation.block);
    CHECK_OK(gs_detach(allocation.session));
    CHECK_WITHIN(10000, server_memory_used(server) == 0);
    server_stop(server);
}

/* The supervisor has not read what the worker has sent when both are killed: the next one does. */
static void memory_on_its_way_to_the_vault_outlives_both(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach_replaying();
    struct block blocks[8];

    for (unsigned round = 0; round < ARRAY_SIZE(blocks); round++) {
        const pid_t supervisor = server_supervisor(server), worker = server_worker_pid(server);

        CHECK(supervisor > 0 && worker > 0);
        CHECK_EQUAL(kill(supervisor, SIGSTOP), 0);
        block_allocate(session, &blocks[round], round);
        block_write(session, &blocks[round], round);
        CHECK_EQUAL(kill(worker, SIGKILL), 0);
        CHECK_EQUAL(kill(supervisor, SIGKILL), 0);
        for (unsigned i = 0; i <= round; i++)
            block_check(session, &blocks[i]);
        CHECK_WITHIN(20000, server_worker_pid(server) > 0 && server_worker_pid(server) != worker);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST_WITHIN(memory_outlives_a_worker_that_is_killed_at_the_answer, 120),
    TEST_WITHIN(who_allocates_all_the_time_outlives_worker_after_worker, 120),
    TEST_WITHIN(who_allocates_host_memory_outlives_worker_after_worker, 120),
    TEST(no_memory_is_given_before_the_vault_has_it),
    TEST_WITHIN(memory_on_its_way_to_the_vault_outlives_both, 120),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
