/* test_dlopen.c - libgshare loads by dlopen, wherever and as often as a program wants. The program
 * is e2e/dlopen/program.c, because this one is linked with the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/sanitizers.h"
#include "harness/harness.h"

static char output[8192];

static char *path_of(const char *file)
{
    char *path = strdup(test_build_path(file));

    CHECK(path != NULL);
    return path;
}

static void program_is_right(const char *mode, const char *library, const char *surplus64,
                             const char *surplus1)
{
    struct server *server = server_start(NULL);
    char *so = path_of(library);
    int status =
        program_run((const char *const[]){"test/e2e/dlopen", mode, so, surplus64, surplus1, NULL},
                    output, sizeof(output));

    if (status != 0 || strstr(output, "right\n") == NULL)
        test_fail(__FILE__, __LINE__, "dlopen %s ends with %d and says: %s", mode, status, output);
    free(so);
    server_stop(server);
}

static void many_threads_load_it_at_once(void)
{
    program_is_right("threads", "lib/libgshare.so", NULL, NULL);
}

static void it_loads_where_no_static_tls_is_left(void)
{
    char *surplus64 = path_of("test/e2e/libgshare-surplus-64.so");
    char *surplus1 = path_of("test/e2e/libgshare-surplus-1.so");

    program_is_right("surplus", "lib/libgshare.so", surplus64, surplus1);
    free(surplus64);
    free(surplus1);
}

static void threads_end_after_it_was_closed(void)
{
    program_is_right("unload", "lib/libgshare.so", NULL, NULL);
}

/* The archive's code is gone then, unlike the shared library's. */
static void threads_end_after_a_plugin_with_the_archive_was_closed(void)
{
#if ADDRESS_SANITIZER
    test_skip("a message that a plugin's unloading leaves counts as a leak");
#endif
    program_is_right("unload", "test/e2e/libgshare-plugin.so", NULL, NULL);
}

static void errors_have_a_text_where_no_key_is_left(void)
{
    program_is_right("keys", "lib/libgshare.so", NULL, NULL);
}

static const struct test tests[] = {
    TEST(many_threads_load_it_at_once),
    TEST(it_loads_where_no_static_tls_is_left),
    TEST(threads_end_after_it_was_closed),
    TEST(threads_end_after_a_plugin_with_the_archive_was_closed),
    TEST(errors_have_a_text_where_no_key_is_left),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
