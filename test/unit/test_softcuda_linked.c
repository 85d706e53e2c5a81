/* A text that cuLink* has compiled is kept as a program until it is loaded, the last few only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "softcuda/module/linked.h"

static char *text_of(unsigned number)
{
    static char text[200];

    snprintf(text, sizeof(text),
             ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k%u() { ret; }\n",
             number);
    return text;
}

static void put(unsigned number)
{
    const char *text = text_of(number);
    struct ptx_error error;
    struct ptx_module *ptx;

    assert_int_equal(ptx_parse(text, strlen(text), &ptx, &error), 0);
    linked_put(text, strlen(text), ptx);
}

static bool take(unsigned number)
{
    const char *text = text_of(number);
    struct exec_program *program;
    struct ptx_module *ptx;

    if (!linked_take(text, strlen(text), &ptx, &program)) {
        assert_null(ptx);
        assert_null(program);
        return false;
    }
    assert_int_equal(exec_program_kernel_count(program), 1);
    assert_non_null(strstr(text, exec_program_kernel(program, 0)->func->name));
    exec_program_free(program);
    ptx_module_free(ptx);
    return true;
}

static void a_program_is_taken_once_and_by_its_text_alone(void **state)
{
    (void)state;
    assert_false(take(1));
    put(1);
    put(2);
    assert_false(take(3));
    assert_true(take(1));
    assert_false(take(1));
    assert_true(take(2));
    put(1);
    put(1); /* two loads of one text under way */
    assert_true(take(1));
    assert_true(take(1));
    assert_false(take(1));
}

static void the_oldest_goes_first(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LINKED_MAX + 2; i++)
        put(i);
    assert_false(take(0));
    assert_false(take(1));
    for (unsigned i = 2; i < LINKED_MAX + 2; i++)
        assert_true(take(i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_taken_once_and_by_its_text_alone),
        cmocka_unit_test(the_oldest_goes_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
