/* Modules that are linked: what one declares and another defines is one symbol in the text that
 * comes out, what is a module's own stays its own, and what does not fit together is refused by
 * name. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "ptx/link/link.h"
#include "ptx/ptx.h"
#include "ptx_files.h"

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define MOST 4u

static int link_texts(const char *const *texts, char **out, char why[320])
{
    size_t lengths[MOST], length;
    unsigned count = 0;

    for (; texts[count]; count++)
        lengths[count] = strlen(texts[count]);
    return ptx_link(texts, lengths, count, out, &length, why);
}

/* The linked module, which the reader takes. */
static struct ptx_module *linked(const char *const *texts)
{
    CLEANUP_FREE char *out = NULL;
    char why[320] = "";

    if (link_texts(texts, &out, why))
        fail_msg("%s", why);
    return ptx_parse_good(out);
}

static void refused(const char *const *texts, int error, const char *reason)
{
    char why[320] = "", *out;

    assert_int_equal(link_texts(texts, &out, why), error);
    if (!strstr(why, reason))
        fail_msg("'%s' says nothing of '%s'", why, reason);
}

static uint32_t named(const struct ptx_module *m, const char *name)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < m->nfuncs; i++)
        count += strcmp(m->funcs[i]->name, name) == 0;
    for (uint32_t i = 0; i < m->nvars; i++)
        count += strcmp(m->vars[i]->name, name) == 0;
    return count;
}

static void a_declaration_finds_its_definition(void **state)
{
    (void)state;
    static const char *const uses =
        HEAD ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
             ".extern .global .align 4 .u32 counter;\n"
             ".visible .entry k() { .reg .b32 %r<3>; .param .b32 a; .param .b32 b;"
             " ld.global.u32 %r1, [counter]; st.param.b32 [a], %r1; call (b), twice, (a); ret; }\n";
    static const char *const defines =
        HEAD ".visible .global .align 4 .u32 counter = 7;\n"
             ".visible .func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r<3>;"
             " ld.param.b32 %r1, [x]; shl.b32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }\n";
    const char *const orders[2][3] = {{uses, defines, NULL}, {defines, uses, NULL}};

    for (int i = 0; i < 2; i++) {
        struct ptx_module *m = linked(orders[i]);
        const struct ptx_var *counter = ptx_module_var(m, "counter");

        assert_int_equal(named(m, "twice"), 1);
        assert_true(ptx_module_func(m, "twice")->has_body);
        assert_int_equal(named(m, "counter"), 1);
        assert_int_equal(counter->linkage, PTX_LINK_VISIBLE);
        assert_int_equal(counter->init[0], 7);
        assert_true(ptx_module_func(m, "k")->has_body);
        ptx_module_free(m);
    }
}

static void what_is_a_modules_own_stays_its_own(void **state)
{
    (void)state;
    struct ptx_module *m = linked((const char *const[]){
        HEAD
        ".global .u32 mine = 1;\n.func help() { ret; }\n"
        ".visible .entry k() { .reg .b32 %r<2>; ld.global.u32 %r1, [mine]; call help; ret; }\n",
        HEAD
        ".global .u32 mine = 2;\n.func help() { ret; }\n"
        ".visible .entry l() { .reg .b32 %r<2>; ld.global.u32 %r1, [mine]; call help; ret; }\n",
        NULL});
    const struct ptx_func *k = ptx_module_func(m, "k"), *l = ptx_module_func(m, "l");

    assert_int_equal(m->nvars, 2);
    assert_int_equal(m->nfuncs, 4);
    assert_int_equal(k->insts[0].ops[1].mem.var->init[0], 1);
    assert_int_equal(l->insts[0].ops[1].mem.var->init[0], 2);
    assert_ptr_not_equal(k->insts[1].ops[1].func, l->insts[1].ops[1].func);
    ptx_module_free(m);
}

static void the_first_weak_definition_stands_unless_there_is_a_strong_one(void **state)
{
    (void)state;
    static const char *const weak1 = HEAD ".weak .global .u32 v = 1;\n.weak .func f() { ret; }\n";
    static const char *const weak2 = HEAD ".weak .global .u32 v = 2;\n.weak .func f() { ret; }\n";
    static const char *const strong = HEAD ".visible .global .u32 v = 3;\n";
    struct ptx_module *m = linked((const char *const[]){weak1, weak2, NULL});

    assert_int_equal(named(m, "f"), 1);
    assert_int_equal(named(m, "v"), 1);
    assert_int_equal(ptx_module_var(m, "v")->init[0], 1);
    ptx_module_free(m);
    m = linked((const char *const[]){weak1, weak2, strong, NULL});
    assert_int_equal(named(m, "v"), 1);
    assert_int_equal(ptx_module_var(m, "v")->init[0], 3);
    ptx_module_free(m);
}

