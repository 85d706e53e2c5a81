/* Tensor maps behind the fence: instructions take them from the kernel's parameters, from places
 * that the report names, and the checker sees whatever else they might be taken from. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/rewrite/rewrite.h"

#define HEAD ".version 8.4\n.target sm_90\n.address_size 64\n"
#define ENTRY                                                                                      \
    ".visible .entry k(.param .align 64 .b8 a[320], .param .u64 b, .param .align 64 .b8 c[128])\n"
#define REGS                                                                                       \
    "{ .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"                                      \
    ".shared .align 128 .b8 box[1024]; .shared .align 8 .b64 bar;\n"                               \
    "ld.param.u64 %d7, [b]; setp.eq.u64 %p1, %d7, 0;\n"

#define LOAD                                                                                       \
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [box], "     \
    "[%d1, {%r1, %r2}], [bar];"
#define STORE "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [box];"
#define REDUCE                                                                                     \
    "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%d1, {%r1}], [box];"
#define PREFETCH "cp.async.bulk.prefetch.tensor.1d.L2.global [%d1, {%r1}];"
#define HINT     "prefetch.tensormap [%d1];"

static int fence(const char *text, char **out, struct ptx_rewrite_report *report)
{
    size_t len;

    *out = NULL;
    memset(report, 0, sizeof(*report));
    return ptx_rewrite(text, strlen(text), PTX_PASS_FENCE, out, &len, report);
}

static void module_with(const char *before, const char *body, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s%s\nret; }\n", HEAD, before, ENTRY REGS, body);
}

static char *fenced(const char *body, struct ptx_rewrite_report *report)
{
    char text[8192], *out;

    module_with("", body, text, sizeof(text));
    if (fence(text, &out, report))
        fail_msg("%s: %s", body, report->fence.reason);
    return out;
}

/* The places that the report has, in ascending order, as "a+0 c+64 ". */
static void places(const struct ptx_rewrite_report *report, char *out, size_t size)
{
    const struct ptx_fence_maps *maps = ptx_fence_report_maps(&report->fence, "k");

    *out = '\0';
    for (unsigned at = 0; maps && at < 3 * 512; at++)
        for (uint32_t i = 0; i < maps->count; i++)
            if (maps->map[i].parameter == at / 512 && maps->map[i].offset == at % 512)
                snprintf(out + strlen(out), size - strlen(out), "%c+%u ", "abc"[at / 512],
                         at % 512);
}

