/*
 * test_takeover_late.c - a session whose modules must be compiled again when its worker was lost:
 * nobody else waits for the compiler, and the session goes on once it is done.
 *
 * The compiler, which the test holds up, is that of the software device.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

#include "driver_server.h"
#include "raw_client.h"

#define MIB     ((size_t)1 << 20)
#define N       4096u
/* A text of which the machine code is not kept. */
#define LARGE   (33 * MIB)
#define COMPILE "cuLinkComplete"

static const char small_ptx[] = PTX_HEAD PTX_FILL PTX_HOLD;

struct tenant {
    gs_session session;
    gs_kernel fill, hold;
    gs_devptr data, words;
    gs_stream aside;
};

struct scene {
    struct server *server;
    struct driver_plan *plan;
    struct tenant late, other;
};

static void tenant_set(struct tenant *tenant, const void *image, size_t size)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_module module;

    params.on_fault = GS_ON_FAULT_REPLAY;
    CHECK_OK(gs_attach(&params, &tenant->session));
    CHECK_OK(gs_module_load(tenant->session, image, size, &module));
    tenant->fill = kernels_get(module, "fill");
    tenant->hold = kernels_get(module, "hold");
    CHECK_OK(gs_malloc(tenant->session, N * sizeof(uint32_t), &tenant->data));
    CHECK_OK(gs_malloc(tenant->session, 2 * sizeof(uint32_t), &tenant->words));
    CHECK_OK(gs_memset(tenant->session, tenant->words, 0, 2 * sizeof(uint32_t)));
    CHECK_OK(gs_stream_create(tenant->session, NULL, &tenant->aside));
    CHECK_OK(gs_sync(tenant->session));
}

static void late_set(struct tenant *tenant)
{
    char *text = malloc(LARGE);

    CHECK(text != NULL);
    memset(text, '\n', LARGE);
    memcpy(text, small_ptx, sizeof(small_ptx) - 1);
    tenant_set(tenant, text, LARGE);
    free(text);
}

static void fill(const struct tenant *tenant, uint32_t value)
{
    CHECK_OK(kernels_launch(NULL, tenant->fill, N / 128, 128,
                            (void *[]){(void *)(uintptr_t)&tenant->data, &value, &(uint32_t){N}}));
}

static void check_filled(const struct tenant *tenant, uint32_t value)
{
    static uint32_t words[N];

    memset(words, 0xee, sizeof(words));
    CHECK_OK(gs_memcpy_dtoh(tenant->session, words, tenant->data, sizeof(words)));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(words[i], value + i);
}

static void scene_start(struct scene *s, const char *const *arguments)
{
    s->server = driver_server_start(arguments, 0, &s->plan);
    late_set(&s->late);
    tenant_set(&s->other, small_ptx, sizeof(small_ptx) - 1);
}

static void scene_set(struct scene *s)
{
    scene_start(s, server_unfenced.arguments);
}

/* Without a standby, whose own loads would take the failure of a load. */
static void scene_set_alone(struct scene *s)
{
    scene_start(s, (const char *const[]){"--fence", "never", "--no-standby", NULL});
}

/* Replaces the worker. The next one's compiler waits for driver_go_on. */
static void worker_lost(const struct scene *s)
{
    const uint32_t waiting = atomic_load(&s->plan->waiting);

    driver_hold(s->plan, COMPILE);
    server_worker_replace(s->server, 0);
    CHECK_WITHIN(20000, atomic_load(&s->plan->waiting) > waiting);
}

/* All that another tenant may ask for, and a new one. */
static void others_go_on(const struct scene *s, uint32_t value)
{
    gs_session fresh;
    gs_module module;
    gs_devptr memory;

    fill(&s->other, value);
    check_filled(&s->other, value);
    CHECK_OK(gs_malloc(s->other.session, 65 * MIB, &memory));
    CHECK_OK(gs_free(s->other.session, memory));
    CHECK_OK(server_attach(s->server, &fresh));
    CHECK_OK(gs_module_load(fresh, small_ptx, sizeof(small_ptx) - 1, &module));
    CHECK_OK(gs_detach(fresh));
}

static void scene_end(const struct scene *s)
{
    CHECK_OK(gs_detach(s->other.session));
    server_wait_tenants(s->server, 0, 10000);
    CHECK_WITHIN(10000, server_memory_used(s->server) == 0);
    server_stop(s->server);
}

