/*
 * test_cudart_fatbin.c - a cubin ends where the last of its headers and sections does, and a file
 * that ends before that is seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "cudart/base/fatbin.h"

struct cubin {
    Elf64_Ehdr head;
    unsigned char code[100];
    Elf64_Shdr sections[2];
    unsigned char names[30];
};

/* A cubin whose sections lie before and behind their headers, which lie in its middle. */
static struct cubin cubin_make(void)
{
    struct cubin c = {.head = {.e_machine = EM_CUDA,
                               .e_shoff = offsetof(struct cubin, sections),
                               .e_shentsize = sizeof(Elf64_Shdr),
                               .e_shnum = 2}};

    memcpy(c.head.e_ident, ELFMAG, SELFMAG);
    c.head.e_ident[EI_CLASS] = ELFCLASS64;
    c.head.e_ident[EI_DATA] = ELFDATA2LSB;
    c.sections[0] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                 .sh_offset = offsetof(struct cubin, code),
                                 .sh_size = sizeof(c.code)};
    c.sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                 .sh_offset = offsetof(struct cubin, names),
                                 .sh_size = sizeof(c.names)};
    return c;
}

static void a_cubin_ends_with_its_last_section(void **state)
{
    struct cubin c = cubin_make();

    (void)state;
    assert_int_equal(image_bytes(&c), offsetof(struct cubin, names) + sizeof(c.names));
    c.sections[1].sh_type = SHT_NOBITS; /* takes no room in the file */
    assert_int_equal(image_bytes(&c), offsetof(struct cubin, names));
    c.head.e_shnum = 0;
    c.head.e_phoff = offsetof(struct cubin, names);
    c.head.e_phentsize = sizeof(Elf64_Phdr);
    c.head.e_phnum = 3;
    assert_int_equal(image_bytes(&c), offsetof(struct cubin, names) + 3 * sizeof(Elf64_Phdr));
}

static void of_another_elf_file_the_header_counts(void **state)
{
    struct cubin c = cubin_make();

    (void)state;
    c.head.e_machine = EM_X86_64;
    assert_int_equal(image_bytes(&c), sizeof(c.head));
}

static void text_has_no_size(void **state)
{
    (void)state;
    assert_int_equal(image_bytes(".version 8.0"), 0);
    assert_true(image_is_whole(".version 8.0", 13));
    assert_true(image_is_whole("", 1));
}

/* Each file is a block of its own, so that a look beyond its end is seen by AddressSanitizer. */
static bool whole(const void *image, size_t bytes)
{
    void *file = memcpy(malloc(bytes + 1), image, bytes);
    bool result = image_is_whole(file, bytes);

    free(file);
    return result;
}

static void a_cubin_that_is_cut_off_is_not_whole(void **state)
{
    struct cubin c = cubin_make();
    size_t bytes = offsetof(struct cubin, names) + sizeof(c.names);

    (void)state;
    assert_true(whole(&c, bytes));
    for (size_t n = SELFMAG; n < bytes; n++)
        assert_false(whole(&c, n));
    c.sections[1].sh_size = UINT64_MAX;
    assert_false(whole(&c, bytes));
}

static void a_fat_binary_that_is_cut_off_is_not_whole(void **state)
{
    unsigned char fatbin[16 + 24] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 24};

    (void)state;
    assert_int_equal(image_bytes(fatbin), sizeof(fatbin));
    assert_true(whole(fatbin, sizeof(fatbin)));
    for (size_t n = 4; n < sizeof(fatbin); n++)
        assert_false(whole(fatbin, n));
    memset(fatbin + 8, 255, 8);
    assert_false(whole(fatbin, sizeof(fatbin)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cubin_ends_with_its_last_section),
        cmocka_unit_test(of_another_elf_file_the_header_counts),
        cmocka_unit_test(text_has_no_size),
        cmocka_unit_test(a_cubin_that_is_cut_off_is_not_whole),
        cmocka_unit_test(a_fat_binary_that_is_cut_off_is_not_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
