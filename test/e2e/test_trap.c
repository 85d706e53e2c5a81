/*
 * test_trap.c - kernels of sessions, fenced or not, that trap or assert: the session alone ends,
 * its owner learns where, and the others lose nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bystander.h"
#include "driver_server.h"
#include "harness/harness.h"
#include "printed.h"

#define ROUNDS   50
#define STRANGER 65531u

/* Line 6: trap.  9: half of each warp traps, the others meet at a barrier and tell.  13: a thread
 * breaks where b is not 0.  14 and on: functions that trap. */
static const char traps_ptx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry trap(.param .u64 to)\n"
    "{\n"
    "  trap; ret; }\n"
    ".visible .entry divergent(.param .u64 to)\n"
    "{ .reg .b64 %rd; .reg .b32 %r<3>; .reg .pred %p; ld.param.u64 %rd, [to]; mov.u32 %r0, "
    "%tid.x;\n"
    "  and.b32 %r1, %r0, 1; setp.eq.u32 %p, %r1, 0; @%p trap;\n"
    "  bar.sync 0; red.global.add.u32 [%rd], 1; ret; }\n"
    ".visible .entry breaks(.param .u64 to, .param .u32 b)\n"
    "{ .reg .b32 %r<2>; .reg .pred %p; ld.param.u32 %r0, [b]; setp.eq.u32 %p, %r0, 0;\n"
    "  @!%p brkpt; ret; }\n"
    ".func lonely() { trap; }\n"
    ".func shared() { trap; }\n"
    ".visible .entry one(.param .u64 to) { call lonely; ret; }\n"
    ".visible .entry two(.param .u64 to) { call shared; ret; }\n"
    ".visible .entry three(.param .u64 to) { call shared; ret; }\n"
    ".visible .entry alone(.param .u64 to)\n" /* its others wait for a word that never comes */
    "{ .reg .b64 %rd; .reg .b32 %r0; .reg .pred %p; ld.param.u64 %rd, [to];\n"
    "  mov.u32 %r0, %tid.x; setp.eq.u32 %p, %r0, 0; @%p trap;\n"
    "again: ld.volatile.global.u32 %r0, [%rd+64]; setp.eq.u32 %p, %r0, 0; @%p bra again; ret; }\n"
    ".visible .entry tell(.param .u64 to)\n"
    "{ .reg .b64 %rd; ld.param.u64 %rd, [to]; red.global.add.u32 [%rd], 1; ret; }\n"
    ".visible .entry late(.param .u64 to, .param .u32 b)\n" /* waits, and breaks where b is not 0 */
    "{ .reg .b64 %rd; .reg .b32 %r<2>; .reg .pred %p; ld.param.u64 %rd, [to];\n"
    "again: ld.volatile.global.u32 %r0, [%rd+64]; setp.eq.u32 %p, %r0, 0; @%p bra again;\n"
    "  ld.param.u32 %r0, [b]; setp.eq.u32 %p, %r0, 0; @!%p brkpt; ret; }\n";

struct scene {
    gs_session session;
    gs_module module;
    gs_devptr memory;
};

static gs_session attach(bool fenced)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    if (fenced)
        params.fence = GS_FENCE_ON;
    CHECK_OK(gs_attach(&params, &session));
    return session;
}

static struct scene scene_with(const char *ptx, bool fenced)
{
    struct scene s = {.session = attach(fenced)};

    CHECK_OK(gs_module_load(s.session, ptx, strlen(ptx), &s.module));
    CHECK_OK(gs_malloc(s.session, 4096, &s.memory));
    return s;
}

static struct scene scene_of(const char *ptx)
{
    return scene_with(ptx, true);
}

static void run(const struct scene *s, const char *kernel, unsigned threads)
{
    CHECK_OK(kernels_launch(NULL, kernels_get(s->module, kernel), 1, threads,
                            (void *[]){(void *)&s->memory, &(uint32_t){1}}));
}

static void fault_is(gs_session session, gs_fault_kind kind, const char *kernel, const char *line)
{
    gs_fault fault = GS_FAULT_INIT;
    gs_devptr memory;

    CHECK_STATUS(gs_sync(session), GS_ERR_FAULT);
    CHECK_STATUS(gs_malloc(session, 16, &memory), GS_ERR_FAULT);
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_EQUAL(fault.kind, kind);
    CHECK_EQUAL(fault.status, GS_ERR_FAULT);
    CHECK_TEXT(fault.kernel, kernel);
    CHECK_EQUAL(strlen(fault.kernel), strlen(kernel));
    CHECK_TEXT(fault.message, line);
}

