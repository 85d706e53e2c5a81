/* trace_read.h - runs `gsctl trace` beside a test, and reads the file that it writes, strictly: one
 * JSON document, whose events are given as a table. The test's main thread. */
#ifndef GS_TEST_TRACE_READ_H
#define GS_TEST_TRACE_READ_H

#include "harness/harness.h"

/* An element of traceEvents; what it does not have is 0. Times are microseconds. */
struct traced {
    char ph, name[128], cat[16], title[128]; /* title: args.name */
    double ts, dur, issued;
    uint64_t pid, tid, launches, transfers, bytes, sms, stream;
    bool ended;
    int64_t process; /* args.pid */
};
struct trace_file {
    struct traced *event;
    size_t count;
    uint64_t lost;
};

struct tracer {
    pid_t pid;
    int file, errors; /* a memfd, and the read end of a pipe */
    char said[4096];  /* on standard error */
};

/* Starts `gsctl trace -o -` with up to two words more, as this user where it is not 0, and returns
 * when it traces. */
void tracer_start(struct tracer *tracer, uid_t uid, const char *word, const char *value);
/* Ends it by the signal; returns its wait status. */
int tracer_end(struct tracer *tracer, int signal);
/* Reads what it wrote, which stays until the next is read; fails the test where that is no trace.
 */
void tracer_read(const struct tracer *tracer, struct trace_file *file);
/* Ends it by SIGINT, checks that all is well, and reads. */
void tracer_finish(struct tracer *tracer, struct trace_file *file);

/* The process (a tenant) with this text in its name; 0: none. */
uint64_t traced_process(const struct trace_file *file, const char *text);
/* Launches of its spans on the device, and submissions of its, by this kernel; NULL: by any. */
uint64_t traced_launches(const struct trace_file *file, uint64_t pid);
uint64_t traced_submissions(const struct trace_file *file, uint64_t pid, const char *name);
/* The event with this phase and name; NULL: none. */
const struct traced *traced_find(const struct trace_file *file, char ph, const char *name);
/* Checks the clock: no time before the trace's begin; each span on the device after its submission
 * and after its driver call; spans of a stream one after the other. */
void traced_check_clock(const struct trace_file *file);

#endif
