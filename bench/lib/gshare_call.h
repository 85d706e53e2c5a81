/* gshare_call.h - calls of libgshare in a measurement: what fails ends it. */
#ifndef GS_BENCH_GSHARE_CALL_H
#define GS_BENCH_GSHARE_CALL_H

#include "gshare.h"
#include "lib/cell.h"

static void __attribute__((noinline, cold, unused))
gshare_call_failed(const char *name, gs_status status)
{
    cell_fail("%s: %s: %s", name, gs_status_name(status), gs_last_error_message());
}

#define GS(name, ...)                                                                              \
    do {                                                                                           \
        gs_status status_ = name(__VA_ARGS__);                                                     \
        if (status_ != GS_OK)                                                                      \
            gshare_call_failed(#name, status_);                                                    \
    } while (0)

#endif