static void nobody_waits_for_the_compiler(void)
{
    struct scene s;
    gs_event event;

    scene_set(&s);
    CHECK_OK(gs_event_create(s.late.session, &event));
    for (uint32_t round = 0; round < 3; round++) {
        worker_lost(&s);
        fill(&s.late, round);
        CHECK_OK(gs_event_record(event, NULL));
        others_go_on(&s, 100 + round);
        CHECK_STATUS(gs_event_query(event), GS_NOT_READY);
        driver_go_on(s.plan);
        check_filled(&s.late, round);
        CHECK_OK(gs_event_query(event));
    }
    CHECK_OK(gs_detach(s.late.session));
    scene_end(&s);
}

static void work_of_it_that_was_unfinished_runs_again(void)
{
    const uint32_t one = 1;
    uint32_t begun = 0;
    struct scene s;

    scene_set(&s);
    CHECK_OK(kernels_launch(NULL, s.late.hold, 1, 1, (void *[]){&s.late.words}));
    fill(&s.late, 7);
    while (!begun)
        CHECK_OK(gs_memcpy_dtoh_async(s.late.session, &begun, s.late.words + 4, 4, s.late.aside) ||
                 gs_stream_sync(s.late.session, s.late.aside));
    worker_lost(&s);
    others_go_on(&s, 1);
    driver_go_on(s.plan);
    CHECK_OK(gs_memcpy_htod_async(s.late.session, s.late.words, &one, sizeof(one), s.late.aside));
    check_filled(&s.late, 7);
    others_go_on(&s, 2);
    CHECK_OK(gs_detach(s.late.session));
    scene_end(&s);
}

/* The worker after that takes it up from the beginning. */
static void a_worker_that_is_lost_meanwhile_loses_nothing_of_it(void)
{
    struct scene s;

    scene_set(&s);
    fill(&s.late, 5);
    CHECK_OK(gs_sync(s.late.session));
    worker_lost(&s);
    worker_lost(&s);
    others_go_on(&s, 1);
    driver_go_on(s.plan);
    check_filled(&s.late, 5);
    fill(&s.late, 6);
    check_filled(&s.late, 6);
    CHECK_OK(gs_detach(s.late.session));
    scene_end(&s);
}

/* The late session gets all of the other's memory, which counts for both. */
static gs_devptr lend(const struct scene *s, size_t size)
{
    gs_devptr own, got;
    gs_mem_handle handle;
    size_t bytes;

    CHECK_OK(gs_malloc(s->other.session, size, &own));
    CHECK_OK(gs_mem_export(s->other.session, own, GS_EXPORT_TO_USER, &handle));
    CHECK_OK(gs_mem_import(s->late.session, &handle, &got, &bytes));
    return own;
}

/* Its owner has what the memory takes again, and need not wait for another's compiler. */
static void what_is_taken_back_from_it_is_free_at_once(void)
{
    struct scene s;

    scene_set(&s);
    fill(&s.late, 3);
    CHECK_OK(gs_sync(s.late.session));
    const uint64_t used = server_memory_used(s.server);
    const gs_devptr lent = lend(&s, 64 * MIB);
    worker_lost(&s);
    fill(&s.late, 4);
    CHECK_OK(gs_mem_revoke(s.other.session, lent));
    CHECK_OK(gs_free(s.other.session, lent));
    CHECK_WITHIN(20000, server_memory_used(s.server) <= used);
    others_go_on(&s, 1);
    driver_go_on(s.plan);
    check_filled(&s.late, 4);
    CHECK_OK(gs_detach(s.late.session));
    scene_end(&s);
}

static void *load_run(void *session)
{
    char *text = malloc(LARGE);
    gs_module module;

    CHECK(text != NULL);
    memset(text, '\n', LARGE);
    memcpy(text, small_ptx, sizeof(small_ptx) - 1);
    CHECK_OK(gs_module_load(session, text, LARGE, &module));
    free(text);
    return NULL;
}

/* The same of a session that asks for a compilation, with work on the device when its owner takes
 * the memory back. */
