/*
 * test_evict.c - work that does not end by itself is ended: a kernel of a tenant that has gone, a
 * kernel that runs longer than it may, a session that the operator ends. Who has no unfinished work
 * then notices a pause at most.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "admin.h"
#include "harness/harness.h"

#define N 1024u

static const char hold_ptx[] = PTX_HEAD PTX_HOLD;

static char output[8192];

#define GSCTL(...)                                                                                 \
    program_run((const char *const[]){"bin/gsctl", __VA_ARGS__, NULL}, output, sizeof(output))

/* A session with memory that must stay as it is, and nothing to do. */
struct idle {
    gs_session session;
    gs_devptr memory;
};

static struct idle idle_make(const struct server *server)
{
    struct idle idle;

    CHECK_OK(server_attach(server, &idle.session));
    CHECK_OK(gs_malloc(idle.session, N, &idle.memory));
    CHECK_OK(gs_memset(idle.session, idle.memory, 0x5a, N));
    return idle;
}

static void idle_check(const struct idle *idle)
{
    unsigned char bytes[N];

    CHECK_OK(gs_memcpy_dtoh(idle->session, bytes, idle->memory, N));
    for (unsigned i = 0; i < N; i++)
        CHECK_EQUAL(bytes[i], 0x5a);
    CHECK_OK(gs_detach(idle->session));
}

/* Returns the kernel's words. */
static gs_devptr hold_launch(gs_session session)
{
    gs_module module;
    gs_devptr words;

    CHECK_OK(gs_malloc(session, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_module_load(session, hold_ptx, strlen(hold_ptx), &module));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "hold"), 1, 1, (void *[]){&words}));
    return words;
}

/* Returns when the kernel runs: a launch that the worker has not taken yet goes with its session.
 */
static void hold_run(gs_session session)
{
    const gs_devptr words = hold_launch(session);
    uint32_t running = 0;
    gs_stream aside;

    CHECK_OK(gs_stream_create(session, NULL, &aside));
    while (!running) {
        CHECK_OK(gs_memcpy_dtoh_async(session, &running, words + sizeof(uint32_t), sizeof(running),
                                      aside));
        CHECK_OK(gs_stream_sync(session, aside));
    }
}

static const char *text_of(uint64_t number)
{
    static char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    return text;
}

static uint64_t id_of(gs_session session)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;

    CHECK_OK(gs_session_info(session, &desc));
    return desc.session_id;
}

/* ---- Tenants that have gone ---- */

static void endless_run(void *argument)
{
    struct gate *running = argument;
    gs_session session;

    CHECK_OK(gs_attach(NULL, &session));
    hold_run(session);
    gate_pass(running);
    CHECK_OK(gs_sync(session));
}

