/* Calls of vprintf and __assertfail go to gshare's functions, and nothing else of a module
 * changes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/util.h"
#include "ptx/printf_pass.h"
#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"
#include "ptx_equal.h"
#include "ptx_files.h"

#define HEAD ".version 6.4\n.target sm_70\n.address_size 64\n"
#define VPRINTF                                                                                    \
    ".extern .func (.param .b32 func_retval0) vprintf\n"                                           \
    "(\n.param .b64 vprintf_param_0,\n.param .b64 vprintf_param_1\n)\n;\n"
#define ASSERTFAIL                                                                                 \
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "      \
    ".param .b64 e)"
#define CALL                                                                                       \
    "{ .reg .b64 %rd<2>; .param .b64 p0; .param .b64 p1; .param .b32 r0;\nmov.u64 %rd1, 0;\n"      \
    "st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd1;\ncall.uni (r0), vprintf, (p0, p1);\nret;\n" \
    "}\n"
#define ENTRY ".visible .entry k()\n"

/* The samples that print: what nvcc and clang make, with and without debug sections. */
static const char *const samples[] = {
    "../e2e/printing/O3.ptx",    "../e2e/printing/O0.ptx",       "../e2e/printing/G.ptx",
    "../e2e/printing/clang.ptx", "../corpus/ptx/printing.G.ptx",
};

static char *pass(const char *text)
{
    char *out;
    size_t len;

    assert_true(printf_pass_maybe(text, strlen(text)));
    assert_int_equal(ptx_rewrite(text, strlen(text), PTX_PASS_PRINTF, &out, &len, NULL), 0);
    assert_int_equal(strlen(out), len);
    return out;
}

static void expect_untouched(const char *text)
{
    char *out = NULL;
    size_t len = 0;

    assert_int_equal(ptx_rewrite(text, strlen(text), PTX_PASS_PRINTF, &out, &len, NULL), -ENOENT);
    assert_null(out);
}

static void samples_that_print_read_back_and_call_our_functions(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
        size_t len;
        char *text = ptx_file_read(samples[i], &len), *out = pass(text);
        struct ptx_module *m = ptx_parse_good(out);
        const struct ptx_func *f = ptx_module_func(m, "gshare$vprintf");
        const struct ptx_var *v = ptx_module_var(m, PTX_PRINT_VARIABLE);

        assert_true(f && f->has_body && f->nparams == 2);
        assert_true(v && v->size == 8 && v->space == PTX_SPACE_GLOBAL);
        assert_null(ptx_module_func(m, "vprintf"));
        ptx_assert_reads_back(m);
        ptx_module_free(m);
        free(out);
        free(text);
    }
}

/* Every line of the text but the declarations and the calls is there, at its place. */
static void no_line_moves(void **state)
{
    size_t len;
    char *text = ptx_file_read(samples[2], &len), *out = pass(text);
    const char *a = text, *b = out;
    unsigned changed = 0, line = 1;

    (void)state;
    for (; *a; line++) {
        size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");
        if (la != lb || memcmp(a, b, la)) {
            char was[256];
            snprintf(was, sizeof(was), "%.*s", (int)la, a);
            if (!strstr(was, "vprintf") && !strstr(was, "__assertfail"))
                fail_msg("line %u was \"%s\"", line, was);
            changed++;
        }
        a += la + (a[la] == '\n');
        b += lb + (b[lb] == '\n');
    }
    assert_true(changed > 4);
    free(out);
    free(text);
}

static void ptxas_takes_what_comes_out(void **state)
{
    const char *ptxas = "/usr/local/cuda/bin/ptxas";
    char dir[] = "/tmp/gs-ptx-XXXXXX", path[64], command[512];

    (void)state;
    if (access(ptxas, X_OK) != 0) {
        print_message("ptxas is not installed\n");
        skip();
    }
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/out.ptx", dir);
    for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
        size_t len;
        char *text = ptx_file_read(samples[i], &len), *out = pass(text);
        FILE *file = fopen(path, "w");

        assert_non_null(file);
        fputs(out, file);
        fclose(file);
        /* -c: as for linking, which is how the driver is given it. */
        snprintf(command, sizeof(command), "%s -c -arch=sm_90 %s -o %s/out.cubin", ptxas, path,
                 dir);
        if (system(command) != 0)
            fail_msg("ptxas refuses %s", samples[i]);
        free(out);
        free(text);
    }
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

