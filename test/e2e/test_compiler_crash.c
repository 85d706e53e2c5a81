/* test_compiler_crash.c - a text on which the driver's compiler crashes, and the worker with it:
 * its session ends, and is named; and one that takes it more memory than there is. On the software
 * device behind test/shim/driver.c. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/sanitizers.h"
#include "driver_server.h"
#include "harness/harness.h"
#include "memory_group.h"

#define CRASHES "crashes"
#define VALUE   0x600df00du

static const char crashing_ptx[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                                   ".visible .entry " CRASHES "() { ret; }\n";
static const char good_ptx[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                               ".visible .entry good() { ret; }\n";

struct loader {
    struct gate attached, go;
    uint64_t session;
    _Atomic bool done;
    gs_status status;
    gs_fault fault;
};

static void load(struct loader *loader, const char *text)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_module module;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_session_info(session, &desc));
    loader->session = desc.session_id;
    loader->fault = (gs_fault)GS_FAULT_INIT;
    gate_pass(&loader->attached);
    gate_wait(&loader->go, 1);
    loader->status = gs_module_load(session, text, 0, &module);
    CHECK_OK(gs_last_fault(session, &loader->fault));
    gs_detach(session);
    loader->done = true;
}

static void crashing_run(void *argument)
{
    load(argument, crashing_ptx);
}

static void good_run(void *argument)
{
    load(argument, good_ptx);
}

static void check_blamed(struct server *server, const struct loader *loader)
{
    char text[96];

    CHECK_EQUAL(loader->status, GS_ERR_FAULT);
    CHECK_EQUAL(loader->fault.kind, GS_FAULT_DEVICE);
    CHECK_TEXT(loader->fault.message, "while it compiled a module");
    snprintf(text, sizeof(text),
             "event=fault device=0 session=%llu user=", (unsigned long long)loader->session);
    CHECK_EQUAL(server_log_lines(server, text), 1);
}

static void who_crashes_the_compiler_is_ended_and_nobody_else(void)
{
    struct loader *loader = shared_alloc(sizeof(*loader));
    uint32_t value = VALUE;
    struct driver_plan *plan;
    struct server *server = driver_server_start(NULL, 0, &plan);
    gs_session other;
    gs_devptr data;
    pid_t tenant;

    CHECK_OK(server_attach(server, &other));
    CHECK_OK(gs_malloc(other, sizeof(value), &data));
    CHECK_OK(gs_memcpy_htod(other, data, &value, sizeof(value)));
    snprintf(plan->crash, sizeof(plan->crash), CRASHES);
    tenant = tenant_start(crashing_run, loader);
    gate_pass(&loader->go);
    tenant_join(tenant);
    check_blamed(server, loader);
    value = 0;
    CHECK_OK(gs_memcpy_dtoh(other, &value, data, sizeof(value)));
    CHECK_EQUAL(value, VALUE);
    CHECK_EQUAL(server_log_lines(server, "event=fault"), 1);
    CHECK_OK(gs_detach(other));
    server_stop(server);
}

/* A next supervisor is not the worker's parent, and learns from the keeper how it has ended. */
static void after_a_supervisor_was_killed_it_is_found_too(void)
{
    struct loader *loader = shared_alloc(sizeof(*loader));
    struct driver_plan *plan;
    struct server *server = driver_server_start(NULL, 0, &plan);
    gs_session other;
    pid_t tenant;

    CHECK_OK(server_attach(server, &other));
    snprintf(plan->crash, sizeof(plan->crash), CRASHES);
    tenant = tenant_start(crashing_run, loader);
    gate_wait(&loader->attached, 1);
    CHECK(kill(server_supervisor(server), SIGKILL) == 0);
    CHECK_WITHIN(10000, server_log_lines(server, "has taken the place") == 1);
    gate_pass(&loader->go);
    tenant_join(tenant);
    check_blamed(server, loader);
    CHECK_EQUAL(server_log_lines(server, "event=fault"), 1);
    CHECK_OK(gs_sync(other));
    CHECK_OK(gs_detach(other));
    server_stop(server);
}

/* Whether the process has ended; its parent may not have looked yet. */
static bool has_ended(pid_t pid)
{
    char path[64], state = 'X';
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (file && fscanf(file, "%*d %*s %c", &state) != 1)
        state = 'X';
    if (file)
        fclose(file);
    return state == 'Z' || state == 'X';
}

/* It was stopped when the worker crashed, and is killed then. */
static void also_if_the_worker_ended_before_there_was_the_next(void)
{
    struct loader *loader = shared_alloc(sizeof(*loader));
    struct driver_plan *plan;
    struct server *server = driver_server_start(NULL, 0, &plan);
    pid_t tenant, worker, supervisor;

    snprintf(plan->crash, sizeof(plan->crash), CRASHES);
    tenant = tenant_start(crashing_run, loader);
    gate_wait(&loader->attached, 1);
    supervisor = server_supervisor(server);
    worker = server_worker_pid(server);
    CHECK(kill(supervisor, SIGSTOP) == 0);
    gate_pass(&loader->go);
    CHECK_WITHIN(10000, has_ended(worker));
    CHECK(kill(supervisor, SIGKILL) == 0);
    tenant_join(tenant);
    check_blamed(server, loader);
    CHECK_EQUAL(server_log_lines(server, "event=fault"), 1);
    server_stop(server);
}

