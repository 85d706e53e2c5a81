/* PTX is found in fatbins however it is packed, and no damage to one does harm. */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/fatbin.h"
#include "ptx/ptx.h"
#include "ptx_files.h"

/* As nvcc --compress-mode names them; each holds PTX for 80 and 90 and machine code for 80. */
static const char *const modes[] = {"tiny_none.fatbin", "tiny_size.fatbin", "tiny_speed.fatbin",
                                    "tiny_balance.fatbin"};

enum { NMODES = sizeof(modes) / sizeof(modes[0]) };

/* Instead of libc's: a machine without the library HIDDEN. */
static const char *hidden;

void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

    return hidden && name && !strcmp(name, hidden) ? NULL : real(name, flags);
}

static void unpack(const char *name, unsigned sm, char **text)
{
    char err[256] = "";
    size_t size, len = 0;
    char *image = ptx_file_read(name, &size);
    int status = fatbin_find_ptx(image, size, sm, text, &len, err);

    free(image);
    if (status)
        fail_msg("%s for sm_%u: %s", name, sm, err);
    assert_int_equal(strlen(*text), len);
}

/* The first test: what is loaded stays. */
static void a_library_that_is_missing_is_named_with_its_package(void **state)
{
    static const struct {
        const char *name, *library, *package;
    } cases[] = {{"tiny_size.fatbin", "libzstd.so.1", "libzstd1"},
                 {"tiny_speed.fatbin", "liblz4.so.1", "liblz4-1"}};
    size_t size, len = 7, i;
    char err[256], *text = NULL;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *image = ptx_file_read(cases[i].name, &size);

        hidden = cases[i].library;
        assert_int_equal(fatbin_find_ptx(image, size, 90, &text, &len, err), -ENOTSUP);
        hidden = NULL;
        assert_non_null(strstr(err, cases[i].library));
        assert_non_null(strstr(err, cases[i].package));
        assert_null(text);
        free(image);
        /* Installed meanwhile. */
        unpack(cases[i].name, 90, &text);
        free(text);
        text = NULL;
    }
}

static void ptx_comes_out_whole_from_every_packing(void **state)
{
    size_t len, i;
    char *reference = ptx_file_read("tiny_90.ptx", &len);
    struct ptx_module *m = ptx_parse_good(reference), *got;
    char *want = ptx_print_text(m), *text, *have;

    (void)state;
    for (i = 0; i < NMODES; i++) {
        unpack(modes[i], 90, &text);
        got = ptx_parse_good(text);
        have = ptx_print_text(got);
        /* nvcc writes the PTX of one architecture alone with another comment on top; the module is
         * the same. */
        assert_string_equal(strstr(have, ".visible"), strstr(want, ".visible"));
        ptx_module_free(got);
        free(have);
        free(text);
    }
    ptx_module_free(m);
    free(want);
    free(reference);
}

static void newest_that_the_device_runs_is_chosen(void **state)
{
    static const struct {
        unsigned device, chosen;
    } cases[] = {{80, 80}, {86, 80}, {90, 90}, {100, 90}};
    struct ptx_module *m;
    char *text;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unpack("tiny_none.fatbin", cases[i].device, &text);
        m = ptx_parse_good(text);
        assert_int_equal(m->sm, cases[i].chosen);
        ptx_module_free(m);
        free(text);
    }
}

static void missing_ptx_says_what_there_is(void **state)
{
    size_t size, len = 7;
    char *image = ptx_file_read("tiny_none.fatbin", &size), err[256], *text = NULL;

    (void)state;
    assert_int_equal(fatbin_find_ptx(image, size, 75, &text, &len, err), -ENOENT);
    assert_non_null(strstr(err, "sm_75"));
    free(image);
    image = ptx_file_read("tiny_no_ptx.fatbin", &size);
    assert_int_equal(fatbin_find_ptx(image, size, 90, &text, &len, err), -ENOENT);
    assert_non_null(strstr(err, "no PTX"));
    free(image);
    assert_int_equal(fatbin_find_ptx(".version 8.0 and more", 21, 90, &text, &len, err), -EINVAL);
    assert_null(text);
    assert_int_equal(len, 7);
}

