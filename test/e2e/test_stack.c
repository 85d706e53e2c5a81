/*
 * test_stack.c - the stack of a session's kernels: who has it, until when, and what it may take of
 * the device. Each test runs with and without the fence.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/embed.h"
#include "e2e/driver_server.h"
#include "e2e/fence_modes.h"
#include "e2e/gsctl_run.h"
#include "harness/harness.h"

#define KIB    1024u
#define DEEP   12u /* levels of about 1 KiB each: too many for a stack of 1 KiB, few for 32 */
#define LIMIT  "1G"
#define ROUNDS 50u /* launches after which the worker has made an executable graph */

/* deep(out, levels, unused) stores the sum of 1 ... levels, by so many levels of recursion. */
EMBED_TEXT(deep_ptx, DEEP_PTX)

/* The same by a function that stores to a variable of its caller, and has 120 bytes of its own. The
 * fence puts the variables of such functions into one of the kernel's. */
static const char told_ptx[] = PTX_HEAD
    ".func tell(.param .b64 to, .param .b32 n)\n"
    "{ .reg .b64 %d<3>; .reg .b32 %r<3>; .reg .pred %p; .local .align 8 .b8 own[120];\n"
    "ld.param.b64 %d1, [to]; ld.param.b32 %r1, [n]; mov.u64 %d2, own; cvta.local.u64 %d2, %d2;\n"
    "st.local.b32 [own], 0; setp.eq.u32 %p, %r1, 0; @%p bra bottom; sub.u32 %r2, %r1, 1;\n"
    "{ .param .b64 p; .param .b32 q; st.param.b64 [p], %d2; st.param.b32 [q], %r2;\n"
    "call tell, (p, q); }\n"
    "bottom: ld.local.b32 %r2, [own]; add.u32 %r2, %r2, %r1; st.b32 [%d1], %r2; ret; }\n"
    ".visible .entry deep(.param .u64 out, .param .u64 levels, .param .u64 unused)\n"
    "{ .reg .b64 %d<4>; .reg .b32 %r<3>; .local .align 8 .b8 sum[8];\n"
    "ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1; ld.param.u32 %r1, [levels];\n"
    "mov.u64 %d2, sum; cvta.local.u64 %d2, %d2;\n"
    "{ .param .b64 p; .param .b32 q; st.param.b64 [p], %d2; st.param.b32 [q], %r1;\n"
    "call tell, (p, q); }\n"
    "ld.local.b32 %r2, [sum]; st.global.u32 [%d1], %r2; ret; }\n";

struct tenant {
    gs_session session;
    gs_stream stream;
    gs_kernel deep;
    gs_devptr out;
};

static struct tenant tenant_begin_with(const struct server *server, const char *text)
{
    struct tenant t;
    gs_module module;

    CHECK_OK(server_attach(server, &t.session));
    CHECK_OK(gs_stream_create(t.session, NULL, &t.stream));
    CHECK_OK(gs_malloc(t.session, sizeof(uint32_t), &t.out));
    CHECK_OK(gs_module_load(t.session, text, strlen(text), &module));
    t.deep = kernels_get(module, "deep");
    return t;
}

static struct tenant tenant_begin(const struct server *server)
{
    return tenant_begin_with(server, deep_ptx);
}

static gs_status dive_begin(const struct tenant *t, uint64_t levels)
{
    gs_devptr out = t->out;
    uint64_t unused = 0;

    return kernels_launch(t->stream, t->deep, 1, 32, (void *[]){&out, &levels, &unused});
}

static void check_sum(const struct tenant *t, uint32_t levels)
{
    uint32_t sum = 0;

    CHECK_OK(gs_memcpy_dtoh(t->session, &sum, t->out, sizeof(sum)));
    CHECK_EQUAL(sum, levels * (levels + 1) / 2);
}

static void dive(const struct tenant *t, uint32_t levels)
{
    CHECK_OK(gs_memset(t->session, t->out, 0xff, sizeof(uint32_t)));
    CHECK_OK(dive_begin(t, levels));
    CHECK_OK(gs_stream_sync(t->session, t->stream));
    check_sum(t, levels);
}

