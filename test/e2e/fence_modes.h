/* fence_modes.h - tests that run without and with the fence: each takes the mode of gshared
 * --fence, and server_in_mode() starts its server. BOTH(f) makes f_unfenced and f_fenced, and
 * TESTS_OF(f) names them in the table of tests. */
#ifndef GS_TEST_E2E_FENCE_MODES_H
#define GS_TEST_E2E_FENCE_MODES_H

#include "harness/harness.h"

static inline struct server *server_in_mode(const char *mode)
{
    const char *const arguments[] = {"--fence", mode, NULL};

    return server_start(&(struct server_options){.arguments = arguments});
}

#define BOTH(function)                                                                             \
    static void function##_unfenced(void)                                                          \
    {                                                                                              \
        function("never");                                                                         \
    }                                                                                              \
    static void function##_fenced(void)                                                            \
    {                                                                                              \
        function("always");                                                                        \
    }
#define TESTS_OF(function) TEST(function##_unfenced), TEST(function##_fenced)

#endif