static void a_kernel_of_a_tenant_that_was_killed_is_ended(void)
{
    const char *const arguments[] = {"--grace", "1", NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    const struct idle idle = idle_make(server);

    for (unsigned i = 0; i < 3; i++) {
        struct gate *running = shared_alloc(sizeof(*running));
        const pid_t tenant = tenant_start(endless_run, running);

        gate_wait(running, 1);
        tenant_kill(tenant, SIGKILL);
        server_wait_tenants(server, 1, 20000);
    }
    CHECK_EQUAL(server_log_lines(server, "event=fault device=0 kernel=hold session="), 3);
    CHECK_EQUAL(server_log_lines(
                    server, "event=device-lost reason=\"its tenant has gone, and after 1000 ms"),
                3);
    idle_check(&idle);
    server_stop(server);
}

/* ---- Kernels that run for too long ---- */

static void a_kernel_that_runs_longer_than_it_may_is_ended(void)
{
    struct server *server = server_start(NULL);
    const struct idle idle = idle_make(server);
    gs_fault fault = GS_FAULT_INIT;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    CHECK_EQUAL(GSCTL("set", text_of(id_of(session)), "--kernel-limit", "300"), 0);
    hold_launch(session);
    CHECK_STATUS(gs_sync(session), GS_ERR_FAULT);
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_EQUAL(fault.kind, GS_FAULT_EVICTED);
    CHECK_TEXT(fault.kernel, "hold");
    CHECK_TEXT(fault.message, "longer than its limit of 300 ms");
    CHECK_STATUS(gs_detach(session), GS_ERR_FAULT);
    idle_check(&idle);
    server_stop(server);
}

/* The limit is a kernel's, not that of all that is queued. A kernel of a millisecond stays far
 * below it also where other programs have the processors, which the software device needs. */
static void many_short_kernels_may_take_long(void)
{
    struct server *server = server_start(&server_unfenced);
    const uint64_t begin = clock_ns(), limit = test_deadline(1000) - begin;
    uint32_t n = N, rounds = 50, seed = 1;
    gs_session session;
    gs_kernel chain;
    gs_devptr data;

    CHECK_OK(server_attach(server, &session));
    CHECK_EQUAL(GSCTL("set", "--default", "--kernel-limit", text_of(limit / 1000000)), 0);
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    chain = kernels_get(kernels_load(session), "chain");
    while (clock_ns() - begin < 3 * limit)
        CHECK_OK(kernels_launch(NULL, chain, N / 128, 128, (void *[]){&data, &n, &rounds, &seed}));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* It traps, perhaps, so it does not store its own end. */
static const char traps_ptx[] =
    PTX_HEAD ".visible .entry traps(.param .u64 words)\n"
             "{ .reg .b64 %rd; .reg .b32 %r; .reg .pred %p; ld.param.u64 %rd, [words];\n"
             "  ld.volatile.global.u32 %r, [%rd]; setp.eq.u32 %p, %r, 77; @%p trap; ret; }\n";

/* A stream's short kernels that have ended are not taken for ones that run, while another stream of
 * the session always has work. */
static void kernels_of_another_stream_that_have_ended_do_not_count(void)
{
    struct server *server = server_start(&server_unfenced);
    const uint64_t limit = test_deadline(300) - clock_ns();
    uint32_t n = N, rounds = 50, seed = 1;
    gs_stream busy, first;
    gs_session session;
    gs_kernel chain, traps;
    gs_module module;
    gs_devptr data;

    CHECK_OK(server_attach(server, &session));
    CHECK_EQUAL(GSCTL("set", "--default", "--kernel-limit", text_of(limit / 1000000)), 0);
    CHECK_OK(gs_stream_create(session, NULL, &busy));
    CHECK_OK(gs_stream_create(session, NULL, &first));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    CHECK_OK(gs_memset(session, data, 0, N * sizeof(uint32_t)));
    chain = kernels_get(kernels_load(session), "chain");
    CHECK_OK(gs_module_load(session, traps_ptx, strlen(traps_ptx), &module));
    traps = kernels_get(module, "traps");
    for (unsigned i = 0; i < 200; i++) {
        CHECK_OK(kernels_launch(first, traps, 1, 1, (void *[]){&data}));
        CHECK_OK(gs_stream_sync(session, first));
    }
    const uint64_t begin = clock_ns();
    while (clock_ns() - begin < 3 * limit)
        CHECK_OK(kernels_launch(busy, chain, N / 128, 128, (void *[]){&data, &n, &rounds, &seed}));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- gsctl kill ---- */

static void the_operator_ends_a_session_in_the_middle_of_a_kernel(void)
{
    struct server *server = server_start(NULL);
    const struct idle idle = idle_make(server);
    gs_fault fault = GS_FAULT_INIT;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    hold_run(session);
    CHECK_EQUAL(GSCTL("kill", text_of(id_of(session)), "--grace", "100"), 0);
    CHECK_TEXT(output, "1 session has ended");
    CHECK_STATUS(gs_sync(session), GS_ERR_INTERRUPTED);
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_EQUAL(fault.kind, GS_FAULT_EVICTED);
    CHECK_TEXT(fault.message, "the operator has ended the session");
    CHECK_STATUS(gs_detach(session), GS_ERR_INTERRUPTED);
    server_wait_tenants(server, 1, 10000);
    idle_check(&idle);
    server_stop(server);
}

/* A runaway shows as what takes the device. */
static void a_running_kernel_is_seen_to_take_the_device(void)
{
    struct server *server = server_start(NULL);
    struct ctl_tenant row;
    gs_session session;
    uint64_t id;

    CHECK_OK(server_attach(server, &session));
    id = id_of(session);
    hold_run(session);
    CHECK_WITHIN(20000, admin_tenant(server, id, &row) && row.gpu_ns > 300000000u);
    CHECK(row.gpu_ns <= row.attached_ns);
    CHECK_EQUAL(GSCTL("kill", text_of(id), "--grace", "1"), 0);
    server_wait_tenants(server, 1, 20000);
    gs_detach(session);
    server_stop(server);
}

/* Nobody notices anything, and the worker stays. */
static void the_operator_ends_sessions_that_are_at_rest(void)
{
    struct server *server = server_start(NULL);
    const struct idle idle = idle_make(server);
    const pid_t worker = server_worker_pid(server);
    gs_session session;
    gs_devptr memory;
    uint64_t id;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, 8 << 20, &memory));
    id = id_of(session);
    CHECK_EQUAL(GSCTL("kill", text_of(id)), 0);
    CHECK_WITHIN(10000, server_memory_used(server) <= 2 << 20);
    CHECK_STATUS(gs_malloc(session, 16, &memory), GS_ERR_INTERRUPTED);
    CHECK_EQUAL(GSCTL("kill", text_of(id)), 1);
    CHECK_STATUS(gs_detach(session), GS_ERR_INTERRUPTED);
    CHECK_EQUAL(server_worker_pid(server), worker);
    idle_check(&idle);
    CHECK_OK(server_attach(server, &session));
    CHECK_EQUAL(GSCTL("kill", "--pid", text_of((uint64_t)getpid())), 0);
    CHECK_STATUS(gs_detach(session), GS_ERR_INTERRUPTED);
    CHECK_OK(server_attach(server, &session));
    CHECK_EQUAL(GSCTL("kill", "--user", text_of(geteuid())), 0);
    CHECK_STATUS(gs_detach(session), GS_ERR_INTERRUPTED);
    server_wait_tenants(server, 0, 10000);
    server_stop(server);
}

static void who_is_to_be_ended_must_be_there(void)
{
    struct server *server = server_start(NULL);

    CHECK_EQUAL(GSCTL("kill", "77"), 1);
    CHECK_TEXT(output, "there is no session 77: see gsctl ps");
    CHECK_EQUAL(GSCTL("kill", "--pid", "1"), 1);
    CHECK_TEXT(output, "process 1 has no session: see gsctl ps");
    CHECK_EQUAL(GSCTL("kill", "--user", "4711"), 1);
    CHECK_TEXT(output, "user 4711 has no session: see gsctl ps");
    CHECK_EQUAL(GSCTL("kill"), 2);
    CHECK_EQUAL(GSCTL("kill", "1", "--pid", "2"), 2);
    CHECK_EQUAL(GSCTL("kill", "--default"), 2);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(a_kernel_of_a_tenant_that_was_killed_is_ended),
    TEST(a_kernel_that_runs_longer_than_it_may_is_ended),
    TEST(many_short_kernels_may_take_long),
    TEST(kernels_of_another_stream_that_have_ended_do_not_count),
    TEST(the_operator_ends_a_session_in_the_middle_of_a_kernel),
    TEST(a_running_kernel_is_seen_to_take_the_device),
    TEST(the_operator_ends_sessions_that_are_at_rest),
    TEST(who_is_to_be_ended_must_be_there),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