static void nor_does_an_owner_wait_for_a_module_that_an_importer_loads(void)
{
    const uint32_t one = 1;
    pthread_t thread;
    struct scene s;

    scene_set(&s);
    /* The program's next copy makes no request, which would wait for the one in progress. */
    CHECK_OK(gs_memcpy_htod_async(s.late.session, s.late.data, &one, sizeof(one), s.late.aside));
    fill(&s.late, 1);
    check_filled(&s.late, 1);
    const uint64_t used = server_memory_used(s.server);
    const gs_devptr lent = lend(&s, 64 * MIB);
    const uint32_t waiting = atomic_load(&s.plan->waiting);
    driver_hold(s.plan, COMPILE);
    CHECK_EQUAL(pthread_create(&thread, NULL, load_run, s.late.session), 0);
    CHECK_WITHIN(20000, atomic_load(&s.plan->waiting) > waiting);
    CHECK_OK(kernels_launch(NULL, s.late.hold, 1, 1, (void *[]){&s.late.words}));
    CHECK_OK(gs_mem_revoke(s.other.session, lent));
    CHECK_OK(gs_free(s.other.session, lent));
    CHECK(server_memory_used(s.server) >= used + 64 * MIB);
    CHECK_OK(gs_memcpy_htod_async(s.late.session, s.late.words, &one, sizeof(one), s.late.aside));
    CHECK_WITHIN(20000, server_memory_used(s.server) <= used);
    fill(&s.late, 2);
    check_filled(&s.late, 2);
    others_go_on(&s, 1);
    driver_go_on(s.plan);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_OK(gs_detach(s.late.session));
    scene_end(&s);
}

static void late_run(void *argument)
{
    struct gate *loaded = argument;
    struct tenant late;

    late_set(&late);
    gate_pass(loaded);
    for (;;)
        pause();
}

static void a_tenant_that_is_killed_meanwhile_leaves_nothing(void)
{
    struct gate *loaded = shared_alloc(sizeof(*loaded));
    struct scene s;
    pid_t pid;

    scene_set(&s);
    CHECK_OK(gs_detach(s.late.session));
    pid = tenant_start(late_run, loaded);
    gate_wait(loaded, 1);
    worker_lost(&s);
    tenant_kill(pid, SIGKILL);
    others_go_on(&s, 1);
    driver_go_on(s.plan);
    server_wait_tenants(s.server, 1, 10000);
    others_go_on(&s, 2);
    scene_end(&s);
}

/* The machine code, which the driver loads at a quiet moment. */
static void what_cannot_be_loaded_again_ends_its_session_alone(void)
{
    struct scene s;

    scene_set_alone(&s);
    worker_lost(&s);
    fill(&s.late, 1);
    others_go_on(&s, 1);
    snprintf(s.plan->only, sizeof(s.plan->only), "cuModuleLoadDataEx");
    atomic_store(&s.plan->armed, 1);
    driver_go_on(s.plan);
    CHECK_STATUS(gs_sync(s.late.session), GS_ERR_INTERRUPTED);
    CHECK_EQUAL(atomic_load(&s.plan->failures), 1);
    others_go_on(&s, 2);
    CHECK_STATUS(gs_detach(s.late.session), GS_ERR_INTERRUPTED);
    scene_end(&s);
}

static uint32_t module_load(struct raw_client *raw, uint32_t block)
{
    struct raw_request request = {.op = REQ_MODULE_LOAD, .arg = {block, LARGE}};

    CHECK_EQUAL(raw_ask(raw, &request), GS_OK);
    return (uint32_t)request.ret[0];
}

/* Of two modules the first cannot be loaded again, and the second is there by half. A client of its
 * own asks to unload it, though its session has ended. */
static void a_module_that_is_there_by_half_cannot_be_named(void)
{
    struct raw_request request = {.op = REQ_HOST_ALLOC, .arg = {LARGE, 1}};
    struct raw_client raw;
    uint32_t module[2];
    struct scene s;
    char *block;

    scene_set_alone(&s);
    CHECK_OK(gs_detach(s.late.session));
    CHECK_EQUAL(raw_attach(&raw, s.server->instance), GS_OK);
    CHECK_EQUAL(raw_ask(&raw, &request), GS_OK);
    block = shmat((int)request.ret[1], NULL, 0);
    CHECK(block != (void *)-1);
    memset(block, '\n', LARGE);
    memcpy(block, small_ptx, sizeof(small_ptx) - 1);
    for (unsigned i = 0; i < 2; i++)
        module[i] = module_load(&raw, (uint32_t)request.ret[0]);
    worker_lost(&s);
    const pid_t worker = server_worker_pid(s.server);
    snprintf(s.plan->only, sizeof(s.plan->only), "cuModuleLoadDataEx");
    atomic_store(&s.plan->armed, 1);
    driver_go_on(s.plan);
    CHECK_WITHIN(20000, !raw_open(&raw));
    for (unsigned i = 0; i < 2; i++) {
        raw.request->op = REQ_MODULE_UNLOAD;
        raw.request->arg[0] = module[i];
        atomic_store(&raw.request->state, REQ_POSTED);
        raw_signal(&raw, SEG_REQUEST_BIT);
        CHECK_WITHIN(10000, atomic_load(&raw.request->state) == REQ_DONE);
        CHECK_EQUAL(raw.request->status, GS_ERR_INVALID_HANDLE);
        atomic_store(&raw.request->state, REQ_IDLE);
    }
    others_go_on(&s, 3);
    CHECK_EQUAL(server_worker_pid(s.server), worker);
    CHECK_EQUAL(shmdt(block), 0);
    raw_detach(&raw);
    scene_end(&s);
}