static void dive_often(const struct tenant *t, uint32_t levels)
{
    for (uint32_t i = 0; i < ROUNDS; i++)
        dive(t, levels);
}

/* ---- Whose it is ---- */

static void kernels_go_as_deep_as_was_asked_for(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server);

    CHECK_OK(gs_kernel_stack(t.session, 32 * KIB));
    dive(&t, DEEP);
    CHECK_OK(gs_kernel_stack(t.session, 128 * KIB));
    dive(&t, 100);
    CHECK_OK(gs_kernel_stack(t.session, 1)); /* it does not shrink */
    dive(&t, 100);
    CHECK_STATUS(gs_kernel_stack(t.session, UINT64_MAX), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "more than the driver gives a thread");
    dive(&t, 100);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

/* With the fence the stack is larger by what the fence takes of it. */
static void variables_of_callers_leave_as_many_levels(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin_with(server, told_ptx);

    dive(&t, 3);
    dive(&t, 5); /* in 1 KiB: nvcc's frame has 152 bytes */
    CHECK_OK(gs_kernel_stack(t.session, 2 * KIB));
    dive(&t, 7);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

/* Each time all running kernels are waited for, and all launches wait. */
static void the_device_is_asked_for_it_once(const char *mode)
{
    const char *const arguments[] = {"--fence", mode, NULL};
    struct driver_plan *plan;
    struct server *server = driver_server_start(arguments, 0, &plan);
    struct tenant t = tenant_begin_with(server, told_ptx);

    driver_slow(plan, "cuCtxSetLimit", 1);
    CHECK_OK(gs_kernel_stack(t.session, 8 * KIB));
    CHECK_EQUAL(atomic_load(&plan->slow_calls), 1);
    dive(&t, 7);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void launches_that_came_before_go_deeper_too(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server);
    gs_graph graph;

    dive_often(&t, 0);
    CHECK_OK(gs_graph_begin(t.session, t.stream));
    CHECK_OK(dive_begin(&t, DEEP));
    CHECK_OK(gs_graph_end(t.session, t.stream, &graph));
    CHECK_OK(gs_kernel_stack(t.session, 32 * KIB));
    dive_often(&t, DEEP);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(gs_memset(t.session, t.out, 0, sizeof(uint32_t)));
        CHECK_OK(gs_graph_launch(graph, t.stream));
        CHECK_OK(gs_stream_sync(t.session, t.stream));
        check_sum(&t, DEEP);
    }
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void it_changes_between_launches_of_the_session(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server);

    for (uint32_t kib = 16; kib <= 64; kib *= 2) {
        for (uint32_t i = 0; i < 100; i++)
            CHECK_OK(dive_begin(&t, 0));
        CHECK_OK(gs_kernel_stack(t.session, kib * KIB));
        for (uint32_t i = 0; i < 100; i++)
            CHECK_OK(dive_begin(&t, kib / 2));
        CHECK_OK(gs_sync(t.session));
        check_sum(&t, kib / 2);
    }
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void neighbours_go_on(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server), neighbour = tenant_begin(server);

    dive_often(&neighbour, 0);
    CHECK_OK(gs_kernel_stack(t.session, 32 * KIB));
    dive(&t, DEEP);
    dive_often(&neighbour, 0);
    CHECK_OK(gs_detach(t.session));
    dive_often(&neighbour, 0);
    CHECK_OK(gs_detach(neighbour.session));
    server_stop(server);
}

/* Its graphs were launched with the stack of before. */
static void what_another_session_has_raised_can_be_asked_for(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server), second = tenant_begin(server);

    dive_often(&second, 0);
    CHECK_OK(gs_kernel_stack(t.session, 32 * KIB));
    CHECK_OK(gs_kernel_stack(second.session, 32 * KIB));
    dive_often(&second, DEEP);
    CHECK_OK(gs_detach(t.session));
    CHECK_OK(gs_detach(second.session));
    server_stop(server);
}

