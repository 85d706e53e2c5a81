/*
 * test_fault.c - a kernel that faults. The device's context goes with it: the culprit is told so,
 * those who had unfinished work are interrupted, and the others go on.
 */
#include <stdio.h>
#include <string.h>

#include "bystander.h"
#include "harness/harness.h"

struct innocent {
    struct gate ready;
    bool busy; /* has work in flight all the time */
    _Atomic uint32_t stop;
};

static void innocent_run(void *argument)
{
    struct innocent *innocent = argument;
    gs_fault fault = GS_FAULT_INIT;
    gs_session session, again;
    uint32_t words[1024];
    gs_devptr memory;
    gs_status status;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_malloc(session, 4096, &memory));
    CHECK_OK(gs_memset(session, memory, 1, 4096));
    gate_pass(&innocent->ready);
    do {
        status = innocent->busy ? gs_memset(session, memory, 1, 4096) : gs_sync(session);
        if (!innocent->busy)
            test_pause();
    } while (status == GS_OK && !atomic_load(&innocent->stop));
    if (!innocent->busy || status == GS_OK) {
        CHECK_OK(status);
        CHECK_OK(gs_memcpy_dtoh(session, words, memory, 4096));
        for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
            CHECK_EQUAL(words[i], 0x01010101);
        CHECK_OK(gs_detach(session));
        return;
    }
    CHECK_EQUAL(status, GS_ERR_INTERRUPTED);
    CHECK_STATUS(gs_malloc(session, 16, &memory), GS_ERR_INTERRUPTED);
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_EQUAL(fault.status, GS_ERR_INTERRUPTED);
    CHECK(fault.message[0] != '\0');
    gs_detach(session);
    CHECK_OK(gs_attach(NULL, &again));
    CHECK_OK(gs_malloc(again, 4096, &memory));
    CHECK_OK(gs_memset(again, memory, 1, 4096));
    CHECK_OK(gs_detach(again));
}

static void culprit_check(gs_session session, gs_status wanted)
{
    gs_fault fault = GS_FAULT_INIT;
    gs_devptr memory;

    /* It sticks, and says what it was. */
    CHECK_STATUS(gs_sync(session), wanted);
    CHECK_STATUS(gs_malloc(session, 16, &memory), wanted);
    CHECK_STATUS(gs_stream_sync(session, NULL), wanted);
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_EQUAL(fault.status, wanted);
    CHECK(fault.message[0] != '\0');
    if (wanted == GS_ERR_FAULT)
        CHECK_EQUAL(fault.kind, GS_FAULT_KERNEL);
}

static void fault_play(void (*misbehave)(gs_session, gs_module), bool others_busy)
{
    struct server *server = server_start(&server_unfenced);
    struct innocent *innocent = shared_alloc(sizeof(*innocent));
    gs_fault fault = GS_FAULT_INIT;
    gs_session session;
    pid_t pid;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_EQUAL(fault.kind, GS_FAULT_NONE);
    innocent->busy = others_busy;
    pid = tenant_start(innocent_run, innocent);
    gate_wait(&innocent->ready, 1);
    misbehave(session, kernels_load(session));
    culprit_check(session, GS_ERR_FAULT);
    atomic_store(&innocent->stop, 1);
    tenant_join(pid);
    gs_detach(session);
    server_wait_tenants(server, 0, 5000);
    bystanders_stop(bystanders_start(1));
    server_stop(server);
}

static void misalign(gs_session session, gs_module module)
{
    (void)session;
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "misaligned"), 1, 1, NULL));
}

static void a_misaligned_access_ends_the_session_that_made_it(void)
{
    fault_play(misalign, false);
}

/* One session alone, every launch with a report: the call that meets the end of the context may be
 * any of those around a launch. Whichever it is, there is only one to blame. */
static void whoever_is_alone_is_to_blame_whichever_call_meets_the_fault(void)
{
    struct server *server = server_start(NULL);

    for (int round = 0; round < 3; round++) {
        gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
        gs_report_id report;
        gs_session session;
        gs_module module;
        gs_status status = GS_OK;

        CHECK_WITHIN(10000, gs_attach(NULL, &session) == GS_OK);
        module = kernels_load(session);
        config.report = &report;
        gs_kernel nothing = kernels_get(module, "nothing");
        CHECK_OK(gs_launch(NULL, kernels_get(module, "misaligned"), &config, NULL));
        while (status == GS_OK)
            status = gs_launch(NULL, nothing, &config, NULL);
        CHECK_EQUAL(gs_sync(session), GS_ERR_FAULT);
        culprit_check(session, GS_ERR_FAULT);
        gs_detach(session);
    }
    server_stop(server);
}

static void stray(gs_session session, gs_module module)
{
    gs_devptr nowhere = 16;
    uint32_t value = 1;

    (void)session;
    CHECK_OK(
        kernels_launch(NULL, kernels_get(module, "store"), 1, 1, (void *[]){&nowhere, &value}));
}

static void a_stray_store_ends_the_session_that_made_it(void)
{
    fault_play(stray, false);
}

static void a_fault_is_told_to_those_who_had_unfinished_work(void)
{
    fault_play(misalign, true);
}

/* They go on when the fault comes, and cannot have been it, whatever their stream says of its end.
 */
