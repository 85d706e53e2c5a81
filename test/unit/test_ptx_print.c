/* What is printed reads back to the same module, and ptxas takes it. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ptx/ptx.h"
#include "ptx_equal.h"
#include "ptx_files.h"

static void printed_samples_read_back_the_same(void **state)
{
    size_t len;
    int i;

    (void)state;
    for (i = 0; ptx_samples[i]; i++) {
        char *text = ptx_file_read(ptx_samples[i], &len);
        struct ptx_module *first = ptx_parse_good(text), *second;
        char *printed = ptx_print_text(first), *again;

        second = ptx_parse_good(printed);
        ptx_assert_equal(first, second);
        again = ptx_print_text(second);
        assert_string_equal(printed, again);
        ptx_module_free(second);
        ptx_module_free(first);
        free(again);
        free(printed);
        free(text);
    }
}

static const char *find_ptxas(void)
{
    if (access("/usr/local/cuda/bin/ptxas", X_OK) == 0)
        return "/usr/local/cuda/bin/ptxas";
    return system("ptxas --version >/dev/null 2>&1") == 0 ? "ptxas" : NULL;
}

static void compile(const char *ptxas, const struct ptx_module *m, const char *dir,
                    const char *name)
{
    char command[512];

    snprintf(command, sizeof(command), "%s -arch=%.*s %s/%s.ptx -o %s/%s.cubin", ptxas,
             (int)strcspn(m->target, ","), m->target, dir, name, dir, name);
    if (system(command) != 0)
        fail_msg("ptxas refuses %s.ptx", name);
}

/* A section of the ELF file at ELF whose name begins with PREFIX, the N-th of them. */
static const Elf64_Shdr *section(const char *elf, const char *prefix, unsigned n)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf;
    const Elf64_Shdr *all = (const Elf64_Shdr *)(elf + header->e_shoff);
    const char *names = elf + all[header->e_shstrndx].sh_offset;
    unsigned i;

    for (i = 0; i < header->e_shnum; i++)
        if (!strncmp(names + all[i].sh_name, prefix, strlen(prefix)) && n-- == 0)
            return &all[i];
    return NULL;
}

/* Code, constants and initial data of two cubins are the same, byte by byte. */
static void same_code(const char *dir, const char *sample)
{
    static const char *const kinds[] = {".text.", ".nv.constant", ".nv.global.init"};
    char path[64], *a, *b;
    const Elf64_Shdr *s, *t;
    unsigned i, n, compared = 0;
    size_t len;

    snprintf(path, sizeof(path), "%s/given.cubin", dir);
    a = ptx_path_read(path, &len);
    snprintf(path, sizeof(path), "%s/printed.cubin", dir);
    b = ptx_path_read(path, &len);
    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        for (n = 0; (s = section(a, kinds[i], n)) != NULL; n++) {
            t = section(b, kinds[i], n);
            if (!t || s->sh_size != t->sh_size ||
                memcmp(a + s->sh_offset, b + t->sh_offset, s->sh_size))
                fail_msg("%s: section %s %u differs", sample, kinds[i], n);
            compared++;
        }
    }
    assert_true(compared > 0);
    free(a);
    free(b);
}

static void ptxas_makes_the_same_code_of_what_is_printed(void **state)
{
    const char *ptxas = find_ptxas();
    char dir[] = "/tmp/gs-ptx-XXXXXX", path[64], command[64];
    size_t len;
    int i;

    (void)state;
    if (!ptxas) {
        print_message("ptxas is not installed\n");
        skip();
    }
    assert_non_null(mkdtemp(dir));
    for (i = 0; ptx_samples[i]; i++) {
        char *text = ptx_file_read(ptx_samples[i], &len);
        struct ptx_module *m = ptx_parse_good(text);
        FILE *out;

        snprintf(path, sizeof(path), "%s/printed.ptx", dir);
        out = fopen(path, "w");
        assert_non_null(out);
        assert_int_equal(ptx_print(m, out), 0);
        fclose(out);
        compile(ptxas, m, dir, "printed");
        if (!m->debug) { /* for debugging it is compiled otherwise */
            snprintf(path, sizeof(path), "%s/given.ptx", dir);
            out = fopen(path, "w");
            assert_non_null(out);
            assert_int_equal(fwrite(text, 1, len, out), len);
            fclose(out);
            compile(ptxas, m, dir, "given");
            same_code(dir, ptx_samples[i]);
        }
        ptx_module_free(m);
        free(text);
    }
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

static void names_of_inner_scopes_become_unique_and_stay_so(void **state)
{
    char *text = ptx_wrap_body(
        "{ .reg .b32 x; .param .b32 a; mov.b32 x, 1; { .reg .b64 x; mov.b64 x, 2; } }\n"
        "{ .reg .b32 x<3>; mov.b32 x2, 3; bra END; END: }\n"
        "{ .reg .b32 %r<4>; mov.b32 %r3, 4; bra END; END: }\n"
        "mov.b32 %r3, 5;");
    struct ptx_module *m = ptx_parse_good(text);
    const struct ptx_func *k = ptx_module_func(m, "k");
    char name[64];

    (void)state;
    assert_int_equal(k->regs[k->insts[0].ops[0].reg].type, PTX_T_B32);
    assert_int_equal(k->regs[k->insts[1].ops[0].reg].type, PTX_T_B64);
    assert_string_equal(ptx_reg_name(k, k->insts[0].ops[0].reg, name, sizeof(name)), "x");
    assert_string_not_equal(ptx_reg_name(k, k->insts[1].ops[0].reg, name, sizeof(name)), "x");
    assert_string_not_equal(ptx_reg_name(k, k->insts[4].ops[0].reg, name, sizeof(name)), "%r3");
    assert_string_equal(ptx_reg_name(k, k->insts[6].ops[0].reg, name, sizeof(name)), "%r3");
    assert_int_equal(k->nlabels, 2);
    assert_int_equal(k->labels[k->insts[3].ops[0].label].inst, 4);
    assert_int_equal(k->labels[k->insts[5].ops[0].label].inst, 6);
    ptx_assert_reads_back(m);
    ptx_module_free(m);
    free(text);
}

static void one_instruction_is_formatted_within_its_buffer(void **state)
{
    char *text = ptx_wrap_body("@!%p1 ld.global.nc.v2.f32 {%f1, %f2}, [%q1+-8];");
    struct ptx_module *m = ptx_parse_good(text);
    const struct ptx_func *k = ptx_module_func(m, "k");
    char line[80], small[10];

    (void)state;
    ptx_inst_format(k, &k->insts[0], line, sizeof(line));
    assert_string_equal(line, "@!%p1 ld.global.nc.v2.f32 {%f1, %f2}, [%q1+-8];");
    memset(small, 'x', sizeof(small));
    ptx_inst_format(k, &k->insts[0], small, sizeof(small));
    assert_string_equal(small, "@!%p1 ld.");
    ptx_module_free(m);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_samples_read_back_the_same),
        cmocka_unit_test(ptxas_makes_the_same_code_of_what_is_printed),
        cmocka_unit_test(names_of_inner_scopes_become_unique_and_stay_so),
        cmocka_unit_test(one_instruction_is_formatted_within_its_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
