/* client_checks.h - what a call of libgshare answers, in cmocka's tests. After cmocka.h. */
#ifndef GS_TEST_CLIENT_CHECKS_H
#define GS_TEST_CLIENT_CHECKS_H

#include <string.h>

#include "gshare.h"

#define OK(call) assert_int_equal_message((call), GS_OK, #call)
#define assert_int_equal_message(value, wanted, text)                                              \
    do {                                                                                           \
        gs_status got_ = (value);                                                                  \
        if (got_ != (wanted))                                                                      \
            fail_msg("%s: %s: %s", text, gs_status_name(got_), gs_last_error_message());           \
    } while (0)
/* The status, and a part of the message. */
#define FAILS(call, wanted, part)                                                                  \
    do {                                                                                           \
        assert_int_equal_message((call), (wanted), #call);                                         \
        if (!strstr(gs_last_error_message(), part))                                                \
            fail_msg("%s: \"%s\" does not say \"%s\"", #call, gs_last_error_message(), part);      \
    } while (0)

#endif