/* ---- Traps ---- */

static void traps_end_their_session_and_no_other(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *bystanders = bystanders_start(2);

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct scene s = scene_with(traps_ptx, round / 2 % 2);
        run(&s, round % 2 ? "divergent" : "trap", 64);
        if (round % 2)
            fault_is(s.session, GS_FAULT_TRAP, "divergent",
                     "kernel divergent: a trap in line 9 of the PTX ended 32 threads");
        else
            fault_is(s.session, GS_FAULT_TRAP, "trap",
                     "a trap in line 6 of the PTX ended 64 threads");
        CHECK_STATUS(gs_detach(s.session), GS_ERR_FAULT);
    }
    bystanders_stop(bystanders);
    server_wait_tenants(server, 0, 5000);
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* Another user's session, whose end gives up the memory that the user's stray kernels meet. */
static void stranger_trap(void *argument)
{
    struct driver_plan *plan = argument;
    struct scene s = {0};

    CHECK(setgid(STRANGER) == 0 && setuid(STRANGER) == 0);
    s.session = attach(true);
    CHECK_OK(gs_module_load(s.session, traps_ptx, strlen(traps_ptx), &s.module));
    run(&s, "trap", 64);
    CHECK_STATUS(gs_sync(s.session), GS_ERR_FAULT);
    driver_hold(plan, "cuMemRelease");
    gs_detach(s.session);
}

/* The session's print block, where its kernels record their faults, is gone before the session. The
 * worker, which looks at busy sessions every 5 ms, must not look there any more. */
static void the_end_of_a_session_that_trapped_harms_nobody(void)
{
    struct driver_plan *plan;
    struct server *server;
    struct bystanders *bystanders;
    uint64_t rounds;
    pid_t worker, pid;

    if (geteuid() != 0)
        test_skip("only root can be another user");
    server = driver_server_start(NULL, 0, &plan);
    bystanders = bystanders_start(1);
    worker = server_worker_pid(server);
    pid = tenant_start(stranger_trap, plan);
    CHECK_WITHIN(20000, atomic_load(&plan->waiting) == 1);
    rounds = bystanders_rounds(bystanders);
    CHECK_WITHIN(20000, bystanders_rounds(bystanders) > rounds + 200);
    driver_go_on(plan);
    tenant_join(pid);
    CHECK_EQUAL(server_worker_pid(server), worker);
    bystanders_stop(bystanders);
    server_stop(server);
}

static void a_trap_is_told_by_its_function(void)
{
    struct server *server = server_start(NULL);
    static const struct {
        const char *kernel, *named, *message;
    } all[] = {
        {"breaks", "breaks", "kernel breaks: a trap in line 13 of the PTX ended 1 "},
        {"one", "one", "kernel one: a trap in line 14 of the PTX, in lonely ended 1 "},
        {"two", "shared", "kernel shared: a trap in line 15 of the PTX ended 1 "},
    };

    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct scene s = scene_of(traps_ptx);
        run(&s, all[i].kernel, 1);
        fault_is(s.session, GS_FAULT_TRAP, all[i].named, all[i].message);
        gs_detach(s.session);
    }
    server_stop(server);
}

static gs_status by_copy(const struct scene *s)
{
    uint32_t word;

    return gs_memcpy_dtoh(s->session, &word, s->memory, sizeof(word));
}

static gs_status by_memset(const struct scene *s)
{
    return gs_memset(s->session, s->memory, 0, 4);
}

static gs_status by_stream(const struct scene *s)
{
    return gs_stream_sync(s->session, NULL);
}

static gs_status by_query(const struct scene *s)
{
    gs_status status;

    while ((status = gs_stream_query(s->session, NULL)) == GS_NOT_READY)
        test_pause();
    return status;
}

static gs_status by_event(const struct scene *s)
{
    gs_event event;

    CHECK_OK(gs_event_create(s->session, &event));
    CHECK_OK(gs_event_record(event, NULL));
    return gs_event_sync(event);
}

static gs_status by_detach(const struct scene *s)
{
    return gs_detach(s->session);
}

