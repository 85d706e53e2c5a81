/*
 * test_stray.c - sessions that record their strays: GS_FENCE_REPORT tells the first of them and
 * goes on, GS_FENCE_STRICT refuses the kernel's results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bystander.h"
#include "harness/harness.h"

#define NOWHERE UINT64_C(0x123450)

/* Each kernel's access at `at` is in the line that the table below tells. */
static const char strays_ptx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry load(.param .u64 at, .param .u64 own)\n"
    "{ .reg .b64 %rd<2>; .reg .b32 %r; ld.param.u64 %rd0, [at]; ld.param.u64 %rd1, [own];\n"
    "  ld.global.u32 %r, [%rd0+16];\n"
    "  st.global.u32 [%rd1], 7; ret; }\n"
    ".visible .entry store(.param .u64 at, .param .u64 own)\n"
    "{ .reg .b64 %rd<2>; ld.param.u64 %rd0, [at]; ld.param.u64 %rd1, [own];\n"
    "  st.global.u32 [%rd1], 7;\n"
    "  st.v4.u32 [%rd0+-16], {1, 2, 3, 4}; ret; }\n"
    ".visible .entry add(.param .u64 at, .param .u64 own)\n"
    "{ .reg .b64 %rd<2>; ld.param.u64 %rd0, [at]; ld.param.u64 %rd1, [own]; st.global.u32 [%rd1], "
    "7;\n"
    "  red.global.add.u32 [%rd0], 1; ret; }\n"
    ".visible .entry copy(.param .u64 at, .param .u64 own)\n"
    "{ .reg .b64 %rd<2>; .shared .align 16 .b8 s[16]; ld.param.u64 %rd0, [at];\n"
    "  ld.param.u64 %rd1, [own]; st.global.u32 [%rd1], 7;\n"
    "  cp.async.ca.shared.global [s], [%rd0], 4; cp.async.wait_all; ret; }\n"
    ".func deep(.param .u64 to) { .reg .b64 %rd; ld.param.u64 %rd, [to];\n"
    "  st.u32 [%rd], 1; ret; }\n"
    ".visible .entry calls(.param .u64 at, .param .u64 own)\n"
    "{ .reg .b64 %rd<2>; ld.param.u64 %rd0, [at]; ld.param.u64 %rd1, [own]; st.global.u32 [%rd1], "
    "7;\n"
    "  call deep, (%rd0); ret; }\n"
    ".visible .entry guarded(.param .u64 at, .param .u64 own)\n"
    "{ .reg .b64 %rd<2>; .reg .pred %p; .reg .b32 %r; ld.param.u64 %rd0, [at];\n"
    "  ld.param.u64 %rd1, [own]; mov.u32 %r, %tid.x; setp.eq.u32 %p, %r, 5;\n"
    "  @!%p st.global.u32 [%rd1], 7;\n"
    "  @%p st.global.u32 [%rd0], 7; ret; }\n"
    ".visible .entry traps(.param .u64 at, .param .u64 own)\n"
    "{ .reg .b64 %rd; ld.param.u64 %rd, [at]; st.global.u32 [%rd], 7; trap; }\n";

static const struct {
    const char *kernel;
    unsigned line;
    int offset;
    unsigned of; /* the threads of 64 that stray */
} all[] = {
    {"load", 6, 16, 64}, {"store", 11, -16, 64}, {"add", 14, 0, 64},
    {"copy", 18, 0, 64}, {"calls", 20, 0, 64},   {"guarded", 28, 0, 2},
};

struct scene {
    gs_session session;
    gs_module module;
    gs_devptr own;
};

static struct scene scene_of(gs_fence fence)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    struct scene s;

    params.fence = fence;
    CHECK_OK(gs_attach(&params, &s.session));
    CHECK_OK(gs_session_info(s.session, &desc));
    CHECK(fence == GS_FENCE_AUTO || desc.fenced == (unsigned)fence);
    CHECK_OK(gs_module_load(s.session, strays_ptx, strlen(strays_ptx), &s.module));
    CHECK_OK(gs_malloc(s.session, 4096, &s.own));
    return s;
}

static void run(const struct scene *s, const char *kernel, gs_devptr at)
{
    CHECK_OK(kernels_launch(NULL, kernels_get(s->module, kernel), 2, 32,
                            (void *[]){&at, (void *)&s->own}));
}

static gs_stray stray_of(gs_session session)
{
    gs_stray stray = GS_STRAY_INIT;

    CHECK_OK(gs_stray_report(session, &stray));
    return stray;
}

static void the_first_stray_is_told_and_the_session_goes_on(void)
{
    struct server *server = server_start(NULL);
    uint32_t word;

    for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
        struct scene s = scene_of(GS_FENCE_REPORT);
        gs_stray stray;

        printf("# %s\n", all[i].kernel);
        run(&s, all[i].kernel, s.own + 256);
        CHECK_OK(gs_sync(s.session));
        CHECK_EQUAL(stray_of(s.session).count, 0);
        run(&s, all[i].kernel, NOWHERE);
        CHECK_OK(gs_sync(s.session));
        stray = stray_of(s.session);
        CHECK_EQUAL(stray.count, all[i].of);
        CHECK_EQUAL(stray.line, all[i].line);
        CHECK_EQUAL(stray.stream, 0);
        CHECK_EQUAL(stray.launch, 2);
        CHECK_EQUAL(stray.launch_last, 2);
        CHECK_EQUAL(stray.address, NOWHERE + (gs_devptr)all[i].offset);
        CHECK(strcmp(stray.kernel, all[i].kernel) == 0);
        CHECK_OK(gs_memcpy_dtoh(s.session, &word, s.own, sizeof(word)));
        CHECK_EQUAL(word, 7);
        /* The first stays. */
        run(&s, "add", ~UINT64_C(63));
        CHECK_OK(gs_sync(s.session));
        CHECK_EQUAL(stray_of(s.session).count, all[i].of + 64);
        CHECK_EQUAL(stray_of(s.session).line, all[i].line);
        CHECK_EQUAL(stray_of(s.session).launch, 2);
        CHECK_OK(gs_detach(s.session));
    }
    server_stop(server);
}