static void ptx_for_one_architecture_alone_runs_only_there(void **state)
{
    size_t size, len;
    char *image = ptx_file_read("tiny_90a.fatbin", &size), err[256], *text = NULL;

    (void)state;
    assert_int_equal(fatbin_find_ptx(image, size, 100, &text, &len, err), -ENOENT);
    free(image);
    unpack("tiny_90a.fatbin", 90, &text);
    assert_non_null(strstr(text, "sm_90a"));
    free(text);
}

static void who_reads_ptx_itself_takes_the_nearest_of_what_is_newer(void **state)
{
    static const struct {
        const char *name;
        unsigned device;
        const char *target;
    } cases[] = {{"tiny_none.fatbin", 75, ".target sm_80"},
                 {"tiny_none.fatbin", 86, ".target sm_80"},
                 {"tiny_none.fatbin", 100, ".target sm_90"},
                 {"tiny_90a.fatbin", 80, ".target sm_90a"}};
    char err[256], *image, *text = NULL;
    size_t size, len, i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        image = ptx_file_read(cases[i].name, &size);
        assert_int_equal(fatbin_find_readable(image, size, cases[i].device, &text, &len, err), 0);
        assert_non_null(strstr(text, cases[i].target));
        assert_in_range(fatbin_readable_size(image, size, cases[i].device), len, len + 8);
        free(text);
        free(image);
    }
    /* What is for one older device alone is for no other. */
    image = ptx_file_read("tiny_90a.fatbin", &size);
    assert_int_equal(fatbin_find_readable(image, size, 100, &text, &len, err), -ENOENT);
    free(image);
    image = ptx_file_read("tiny_no_ptx.fatbin", &size);
    assert_int_equal(fatbin_find_readable(image, size, 75, &text, &len, err), -ENOENT);
    assert_non_null(strstr(err, "no PTX"));
    assert_int_equal(fatbin_readable_size(image, size, 75), 0);
    free(image);
}

/* The entries of a fatbin; *kind is the last one's. */
static unsigned entries_of(const char *image, size_t size, uint16_t *kind)
{
    uint64_t payload;
    uint32_t header;
    unsigned n = 0;

    for (size_t at = 16; at < size; at += header + payload, n++) {
        memcpy(kind, image + at, sizeof(*kind));
        memcpy(&header, image + at + 4, sizeof(header));
        memcpy(&payload, image + at + 8, sizeof(payload));
    }
    return n;
}