static void both_names_are_redirected_wherever_they_stand(void **state)
{
    static const char text[] =
        HEAD "// vprintf in a comment\n" VPRINTF ASSERTFAIL " .noreturn;\n"
             ".global .u64 table[2] = {vprintf, __assertfail};\n"
             ".global .align 1 .b8 name[8] = {118, 112, 114, 105, 110, 116, 102, 0};\n" ENTRY CALL;
    char *out = pass(text);
    struct ptx_module *m = ptx_parse_good(out);
    const struct ptx_var *table = ptx_module_var(m, "table");

    (void)state;
    assert_int_equal(table->nrelocs, 2);
    assert_string_equal(table->relocs[0].func->name, "gshare$vprintf");
    assert_string_equal(table->relocs[1].func->name, "gshare$assertfail");
    assert_true(table->relocs[1].func->has_body);
    assert_non_null(strstr(out, "// vprintf in a comment\n"));
    ptx_module_free(m);
    free(out);
}

static void modules_that_do_not_print_are_left_alone(void **state)
{
    static const char quiet[] = HEAD ENTRY "{ ret; }\n";

    (void)state;
    assert_false(printf_pass_maybe(quiet, strlen(quiet)));
    expect_untouched(quiet);
    expect_untouched(HEAD "// vprintf\n" ENTRY "{ ret; }\n");
    /* It says that it might, but does not. */
    expect_untouched(HEAD VPRINTF ENTRY "{ ret; }\n");
    expect_untouched("");
}

static void functions_that_are_the_module_s_own_are_left_alone(void **state)
{
    (void)state;
    expect_untouched(
        HEAD ".func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a) { ret; }\n" ENTRY CALL);
    expect_untouched(
        HEAD VPRINTF
        ".func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a) { ret; }\n" ENTRY CALL);
    /* Not declared at all: the compiler says so. */
    expect_untouched(HEAD ENTRY CALL);
}

static void what_cannot_be_redirected_is_left_to_the_compiler(void **state)
{
    (void)state;
    expect_untouched(".version 6.4\n.target sm_70\n.address_size 32\n" VPRINTF ENTRY CALL);
    expect_untouched(".version 6.4\n.target sm_70\n" VPRINTF ENTRY CALL);
    expect_untouched(HEAD VPRINTF ENTRY CALL "`");
    expect_untouched(HEAD VPRINTF ENTRY CALL "/* no end");
    /* Names where none is expected. */
    expect_untouched(
        HEAD
        ".extern .func (.param .b32 vprintf) vprintf(.param .b64 a, .param .b64 b);\n" ENTRY CALL);
    expect_untouched(
        HEAD ".extern __assertfail .func (vprintf) vprintf (.noreturn .noreturn);\n" ENTRY CALL);
}

/* Cut anywhere it gives a text or says no. */
static void any_part_of_a_module_is_survived(void **state)
{
    size_t len;
    char *text = ptx_file_read(samples[0], &len);

    (void)state;
    for (size_t cut = 0; cut < len; cut += 7) {
        char *part = malloc(cut + 1), *out;
        size_t size;

        assert_non_null(part);
        memcpy(part, text, cut); /* no NUL behind it */
        if (ptx_rewrite(part, cut, PTX_PASS_PRINTF, &out, &size, NULL) == 0)
            free(out);
        free(part);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_that_print_read_back_and_call_our_functions),
        cmocka_unit_test(no_line_moves),
        cmocka_unit_test(ptxas_takes_what_comes_out),
        cmocka_unit_test(both_names_are_redirected_wherever_they_stand),
        cmocka_unit_test(modules_that_do_not_print_are_left_alone),
        cmocka_unit_test(functions_that_are_the_module_s_own_are_left_alone),
        cmocka_unit_test(what_cannot_be_redirected_is_left_to_the_compiler),
        cmocka_unit_test(any_part_of_a_module_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
