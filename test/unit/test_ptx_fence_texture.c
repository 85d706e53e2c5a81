/* Instructions of textures and surfaces behind the fence: each takes its object from the session's
 * table, in the column of its geometry, whatever number the kernel has. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fence_rig.h"
#include "ptx/rewrite/texture_table.h"

enum { NUMBERS = 10000 };
#define INPUT_AT ((uint64_t)16 << 20) /* in the window */

#define FOUR "{%r0, %r1, %r2, %r3}"

static struct fence_rig rig;
static uint64_t random_state = 1;

static uint64_t random_u64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Small ones, as a driver's handles are, and any. */
static uint64_t any_number(void)
{
    uint64_t r = random_u64();

    return r & 1 ? r : r >> 8 & 0x7ff;
}

/* The instruction with a number in %own and with coordinates from it. */
static void write_kernel(const char *instruction, const char *target, char *out, size_t size)
{
    snprintf(
        out, size,
        ".version 8.4\n.target %s\n.address_size 64\n"
        ".visible .entry k(.param .u64 p0)\n{\n"
        ".reg .b64 %%own, %%d<2>; .reg .b32 %%r<8>; .reg .f32 %%f<4>; .reg .pred %%p, %%q;\n"
        ".reg .b16 %%h; .reg .v2 .b64 %%v;\n"
        "ld.param.u64 %%d0, [p0]; mov.u32 %%r0, %%ctaid.x; mad.wide.u32 %%d0, %%r0, 8, %%d0;\n"
        "ld.global.u64 %%own, [%%d0]; mov.b64 {%%r4, %%r5}, %%own; and.b32 %%r4, %%r4, -16;\n"
        "mov.b32 %%f0, %%r4; mov.b32 %%f1, %%r5; mov.f32 %%f2, 0f40000000; mov.f32 %%f3, %%f1;\n"
        "mov.u32 %%r6, 1; mov.u64 %%d1, 1; setp.ne.u32 %%p, %%r5, 7; mov.u64 %%v.x, %%own;\n"
        "mov.u16 %%h, 3;\n"
        "%s\nret;\n}\n",
        target, instruction);
}

static char *fenced(const char *instruction, struct ptx_rewrite_report *report)
{
    static char text[4096];
    char *out = NULL;
    size_t len;

    memset(report, 0, sizeof(*report));
    write_kernel(instruction, "sm_90", text, sizeof(text));
    if (ptx_rewrite(text, strlen(text), PTX_PASS_FENCE, &out, &len, report))
        fail_msg("%s: %s", instruction, report->fence.reason);
    assert_true(report->fence.textures);
    return out;
}

static void run(const char *instruction, enum texture_column column)
{
    uint64_t *input = (uint64_t *)(uintptr_t)(rig.base + INPUT_AT), at = rig.base + INPUT_AT;
    struct ptx_rewrite_report report;
    char *text = fenced(instruction, &report);
    enum fence_end end;

    for (unsigned i = 0; i < NUMBERS; i++)
        input[i] = any_number();
    end = fence_rig_run(&rig, text, &report.fence, NUMBERS, 1, &at, 1);
    fence_rig_clear(&rig);
    if (end != FENCE_RAN || rig.faults || rig.columns != 1u << column)
        fail_msg("%s: end %d, %u faults, columns 0x%x: %s", instruction, (int)end, rig.faults,
                 rig.columns, rig.what);
    ptx_rewrite_report_deinit(&report);
    free(text);
}

