/* test_common_descriptor_table.c - room for descriptors is there before they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/descriptor_table.h"

/* How many descriptors the kernel has room for (FDSize of /proc/self/status). */
static unsigned table_size(void)
{
    unsigned size = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "re");

    assert_non_null(status);
    while (fgets(line, sizeof(line), status))
        sscanf(line, "FDSize: %u", &size);
    fclose(status);
    return size;
}

static int lowest_free(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    close(fd);
    return fd;
}

static void room_is_made_and_no_descriptor_stays_open(void **state)
{
    (void)state;
    const int before = lowest_free();

    assert_true(table_size() < 900);
    descriptor_table_reserve(900);
    assert_true(table_size() >= 900);
    assert_int_equal(lowest_free(), before);
    assert_int_equal(fcntl(899, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
}

static void the_limit_bounds_the_room(void **state)
{
    struct rlimit limit;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit less = {1500, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
    descriptor_table_reserve(100000);
    assert_true(table_size() >= 1500);
    assert_true(table_size() < 100000);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_made_and_no_descriptor_stays_open),
        cmocka_unit_test(the_limit_bounds_the_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
