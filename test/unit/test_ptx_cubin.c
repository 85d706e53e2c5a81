/* Machine code is judged by what its sections say, and no damage to it does harm. */
#include <elf.h>
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

static Elf64_Ehdr head_of(const char *code)
{
    Elf64_Ehdr head;

    memcpy(&head, code, sizeof(head));
    return head;
}

/* On the heap, in as many bytes, where a sanitizer sees a byte read behind it. Behind the section
 * headers stand only the program headers, which are not looked at. */
static void what_is_cut_off_is_not_pure(void **state)
{
    size_t size;
    char *code = ptx_file_read("machine_plain.cubin", &size);
    const Elf64_Ehdr head = head_of(code);
    const size_t whole = head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;

    (void)state;
    assert_true(whole <= size);
    for (size_t less = 1; less < whole; less++) {
        char *cut = malloc(less);

        assert_non_null(cut);
        memcpy(cut, code, less);
        assert_false(cubin_is_pure(cut, less));
        free(cut);
    }
    free(code);
}

static Elf64_Shdr *symbols_of(char *code)
{
    const Elf64_Ehdr head = head_of(code);

    for (size_t i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr *section = (void *)(code + head.e_shoff + i * sizeof(*section));
        if (section->sh_type == SHT_SYMTAB)
            return section;
    }
    fail_msg("the file has no table of symbols");
    return NULL;
}

/* Whoever makes such a file lets millions of symbols have one name of megabytes. */
static void functions_that_share_a_name_are_not_pure(void **state)
{
    size_t size;
    char *code = ptx_file_read("machine_plain.cubin", &size);
    Elf64_Shdr *table = symbols_of(code);
    Elf64_Sym function = {0};

    (void)state;
    assert_true(cubin_is_pure(code, size));
    for (size_t i = 0; i < table->sh_size / sizeof(function); i++) {
        Elf64_Sym symbol;

        memcpy(&symbol, code + table->sh_offset + i * sizeof(symbol), sizeof(symbol));
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && !(symbol.st_other & 0x10))
            function = symbol; /* ptxas' own */
    }
    assert_int_equal(ELF64_ST_TYPE(function.st_info), STT_FUNC);
    for (size_t i = 0; i < table->sh_size / sizeof(function); i++)
        memcpy(code + table->sh_offset + i * sizeof(function), &function, sizeof(function));
    assert_false(cubin_is_pure(code, size));
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
        cmocka_unit_test(functions_that_share_a_name_are_not_pure),
        cmocka_unit_test(damage_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