static void copies_shield_nobody_from_the_blame(void)
{
    enum { FILLS = 32, BYTES = 256 << 20 };
    struct server *server = server_start(&server_unfenced);
    gs_session filling, culprit;
    gs_devptr memory;
    gs_event last;

    CHECK_OK(server_attach(server, &culprit));
    CHECK_OK(gs_attach(NULL, &filling));
    gs_module module = kernels_load(culprit);
    CHECK_OK(gs_malloc(filling, BYTES, &memory));
    CHECK_OK(gs_event_create(filling, &last));
    for (unsigned i = 0; i < FILLS; i++)
        CHECK_OK(gs_memset_async(filling, memory, 1, BYTES, NULL));
    CHECK_OK(gs_event_record(last, NULL));
    misalign(culprit, module);
    culprit_check(culprit, GS_ERR_FAULT);
    CHECK_STATUS(gs_sync(filling), GS_ERR_INTERRUPTED);
    CHECK_EQUAL(server_log_lines(server, "suspect"), 0);
    gs_detach(culprit);
    gs_detach(filling);
    server_stop(server);
}

static unsigned long long id_of(gs_session session)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;

    CHECK_OK(gs_session_info(session, &desc));
    return desc.session_id;
}

/* Who had nothing unfinished is not named. */
static void where_several_may_have_faulted_the_log_names_them(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_session idle, busy, culprit;
    char suspects[96];
    gs_devptr flag;

    CHECK_OK(server_attach(server, &idle));
    CHECK_OK(gs_attach(NULL, &busy));
    CHECK_OK(gs_attach(NULL, &culprit));
    gs_kernel spin = kernels_get(kernels_load(busy), "spin_until");
    gs_module module = kernels_load(culprit);
    CHECK_OK(gs_malloc(busy, sizeof(uint32_t), &flag));
    CHECK_OK(gs_memset(busy, flag, 0, sizeof(uint32_t)));
    snprintf(suspects, sizeof(suspects),
             " event=fault device=0 suspects=%llu,%llu reason=", id_of(busy), id_of(culprit));
    CHECK_OK(kernels_launch(NULL, spin, 1, 1, (void *[]){&flag}));
    misalign(culprit, module);
    CHECK_STATUS(gs_sync(culprit), GS_ERR_INTERRUPTED);
    CHECK_STATUS(gs_sync(busy), GS_ERR_INTERRUPTED);
    CHECK_WITHIN(5000, server_log_lines(server, suspects) == 1);
    gs_detach(culprit);
    gs_detach(busy);
    /* The next fault has one culprit, and no suspects of the one before. */
    misalign(idle, kernels_load(idle));
    CHECK_STATUS(gs_sync(idle), GS_ERR_FAULT);
    CHECK_WITHIN(5000, server_log_lines(server, " event=fault ") == 2);
    CHECK_EQUAL(server_log_lines(server, "suspects="), 1);
    gs_detach(idle);
    server_stop(server);
}

static void gate_hold(void *gate, gs_status status)
{
    (void)status;
    gate_wait(gate, 1);
}

/* The sixth launch faults. What is queued behind it is lost with it. */
static void the_fault_tells_which_launch_it_was_and_what_is_lost(void)
{
    struct server *server = server_start(&server_unfenced);
    struct gate *gate = shared_alloc(sizeof(*gate));
    gs_fault fault = GS_FAULT_INIT;
    gs_session session;
    gs_module module;
    gs_devptr memory;

    CHECK_OK(server_attach(server, &session));
    module = kernels_load(session);
    CHECK_OK(gs_malloc(session, 4096, &memory));
    for (unsigned i = 0; i < 5; i++)
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "nothing"), 1, 1, NULL));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_launch_host(session, NULL, gate_hold, gate));
    CHECK_OK(gs_memset_async(session, memory, 1, 4096, NULL));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "misaligned"), 1, 1, NULL));
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "nothing"), 1, 1, NULL));
    CHECK_OK(gs_memset_async(session, memory, 1, 4096, NULL));
    gate_pass(gate);
    CHECK_STATUS(gs_sync(session), GS_ERR_FAULT);
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_EQUAL(fault.kind, GS_FAULT_KERNEL);
    CHECK_TEXT(fault.kernel, "misaligned");
    CHECK_EQUAL(fault.launch, 6);
    CHECK_EQUAL(fault.lost_launches, 4);
    CHECK(fault.lost_copies >= 1 && fault.lost_copies <= 2); /* the first may be known to be done */
    CHECK_EQUAL(fault.lost_bytes, fault.lost_copies * 4096);
    CHECK_WITHIN(5000, server_log_lines(server, " event=fault ") == 1);
    CHECK_EQUAL(server_log_lines(server, " stream=0 launch=6 lost_launches=4 "), 1);
    gs_detach(session);
    server_stop(server);
}

/* The count goes on where another worker has taken the session up. */
static void launches_are_counted_across_a_takeover(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_fault fault = GS_FAULT_INIT;
    gs_session session, culprit;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    module = kernels_load(session);
    for (unsigned i = 0; i < 5; i++)
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "nothing"), 1, 1, NULL));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_attach(NULL, &culprit));
    misalign(culprit, kernels_load(culprit));
    CHECK_STATUS(gs_sync(culprit), GS_ERR_FAULT);
    gs_detach(culprit);
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "nothing"), 1, 1, NULL));
    CHECK_OK(gs_sync(session));
    misalign(session, module);
    CHECK_STATUS(gs_sync(session), GS_ERR_FAULT);
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_EQUAL(fault.launch, 8);
    gs_detach(session);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(a_misaligned_access_ends_the_session_that_made_it),
    TEST(whoever_is_alone_is_to_blame_whichever_call_meets_the_fault),
    TEST(a_stray_store_ends_the_session_that_made_it),
    TEST(a_fault_is_told_to_those_who_had_unfinished_work),
    TEST(copies_shield_nobody_from_the_blame),
    TEST(where_several_may_have_faulted_the_log_names_them),
    TEST(the_fault_tells_which_launch_it_was_and_what_is_lost),
    TEST(launches_are_counted_across_a_takeover),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
