/* Machine code is judged by what its sections say, and no damage to it does harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/cubin.h"
#include "ptx/fatbin.h"
#include "ptx_files.h"

static bool is_pure(const char *name)
{
    size_t size;
    char *code = ptx_file_read(name, &size);
    const bool pure = cubin_is_pure(code, size);

    free(code);
    return pure;
}

static void kernels_with_constants_and_shared_memory_are_pure(void **state)
{
    (void)state;
    assert_true(is_pure("machine_plain.cubin"));
}

static void variables_are_kept(void **state)
{
    (void)state;
    assert_false(is_pure("machine_variable.cubin"));
    assert_false(is_pure("machine_initialised.cubin"));
}

static void addresses_are_taken(void **state)
{
    (void)state;
    assert_false(is_pure("machine_pointer.cubin"));
    assert_false(is_pure("machine_calls.cubin")); /* which nothing tells from that */
    assert_false(is_pure("machine_prints.cubin"));
    assert_false(is_pure("machine_allocates.cubin"));
}

static void machine_code_in_a_fatbin_is_unpacked(void **state)
{
    static const char *const names[] = {"tiny_code_none.fatbin", "tiny_code_size.fatbin"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t size, length = 0;
        char err[256] = "", *code = NULL, *image = ptx_file_read(names[i], &size);

        if (fatbin_find_code(image, size, 90, &code, &length, err))
            fail_msg("%s: %s", names[i], err);
        assert_true(cubin_is_pure(code, length));
        free(code);
        assert_int_not_equal(fatbin_find_code(image, size, 80, &code, &length, err), 0);
        free(image);
    }
}

static void what_is_no_machine_code_is_not_pure(void **state)
{
    (void)state;
    assert_false(cubin_is_pure("", 0));
    assert_false(is_pure("tiny_90.ptx"));
    assert_false(is_pure("tiny_none.fatbin"));
}

/* On the heap, where a sanitizer sees a byte read behind it. The section headers stand at the end
 * of the file, so what is cut off has none. */
static void what_is_cut_off_is_not_pure(void **state)
{
    size_t size;
    char *code = ptx_file_read("machine_plain.cubin", &size);

    (void)state;
    for (size_t less = 0; less < size; less += less < 200 ? 1 : 37) {
        char *cut = malloc(less + 1);

        assert_non_null(cut);
        memcpy(cut, code, less);
        cubin_is_pure(cut, less);
        free(cut);
    }
    free(code);
}

/* Of each byte each bit: what comes out is true or false, and reads nothing outside. */
static void damage_does_no_harm(void **state)
{
    size_t size;
    char *code = ptx_file_read("machine_variable.cubin", &size);
    char *copy = malloc(size);

    (void)state;
    assert_non_null(copy);
    memcpy(copy, code, size);
    for (size_t at = 0; at < size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            copy[at] ^= (char)(1 << bit);
            cubin_is_pure(copy, size);
            copy[at] = code[at];
        }
    }
    free(copy);
    free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_with_constants_and_shared_memory_are_pure),
        cmocka_unit_test(variables_are_kept),
        cmocka_unit_test(addresses_are_taken),
        cmocka_unit_test(machine_code_in_a_fatbin_is_unpacked),
        cmocka_unit_test(what_is_no_machine_code_is_not_pure),
        cmocka_unit_test(what_is_cut_off_is_not_pure),
        cmocka_unit_test(damage_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
