// The vault of a session's descriptors: every descriptor that it took is closed exactly once, and
// two entries never overlap.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "common/sanitizers.h"
#include "server/base/vault.h"

/* The most bytes that one call has moved. */
static size_t moved_most;

void *memmove(void *to, const void *from, size_t bytes)
{
    unsigned char *const t = to;
    const unsigned char *const f = from;

    moved_most = bytes > moved_most ? bytes : moved_most;
    for (size_t i = 0; i < bytes; i++) {
        const size_t n = t < f ? i : bytes - 1 - i;
        ((volatile unsigned char *)t)[n] = f[n];
    }
    return to;
}

static int descriptor_new(void)
{
    int fd = memfd_create("vault", MFD_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static bool descriptor_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0 || errno != EBADF;
}

static void a_dropped_descriptor_is_closed(void **state)
{
    struct vault vault = {0};
    int a = descriptor_new(), b = descriptor_new();

    (void)state;
    assert_int_equal(vault_put(&vault, 0x2000, 0x1000, NULL, a), VAULT_OK);
    assert_int_equal(vault_put(&vault, 0x1000, 0x1000, NULL, b), VAULT_OK);
    assert_false(vault_remove(&vault, 0x1800));
    assert_false(vault_remove(&vault, 0x3000));
    assert_true(vault_remove(&vault, 0x2000));
    assert_false(descriptor_open(a));
    assert_true(descriptor_open(b));
    assert_false(vault_remove(&vault, 0x2000));
    vault_deinit(&vault);
    assert_false(descriptor_open(b));
}

static void overlaps_are_refused_and_the_descriptor_stays_the_callers(void **state)
{
    static const struct {
        uint64_t address, size;
    } bad[] = {
        {0x4000, 0x1000},  {0x4000, 1}, {0x4fff, 1},     {0x3fff, 2},     {0x3000, 0x9000},
        {0x4800, 0x10000}, {0x9000, 0}, {UINT64_MAX, 2}, {1, UINT64_MAX}, {0, UINT64_MAX / 2},
    };
    struct vault vault = {0};
    int kept = descriptor_new(), fd = descriptor_new();

    (void)state;
    assert_int_equal(vault_put(&vault, 0x4000, 0x1000, NULL, kept), VAULT_OK);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(vault_put(&vault, bad[i].address, bad[i].size, NULL, fd), VAULT_OVERLAP);
    assert_int_equal(vault.count, 1);
    assert_true(descriptor_open(fd));
    // Touching is not overlapping.
    assert_int_equal(vault_put(&vault, 0x5000, 0x1000, NULL, fd), VAULT_OK);
    assert_int_equal(vault_put(&vault, 0x3000, 0x1000, NULL, descriptor_new()), VAULT_OK);
    vault_deinit(&vault);
}

// Random puts and drops against a plain array.
static void it_holds_what_was_put_and_not_dropped(void **state)
{
    enum { PLACES = 200, STEPS = 20000 };
    struct vault vault = {0};
    int fd[PLACES];

    (void)state;
    srand(7);
    for (int i = 0; i < PLACES; i++)
        fd[i] = -1;
    for (int step = 0; step < STEPS; step++) {
        int i = rand() % PLACES;
        uint64_t address = 0x100000u + 0x1000u * (uint64_t)i;

        if (fd[i] < 0 && rand() % 2) {
            fd[i] = descriptor_new();
            assert_int_equal(vault_put(&vault, address, 0x1000, NULL, fd[i]), VAULT_OK);
        } else {
            assert_int_equal(vault_remove(&vault, address), fd[i] >= 0);
            fd[i] = -1;
        }
    }
    uint32_t held = 0;
    for (int i = 0; i < PLACES; i++) {
        if (fd[i] < 0)
            continue;
        assert_true(descriptor_open(fd[i]));
        held++;
    }
    assert_int_equal(vault.count, held);
    vault_deinit(&vault);
    for (int i = 0; i < PLACES; i++)
        assert_false(fd[i] >= 0 && descriptor_open(fd[i]));
}

// As for a session that allocates and frees below all else that it has.
static void one_among_many_moves_little(void **state)
{
    enum { PIECES = 16384 };
    struct vault vault = {0};

    (void)state;
    for (uint64_t i = 1; i <= PIECES; i++)
        assert_int_equal(vault_put(&vault, i << 21, 1 << 21, NULL, -1), VAULT_OK);
    moved_most = 0;
    assert_int_equal(vault_put(&vault, 0, 1 << 21, NULL, -1), VAULT_OK);
    assert_true(vault_remove(&vault, 0));
    // clang's address sanitizer moves by a function of its own
    assert_in_range(moved_most, ADDRESS_SANITIZER ? 0 : 1, PIECES * sizeof(void *));
    vault_deinit(&vault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dropped_descriptor_is_closed),
        cmocka_unit_test(overlaps_are_refused_and_the_descriptor_stays_the_callers),
        cmocka_unit_test(it_holds_what_was_put_and_not_dropped),
        cmocka_unit_test(one_among_many_moves_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