/* As often as a session that nobody could take up. */
static void a_session_that_costs_one_worker_after_the_other_ends(void)
{
    struct scene s;

    scene_set(&s);
    for (unsigned i = 0; i < 3; i++)
        worker_lost(&s);
    others_go_on(&s, 1);
    server_worker_replace(s.server, 0);
    others_go_on(&s, 2);
    CHECK_STATUS(gs_sync(s.late.session), GS_ERR_INTERRUPTED);
    CHECK_STATUS(gs_detach(s.late.session), GS_ERR_INTERRUPTED);
    driver_go_on(s.plan);
    scene_end(&s);
}

/* ---- Host memory ------------------------------------------------------------------------------
 */

#define SLOW_MS     1000u /* for each call; nobody else waits for more than five of a session */
#define HOST_BLOCKS 8u

static uint32_t *host_block(gs_session session, uint32_t value)
{
    void *memory;

    CHECK_OK(gs_host_alloc(session, 2 * MIB, &memory));
    *(uint32_t *)memory = value;
    return memory;
}

/* Makes what copies of ordinary memory need. */
static void check_copies(const struct tenant *tenant)
{
    fill(tenant, 0);
    check_filled(tenant, 0);
}

/* Nor for all of a session's host memory, which copies and kernels use again once it is there. */
static void nobody_waits_for_much_host_memory(void)
{
    uint32_t *block[HOST_BLOCKS], value = 40, n = 1;
    struct scene s;

    s.server = driver_server_start(server_unfenced.arguments, 0, &s.plan);
    tenant_set(&s.late, small_ptx, sizeof(small_ptx) - 1);
    tenant_set(&s.other, small_ptx, sizeof(small_ptx) - 1);
    check_copies(&s.late);
    check_copies(&s.other);
    for (uint32_t i = 0; i < HOST_BLOCKS; i++)
        block[i] = host_block(s.late.session, i);
    driver_slow(s.plan, HOST_LARGE, SLOW_MS);
    server_worker_replace(s.server, 0);
    fill(&s.other, 1);
    check_filled(&s.other, 1);
    const uint32_t registered = atomic_load(&s.plan->slow_calls);
    CHECK_OK(kernels_launch(NULL, s.late.fill, 1, 128,
                            (void *[]){(void *)&block[HOST_BLOCKS - 1], &value, &n}));
    CHECK_OK(gs_sync(s.late.session));
    CHECK_EQUAL(*block[HOST_BLOCKS - 1], 40);
    CHECK_OK(gs_memcpy_htod(s.late.session, s.late.data, block[5], sizeof(uint32_t)));
    CHECK_OK(gs_memcpy_dtoh(s.late.session, &n, s.late.data, sizeof(n)));
    CHECK_EQUAL(n, 5);
    CHECK(atomic_load(&s.plan->slow_calls) > registered);
    CHECK_OK(gs_detach(s.late.session));
    scene_end(&s);
}

static void host_memory_run(void *argument)
{
    struct gate *made = argument;
    struct tenant tenant;

    tenant_set(&tenant, small_ptx, sizeof(small_ptx) - 1);
    for (uint32_t i = 0; i < HOST_BLOCKS; i++)
        host_block(tenant.session, i);
    gate_pass(made);
    for (;;)
        pause();
}

