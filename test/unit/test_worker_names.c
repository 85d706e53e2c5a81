/* test_worker_names.c - a kernel that a module lacks: the answer says which ones it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/module/kernel_names.h"

static void told(const char *wanted, const char *const *names, unsigned count, const char *text)
{
    char got[4096];

    kernel_names_tell(got, sizeof(got), wanted, names, count);
    assert_string_equal(got, text);
}

static void the_mangled_form_of_the_wanted_name_comes_first(void **state)
{
    static const char *const names[] = {"add", "fill_all", "_Z3addPKfS0_Pf", "_Z4fillPfi"};

    (void)state;
    told(
        "fill", names, 4,
        "no kernel 'fill' in the module; it has '_Z4fillPfi', 'fill_all', 'add', '_Z3addPKfS0_Pf'");
    told("_Z4fillPfj", names, 4,
         "no kernel '_Z4fillPfj' in the module; it has '_Z4fillPfi', 'fill_all', 'add', "
         "'_Z3addPKfS0_Pf'");
    told("_Z3addi", names, 4,
         "no kernel '_Z3addi' in the module; it has 'add', '_Z3addPKfS0_Pf', 'fill_all', "
         "'_Z4fillPfi'");
}

static void name_spaces_templates_and_static_kernels_have_a_plain_name(void **state)
{
    static const char *const forms[] = {"_ZN2ns4fillIfEEvPT_", "_ZL4fillPf", "_Z4fillIiEvv",
                                        "_ZN12_GLOBAL__N_14fillEPf", "_ZNK1a4fillEv"};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(forms); i++) {
        const char *const names[] = {"_Z5otherP4fill", "some_fill", forms[i]};
        char got[4096];

        kernel_names_tell(got, sizeof(got), "fill", names, 3);
        assert_ptr_equal(strchr(got, ';') + strlen("; it has '"), strstr(got, forms[i]));
    }
}

static void names_that_are_no_mangling_do_no_harm(void **state)
{
    static const char *const names[] = {"_Z", "_Z99fill", "_Z4", "_ZN", "_Z99999999999999999999a",
                                        "_Z0"};

    (void)state;
    told("x", names, 6,
         "no kernel 'x' in the module; it has '_Z', '_Z99fill', '_Z4', '_ZN', "
         "'_Z99999999999999999999a', '_Z0'");
}

static void few_names_are_told_and_long_ones_are_cut(void **state)
{
    char name[2048], got[4096];
    const char *names[100];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (unsigned i = 0; i < 100; i++)
        names[i] = name;
    kernel_names_tell(got, sizeof(got), name, names, 100);
    assert_string_equal(got + strlen(got) - strlen("nnn' and 94 more"), "nnn' and 94 more");
    for (unsigned size = 1; size < 200; size++) {
        kernel_names_tell(got, size, "fill", names, 100);
        assert_int_equal(strlen(got), size - 1);
    }
    told("fill", NULL, 0, "no kernel 'fill' in the module; it has none");
}

/* A million parts, each of which the rest of the name is looked at for: an hour, once. */
static void a_name_of_many_parts_takes_no_longer_than_another(void **state)
{
    const size_t length = (size_t)8 << 20;
    char *name = malloc(length + 1), got[4096];

    (void)state;
    assert_non_null(name);
    memcpy(name, "_ZN", 3);
    for (size_t i = 3; i < length; i++)
        name[i] = i % 2 ? '1' : 'a';
    name[length] = '\0';
    kernel_names_tell(got, sizeof(got), "fill", (const char *const[]){name}, 1);
    assert_non_null(strstr(got, "it has '_ZN1a1a"));
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mangled_form_of_the_wanted_name_comes_first),
        cmocka_unit_test(name_spaces_templates_and_static_kernels_have_a_plain_name),
        cmocka_unit_test(names_that_are_no_mangling_do_no_harm),
        cmocka_unit_test(few_names_are_told_and_long_ones_are_cut),
        cmocka_unit_test(a_name_of_many_parts_takes_no_longer_than_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