static void common_memory_is_as_large_as_the_largest(void **state)
{
    (void)state;
    struct ptx_module *m =
        linked((const char *const[]){HEAD ".common .global .align 4 .b8 c[8];\n",
                                     HEAD ".common .global .align 8 .b8 c[64];\n", NULL});

    assert_int_equal(named(m, "c"), 1);
    assert_int_equal(ptx_module_var(m, "c")->size, 64);
    assert_int_equal(ptx_module_var(m, "c")->align, 8);
    ptx_module_free(m);
}

/* PTX knows no common functions, and the reader takes them. */
static void common_functions_are_one(void **state)
{
    (void)state;
    static const char *const text = HEAD ".common .func f() { ret; }\n";
    struct ptx_module *m = linked((const char *const[]){text, text, NULL});

    assert_int_equal(named(m, "f"), 1);
    ptx_module_free(m);
}

static void dynamic_shared_memory_has_the_strictest_alignment(void **state)
{
    (void)state;
    struct ptx_module *m =
        linked((const char *const[]){HEAD ".extern .shared .align 4 .b8 s[];\n",
                                     HEAD ".extern .shared .align 16 .b8 s[];\n", NULL});

    assert_int_equal(named(m, "s"), 1);
    assert_int_equal(ptx_module_var(m, "s")->align, 16);
    ptx_module_free(m);
}

static void functions_of_the_device_stay_declared(void **state)
{
    (void)state;
    static const char *const text =
        HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n";
    struct ptx_module *m = linked((const char *const[]){text, text, NULL});

    assert_int_equal(named(m, "vprintf"), 1);
    assert_int_equal(ptx_module_func(m, "vprintf")->linkage, PTX_LINK_EXTERN);
    ptx_module_free(m);
}

/* What libcudadevrt looks like: kernels of its own, calls of the driver, functions for others. */
#define DEVICE_RUNTIME                                                                             \
    ".version 9.0\n.target sm_121\n.address_size 64\n"                                             \
    ".extern .func (.param .b32 r) __cuda_syscall_cnpv2LaunchDeviceV2(.param .b64 a);\n"           \
    ".entry fill() { ret; }\n"                                                                     \
    ".visible .func launch() { .param .b64 a; .param .b32 r;\n"                                    \
    "  call.uni (r), __cuda_syscall_cnpv2LaunchDeviceV2, (a); ret; }\n"

static void the_device_runtime_is_left_out_where_nobody_calls_it(void **state)
{
    (void)state;
    struct ptx_module *m =
        linked((const char *const[]){HEAD ".visible .entry k() { ret; }\n", DEVICE_RUNTIME,
                                     HEAD ".visible .entry l() { ret; }\n", NULL});

    assert_int_equal(named(m, "k") + named(m, "l"), 2);
    assert_int_equal(named(m, "fill") + named(m, "launch"), 0);
    assert_string_equal(m->target, "sm_80");
    ptx_module_free(m);

    m = linked((const char *const[]){
        DEVICE_RUNTIME,
        HEAD ".extern .func launch();\n.visible .entry k() { call.uni launch; ret; }\n", NULL});
    assert_int_equal(named(m, "fill") + named(m, "launch") + named(m, "k"), 3);
    ptx_module_free(m);
}

/* Each program of -rdc=true has it among its modules. */
static void what_sets_conditions_is_left_out_where_nobody_calls_it(void **state)
{
    static const char sets[] =
        HEAD ".visible .func cudaGraphSetConditional(.param .b64 a, .param .b32 b) { ret; }\n";

    (void)state;
    struct ptx_module *m =
        linked((const char *const[]){HEAD ".visible .entry k() { ret; }\n", sets, NULL});

    assert_int_equal(named(m, "k"), 1);
    assert_int_equal(named(m, "cudaGraphSetConditional"), 0);
    ptx_module_free(m);

    m = linked((const char *const[]){
        HEAD ".extern .func cudaGraphSetConditional(.param .b64 a, .param .b32 b);\n"
             ".visible .entry k() { .param .b64 a; .param .b32 b;\n"
             "  call.uni cudaGraphSetConditional, (a, b); ret; }\n",
        sets, NULL});
    assert_int_equal(named(m, "k") + named(m, "cudaGraphSetConditional"), 2);
    ptx_module_free(m);
}

