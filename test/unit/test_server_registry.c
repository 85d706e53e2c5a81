// The supervisor's table of sessions: slots are unique, cookies find their session and no other,
// pages come in the order of session ids.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "server/state/registry.h"
#include "server/state/session.h"

static void slots_are_unique_and_bounded(void **state)
{
    struct registry registry;
    struct session *session[4];

    (void)state;
    assert_true(registry_init(&registry, 4, NULL));
    for (int i = 0; i < 4; i++) {
        session[i] = registry_take(&registry);
        assert_non_null(session[i]);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(session[i]->slot, session[j]->slot);
    }
    assert_null(registry_take(&registry));
    uint32_t slot = session[2]->slot;
    registry_give(&registry, session[2]);
    assert_null(registry_by_slot(&registry, slot));
    struct session *again = registry_take(&registry);
    assert_non_null(again);
    assert_int_equal(again->slot, slot);
    assert_null(registry_take(&registry));
    registry_deinit(&registry);
}

static void a_slot_taken_again_is_blank(void **state)
{
    struct registry registry;

    (void)state;
    assert_true(registry_init(&registry, 1, NULL));
    struct session *session = registry_take(&registry);
    uint64_t cookie = session->cookie;
    session->pid = 17;
    session->close_wanted = true;
    registry_give(&registry, session);
    session = registry_take(&registry);
    assert_int_equal(session->pid, 0);
    assert_false(session->close_wanted);
    assert_int_equal(session->process.fd, -1);
    assert_int_equal(session->reply.queue, -1);
    assert_true(session->cookie != cookie);
    registry_deinit(&registry);
}

static void a_cookie_finds_its_session_only_while_it_lives(void **state)
{
    struct registry registry;

    (void)state;
    assert_true(registry_init(&registry, LINK_SLOTS_MAX, NULL));
    struct session *a = registry_take(&registry), *b = registry_take(&registry);
    uint64_t cookie = a->cookie;
    assert_ptr_equal(registry_by_cookie(&registry, a->cookie), a);
    assert_ptr_equal(registry_by_cookie(&registry, b->cookie), b);
    // The slot alone, or one bit more or less, is no cookie.
    assert_null(registry_by_cookie(&registry, a->slot));
    for (int bit = 0; bit < 64; bit++)
        assert_null(registry_by_cookie(&registry, cookie ^ UINT64_C(1) << bit));
    registry_give(&registry, a);
    assert_null(registry_by_cookie(&registry, cookie));
    a = registry_take(&registry);
    assert_null(registry_by_cookie(&registry, cookie));
    registry_deinit(&registry);
}

static void any_number_may_be_asked_for(void **state)
{
    struct registry registry;

    (void)state;
    assert_true(registry_init(&registry, 3, NULL));
    assert_null(registry_by_slot(&registry, 0));
    assert_null(registry_by_slot(&registry, 3));
    assert_null(registry_by_slot(&registry, UINT32_MAX));
    assert_null(registry_by_cookie(&registry, 0));
    assert_null(registry_by_cookie(&registry, UINT64_MAX));
    assert_null(registry_next(&registry, NULL));
    registry_deinit(&registry);
}

static void sessions_may_go_while_they_are_walked(void **state)
{
    struct registry registry;
    int seen = 0;

    (void)state;
    assert_true(registry_init(&registry, 64, NULL));
    for (int i = 0; i < 64; i++)
        assert_non_null(registry_take(&registry));
    for (struct session *t = NULL; (t = registry_next(&registry, t)); seen++)
        registry_give(&registry, t);
    assert_int_equal(seen, 64);
    assert_int_equal(registry.count, 0);
    registry_deinit(&registry);
}

// All pages in turn must be all sessions, in order, each once: with ids given in random slots.
static void pages_are_in_order_and_complete(void **state)
{
    enum { SESSIONS = 100, ROWS = 7 };
    struct registry registry;
    struct session *session[SESSIONS], *page[ROWS + 1];
    uint64_t cursor = 0, last = 0;
    unsigned seen = 0;

    (void)state;
    assert_true(registry_init(&registry, SESSIONS, NULL));
    for (uint64_t i = 0; i < SESSIONS; i++)
        session[i] = registry_take(&registry);
    srand(1);
    for (uint64_t i = SESSIONS; i > 0; i--) {
        uint64_t other = (uint64_t)rand() % i;
        struct session *swap = session[i - 1];

        session[i - 1] = session[other];
        session[other] = swap;
    }
    for (uint64_t i = 0; i < SESSIONS; i++)
        session[i]->id = 10 + 3 * i;
    for (;;) {
        uint32_t count = registry_page(&registry, cursor, page, ROWS + 1);

        for (uint32_t i = 0; i < count && i < ROWS; i++, seen++) {
            assert_true(page[i]->id > last);
            last = page[i]->id;
        }
        if (count <= ROWS)
            break;
        cursor = page[ROWS]->id;
    }
    assert_int_equal(seen, SESSIONS);
    assert_int_equal(registry_page(&registry, last + 1, page, ROWS), 0);
    registry_deinit(&registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_unique_and_bounded),
        cmocka_unit_test(a_slot_taken_again_is_blank),
        cmocka_unit_test(a_cookie_finds_its_session_only_while_it_lives),
        cmocka_unit_test(any_number_may_be_asked_for),
        cmocka_unit_test(sessions_may_go_while_they_are_walked),
        cmocka_unit_test(pages_are_in_order_and_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
