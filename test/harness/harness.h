/*
 * harness.h - what an end-to-end test needs: a private server, tenant processes, checks, and the
 * proof that nothing is left behind.
 *
 * A test program is a table of tests:
 *
 *     static void a_kernel_adds_two_vectors(void)
 *     {
 *         struct server *server = server_start(NULL);
 *         gs_session s;
 *
 *         CHECK_OK(server_attach(server, &s));
 *         ...
 *         CHECK_OK(gs_detach(s));
 *         server_stop(server);
 *     }
 *     static const struct test tests[] = {TEST(a_kernel_adds_two_vectors)};
 *     int main(int argc, char **argv) { return test_main(argc, argv, tests, ARRAY_SIZE(tests)); }
 *
 * Each test runs in a process of its own, in a process group of its own, under a deadline. After it
 * the program looks for processes, queues and System V segments that the test left, and fails it if
 * there are any. Output is TAP. Arguments of the program: names of the tests to run (a part of a
 * name is enough); "-l" lists them.
 *
 * Environment: GSHARE_TEST_DEVICE (auto, cuda, soft; default soft), GSHARE_TEST_BUILD (the build
 * directory; default: where the program lies), GSHARE_TEST_SEED, GSHARE_TEST_TIME_SCALE (deadlines
 * are multiplied by it: sanitizers are slow).
 *
 * Threads: server_* and tenant_* from the test's main thread; checks from any thread.
 */
#ifndef GS_TEST_HARNESS_H
#define GS_TEST_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gshare.h"