static void any_number_leads_to_the_table(void **state)
{
    static const struct {
        const char *instruction;
        enum texture_column column;
    } all[] = {
        {"tex.1d.v4.u32.f32 " FOUR ", [%own, {%f0}];", TEXTURE_1D},
        {"tex.1d.v4.u32.s32 " FOUR ", [%own, {%r4}];", TEXTURE_LINE},
        {"tex.2d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1}];", TEXTURE_2D},
        {"tex.2d.v4.u32.s32 " FOUR ", [%own, {%r4, %r5}];", TEXTURE_2D},
        {"tex.3d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1, %f2, %f3}];", TEXTURE_3D},
        {"tex.a1d.v4.u32.f32 " FOUR ", [%own, {%r5, %f1}];", TEXTURE_A1D},
        {"tex.a2d.v4.u32.f32 " FOUR ", [%own, {%r5, %f0, %f1, %f3}];", TEXTURE_A2D},
        {"tex.cube.v4.u32.f32 " FOUR ", [%own, {%f0, %f1, %f2, %f3}];", TEXTURE_CUBE},
        {"tex.acube.v4.u32.f32 " FOUR ", [%own, {%r5, %f0, %f1, %f2}];", TEXTURE_ACUBE},
        {"tex.level.1d.v4.u32.f32 " FOUR ", [%own, {%f0}], %f2;", TEXTURE_1D},
        {"tex.level.1d.v4.u32.s32 " FOUR ", [%own, {%r4}], %r5;", TEXTURE_LINE},
        {"tex.level.2d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1}], %f2;", TEXTURE_2D},
        {"tex.level.2d.v4.u32.s32 " FOUR ", [%own, {%r4, %r5}], %r5;", TEXTURE_2D},
        {"tex.level.3d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1, %f2, %f3}], %f1;", TEXTURE_3D},
        {"tex.level.a1d.v4.u32.f32 " FOUR ", [%own, {%r5, %f1}], %f0;", TEXTURE_A1D},
        {"tex.level.a2d.v4.u32.f32 " FOUR ", [%own, {%r5, %f0, %f1, %f3}], %f1;", TEXTURE_A2D},
        {"tex.level.cube.v4.u32.f32 " FOUR ", [%own, {%f0, %f1, %f2, %f3}], %f1;", TEXTURE_CUBE},
        {"tex.level.acube.v4.u32.f32 " FOUR ", [%own, {%r5, %f0, %f1, %f2}], %f1;", TEXTURE_ACUBE},
        {"tex.base.2d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1}];", TEXTURE_2D},
        {"tex.grad.1d.v4.u32.f32 " FOUR ", [%own, {%f0}], {%f0}, {%f2};", TEXTURE_1D},
        {"tex.grad.3d.v4.u32.f32 " FOUR
         ", [%own, {%f0, %f1, %f2, %f3}], {%f0, %f1, %f2, %f3}, {%f0, %f1, %f2, %f3};",
         TEXTURE_3D},
        {"tex.grad.a2d.v4.u32.f32 " FOUR ", [%own, {%r5, %f0, %f1, %f3}], {%f0, %f1}, {%f2, %f3};",
         TEXTURE_A2D},
        {"tex.grad.cube.v4.u32.f32 " FOUR
         ", [%own, {%f0, %f1, %f2, %f3}], {%f0, %f1, %f2, %f3}, {%f0, %f1, %f2, %f3};",
         TEXTURE_CUBE},
        {"tex.grad.2d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1}], {%f0, %f1}, {%f2, %f3};",
         TEXTURE_2D},
        {"tld4.g.2d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1}];", TEXTURE_2D},
        {"tld4.a.a2d.v4.u32.f32 " FOUR ", [%own, {%r5, %f0, %f1, %f3}];", TEXTURE_A2D},
        {"@%p tex.2d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1}];", TEXTURE_2D},
        {"@!%p tex.2d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1}]; tex.2d.v4.u32.f32 " FOUR
         ", [%own, {%f0, %f1}];",
         TEXTURE_2D},
        {"tex.2d.v4.u32.f32 " FOUR "|%q, [%own, {%f0, %f1}];", TEXTURE_2D},
        {"tex.2d.v4.u32.f32 " FOUR ", [%v.x, {%f0, %f1}];", TEXTURE_2D},
        {"{ .reg .b64 %own; mov.u64 %own, 5; tex.2d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1}]; }",
         TEXTURE_2D},
        {"txq.width.b32 %r0, [%own];", TEXTURE_ANY},
        {"txq.depth.b32 %r0, [%own];", TEXTURE_ANY},
        {"suq.height.b32 %r0, [%own];", SURFACE_ANY},
        {"suld.b.1d.b32.trap %r0, [%own, {%r4}];", SURFACE_1D},
        {"suld.b.1d.v4.b32.clamp " FOUR ", [%own, {%r4}];", SURFACE_1D},
        {"suld.b.2d.b8.trap %h, [%own, {%r4, %r5}];", SURFACE_2D},
        {"suld.b.2d.cv.v2.b32.trap {%r0, %r1}, [%own, {%r4, %r5}];", SURFACE_2D},
        {"suld.b.3d.b16.zero %h, [%own, {%r4, %r5, %r6, %r6}];", SURFACE_3D},
        {"suld.b.a1d.b64.trap %d0, [%own, {%r5, %r4}];", SURFACE_A1D},
        {"suld.b.a2d.v4.b32.trap " FOUR ", [%own, {%r5, %r4, %r6, %r6}];", SURFACE_A2D},
        {"sust.b.1d.b32.trap [%own, {%r4}], %r5;", SURFACE_1D},
        {"sust.b.2d.v4.b32.trap [%own, {%r4, %r5}], " FOUR ";", SURFACE_2D},
        {"@%p sust.b.2d.wt.v2.b64.clamp [%own, {%r4, %r5}], {%d0, %d1};", SURFACE_2D},
        {"sust.b.3d.b32.trap [%own, {%r4, %r5, %r6, %r6}], %r5;", SURFACE_3D},
        {"sust.b.a1d.b32.zero [%own, {%r5, %r4}], %r5;", SURFACE_A1D},
        {"sust.b.a2d.b16.trap [%own, {%r5, %r4, %r6, %r6}], %h;", SURFACE_A2D},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        run(all[i].instruction, all[i].column);
}

/* What the software device does not run: the object is taken from the table all the same. */
static void other_forms_take_their_object_from_the_table(void **state)
{
    static const struct {
        const char *instruction, *becomes;
        enum texture_column column;
    } all[] = {
        {"tex.2d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1}], {%r4, %r5};",
         "tex.2d.v4.u32.f32 " FOUR ", [gshare$sym, {%f0, %f1}], {%r4, %r5};", TEXTURE_2D},
        {"tld4.r.cube.v4.u32.f32 " FOUR ", [%own, {%f0, %f1, %f2, %f3}];",
         "tld4.r.cube.v4.u32.f32 " FOUR ", [gshare$sym, {%f0, %f1, %f2, %f3}];", TEXTURE_CUBE},
        {"txq.level.width.b32 %r0, [%own], %r4;", "txq.level.width.b32 %r0, [gshare$sym], %r4;",
         TEXTURE_ANY},
        {"sured.b.add.2d.u32.trap [%own, {%r4, %r5}], %r6;",
         "sured.b.add.2d.u32.zero [gshare$sym, {%r4, %r5}], %r6;", SURFACE_2D},
        {"sured.b.min.1d.s32 [%own, {%r4}], %r6;",
         "sured.b.min.1d.s32.zero [gshare$sym, {%r4}], %r6;", SURFACE_1D},
        {"sured.b.or.3d.b32.clamp [%own, {%r4, %r5, %r6, %r6}], %r6;",
         "sured.b.or.3d.b32.clamp [gshare$sym, {%r4, %r5, %r6, %r6}], %r6;", SURFACE_3D},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ptx_rewrite_report report;
        char *out = fenced(all[i].instruction, &report), load[64] = "[gshare$at];";

        if (all[i].column)
            snprintf(load, sizeof(load), "[gshare$at+%d];", 8 * (int)all[i].column);
        if (!strstr(out, all[i].becomes) || !strstr(out, load))
            fail_msg("%s", out);
        ptx_rewrite_report_deinit(&report);
        free(out);
    }
}

static void kernels_without_textures_have_no_table(void **state)
{
    static char text[4096];
    struct ptx_rewrite_report report = {0};
    char *out = NULL;
    size_t len;

    (void)state;
    write_kernel("", "sm_90", text, sizeof(text));
    assert_int_equal(ptx_rewrite(text, strlen(text), PTX_PASS_FENCE, &out, &len, &report), 0);
    assert_false(report.fence.textures);
    assert_null(strstr(out, "gshare$textures"));
    ptx_rewrite_report_deinit(&report);
    free(out);
}

static void what_is_no_number_in_a_register_is_refused(void **state)
{
    static const struct {
        const char *instruction, *target, *why;
    } all[] = {
        {"tex.2d.v4.u32.f32 " FOUR ", [p0, {%f0, %f1}];", "sm_90", "tex: a texture, surface"},
        {"txq.width.b32 %r0, [p0];", "sm_90", "txq: a texture, surface"},
        {"tex.2d.v4.u32.f32 " FOUR ", [%own, %d1, {%f0, %f1}];", "sm_90", "tex: a sampler"},
        {"tex.2d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1}];", "sm_90, texmode_independent",
         "tex: a sampler"},
        {"sust.b.1d.b64.trap [%own, {%r4}], p0;", "sm_90", "sust.b: a texture, surface or value"},
        {"tex.2dms.v4.u32.s32 " FOUR ", [%own, {%r4, %r5, %r6, %r6}];", "sm_90", "tex: a geometry"},
        {"sust.p.2d.v4.b32.trap [%own, {%r4, %r5}], " FOUR ";", "sm_90",
         "sust.p: a surface of some format"},
        {"sured.p.add.2d.u32.trap [%own, {%r4, %r5}], %r6;", "sm_90",
         "sured.p: a surface of some format"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        static char text[4096];
        struct ptx_rewrite_report report = {0};
        char *out = NULL;
        size_t len;

        write_kernel(all[i].instruction, all[i].target, text, sizeof(text));
        if (ptx_rewrite(text, strlen(text), PTX_PASS_FENCE, &out, &len, &report) != -EPERM ||
            !strstr(report.fence.reason, all[i].why))
            fail_msg("%s: %s", all[i].instruction, report.fence.reason);
        ptx_rewrite_report_deinit(&report);
    }
}

/* TEXT with the first WHAT behind AFTER replaced. */
static char *changed(const char *text, const char *after, const char *what, const char *with)
{
    const char *at = strstr(strstr(text, after), what);
    char *out = calloc(1, strlen(text) + strlen(with) + 1);

    assert_non_null(at);
    memcpy(out, text, (size_t)(at - text));
    strcat(out, with);
    return strcat(out, at + strlen(what));
}

static int check(const char *text)
{
    char why[200];
    bool stack, indexed;

    return fence_check(text, strlen(text), &(struct ptx_fence_report){.bytes = 0}, &stack, &indexed,
                       why, sizeof(why));
}

/* What the pass must not leave, the checker sees. */
static void a_table_that_is_not_used_whole_is_refused(void **state)
{
    static const struct {
        const char *what, *with;
    } all[] = {
        {"\tand.b32 gshare$lo, gshare$lo, 1023;\n", ""},
        {"1023", "1024"},
        {"[gshare$textures]", "[gshare$window]"},
        {", 128, gshare$at", ", 256, gshare$at"},
        {"\tld.const.b64 gshare$at", "HERE:\tld.const.b64 gshare$at"},
        {"\tmad.wide", "HERE:\tmad.wide"},
        {"\tld.global.nc.b64 gshare$sym", "HERE:\tld.global.nc.b64 gshare$sym"},
        {"\tld.global.nc.b64 gshare$sym", "\t@%p ld.global.nc.b64 gshare$sym"},
        {"[gshare$at+24]", "[gshare$at+32]"},
        {"[gshare$at+24]", "[gshare$at+128]"},
        {"\ttex", "HERE:\ttex"},
        {"[gshare$sym, {%f0", "[%own, {%f0"},
        {"\ttex", "\tmov.b64 gshare$sym, %own;\n\ttex"},
        {"\tld.global.nc.b64 gshare$sym, [gshare$at+24];\n", ""},
        {".zero", ".trap"},
        {"[gshare$at+88]", "[gshare$at+24]"},
        {"sust.b", "sust.p"},
    };
    struct ptx_rewrite_report report;
    char *out = fenced("tex.2d.v4.u32.f32 " FOUR ", [%own, {%f0, %f1}];"
                       "sust.b.2d.v4.b32.trap [%own, {%r4, %r5}], " FOUR ";",
                       &report);

    (void)state;
    assert_int_equal(check(out), 0);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char *other = changed(out, "mov.u16 %h, 3;", all[i].what, all[i].with);

        if (check(other) != -EPERM)
            fail_msg("%s -> %s is taken", all[i].what, all[i].with);
        free(other);
    }
    ptx_rewrite_report_deinit(&report);
    free(out);
}

/* The rig sees what the test is about. */
static void an_object_that_is_not_of_the_table_is_seen(void **state)
{
    static char text[4096];
    struct ptx_fence_report report = {0};
    uint64_t *input = (uint64_t *)(uintptr_t)(rig.base + INPUT_AT), at = rig.base + INPUT_AT;

    (void)state;
    input[0] = 3;
    write_kernel("txq.width.b32 %r0, [%own];", "sm_90", text, sizeof(text));
    assert_int_equal(fence_rig_run(&rig, text, &report, 1, 1, &at, 1), FENCE_ESCAPED);
    fence_rig_clear(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_that_is_not_of_the_table_is_seen),
        cmocka_unit_test(any_number_leads_to_the_table),
        cmocka_unit_test(other_forms_take_their_object_from_the_table),
        cmocka_unit_test(kernels_without_textures_have_no_table),
        cmocka_unit_test(what_is_no_number_in_a_register_is_refused),
        cmocka_unit_test(a_table_that_is_not_used_whole_is_refused),
    };
    int failed;

    fence_rig_init(&rig);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    fence_rig_deinit(&rig);
    return failed;
}