static void every_call_that_sees_the_end_tells_the_trap(void)
{
    static gs_status (*const all[])(const struct scene *) = {by_copy,  by_memset, by_stream,
                                                             by_query, by_event,  by_detach};
    struct server *server = server_start(NULL);

    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct scene s = scene_of(traps_ptx);
        run(&s, "trap", 1);
        printf("# call %u\n", i);
        CHECK_STATUS(all[i](&s), GS_ERR_FAULT);
        if (all[i] == by_detach)
            continue;
        fault_is(s.session, GS_FAULT_TRAP, "trap", "line 6");
        gs_detach(s.session);
    }
    server_stop(server);
}

/* The server knows the kernel's name while it has the module. */
static void a_trap_is_told_though_its_module_is_unloaded(void)
{
    struct server *server = server_start(NULL);
    gs_status status;

    for (unsigned i = 0; i < 20; i++) {
        struct scene s = scene_of(traps_ptx);
        gs_devptr memory;

        run(&s, "trap", 1);
        status = gs_module_unload(s.module);
        if (i % 2 && status == GS_OK) /* the call gives back what is freed */
            gs_malloc(s.session, 1, &memory);
        if (status == GS_OK)
            status = gs_sync(s.session);
        CHECK_EQUAL(status, GS_ERR_FAULT);
        fault_is(s.session, GS_FAULT_TRAP, "trap", "line 6");
        gs_detach(s.session);
    }
    server_stop(server);
}

/* ---- Which launch it was ---- */

static void launch_on(const struct scene *s, gs_stream stream, const char *kernel, uint32_t b)
{
    CHECK_OK(kernels_launch(stream, kernels_get(s->module, kernel), 1, 1,
                            (void *[]){(void *)&s->memory, &b}));
}

static gs_fault fault_of(gs_session session)
{
    gs_fault fault = GS_FAULT_INIT;

    CHECK_STATUS(gs_sync(session), GS_ERR_FAULT);
    CHECK_OK(gs_last_fault(session, &fault));
    return fault;
}

/* Each launch is waited for, as where somebody looks for a bug. */
static void of_launches_that_are_waited_for_the_one_is_told(void)
{
    struct server *server = server_start(NULL);

    for (unsigned at = 1; at <= 100; at += 11) {
        struct scene s = scene_with(traps_ptx, at % 2);
        gs_stream stream = NULL;
        gs_fault fault;

        if (at % 3 == 0)
            CHECK_OK(gs_stream_create(s.session, NULL, &stream));
        for (unsigned i = 1; i < at; i++) {
            launch_on(&s, stream, "breaks", 0);
            CHECK_OK(gs_stream_sync(s.session, stream));
        }
        launch_on(&s, stream, "breaks", 1);
        fault = fault_of(s.session);
        CHECK_EQUAL(fault.launch, at);
        CHECK_EQUAL(fault.launch_last, at);
        CHECK_EQUAL(fault.stream, stream ? 1 : 0);
        gs_detach(s.session);
    }
    server_stop(server);
}

/* Launches that are not waited for: its own is always among those that are told, which are its
 * kernel's, and no more than there were since the last wait. */
static void of_launches_in_a_row_few_are_told(void)
{
    struct server *server = server_start(NULL);

    for (unsigned at = 1; at <= 700; at += 33) {
        struct scene s = scene_of(traps_ptx);
        const unsigned waited = at / 7;
        gs_stream other;
        gs_fault fault;

        const gs_kernel breaks = kernels_get(s.module, "breaks"),
                        tell = kernels_get(s.module, "tell");

        CHECK_OK(gs_stream_create(s.session, NULL, &other));
        for (unsigned i = 1; i <= 700; i++) {
            gs_status status =
                kernels_launch(NULL, breaks, 1, 1, (void *[]){&s.memory, &(uint32_t){i == at}});
            if (status != GS_OK)
                break;
            if (i == waited)
                CHECK_OK(gs_sync(s.session));
            if (i % 50 == 0 && kernels_launch(other, tell, 1, 1, (void *[]){&s.memory}) != GS_OK)
                break;
        }
        fault = fault_of(s.session);
        printf("# launch %u: %u to %u\n", at, (unsigned)fault.launch, (unsigned)fault.launch_last);
        CHECK_TEXT(fault.kernel, "breaks");
        CHECK_EQUAL(fault.stream, 0);
        CHECK(fault.launch > waited && fault.launch <= at && fault.launch_last >= at &&
              fault.launch_last <= 700);
        gs_detach(s.session);
    }
    server_stop(server);
}

