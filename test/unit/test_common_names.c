/* test_common_names.c - names of queues, and that a reply queue's does not tell its token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/names.h"
#include "common/siphash.h"
#include "common/util.h"

/* From the reference implementation: key 00 01 .. 0f, data 00 01 .. of so many bytes. */
static void siphash_is_the_published_one(void **state)
{
    static const struct {
        size_t size;
        uint64_t hash;
    } table[] = {{0, 0x726fdb47dd0e0e31}, {1, 0x74f839c593dc67fd},  {7, 0xab0200f58b01d137},
                 {8, 0x93f5f5799a932462}, {15, 0xa129ca6149be45e5}, {16, 0x3f2acc7f57c29bdb},
                 {63, 0x958a324ceb064572}};
    const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    unsigned char data[64];

    (void)state;
    for (unsigned i = 0; i < sizeof(data); i++)
        data[i] = (unsigned char)i;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        assert_int_equal(siphash(key, data, table[i].size), table[i].hash);
}

static void a_reply_queues_name_does_not_tell_its_token(void **state)
{
    static const uint64_t tokens[] = {0, 1, 2, UINT64_C(1) << 63, 0x0123456789abcdef, UINT64_MAX};
    char name[WIRE_NAME_MAX], other[WIRE_NAME_MAX], digits[17];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(tokens); i++) {
        name_reply(name, 7, "x", tokens[i]);
        assert_int_equal(strlen(name), strlen("/gshare.7.x.r.") + 16);
        assert_int_equal(strncmp(name, "/gshare.7.x.r.", 14), 0);
        snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)tokens[i]);
        assert_null(strstr(name, digits));
        name_reply(other, 7, "x", tokens[i]);
        assert_string_equal(name, other);
        for (size_t j = 0; j < i; j++) {
            name_reply(other, 7, "x", tokens[j]);
            assert_string_not_equal(name, other);
        }
        name_reply(other, 7, "y", tokens[i]);
        assert_string_not_equal(name + 14, other + 14);
    }
}

static void the_longest_instance_fits(void **state)
{
    char longest[WIRE_INSTANCE_MAX + 1], name[WIRE_NAME_MAX];

    (void)state;
    memset(longest, 'n', WIRE_INSTANCE_MAX);
    longest[WIRE_INSTANCE_MAX] = 0;
    assert_true(instance_valid(longest));
    name_reply(name, UINT32_MAX - 1, longest, 7);
    assert_int_equal(strlen(name),
                     strlen("/gshare.4294967294.") + WIRE_INSTANCE_MAX + strlen(".r.") + 16);
    name_bell(name, UINT32_MAX - 1, longest, 7);
    assert_string_equal(name + strlen(name) - strlen(".bell.7"), ".bell.7");
}

static void an_instance_may_name_its_user(void **state)
{
    static const char *const wrong[] = {
        "",         ":",    "a b",  "root:",        ":x",
        "root:a:b", "-1:x", "1x:x", "4294967295:x", "nobody-has-this:x"};
    struct instance instance;

    (void)state;
    assert_null(instance_parse("mine", &instance));
    assert_false(instance.owned);
    assert_string_equal(instance.name, "mine");
    assert_null(instance_parse("root:its", &instance));
    assert_true(instance.owned);
    assert_int_equal(instance.owner, 0);
    assert_string_equal(instance.name, "its");
    assert_null(instance_parse("4294967294:x", &instance));
    assert_int_equal(instance.owner, UINT32_MAX - 1);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        assert_non_null(instance_parse(wrong[i], &instance));
}

static void a_user_is_told_by_name(void **state)
{
    char text[USER_TEXT_MAX];

    (void)state;
    assert_string_equal(user_text(text, 0), "user root");
    assert_string_equal(user_text(text, UINT32_MAX - 1), "uid 4294967294");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_is_the_published_one),
        cmocka_unit_test(a_reply_queues_name_does_not_tell_its_token),
        cmocka_unit_test(the_longest_instance_fits),
        cmocka_unit_test(an_instance_may_name_its_user),
        cmocka_unit_test(a_user_is_told_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