/* Both compile when the worker crashes. Then one compiles at a time. */
static void of_several_who_compile_the_next_crash_tells_who_it_was(void)
{
    struct loader *good = shared_alloc(sizeof(*good)), *crashing = shared_alloc(sizeof(*crashing));
    struct driver_plan *plan;
    struct server *server = driver_server_start(NULL, 0, &plan);
    pid_t tenants[2];

    snprintf(plan->crash, sizeof(plan->crash), CRASHES);
    driver_hold(plan, "cuLinkComplete");
    tenants[0] = tenant_start(good_run, good);
    tenants[1] = tenant_start(crashing_run, crashing);
    gate_wait(&good->attached, 1);
    gate_wait(&crashing->attached, 1);
    gate_pass(&good->go);
    CHECK_WITHIN(10000, atomic_load(&plan->waiting) == 1);
    gate_pass(&crashing->go);
    CHECK_WITHIN(20000, server_log_lines(server, "event=suspect") == 2);
    CHECK(!good->done && !crashing->done);
    driver_go_on(plan);
    tenant_join(tenants[0]);
    tenant_join(tenants[1]);
    CHECK_EQUAL(good->status, GS_OK);
    check_blamed(server, crashing);
    CHECK_EQUAL(server_log_lines(server, "event=fault"), 2);
    server_stop(server);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { MEMORY = 640 << 20 }; /* of all processes of a server together */

/* A server whose processes have so much memory together. */
struct bounded {
    struct server *server;
    struct driver_plan *plan;
    struct memory_group group;
};

static struct bounded bounded_start(void)
{
    struct bounded b = {0};

    memory_group_enter(&b.group, MEMORY);
    b.server = driver_server_start(NULL, 0, &b.plan);
    memory_group_leave(&b.group);
    snprintf(b.plan->hungry, sizeof(b.plan->hungry), CRASHES);
    return b;
}

static void bounded_stop(struct bounded *b)
{
    server_stop(b->server);
    memory_group_remove(&b->group);
}

static void who_takes_all_memory_is_found_by_the_second_time(void)
{
    struct loader *loader = shared_alloc(sizeof(*loader));
    uint32_t value = VALUE;
    struct bounded b = bounded_start();
    gs_session other;
    gs_devptr data;

    CHECK_OK(server_attach(b.server, &other));
    CHECK_OK(gs_malloc(other, sizeof(value), &data));
    CHECK_OK(gs_memcpy_htod(other, data, &value, sizeof(value)));
    atomic_store(&b.plan->hunger, 2 * (uint64_t)MEMORY);
    const pid_t tenant = tenant_start(crashing_run, loader);
    gate_pass(&loader->go);
    tenant_join(tenant);
    check_blamed(b.server, loader);
    CHECK_TEXT(loader->fault.message, "for want of memory");
    CHECK_EQUAL(server_log_lines(b.server, "event=suspect"), 1);
    CHECK(server_log_lines(b.server, "event=fault") >= 2); /* the next worker may go too */
    value = 0;
    CHECK_OK(gs_memcpy_dtoh(other, &value, data, sizeof(value)));
    CHECK_EQUAL(value, VALUE);
    CHECK_OK(gs_detach(other));
    bounded_stop(&b);
}

/* The memory suffices for one of them. While the worker's memory comes back, the kernel may kill
 * the next one as well, which says nothing of the two. */
static void of_several_who_take_all_memory_together_none_is_ended(void)
{
    struct loader *loader = shared_alloc(2 * sizeof(*loader));
    struct bounded b;
    pid_t tenants[2];

    if (THREAD_SANITIZER)
        test_skip("what the sanitizer notes of half the memory takes all of it");
    b = bounded_start();
    atomic_store(&b.plan->hunger, (uint64_t)MEMORY / 2);
    driver_hold(b.plan, "hungry");
    for (unsigned i = 0; i < 2; i++) {
        tenants[i] = tenant_start(crashing_run, &loader[i]);
        gate_pass(&loader[i].go);
    }
    CHECK_WITHIN(20000, server_log_lines(b.server, "event=suspect") == 2);
    driver_go_on(b.plan);
    for (unsigned i = 0; i < 2; i++) {
        tenant_join(tenants[i]);
        CHECK_EQUAL(loader[i].status, GS_OK);
    }
    CHECK(server_log_lines(b.server, "event=fault") >= 1);
    CHECK_EQUAL(server_log_lines(b.server, "event=supervisor-lost"), 0);
    bounded_stop(&b);
}

static const struct test tests[] = {
    TEST(who_crashes_the_compiler_is_ended_and_nobody_else),
    TEST(after_a_supervisor_was_killed_it_is_found_too),
    TEST(also_if_the_worker_ended_before_there_was_the_next),
    TEST(of_several_who_compile_the_next_crash_tells_who_it_was),
    TEST(who_takes_all_memory_is_found_by_the_second_time),
    TEST(of_several_who_take_all_memory_together_none_is_ended),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