/* A kernel that was launched once. */
static void a_kernel_s_only_launch_is_told_among_others(void)
{
    struct server *server = server_start(NULL);
    struct scene s = scene_of(traps_ptx);
    gs_stream other;
    gs_fault fault;

    CHECK_OK(gs_stream_create(s.session, NULL, &other));
    const gs_kernel trap = kernels_get(s.module, "trap"), tell = kernels_get(s.module, "tell");
    for (unsigned i = 1; i <= 20; i++) {
        gs_status status = kernels_launch(NULL, i == 13 ? trap : tell, 1, 1, (void *[]){&s.memory});
        if (status != GS_OK || kernels_launch(other, tell, 1, 1, (void *[]){&s.memory}) != GS_OK)
            break; /* it is known already */
    }
    fault = fault_of(s.session);
    CHECK_EQUAL(fault.launch, 13);
    CHECK_EQUAL(fault.launch_last, 13);
    gs_detach(s.session);

    /* two streams have it: neither is blamed */
    s = scene_of(traps_ptx);
    CHECK_OK(gs_stream_create(s.session, NULL, &other));
    CHECK_OK(kernels_launch(other, kernels_get(s.module, "tell"), 1, 1, (void *[]){&s.memory}));
    launch_on(&s, NULL, "breaks", 0);
    launch_on(&s, other, "breaks", 1);
    fault = fault_of(s.session);
    CHECK(fault.launch == 0 || (fault.stream == 1 && fault.launch == 2));
    gs_detach(s.session);
    server_stop(server);
}

/* A graph's kernel faults long after the graph was given, beside a launch of the same kernel that
 * does not: that launch is not blamed. */
static void a_graph_that_still_runs_may_have_it(void)
{
    struct server *server = server_start(NULL);
    struct scene s = scene_of(traps_ptx);
    gs_stream other, third;
    gs_graph graph;

    CHECK_OK(gs_stream_create(s.session, NULL, &other));
    CHECK_OK(gs_stream_create(s.session, NULL, &third));
    CHECK_OK(gs_memset(s.session, s.memory, 0, 128));
    CHECK_OK(gs_graph_begin(s.session, NULL));
    launch_on(&s, NULL, "late", 1);
    CHECK_OK(gs_graph_end(s.session, NULL, &graph));
    CHECK_OK(gs_graph_launch(graph, NULL));
    for (unsigned i = 0; i < 3; i++) { /* the worker looks at the note, and finds nothing */
        launch_on(&s, third, "breaks", 0);
        CHECK_OK(gs_stream_sync(s.session, third));
    }
    launch_on(&s, other, "late", 0);
    CHECK_OK(gs_memset_async(s.session, s.memory + 64, 1, 4, third));
    CHECK_EQUAL(fault_of(s.session).launch, 0);
    gs_detach(s.session);
    server_stop(server);
}

static void a_recorded_trap_is_told(void)
{
    struct server *server = server_start(NULL);
    struct scene s = scene_of(traps_ptx);
    gs_graph graph;

    CHECK_OK(gs_graph_begin(s.session, NULL));
    run(&s, "tell", 1);
    run(&s, "one", 1);
    CHECK_OK(gs_graph_end(s.session, NULL, &graph));
    CHECK_OK(gs_sync(s.session));
    CHECK_OK(gs_graph_launch(graph, NULL));
    fault_is(s.session, GS_FAULT_TRAP, "one", "line 14");
    CHECK_EQUAL(fault_of(s.session).launch, 0); /* of a graph's kernels there is no number */
    gs_detach(s.session);
    server_stop(server);
}

/* Kernels that could trap and do not, in a module beside, with own results. */
static void a_trap_that_is_not_reached_is_none(void)
{
    struct server *server = server_start(NULL);
    struct scene s = scene_of(traps_ptx);
    uint32_t words[2] = {7, 7};

    for (unsigned i = 0; i < 100; i++) {
        CHECK_OK(kernels_launch(NULL, kernels_get(s.module, "breaks"), 1, 32,
                                (void *[]){&s.memory, &(uint32_t){0}}));
        run(&s, "tell", 32);
        if (i % 10 == 0)
            CHECK_OK(gs_sync(s.session));
    }
    CHECK_OK(gs_memcpy_dtoh(s.session, words, s.memory, sizeof(words)));
    CHECK_EQUAL(words[0], 3200);
    CHECK_EQUAL(words[1], 0);
    CHECK_OK(gs_detach(s.session));
    server_stop(server);
}

