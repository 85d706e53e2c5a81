/* test_status.c - every status has a name and a text of its own; any other value has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "gshare.h"

static void every_status_has_a_name_and_a_text_of_its_own(void **state)
{
    (void)state;
    for (int i = GS_OK; i <= GS_ERR_ILLEGAL_ADDRESS; i++) {
        const char *name = gs_status_name((gs_status)i), *text = gs_strerror((gs_status)i);
        assert_int_equal(strncmp(name, "GS_", 3), 0);
        assert_string_not_equal(name, "GS_STATUS_?");
        assert_string_not_equal(text, "unknown status");
        assert_null(strchr(text, '\n'));
        for (int j = GS_OK; j < i; j++) {
            assert_string_not_equal(name, gs_status_name((gs_status)j));
            assert_string_not_equal(text, gs_strerror((gs_status)j));
        }
    }
    assert_string_equal(gs_status_name(GS_ERR_QUOTA), "GS_ERR_QUOTA");
}

static void a_value_that_is_no_status_is_said_to_be_none(void **state)
{
    static const int none[] = {-1, GS_ERR_ILLEGAL_ADDRESS + 1, 1000, -2147483647 - 1, 2147483647};

    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_string_equal(gs_status_name((gs_status)none[i]), "GS_STATUS_?");
        assert_string_equal(gs_strerror((gs_status)none[i]), "unknown status");
    }
}

static void the_version_is_the_headers(void **state)
{
    unsigned version = 0;

    (void)state;
    assert_int_equal(gs_version(&version), GS_OK);
    assert_int_equal(version, GS_VERSION);
    assert_int_equal(gs_version(NULL), GS_ERR_INVALID_VALUE);
    assert_string_equal(gs_last_error_message(), "version is NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_and_a_text_of_its_own),
        cmocka_unit_test(a_value_that_is_no_status_is_said_to_be_none),
        cmocka_unit_test(the_version_is_the_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
