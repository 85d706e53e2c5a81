/* test_ptx_judged.c - what ptxas takes is taken, what it refuses is refused: small texts with
 * ptxas' verdicts, which test/ptx/judge asks for anew. Both the reader and the lowering may refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"
#include "ptx_files.h"
#include "softcuda/interp/exec.h"
#include "softcuda/lower/program.h"

static void append(char *to, const char *text, size_t n)
{
    size_t end = strlen(to);

    for (size_t i = 0; i < n; i++) {
        bool line = text[i] == '\\' && i + 1 < n && text[i + 1] == 'n';
        to[end++] = line ? '\n' : text[i];
        i += line;
    }
    to[end] = 0;
}

/* The module around TEXT; see test/ptx/judge. */
static void whole(char *to, const char *body, char where, const char *text)
{
    static const char header[] = ".version 8.7\n.target sm_90\n.address_size 64\n";
    const char *gap = strchr(body, '@');

    to[0] = 0;
    if (where == 'b')
        append(to, body, (size_t)(gap - body));
    if (where == 'm')
        append(to, header, strlen(header));
    append(to, text, strlen(text));
    append(to, "\n", 1);
    if (where == 'b')
        append(to, gap + 1, strlen(gap + 1));
}

static bool is_taken(const char *text, char *why, size_t size)
{
    struct ptx_module *module = NULL;
    struct exec_program *program = NULL;
    struct ptx_error error;

    if (ptx_parse(text, strlen(text), &module, &error)) {
        snprintf(why, size, "line %u, column %u: %s", error.line, error.column, error.text);
        assert_true(error.line && error.text[0]);
        return false;
    }
    bool taken = !exec_program_new(module, &program, why, size);
    exec_program_free(program);
    ptx_module_free(module);
    return taken;
}

static void texts_are_judged_as_the_file_says(void **state)
{
    size_t len;
    char *lines = ptx_file_read("judged.txt", &len), *next = lines, *line;
    char *body = ptx_file_read("judged_body.ptx", &len);
    unsigned agree = 0, all = 0, wrong = 0;

    (void)state;
    while ((line = strsep(&next, "\n")) && line[0]) {
        char *text = malloc(strlen(line) + strlen(body) + 64), why[512] = "";
        assert_non_null(text);
        assert_true((line[0] == '=' || line[0] == '!') && line[2] == '|' && line[4] == '|');
        whole(text, body, line[3], line + 5);
        if (is_taken(text, why, sizeof why) != (line[1] == '+')) {
            print_error("%s: %s\n", line, why[0] ? why : "taken");
            wrong++;
        }
        agree += line[0] == '=';
        all++;
        free(text);
    }
    free(lines);
    free(body);
    print_message("%u of %u as ptxas has them\n", agree, all);
    assert_true(all > 1000);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_judged_as_the_file_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