/* A variable comes behind those whose addresses it holds, whatever the order of the modules. */
static void initial_values_name_what_other_modules_define(void **state)
{
    (void)state;
    struct ptx_module *m = linked((const char *const[]){
        HEAD ".extern .global .u32 target;\n.visible .global .u64 pointer = generic(target)+4;\n"
             ".visible .global .u64 second = generic(pointer);\n",
        HEAD ".visible .global .u32 target = 5;\n", NULL});
    const struct ptx_var *pointer = ptx_module_var(m, "pointer");

    assert_int_equal(m->nvars, 3);
    assert_int_equal(pointer->nrelocs, 1);
    assert_ptr_equal(pointer->relocs[0].var, ptx_module_var(m, "target"));
    assert_int_equal(pointer->relocs[0].addend, 4);
    ptx_module_free(m);
}

static void the_newest_target_and_version_count(void **state)
{
    (void)state;
    struct ptx_module *m =
        linked((const char *const[]){".version 8.3\n.target sm_80\n.address_size 64\n",
                                     ".version 7.8\n.target sm_90a\n.address_size 64\n",
                                     ".version 6.5\n.target sm_75\n.address_size 64\n", NULL});

    assert_int_equal(m->version_major, 8);
    assert_int_equal(m->version_minor, 3);
    assert_int_equal(m->sm, 90);
    assert_int_equal(m->sm_suffix, 'a');
    ptx_module_free(m);
}

static void what_does_not_fit_together_is_refused_by_name(void **state)
{
    (void)state;
    refused((const char *const[]){HEAD ".visible .func f() { ret; }\n",
                                  HEAD ".visible .func f() { ret; }\n", NULL},
            -EINVAL, "f is defined in text 1 and in text 2");
    refused((const char *const[]){HEAD ".extern .func f(.param .b32 x);\n",
                                  HEAD ".visible .func f(.param .b64 x) { ret; }\n", NULL},
            -EINVAL, "f is one thing in text 1 and another in text 2");
    refused((const char *const[]){HEAD ".extern .global .u32 f;\n",
                                  HEAD ".visible .func f() { ret; }\n", NULL},
            -EINVAL, "f is one thing");
    refused((const char *const[]){HEAD ".extern .global .u32 lost;\n", HEAD, NULL}, -EINVAL,
            "lost, which text 1 declares");
    refused(
        (const char *const[]){
            HEAD ".extern .global .u64 b;\n.visible .global .u64 a = generic(b);\n",
            HEAD ".extern .global .u64 a;\n.visible .global .u64 b = generic(a);\n", NULL},
        -EINVAL, "name each other");
    refused((const char *const[]){HEAD, HEAD "nonsense\n", NULL}, -EINVAL, "text 2, line 4");
    refused((const char *const[]){HEAD, ".version 7.0\n.target sm_80\n.address_size 32\n", NULL},
            -EINVAL, "addresses");
    refused((const char *const[]){HEAD ".global .u32 x$linked2;\n", NULL}, -EINVAL, "$linked");
}

static bool wants_others(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nvars; i++) {
        if (m->vars[i]->linkage == PTX_LINK_EXTERN && m->vars[i]->space != PTX_SPACE_SHARED)
            return true;
    }
    return false;
}

static void each_sample_that_wants_nothing_of_others_is_whole(void **state)
{
    (void)state;
    unsigned linked_count = 0;

    for (const char *const *name = ptx_samples; *name; name++) {
        size_t length;
        CLEANUP_FREE char *text = ptx_file_read(*name, &length);
        struct ptx_module *before = ptx_parse_good(text), *after;

        if (!wants_others(before)) {
            after = linked((const char *const[]){text, HEAD, NULL});
            assert_int_equal(after->nfuncs, before->nfuncs);
            assert_int_equal(after->nvars, before->nvars);
            ptx_module_free(after);
            linked_count++;
        }
        ptx_module_free(before);
    }
    assert_true(linked_count > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_declaration_finds_its_definition),
        cmocka_unit_test(what_is_a_modules_own_stays_its_own),
        cmocka_unit_test(the_first_weak_definition_stands_unless_there_is_a_strong_one),
        cmocka_unit_test(common_memory_is_as_large_as_the_largest),
        cmocka_unit_test(common_functions_are_one),
        cmocka_unit_test(dynamic_shared_memory_has_the_strictest_alignment),
        cmocka_unit_test(functions_of_the_device_stay_declared),
        cmocka_unit_test(the_device_runtime_is_left_out_where_nobody_calls_it),
        cmocka_unit_test(what_sets_conditions_is_left_out_where_nobody_calls_it),
        cmocka_unit_test(initial_values_name_what_other_modules_define),
        cmocka_unit_test(the_newest_target_and_version_count),
        cmocka_unit_test(what_does_not_fit_together_is_refused_by_name),
        cmocka_unit_test(each_sample_that_wants_nothing_of_others_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