/* A test in C++ has all but what takes C's atomics and util.h: gates, CHECK_WITHIN, ARRAY_SIZE. */
#ifdef __cplusplus
extern "C" {
#else
#include <stdatomic.h>

#include "common/util.h"
#endif

/* ---- Tests ----------------------------------------------------------------------------------- */

struct test {
    const char *name;
    void (*run)(void);
    unsigned seconds; /* deadline; 0: 60 */
};
#define TEST(function)                                                                             \
    {                                                                                              \
#function, function, 0                                                                     \
    }
#define TEST_WITHIN(function, seconds)                                                             \
    {                                                                                              \
#function, function, seconds                                                               \
    }

/* Runs the tests that the arguments name, all without arguments. Returns main's exit status. */
int test_main(int argc, char **argv, const struct test *tests, size_t count);
/* The same with one server, started before the tests, which GSHARE_INSTANCE names in each of them:
 * for programs of many short tests, since on a GPU a server's start takes seconds. That it ends
 * with status 0 and leaves nothing is a test of its own, the last one. */
int test_main_with_server(int argc, char **argv, const struct test *tests, size_t count);

/* ---- Checks: print what was wrong and end the calling process with status 1 ------------------ */

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, "not so: %s", #condition))
/* A gs_status that must be GS_OK; the library's own message is printed. */
#define CHECK_OK(call)             test_check_status(__FILE__, __LINE__, #call, (call), GS_OK)
/* A gs_status that must be this one. For errors, a message must have been left. */
#define CHECK_STATUS(call, wanted) test_check_status(__FILE__, __LINE__, #call, (call), (wanted))
/* In a function of a status: the first call that fails is the last one. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        gs_status status_ = (call);                                                                \
        if (status_ != GS_OK)                                                                      \
            return status_;                                                                        \
    } while (0)
#define CHECK_EQUAL(got, wanted)                                                                   \
    test_check_equal(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(wanted))
#define CHECK_TEXT(got, part) test_check_text(__FILE__, __LINE__, #got, (got), (part))
#define CHECK_MEMORY(got, wanted, size)                                                            \
    test_check_memory(__FILE__, __LINE__, #got, (got), (wanted), (size))
/* Polls until the condition holds; fails after milliseconds (times the time scale). */
#define CHECK_WITHIN(milliseconds, condition)                                                      \
    do {                                                                                           \
        uint64_t deadline_ = test_deadline(milliseconds);                                          \
        while (!(condition)) {                                                                     \
            if (clock_ns() > deadline_)                                                            \
                test_fail(__FILE__, __LINE__, "not within %d ms: %s", (int)(milliseconds),         \
                          #condition);                                                             \
            test_pause();                                                                          \
        }                                                                                          \
    } while (0)

void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
/* Ends the test as skipped; the reason is printed and the skip counted. From the test's own process
 * only, not from a tenant. */
void test_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void test_check_status(const char *file, int line, const char *call, gs_status got,
                       gs_status wanted);
void test_check_equal(const char *file, int line, const char *what, uint64_t got, uint64_t wanted);
void test_check_text(const char *file, int line, const char *what, const char *got,
                     const char *part);
void test_check_memory(const char *file, int line, const char *what, const void *got,
                       const void *wanted, size_t size);
/* clock_ns() at which `milliseconds` from now, times the time scale, have passed. */
uint64_t test_deadline(unsigned milliseconds);
/* Gives the processor away for 200 us: between two looks at a condition, never instead of one. */
void test_pause(void);
/* A stream of random numbers from the seed, which a failing test prints. One stream a process;
 * a tenant's is derived from its parent's. */
uint64_t test_random(void);
/* Whether the work runs on the software device. Asked of the session, so also right for "auto". */
bool test_device_is_soft(gs_session session);
/* Opens the test's own file, which is made empty at the first call and removed after the test; its
 * path in a static buffer of the thread. Other processes, the worker too, may open it. */
int test_file_open(const char **path);
/* Path of a file in the build directory, such as "bin/gsctl". Static buffer of the thread. */
const char *test_build_path(const char *file);

/* ---- The private server ---------------------------------------------------------------------- */

struct server {
    pid_t pid; /* 0 once it has ended */
    uid_t owner;
    char instance[32];
    char log[96]; /* what it prints; shown when the test fails */
    int notify;   /* where options->notified: the socket on which it says how it is; else -1 */
};

struct server_options {
    const char *device;             /* NULL: as the test run wants it */
    const char *instance;           /* NULL: one of its own */
    const char *const *arguments;   /* further ones, NULL-terminated; may be NULL */
    const char *const *environment; /* "NAME=value", NULL-terminated; may be NULL */
    bool notified;                  /* what it says after READY=1 is to be read too */
    const char *program;            /* NULL: bin/gshared of the build */
};

/* For tests of what is otherwise where sessions are fenced, which GSHARE_TEST_FENCE may ask for. */
extern const struct server_options server_unfenced;

/* Starts `gshared -f` and returns when it says that it is ready. Sets GSHARE_INSTANCE, so that
 * gs_attach(NULL, ...) of this process and of its tenants finds it. It dies with the test. */
struct server *server_start(const struct server_options *options);
/* SIGTERM; checks that it ends with status 0 in 10 s. */
void server_stop(struct server *server);
/* SIGKILL, and waits for the end of the process. */
void server_kill(struct server *server);
/* Attaches to this server with default parameters. */
gs_status server_attach(const struct server *server, gs_session *session);
/* Attaches by a name, as the environment says where; fails the test if that fails. */
gs_session attach_named(const char *name);
/* Attaches as of this class to the server that was started last. */
gs_session attach_class(gs_class cls);
/* Returns the next datagram of server->notify, in a static buffer; fails after 10 s. */
const char *server_notified(const struct server *server);
/* Lines of what the server has logged so far that contain the text. */
unsigned server_log_lines(const struct server *server, const char *text);
/* Waits until the server itself counts so many tenants (CTL_STATUS, asked over the queue). */
void server_wait_tenants(const struct server *server, unsigned count, unsigned milliseconds);
/* Bytes of device memory that the server says all tenants hold. */
uint64_t server_memory_used(const struct server *server);
/* Tenants that the server says it has. */
unsigned server_tenants(const struct server *server);
/* Process id of the worker of device 0, 0 when there is none. */
pid_t server_worker_pid(const struct server *server);
/* The same of any device. */
pid_t server_worker_pid_of(const struct server *server, unsigned device);
/* The first device's standby that is ready to take over; 0: none. */
pid_t server_standby_pid(const struct server *server);
/* Whether the device has a worker, and another one than FORMER. */
bool server_worker_other(const struct server *server, unsigned device, pid_t former);
/* Kills the device's worker, once it has one, and waits until another one has its place. */
void server_worker_replace(const struct server *server, unsigned device);
/* The same in order, by gsctl restart-worker: a standby maps beforehand what it can. */
void server_worker_restart(const struct server *server, unsigned device);

/* Process id of the supervisor, which the process that was started keeps; 0 while there is none. */
pid_t server_supervisor(const struct server *server);

/* The server's worker processes, standbys among them; returns how many there are. */
#define SERVER_WORKERS_MAX 16
unsigned server_workers(const struct server *server, pid_t pids[SERVER_WORKERS_MAX]);

/* Runs a program of the build ("bin/gsctl"), at most 30 s, and gives its exit status. output (may
 * be NULL) takes stdout and stderr, NUL-terminated and cut to size. */
int program_run(const char *const *arguments, char *output, size_t size);

/* ---- Tenants --------------------------------------------------------------------------------- */

/* Forks a process that runs body and exits with 0 when it returns. It dies with the test. */
pid_t tenant_start(void (*body)(void *), void *argument);
/* Waits; fails the test unless it exited with 0. */
void tenant_join(pid_t pid);
/* Sends the signal and waits for the end; SIGKILL usually. */
void tenant_kill(pid_t pid, int signal);
/* The wait status when it has ended. Fails the test after `seconds` (times the time scale). */
int tenant_wait(pid_t pid, unsigned seconds);

/* Zeroed memory that the test and the tenants it starts later share. Never freed. */
void *shared_alloc(size_t size);

#ifndef __cplusplus
/* A counter that processes wait on: in shared_alloc memory. */
struct gate {
    _Atomic uint32_t count;
};
/* Adds one, and wakes those who wait. */
void gate_pass(struct gate *gate);
/* Waits until `count` have passed; fails the test after 30 s. */
void gate_wait(struct gate *gate, uint32_t count);
#endif

/* ---- What is left behind --------------------------------------------------------------------- */

/* Fails unless no queue of the instance exists (names that are known, and all of /dev/mqueue where
 * that is mounted). test_main does it after each test for each server that the test started. */
void leak_check_queues(const char *instance);

/* ---- Kernels (kernels.ptx, made from kernels.cu) --------------------------------------------- */

extern const char kernels_ptx[]; /* NUL-terminated */

/* The module, loaded; one kernel of it. */
gs_module kernels_load(gs_session session);
/* A module with a function's address in a variable: its session ends with its worker. */
gs_module kernels_load_bound(gs_session session);
gs_kernel kernels_get(gs_module module, const char *name);

/* One launch on the default stream: kernel(args...) with a 1-D grid. Returns gs_launch's status. */
gs_status kernels_launch(gs_stream stream, gs_kernel kernel, unsigned blocks, unsigned threads,
                         void **args);

/* Names and parameters, as in kernels.cu:
 *   fill(u32 *out, u32 value, u32 n)                 out[i] = value + i
 *   add(const f32 *a, const f32 *b, f32 *out, u32 n)
 *   scale(f32 *data, f32 factor, u32 n)
 *   increment(u32 *counter)                          one thread: *counter += 1 (not atomic)
 *   count(u32 *counter)                              every thread: atomicAdd(counter, 1)
 *   sum(const u32 *in, u64 *out, u32 n)              block sums in shared memory, then atomicAdd
 *   spin(u64 nanoseconds)                            each thread runs until that time has passed
 *   spin_until(volatile u32 *flag)                   runs until *flag != 0
 *   chain(u32 *data, u32 n, u32 rounds, u32 seed)    much integer arithmetic on each word
 *   nothing()
 *   many_parameters(u8 a, u16 b, u32 c, u64 d, struct {u32 x[5];} e, f64 f, u64 *out)
 *   dynamic_shared(u32 *out, u32 words)              reverses through dynamic shared memory
 *   table_lookup(u32 *out, u32 n)                    out[i] = table[i % 64] + bias
 *   store(u32 *address, u32 value)                   one store to wherever it is told
 *   trap()
 * and the variables  u32 table[64] (.global, table[i] = i * i),  u32 bias (.const, 1000).
 */

/* Kernels without variables, which an unfenced session would lose with its worker: PTX_HEAD, then
 * kernels.
 *   fill(u32 *out, u32 value, u32 n)     out[i] = value + i
 *   hold(volatile u32 words[2])          sets words[1], and runs until words[0] is set */
#define PTX_HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"
#define PTX_FILL                                                                                   \
    ".visible .entry fill(.param .u64 data, .param .u32 value, .param .u32 n)\n"                   \
    "{ .reg .b64 %rd<3>; .reg .b32 %r<7>; .reg .pred %p; ld.param.u64 %rd0, [data];\n"             \
    "  ld.param.u32 %r0, [value]; ld.param.u32 %r1, [n];\n"                                        \
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"                        \
    "  mad.lo.u32 %r5, %r2, %r3, %r4; setp.ge.u32 %p, %r5, %r1; @%p ret;\n"                        \
    "  mul.wide.u32 %rd1, %r5, 4; add.u64 %rd2, %rd0, %rd1; add.u32 %r6, %r0, %r5;\n"              \
    "  st.global.u32 [%rd2], %r6; ret; }\n"
#define PTX_HOLD                                                                                   \
    ".visible .entry hold(.param .u64 words)\n"                                                    \
    "{ .reg .b64 %rd; .reg .b32 %r; .reg .pred %p; ld.param.u64 %rd, [words];\n"                   \
    "  st.volatile.global.u32 [%rd+4], 1;\n"                                                       \
    "again: ld.volatile.global.u32 %r, [%rd]; setp.eq.u32 %p, %r, 0; @%p bra again; ret; }\n"

#ifdef __cplusplus
}
#endif
#endif