/* The variable is for programs that cannot say it, such as those of the CUDA runtime. */
static void an_operator_sees_strays_while_the_session_is_there_and_afterwards(void)
{
    struct server *server = server_start(NULL);
    static const char *const ps[] = {"bin/gsctl", "ps", NULL};
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    char output[4096];
    struct scene s;

    setenv("GSHARE_FENCE", "report", 1);
    s = scene_of(GS_FENCE_AUTO);
    unsetenv("GSHARE_FENCE");
    CHECK_OK(gs_session_info(s.session, &desc));
    CHECK_EQUAL(desc.fenced, GS_FENCE_REPORT);
    CHECK_EQUAL(program_run(ps, output, sizeof(output)), 0);
    CHECK(strstr(output, "STRAYS") == NULL); /* a column of nothing but zeros */
    run(&s, "store", 0);
    CHECK_OK(gs_sync(s.session));
    CHECK_EQUAL(stray_of(s.session).count, 64);
    CHECK_EQUAL(program_run(ps, output, sizeof(output)), 0);
    CHECK_TEXT(output, "STRAYS");
    CHECK_TEXT(output, " 64 ");
    CHECK_OK(gs_detach(s.session));
    CHECK_WITHIN(5000, server_log_lines(server, "strays=64") == 1);
    server_stop(server);
}

static void a_strict_session_ends_with_its_first_stray(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *bystanders = bystanders_start(2);

    for (unsigned i = 0; i < 5 * ARRAY_SIZE(all); i++) {
        const char *kernel = all[i % ARRAY_SIZE(all)].kernel;
        struct scene s = scene_of(GS_FENCE_STRICT);
        gs_fault fault = GS_FAULT_INIT;
        gs_stray stray = GS_STRAY_INIT;
        uint32_t word;
        char line[32];

        run(&s, kernel, s.own + 256);
        CHECK_OK(gs_memcpy_dtoh(s.session, &word, s.own, sizeof(word)));
        CHECK_EQUAL(word, 7);
        run(&s, kernel, NOWHERE);
        if (i % 2)
            CHECK_STATUS(gs_memcpy_dtoh(s.session, &word, s.own, sizeof(word)),
                         GS_ERR_ILLEGAL_ADDRESS);
        CHECK_STATUS(gs_sync(s.session), GS_ERR_ILLEGAL_ADDRESS);
        CHECK_STATUS(gs_stray_report(s.session, &stray), GS_ERR_ILLEGAL_ADDRESS);
        CHECK_OK(gs_last_fault(s.session, &fault));
        CHECK_EQUAL(fault.kind, GS_FAULT_STRAY);
        CHECK_EQUAL(fault.status, GS_ERR_ILLEGAL_ADDRESS);
        CHECK(strcmp(fault.kernel, kernel) == 0);
        snprintf(line, sizeof(line), "line %u of the PTX", all[i % ARRAY_SIZE(all)].line);
        CHECK_TEXT(fault.message, line);
        CHECK_TEXT(fault.message, " went to 0x1234");
        CHECK(fault.address >> 8 == NOWHERE >> 8);
        CHECK_STATUS(gs_detach(s.session), GS_ERR_ILLEGAL_ADDRESS);
    }
    bystanders_stop(bystanders);
    server_wait_tenants(server, 0, 5000);
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

static void a_trap_beside_a_stray_ends_the_session_all_the_same(void)
{
    struct server *server = server_start(NULL);
    struct scene s = scene_of(GS_FENCE_REPORT);
    gs_fault fault = GS_FAULT_INIT;

    run(&s, "traps", NOWHERE);
    CHECK_STATUS(gs_sync(s.session), GS_ERR_FAULT);
    CHECK_OK(gs_last_fault(s.session, &fault));
    CHECK_EQUAL(fault.kind, GS_FAULT_TRAP);
    gs_detach(s.session);
    server_stop(server);
}

static void who_does_not_record_is_told_so(void)
{
    struct server *server = server_start(NULL);
    struct scene s = scene_of(GS_FENCE_ON);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_stray stray = GS_STRAY_INIT;
    gs_session session;

    CHECK_STATUS(gs_stray_report(s.session, &stray), GS_ERR_NOT_SUPPORTED);
    run(&s, "add", NOWHERE);
    CHECK_OK(gs_sync(s.session));
    CHECK_OK(gs_detach(s.session));
    s = scene_of(GS_FENCE_REPORT);
    CHECK_STATUS(gs_stray_report(s.session, NULL), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_detach(s.session));
    params.fence = (gs_fence)(GS_FENCE_STRICT + 1);
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_INVALID_VALUE);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(the_first_stray_is_told_and_the_session_goes_on),
    TEST(an_operator_sees_strays_while_the_session_is_there_and_afterwards),
    TEST(a_strict_session_ends_with_its_first_stray),
    TEST(a_trap_beside_a_stray_ends_the_session_all_the_same),
    TEST(who_does_not_record_is_told_so),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