static void maps_are_taken_from_parameters(void **state)
{
    static const struct {
        const char *body, *places;
    } all[] = {
        {"mov.b64 %d2, a; cvta.param.u64 %d1, %d2;" LOAD, "a+0 "},
        {"mov.b64 %d2, a; add.s64 %d3, %d2, 64; cvta.param.u64 %d1, %d3;" LOAD STORE, "a+64 "},
        {"mov.b64 %d2, a; cvta.param.u64 %d3, %d2; add.s64 %d1, %d3, 192;" STORE, "a+192 "},
        {"mov.b64 %d2, a+128; cvta.param.u64 %d1, %d2;" REDUCE, "a+128 "},
        {"cvta.param.u64 %d1, c;" PREFETCH, "c+0 "},
        {"cvta.param.u64 %d1, c;" HINT, "c+0 "},
        {"mov.b64 %d2, c; cvta.param.u64 %d3, %d2; mov.u64 %d1, %d3; @%p1 " LOAD, "c+0 "},
        /* the parameter is read by its address, too */
        {"mov.b64 %d2, a; ld.param.u32 %r1, [%d2]; cvta.param.u64 %d1, %d2;" LOAD, "a+0 "},
        /* one of several */
        {"mov.b64 %d2, a; cvta.param.u64 %d3, %d2; cvta.param.u64 %d4, c; "
         "selp.b64 %d1, %d3, %d4, %p1;" LOAD,
         "a+0 c+0 "},
        {"mov.b64 %d2, a; cvta.param.u64 %d1, %d2; @%p1 cvta.param.u64 %d1, c;" STORE HINT,
         "a+0 c+0 "},
        {"mov.b64 %d2, a; cvta.param.u64 %d3, %d2; add.s64 %d4, %d3, 128; @%p1 bra X; mov.u64 %d4, "
         "%d3; X: mov.u64 %d1, %d4;" LOAD,
         "a+0 a+128 "},
        /* another scope's name */
        {"mov.b64 %d2, a; { .reg .b64 %d1; cvta.param.u64 %d1, %d2;" LOAD " }", "a+0 "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ptx_rewrite_report report;
        char have[256], *out = fenced(all[i].body, &report);

        places(&report, have, sizeof(have));
        if (strcmp(have, all[i].places) != 0)
            fail_msg("%s: maps at %s", all[i].body, have);
        if (strstr(out, "[%d1, {") || strstr(out, ".local"))
            fail_msg("%s becomes\n%s", all[i].body, out);
        ptx_rewrite_report_deinit(&report);
        free(out);
    }
}

static void what_only_helps_is_left_out(void **state)
{
    struct ptx_rewrite_report report;
    char *out = fenced("mov.u64 %d1, %d7;" HINT "prefetch.param.tensormap [c];", &report);

    (void)state;
    assert_null(strstr(out, "prefetch"));
    assert_int_equal(report.fence.nmaps, 0);
    ptx_rewrite_report_deinit(&report);
    free(out);
}

static void maps_from_elsewhere_are_refused(void **state)
{
    static const char elsewhere[] = "a tensor map that is not among the kernel's parameters",
                      address[] = "a generic address of a parameter other than a tensor map";
    static const struct {
        const char *before, *body, *why;
    } all[] = {
        {"", "mov.u64 %d1, %d7;" LOAD, elsewhere},
        {"", "ld.global.u64 %d1, [%d7];" STORE, elsewhere},
        {"", "cvta.param.u64 %d2, c; add.s64 %d1, %d2, %d7;" LOAD, address},
        {"", "cvta.param.u64 %d1, c; @%p1 mov.u64 %d1, %d7;" LOAD, address},
        {"", "cvta.param.u64 %d2, c; selp.b64 %d1, %d2, %d7, %p1;" REDUCE, address},
        {"", "cvta.param.u64 %d2, c; add.s64 %d1, %d2, 8;" LOAD, address},
        {"", "cvta.param.u64 %d2, c; add.s64 %d1, %d2, -8;" LOAD, address},
        {"", "cvta.param.u64 %d1, b;" LOAD, address},
        {"",
         "cvta.param.u64 %d1, c; X: add.s64 %d1, %d1, 0; @%p1 bra X; add.s64 %d1, %d1, 64;" LOAD,
         address},
        {"", PREFETCH, elsewhere},
        {"", "cvta.param.u64 %d2, a; add.s64 %d1, %d2, 32;" LOAD, address},
        {"", "cvta.param.u64 %d2, a; mul.wide.u32 %d3, %r1, 128; add.s64 %d1, %d2, %d3;" LOAD,
         "or of maps among which an index chooses"},
        {"",
         "cvta.param.u64 %d1, a; " LOAD "cvta.param.u64 %d2, a; { .reg .b64 %d1; add.s64 %d1, %d2, "
         "64;" LOAD "}",
         "tensor maps that overlap in k"},
        {"", "cvta.param.u64 %d1, a; { .reg .b64 a;" LOAD "}", "a scope has the name"},
        {"", "cvta.param.u64 %d1, a; { .shared .b64 a;" LOAD "}", "a scope has the name"},
        {"", "cvta.shared.u64 %d1, box;" LOAD, elsewhere},
        {".global .align 64 .b8 v[128];", "mov.u64 %d1, v;" LOAD, elsewhere},
        {".const .align 64 .b8 v[128];", "cvta.const.u64 %d1, v;" LOAD, elsewhere},
        {".func f(.reg .b64 %d1) { .reg .b32 %r<4>; " PREFETCH " ret; }",
         "cvta.param.u64 %d2, c; call f, (%d2);", elsewhere},
        {"", "cvta.param.u64 %d1, c; fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;" LOAD,
         address},
        {"", "cvta.param.u64 %d1, c; ld.u32 %r1, [%d1];" LOAD, address},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ptx_rewrite_report report;
        char text[8192], *out;

        module_with(all[i].before, all[i].body, text, sizeof(text));
        assert_int_equal(fence(text, &out, &report), -EPERM);
        if (!strstr(report.fence.reason, all[i].why))
            fail_msg("%s: \"%s\"", all[i].body, report.fence.reason);
        ptx_rewrite_report_deinit(&report);
    }
}

static void a_kernel_has_so_many_maps(void **state)
{
    struct ptx_rewrite_report report;
    char text[16384], *out;

    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        snprintf(text, sizeof(text), "%s",
                 HEAD ".visible .entry k(.param .align 64 .b8 a[4000])\n"
                      "{ .reg .b32 %r<4>; .reg .b64 %d<4>; mov.b64 %d2, a;\n");
        for (unsigned i = 0; i < FENCE_MAPS + more; i++)
            snprintf(
                text + strlen(text), sizeof(text) - strlen(text),
                "{ .reg .b64 %%d1, %%e; add.s64 %%e, %%d2, %u; cvta.param.u64 %%d1, %%e; %s }\n",
                128 * i, PREFETCH);
        strcat(text, "ret; }\n");
        assert_int_equal(fence(text, &out, &report), more ? -EPERM : 0);
        if (more)
            assert_non_null(strstr(report.fence.reason, "more than 16 tensor maps in k"));
        ptx_rewrite_report_deinit(&report);
        free(out);
    }
}