/* The tenant does not ask, so the server sees the record when more work comes. */
static void who_does_not_ask_gets_no_further(void)
{
    struct server *server = server_start(NULL);
    struct scene s = scene_of(traps_ptx);
    gs_kernel tell = kernels_get(s.module, "tell");
    gs_status status = GS_OK;

    run(&s, "trap", 1);
    while (status == GS_OK)
        status = kernels_launch(NULL, tell, 1, 1, (void *[]){&s.memory});
    CHECK_EQUAL(status, GS_ERR_FAULT);
    fault_is(s.session, GS_FAULT_TRAP, "trap", "line 6");
    gs_detach(s.session);
    server_stop(server);
}

static void threads_that_wait_for_one_that_trapped_are_ended(void)
{
    const char *const arguments[] = {"--grace", "1", NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    gs_session idle = attach(false);
    uint32_t word = 0;
    gs_devptr memory;

    CHECK_OK(gs_malloc(idle, sizeof(word), &memory));
    CHECK_OK(gs_memset(idle, memory, 0x5a, sizeof(word)));
    for (unsigned round = 0; round < 4; round++) {
        struct scene s = scene_with(traps_ptx, round % 2);
        gs_fault fault = GS_FAULT_INIT;

        CHECK_OK(gs_memset(s.session, s.memory, 0, 4096));
        run(&s, "alone", 64);
        while (round / 2 && gs_stream_query(s.session, NULL) == GS_NOT_READY)
            test_pause();
        fault_is(s.session, GS_FAULT_TRAP, "alone", "ended 1 thread");
        CHECK_OK(gs_last_fault(s.session, &fault));
        CHECK(strstr(fault.message, "threads") == NULL);
        CHECK_STATUS(gs_detach(s.session), GS_ERR_FAULT);
        server_wait_tenants(server, 1, 20000);
    }
    CHECK_OK(gs_memcpy_dtoh(idle, &word, memory, sizeof(word)));
    CHECK_EQUAL(word, 0x5a5a5a5a);
    CHECK_OK(gs_detach(idle));
    server_stop(server);
}

/* ---- Assertions ---- */

static void assertion_fails(const char *image, bool fenced)
{
    struct capture out, error;
    gs_session session = attach(fenced);
    char *got, *told;

    gs_kernel kernel = kernels_get(image_load(session, image), "checked");
    capture_begin(&out, STDOUT_FILENO);
    capture_begin(&error, STDERR_FILENO);
    CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&(int){3}}));
    CHECK_OK(gs_sync(session));
    CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&(int){7}}));
    gs_status status = gs_sync(session);
    told = capture_end(&error);
    got = capture_end(&out);
    CHECK_EQUAL(status, GS_ERR_FAULT);
    expect_text(got, "value 3\nvalue 7\n");
    CHECK_TEXT(told, "printing.cu:");
    CHECK_TEXT(told, ": void checked(int): block: [0,0,0], thread: [0,0,0] Assertion `value < 7 && "
                     "\"it is small\"` failed.\n");
    fault_is(session, GS_FAULT_ASSERT, "checked", "kernel checked: a failed assertion in line ");
    free(got);
    free(told);
    gs_detach(session);
}

static void an_assertion_ends_its_session_and_no_other(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *bystanders = bystanders_start(2);

    for (unsigned round = 0; round < 10; round++)
        assertion_fails(images[round % 2 ? 3 : 0], round / 2 % 2);
    bystanders_stop(bystanders);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(traps_end_their_session_and_no_other),
    TEST(the_end_of_a_session_that_trapped_harms_nobody),
    TEST(a_trap_is_told_by_its_function),
    TEST(every_call_that_sees_the_end_tells_the_trap),
    TEST(a_trap_is_told_though_its_module_is_unloaded),
    TEST(of_launches_that_are_waited_for_the_one_is_told),
    TEST(of_launches_in_a_row_few_are_told),
    TEST(a_kernel_s_only_launch_is_told_among_others),
    TEST(a_graph_that_still_runs_may_have_it),
    TEST(a_recorded_trap_is_told),
    TEST(a_trap_that_is_not_reached_is_none),
    TEST(who_does_not_ask_gets_no_further),
    TEST(threads_that_wait_for_one_that_trapped_are_ended),
    TEST(an_assertion_ends_its_session_and_no_other),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