static void it_outlives_the_worker(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server);
    const pid_t worker = server_worker_pid(server);

    CHECK_OK(gs_kernel_stack(t.session, 32 * KIB));
    dive(&t, DEEP);
    CHECK_EQUAL(kill(worker, SIGKILL), 0);
    CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != worker);
    dive(&t, DEEP);
    CHECK_EQUAL(gsctl("restart-worker", NULL), 0);
    dive(&t, DEEP);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

/* The software device has no memory for so many stacks at a time; its blocks take turns. */
static void many_threads_go_as_deep(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server);
    uint64_t levels = DEEP, unused = 0;
    gs_devptr out = t.out;

    CHECK_OK(gs_kernel_stack(t.session, 64 * KIB));
    CHECK_OK(kernels_launch(t.stream, t.deep, 400, 256, (void *[]){&out, &levels, &unused}));
    CHECK_OK(gs_stream_sync(t.session, t.stream));
    check_sum(&t, DEEP);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void a_block_without_memory_ends_its_session_alone(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server), neighbour = tenant_begin(server);
    uint64_t levels = DEEP, unused = 0;
    gs_devptr out = t.out;

    if (strcmp(getenv("GSHARE_TEST_DEVICE"), "soft") != 0)
        test_skip("a GPU has had the memory since the limit was raised");
    CHECK_OK(gs_kernel_stack(t.session, 511 * KIB));
    CHECK_OK(kernels_launch(t.stream, t.deep, 1, 1024, (void *[]){&out, &levels, &unused}));
    CHECK_STATUS(gs_stream_sync(t.session, t.stream), GS_ERR_FAULT);
    dive(&neighbour, 0);
    CHECK_OK(gs_detach(neighbour.session));
    gs_detach(t.session);
    server_stop(server);
}

/* ---- What it takes ---- */

static void a_user_has_as_much_as_its_limit_lets_it(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server);

    CHECK_EQUAL(gsctl("set", "--default", "--user-driver-mem", LIMIT, NULL), 0);
    CHECK_STATUS(gs_kernel_stack(t.session, 511 * KIB), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "a stack takes 523264 bytes for each of");
    CHECK_TEXT(gs_last_error_message(), "user-driver-mem");
    dive(&t, 0);
    CHECK_OK(gs_kernel_stack(t.session, 2 * KIB));
    dive(&t, 0);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void what_it_took_is_given_back_without_sessions(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server);
    const pid_t worker = server_worker_pid(server);

    CHECK_OK(gs_kernel_stack(t.session, 32 * KIB));
    dive(&t, DEEP);
    CHECK_EQUAL(server_worker_pid(server), worker);
    CHECK_OK(gs_detach(t.session));
    CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != worker);
    t = tenant_begin(server);
    dive(&t, 0);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

BOTH(kernels_go_as_deep_as_was_asked_for)
BOTH(variables_of_callers_leave_as_many_levels)
BOTH(the_device_is_asked_for_it_once)
BOTH(launches_that_came_before_go_deeper_too)
BOTH(it_changes_between_launches_of_the_session)
BOTH(neighbours_go_on)
BOTH(what_another_session_has_raised_can_be_asked_for)
BOTH(it_outlives_the_worker)
BOTH(many_threads_go_as_deep)
BOTH(a_block_without_memory_ends_its_session_alone)
BOTH(a_user_has_as_much_as_its_limit_lets_it)
BOTH(what_it_took_is_given_back_without_sessions)

static const struct test tests[] = {
    TESTS_OF(kernels_go_as_deep_as_was_asked_for),
    TESTS_OF(variables_of_callers_leave_as_many_levels),
    TESTS_OF(the_device_is_asked_for_it_once),
    TESTS_OF(launches_that_came_before_go_deeper_too),
    TESTS_OF(it_changes_between_launches_of_the_session),
    TESTS_OF(neighbours_go_on),
    TESTS_OF(what_another_session_has_raised_can_be_asked_for),
    TESTS_OF(it_outlives_the_worker),
    TESTS_OF(many_threads_go_as_deep),
    TESTS_OF(a_block_without_memory_ends_its_session_alone),
    TESTS_OF(a_user_has_as_much_as_its_limit_lets_it),
    TESTS_OF(what_it_took_is_given_back_without_sessions),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
