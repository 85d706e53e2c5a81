/* internal.h - what the harness's files share. */
#ifndef GS_TEST_INTERNAL_H
#define GS_TEST_INTERNAL_H

#include "harness.h"

#define RUN_SERVERS_MAX 512u

/* What a test's process tells the program that runs it: in shared memory, so that it survives a
 * crash of the test. */
struct test_run {
    _Atomic uint32_t servers;
    struct server server[RUN_SERVERS_MAX];
    uint64_t seed;
    char skip[256];
};
#define EXIT_SKIP 77

extern struct test_run *test_run;

/* The deadline of a test scales with sanitizers: $GSHARE_TEST_TIME_SCALE, 1 without it. */
unsigned test_time_scale(void);
/* Path in the build directory, to a buffer of PATH_MAX bytes. */
void test_path(char *out, size_t size, const char *file);
/* Continues the random numbers of this process on a stream of their own. */
void test_random_split(void);
/* A process's descriptor; -1 and errno. Closed by the system call, as it was opened:
 * ThreadSanitizer sees neither, and would take its number for that of a queue which another thread
 * has closed. */
int process_open(pid_t pid);
void process_close(const int *fd);
#define CLEANUP_PROCESS __attribute__((cleanup(process_close)))
/* Waits for a process's end without reaping it. */
bool process_wait_end(pid_t pid, uint64_t deadline_ns);

/* A picture of the System V segments that exist. */
struct segments {
    size_t count;
    int *id;
};
void segments_take(struct segments *segments);
void segments_free(struct segments *segments);

/* The server that all tests of the program share, which no test has left; 0: there is none. */
pid_t common_server_pid(void);
/* Ends a server by SIGTERM. Returns NULL, or what was wrong with its end, in a static buffer. */
const char *server_end(struct server *server);

/* What a test left; each prints what it found to stderr as "# ..." lines, cleans it up, and returns
 * how many there were. */
unsigned leak_processes(void);
unsigned leak_queues(uid_t owner, const char *instance);
unsigned leak_segments(const struct segments *before);

#endif
