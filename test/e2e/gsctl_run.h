/* gsctl_run.h - runs gsctl for a test, and looks at how it ended. The test's main thread. */
#ifndef GS_TEST_GSCTL_RUN_H
#define GS_TEST_GSCTL_RUN_H

#include "harness/harness.h"

/* What the last gsctl printed, both streams, cut to size. */
extern char output[65536];

/* Runs gsctl with these words, up to a NULL; returns its exit status. */
int gsctl(const char *first, ...) __attribute__((sentinel));

#define GSCTL_OK(...)                                                                              \
    do {                                                                                           \
        int status_ = gsctl(__VA_ARGS__, NULL);                                                    \
        if (status_ != 0)                                                                          \
            test_fail(__FILE__, __LINE__, "gsctl ended with %d: %s", status_, output);             \
    } while (0)

#endif