/* It ends while some of its host memory is not registered, and the rest of it never is. */
static void a_tenant_that_is_killed_meanwhile_leaves_no_host_memory(void)
{
    struct gate *made = shared_alloc(sizeof(*made));
    struct scene s;
    pid_t pid;

    s.server = driver_server_start(server_unfenced.arguments, 0, &s.plan);
    tenant_set(&s.other, small_ptx, sizeof(small_ptx) - 1);
    check_copies(&s.other);
    pid = tenant_start(host_memory_run, made);
    gate_wait(made, 1);
    driver_slow(s.plan, HOST_LARGE, SLOW_MS);
    server_worker_replace(s.server, 0);
    fill(&s.other, 1);
    check_filled(&s.other, 1);
    const uint32_t registered = atomic_load(&s.plan->slow_calls);
    tenant_kill(pid, SIGKILL);
    server_wait_tenants(s.server, 1, 10000);
    CHECK(atomic_load(&s.plan->slow_calls) <= registered + 1); /* which was under way */
    driver_slow(s.plan, HOST_LARGE, 0);
    others_go_on(&s, 2);
    scene_end(&s);
}

/* ---- Device memory ----------------------------------------------------------------------------
 */

#define SMALL 5000u /* allocations, more than are taken up however long it takes: three chunks */

static size_t device_free(gs_session session)
{
    size_t free_bytes, total;

    CHECK_OK(gs_mem_info(session, &free_bytes, &total));
    return free_bytes;
}

/* A session with very much in small pieces is given up when all others have waited for long, unlike
 * one with little, however long that takes. */
static void nobody_waits_for_very_many_allocations(void)
{
    gs_devptr memory;
    struct scene s;

    s.server = driver_server_start(server_unfenced.arguments, 0, &s.plan);
    tenant_set(&s.other, small_ptx, sizeof(small_ptx) - 1);
    CHECK_OK(gs_malloc(s.other.session, 2 * MIB, &memory));
    fill(&s.other, 1);
    check_filled(&s.other, 1);
    const size_t before = device_free(s.other.session);
    tenant_set(&s.late, small_ptx, sizeof(small_ptx) - 1);
    for (uint32_t i = 0; i < SMALL; i++)
        CHECK_OK(gs_malloc(s.late.session, 1024, &memory));
    driver_slow(s.plan, "cuMemMap", 3000);
    server_worker_replace(s.server, 0);
    check_filled(&s.other, 1);
    driver_slow(s.plan, "cuMemMap", 0);
    CHECK_STATUS(gs_free(s.late.session, memory), GS_ERR_INTERRUPTED);
    CHECK_TEXT(gs_last_error_message(), "small memory");
    CHECK_WITHIN(10000, device_free(s.other.session) >= before);
    CHECK_STATUS(gs_detach(s.late.session), GS_ERR_INTERRUPTED);
    others_go_on(&s, 2);
    scene_end(&s);
}

/* Allocations are noted in the order in which they were made, and taken up in that of their
 * addresses. */
static void allocations_of_any_order_are_there_again(void)
{
    gs_devptr at[1000], more;
    struct scene s;

    scene_set(&s);
    CHECK_OK(gs_detach(s.late.session));
    for (uint32_t i = 0; i < ARRAY_SIZE(at); i++)
        CHECK_OK(gs_malloc(s.other.session, 256, &at[i]));
    for (uint32_t i = ARRAY_SIZE(at); i-- > 0;) { /* each gets the only gap, from the last on */
        CHECK_OK(gs_free(s.other.session, at[i]));
        CHECK_OK(gs_malloc(s.other.session, 256, &at[i]));
    }
    for (uint32_t i = 0; i < ARRAY_SIZE(at); i++)
        CHECK_OK(gs_memcpy_htod(s.other.session, at[i], &i, sizeof(i)));
    server_worker_replace(s.server, 0);
    CHECK_OK(gs_malloc(s.other.session, 256, &more));
    for (uint32_t i = 0; i < ARRAY_SIZE(at); i++) {
        uint32_t is = 0;

        CHECK(at[i] != more);
        CHECK_OK(gs_memcpy_dtoh(s.other.session, &is, at[i], sizeof(is)));
        CHECK_EQUAL(is, i);
        CHECK_OK(gs_free(s.other.session, at[i]));
    }
    scene_end(&s);
}

/* ---- Modules and kernels ----------------------------------------------------------------------
 */

#define NAMES 8u /* modules, or kernels of one */

/* The session's modules are there in part when the others go on, then all of them. */
static void others_go_on_and_then_all_is_there(struct scene *s, const char *slow)
{
    driver_slow(s->plan, slow, SLOW_MS);
    server_worker_replace(s->server, 0);
    fill(&s->other, 1);
    check_filled(&s->other, 1);
    const uint32_t calls = atomic_load(&s->plan->slow_calls);
    fill(&s->late, 2);
    check_filled(&s->late, 2);
    CHECK(atomic_load(&s->plan->slow_calls) > calls);
    driver_slow(s->plan, slow, 0);
}