static void a_map_is_aligned(void **state)
{
    struct ptx_rewrite_report report;
    char *out;

    (void)state;
    assert_int_equal(fence(HEAD ".visible .entry k(.param .align 32 .b8 a[128]) { .reg .b64 %d1; "
                                ".reg .b32 %r1; cvta.param.u64 %d1, a; " PREFETCH " ret; }",
                           &out, &report),
                     -EPERM);
    ptx_rewrite_report_deinit(&report);
}

/* A module has as many kernels with maps as it likes. */
static void many_kernels_have_maps(void **state)
{
    enum { KERNELS = 300, EACH = 400 };
    struct ptx_rewrite_report report;
    char *text = calloc(KERNELS + 1, EACH), *out, *to = text;

    (void)state;
    to += sprintf(to, "%s", HEAD);
    for (unsigned i = 0; i < KERNELS; i++) {
        to += sprintf(to, ".entry a_name_of_some_length_%u(.param .align 64 .b8 a[128])\n", i);
        to = stpcpy(to,
                    "{ .reg .b64 %d1; .reg .b32 %r1; cvta.param.u64 %d1, a; " PREFETCH " ret; }\n");
    }
    assert_int_equal(fence(text, &out, &report), 0);
    assert_int_equal(report.fence.nmaps, KERNELS);
    ptx_rewrite_report_deinit(&report);
    free(text);
    free(out);
}

/* Each of many copies has a register with as many definitions: to follow them all would take
 * minutes. */
static void what_takes_too_long_is_refused(void **state)
{
    enum { COPIES = 20000, EACH = 64 };
    static const char move[] = "mov.b64 %d1, a;\n", copy[] = HINT "\n";
    struct ptx_rewrite_report report;
    char *text = calloc(2 * COPIES + 8, EACH), *out, *to = text;

    (void)state;
    to += sprintf(to, HEAD ".entry k(.param .align 64 .b8 a[128]) { .reg .b64 %%d1;\n");
    for (unsigned i = 0; i < COPIES; i++)
        to = stpcpy(to, move);
    for (unsigned i = 0; i < COPIES; i++)
        to = stpcpy(to, copy);
    strcpy(to, "ret; }\n");
    /* A hint is left out where it is not known what it is about. */
    assert_int_equal(fence(text, &out, &report), 0);
    assert_int_equal(report.fence.nmaps, 0);
    ptx_rewrite_report_deinit(&report);
    free(text);
    free(out);
}

/* Takes the first WHAT in OUT, which the checker accepts, to WITH: the checker refuses. */
static void expect_checked(const char *out, const struct ptx_fence_report *report, const char *what,
                           const char *with, const char *reason)
{
    const char *at = strstr(out, what);
    char *changed = calloc(1, strlen(out) + strlen(with) + 1), why[200];
    bool stack, indexed;

    assert_int_equal(fence_check(out, strlen(out), report, &stack, &indexed, why, sizeof(why)), 0);
    if (!at)
        fail_msg("no \"%s\" in\n%s", what, out);
    memcpy(changed, out, (size_t)(at - out));
    strcat(strcat(changed, with), at + strlen(what));
    if (fence_check(changed, strlen(changed), report, &stack, &indexed, why, sizeof(why)) !=
            -EPERM ||
        !strstr(why, reason))
        fail_msg("\"%s\" for \"%s\": \"%s\" does not say \"%s\"", with, what, why, reason);
    free(changed);
}