static void nothing_is_kept_but_machine_code_that_the_device_runs(void **state)
{
    static const struct {
        const char *name;
        unsigned device;
        int status;
    } cases[] = {
        {"tiny_none.fatbin", 80, 0},          {"tiny_none.fatbin", 86, 0},
        {"tiny_none.fatbin", 75, -ENOENT},    {"tiny_none.fatbin", 90, -ENOENT},
        {"tiny_size.fatbin", 80, 0},          {"tiny_speed.fatbin", 86, 0},
        {"tiny_no_ptx.fatbin", 80, 0},        {"tiny_90a.fatbin", 90, -ENOENT},
        {"tiny_balance.fatbin", 90, -ENOENT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t size, kept, len;
        char err[256] = "", *image = ptx_file_read(cases[i].name, &size), *text = NULL;
        uint16_t kind = 0;

        kept = size;
        assert_int_equal(fatbin_keep_code(image, &kept, cases[i].device, err), cases[i].status);
        if (cases[i].status) {
            size_t again;
            char *before = ptx_file_read(cases[i].name, &again);
            assert_non_null(strstr(err, "machine code"));
            assert_int_equal(kept, size);
            assert_memory_equal(image, before, size);
            free(before);
        } else {
            assert_true(kept <= size);
            assert_int_equal(fatbin_total_size(image), kept);
            assert_int_equal(entries_of(image, kept, &kind), 1);
            assert_int_equal(kind, 2);
            assert_int_equal(fatbin_find_ptx(image, kept, 90, &text, &len, err), -ENOENT);
        }
        free(image);
    }
}

/* A field of the entry of this kind. */
static void entry_set(char *image, size_t size, uint16_t wanted, size_t offset, uint64_t value)
{
    uint64_t payload;
    uint32_t header;
    uint16_t kind;

    for (size_t at = 16; at < size; at += header + payload) {
        memcpy(&kind, image + at, sizeof(kind));
        memcpy(&header, image + at + 4, sizeof(header));
        memcpy(&payload, image + at + 8, sizeof(payload));
        if (kind == wanted)
            memcpy(image + at + offset, &value, sizeof(value));
    }
}

static void more_than_the_limit_is_not_unpacked(void **state)
{
    size_t size, len;
    char err[256] = "", *image = ptx_file_read("tiny_size.fatbin", &size), *text = NULL;

    (void)state;
    entry_set(image, size, 1, 56, (uint64_t)PTX_MAX_TEXT + 1);
    assert_int_equal(fatbin_find_ptx(image, size, 90, &text, &len, err), -E2BIG);
    assert_non_null(strstr(err, "67108865"));
    assert_non_null(strstr(err, "67108864"));
    entry_set(image, size, 2, 56, (uint64_t)FATBIN_CODE_MAX + 1);
    assert_int_equal(fatbin_keep_code(image, &size, 80, err), -E2BIG);
    assert_non_null(strstr(err, "536870912"));
    free(image);
}

static void every_cut_is_refused(void **state)
{
    char err[256], *image, *cut, *text = NULL;
    size_t size, len, i, n;

    (void)state;
    for (i = 0; i < NMODES; i++) {
        image = ptx_file_read(modes[i], &size);
        for (n = 0; n < size; n += n < 400 ? 1 : 97) {
            cut = malloc(n ? n : 1); /* so that a sanitizer sees a read beyond */
            memcpy(cut, image, n);
            assert_int_equal(fatbin_find_ptx(cut, n, 90, &text, &len, err), -EINVAL);
            assert_int_equal(fatbin_keep_code(cut, &(size_t){n}, 80, err), -EINVAL);
            free(cut);
        }
        free(image);
    }
}

static void every_flipped_byte_is_survived(void **state)
{
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    char err[256], *image, *text;
    size_t size, len, i, n, f;

    (void)state;
    for (i = 0; i < NMODES; i++) {
        image = ptx_file_read(modes[i], &size);
        for (n = 0; n < size && n < 1200; n++) {
            for (f = 0; f < sizeof(flips); f++) {
                image[n] = (char)(image[n] ^ flips[f]);
                text = NULL;
                if (fatbin_find_ptx(image, size, 90, &text, &len, err) == 0)
                    assert_true(text[len] == 0);
                else
                    assert_null(text);
                free(text);
                image[n] = (char)(image[n] ^ flips[f]);
            }
        }
        free(image);
    }
}

static void wrapper_leads_to_the_fatbin(void **state)
{
    size_t size;
    char *image = ptx_file_read("tiny_none.fatbin", &size);
    struct {
        uint32_t magic, version;
        const void *data;
        void *more;
    } wrapper = {0x466243b1, 1, image, NULL};

    (void)state;
    assert_ptr_equal(fatbin_unwrap(&wrapper), image);
    assert_ptr_equal(fatbin_unwrap(image), image);
    assert_int_equal(fatbin_total_size(image), size);
    assert_true(fatbin_is_fatbin(image, size));
    assert_false(fatbin_is_fatbin(image, 15));
    assert_false(fatbin_is_fatbin(&wrapper, sizeof(wrapper)));
    assert_int_equal(fatbin_total_size("no fatbin at all"), 0);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_is_missing_is_named_with_its_package),
        cmocka_unit_test(ptx_comes_out_whole_from_every_packing),
        cmocka_unit_test(newest_that_the_device_runs_is_chosen),
        cmocka_unit_test(missing_ptx_says_what_there_is),
        cmocka_unit_test(ptx_for_one_architecture_alone_runs_only_there),
        cmocka_unit_test(who_reads_ptx_itself_takes_the_nearest_of_what_is_newer),
        cmocka_unit_test(nothing_is_kept_but_machine_code_that_the_device_runs),
        cmocka_unit_test(more_than_the_limit_is_not_unpacked),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_flipped_byte_is_survived),
        cmocka_unit_test(wrapper_leads_to_the_fatbin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