static void nobody_waits_for_many_modules(void)
{
    struct scene s;
    gs_module module;

    s.server = driver_server_start(server_unfenced.arguments, 0, &s.plan);
    tenant_set(&s.late, small_ptx, sizeof(small_ptx) - 1);
    tenant_set(&s.other, small_ptx, sizeof(small_ptx) - 1);
    for (uint32_t i = 0; i < NAMES; i++)
        CHECK_OK(gs_module_load(s.late.session, small_ptx, sizeof(small_ptx) - 1, &module));
    others_go_on_and_then_all_is_there(&s, "cuModuleLoadDataEx");
    s.late.hold = kernels_get(module, "hold");
    CHECK_OK(gs_detach(s.late.session));
    scene_end(&s);
}

static void nor_for_many_kernels(void)
{
    char text[4096];
    int n = snprintf(text, sizeof(text), "%s", small_ptx);
    gs_kernel kernel[NAMES];
    gs_module module;
    struct scene s;

    for (uint32_t i = 0; i < NAMES; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, ".visible .entry k%u() { ret; }\n", i);
    s.server = driver_server_start(server_unfenced.arguments, 0, &s.plan);
    tenant_set(&s.late, small_ptx, sizeof(small_ptx) - 1);
    tenant_set(&s.other, small_ptx, sizeof(small_ptx) - 1);
    CHECK_OK(gs_module_load(s.late.session, text, 0, &module));
    for (uint32_t i = 0; i < NAMES; i++) {
        char name[8];
        snprintf(name, sizeof(name), "k%u", i);
        kernel[i] = kernels_get(module, name);
    }
    others_go_on_and_then_all_is_there(&s, "cuModuleGetFunction");
    for (uint32_t i = 0; i < NAMES; i++)
        CHECK_OK(kernels_launch(NULL, kernel[i], 1, 1, NULL));
    CHECK_OK(gs_sync(s.late.session));
    CHECK_OK(gs_detach(s.late.session));
    scene_end(&s);
}

/* Such a session ends, and is not late: nobody would give back what it has. */
static void a_session_whose_kernels_cannot_be_made_again_leaves_nothing(void)
{
    gs_devptr memory, more;
    struct scene s;

    s.server = driver_server_start(server_unfenced.arguments, 0, &s.plan);
    CHECK_OK(server_attach(s.server, &s.other.session));
    CHECK_WITHIN(20000, server_standby_pid(s.server)); /* has found its own kernels */
    const size_t before = device_free(s.other.session);
    tenant_set(&s.late, small_ptx, sizeof(small_ptx) - 1);
    CHECK_OK(gs_malloc(s.late.session, 64 * MIB, &memory));
    CHECK(device_free(s.other.session) <= before - 64 * MIB);
    snprintf(s.plan->only, sizeof(s.plan->only), "cuModuleGetFunction");
    atomic_store(&s.plan->armed, 1);
    server_worker_replace(s.server, 0);
    CHECK_STATUS(gs_malloc(s.late.session, 1, &more), GS_ERR_INTERRUPTED);
    CHECK_EQUAL(atomic_load(&s.plan->failures), 1);
    CHECK_WITHIN(10000, device_free(s.other.session) >= before);
    CHECK_STATUS(gs_detach(s.late.session), GS_ERR_INTERRUPTED);
    scene_end(&s);
}

static const struct test tests[] = {
    TEST(nobody_waits_for_the_compiler),
    TEST(work_of_it_that_was_unfinished_runs_again),
    TEST(a_worker_that_is_lost_meanwhile_loses_nothing_of_it),
    TEST(what_is_taken_back_from_it_is_free_at_once),
    TEST(nor_does_an_owner_wait_for_a_module_that_an_importer_loads),
    TEST(a_tenant_that_is_killed_meanwhile_leaves_nothing),
    TEST(what_cannot_be_loaded_again_ends_its_session_alone),
    TEST(a_module_that_is_there_by_half_cannot_be_named),
    TEST(nobody_waits_for_many_modules),
    TEST(nor_for_many_kernels),
    TEST(a_session_whose_kernels_cannot_be_made_again_leaves_nothing),
    TEST(nobody_waits_for_much_host_memory),
    TEST(a_tenant_that_is_killed_meanwhile_leaves_no_host_memory),
    TEST(nobody_waits_for_very_many_allocations),
    TEST(allocations_of_any_order_are_there_again),
    TEST(a_session_that_costs_one_worker_after_the_other_ends),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