static void the_checker_sees_where_a_map_comes_from(void **state)
{
    static const char nobody[] = "a tensor map that nobody has looked at", other[] = "otherwise";
    static const struct {
        const char *what, *with, *why;
    } all[] = {
        {"[gshare$map, {%r1}]", "[%d2, {%r1}]", "from elsewhere"},
        {"[gshare$map, {%r1}]", "[gshare$other, {%r1}]", "from elsewhere"},
        {"add.s64 gshare$map, gshare$map, 0;", "add.s64 gshare$map, gshare$map, 8;", nobody},
        {"add.s64 gshare$map, gshare$map, 0;", "add.s64 gshare$map, gshare$map, -64;", nobody},
        {"add.s64 gshare$map, gshare$map, 0;", "add.s64 gshare$map, gshare$map, %d2;", other},
        {"add.s64 gshare$map, gshare$map, 0;", "@%p1 add.s64 gshare$map, gshare$map, 0;", other},
        {"add.s64 gshare$map, gshare$map, 0;", "", nobody},
        {"mov.b64 gshare$map, c;", "mov.b64 gshare$map, %d7;", other},
        {"mov.b64 gshare$map, c;", "mov.b64 gshare$map, b;", nobody},
        {"mov.b64 gshare$map, c;", "mov.b64 gshare$map, box;", other},
        {"mov.b64 gshare$map, c;", "mov.b64 gshare$map, c; X: @%p1 bra X;", nobody},
        {"cvta.param.u64 gshare$map, gshare$map;", "", nobody},
        {"cvta.param.u64 gshare$map, gshare$map;", "cvta.param.u64 gshare$map, %d2;", other},
        {"cvta.param.u64 gshare$map, gshare$map;",
         "cvta.param.u64 gshare$map, gshare$map; X: @%p1 bra X;", nobody},
        {"cvta.param.u64 gshare$map, gshare$map;",
         "cvta.param.u64 gshare$map, gshare$map; mov.u64 %d2, gshare$map;", other},
        {"cvta.param.u64 gshare$map, gshare$map;",
         "cvta.param.u64 gshare$map, gshare$map; ld.u32 %r1, [gshare$map];", other},
        {"add.s64 gshare$other, gshare$other, 64;", "add.s64 gshare$other, gshare$other, 72;",
         nobody},
        {"mov.b64 gshare$other, a;", "mov.b64 gshare$other, %d7;", other},
        {"cvta.param.u64 gshare$other, gshare$other;", "", nobody},
        {"cvta.param.u64 gshare$other, gshare$other;",
         "cvta.param.u64 gshare$other, gshare$other; mov.b64 gshare$other, c;", nobody},
        {"selp.b64 gshare$map, gshare$other, gshare$map, gshare$which;",
         "selp.b64 gshare$map, gshare$other, %d7, gshare$which;", other},
        {"selp.b64 gshare$map, gshare$other, gshare$map, gshare$which;",
         "X: @%p1 bra X; selp.b64 gshare$map, gshare$other, gshare$map, gshare$which;", nobody},
        {"cp.async.bulk.tensor", "mov.b64 %d2, c; cvta.param.u64 %d2, %d2; cp.async.bulk.tensor",
         "a generic address"},
        {"cp.async.bulk.tensor", "prefetch.tensormap [gshare$map+64]; cp.async.bulk.tensor",
         "from elsewhere"},
    };
    struct ptx_rewrite_report report;
    char *out = fenced("mov.b64 %d2, a; cvta.param.u64 %d3, %d2; add.s64 %d1, %d3, 64; @%p1 "
                       "cvta.param.u64 %d1, c;" STORE,
                       &report);

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        expect_checked(out, &report.fence, all[i].what, all[i].with, all[i].why);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_taken_from_parameters),
        cmocka_unit_test(what_only_helps_is_left_out),
        cmocka_unit_test(maps_from_elsewhere_are_refused),
        cmocka_unit_test(a_kernel_has_so_many_maps),
        cmocka_unit_test(a_map_is_aligned),
        cmocka_unit_test(many_kernels_have_maps),
        cmocka_unit_test(what_takes_too_long_is_refused),
        cmocka_unit_test(the_checker_sees_where_a_map_comes_from),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
