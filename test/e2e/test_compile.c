/* test_compile.c - other users' compilations: each has its share of a CPU, and a short text waits
 * for no long one. What a text takes of the server's memory is given back. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/sanitizers.h"
#include "harness/harness.h"

#define STRANGER 65534u
#define MIB      ((size_t)1 << 20)

static char output[32768];

static int gsctl(const char *a, const char *b, const char *c, const char *d, const char *e)
{
    const char *const arguments[] = {"bin/gsctl", a, b, c, d, e, NULL};

    return program_run(arguments, output, sizeof(output));
}

static struct server *shared_server(const char *const *arguments)
{
    if (geteuid() != 0)
        test_skip("only root's server serves others");
    return server_start(&(struct server_options){.arguments = arguments});
}

static void become_user(uid_t uid)
{
    CHECK(setgid(uid) == 0 && setuid(uid) == 0);
}

#define COMPILERS    6
#define INSTRUCTIONS 10000u
#define BUSY_SECONDS 0.1

struct compilers {
    struct gate ready, go;
    _Atomic unsigned loads;
};

/* A module that nobody has loaded before, of so many instructions. */
static gs_status new_text_load(gs_session session, unsigned instructions, unsigned number,
                               gs_module *module)
{
    static char text[16 * MIB];
    size_t n = (size_t)snprintf(text, sizeof(text),
                                ".version 7.8\n.target sm_80\n.address_size 64\n"
                                ".visible .entry k() {\n.reg .b32 r;\nmov.b32 r, %d%u;\n",
                                (int)getpid(), number);

    for (unsigned i = 0; i < instructions; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "add.u32 r, r, %u;\n", i);
    snprintf(text + n, sizeof(text) - n, "ret;\n}\n");
    return gs_module_load(session, text, 0, module);
}

static void compile_run(void *argument)
{
    struct compilers *compilers = argument;
    gs_status status = GS_OK;
    gs_session session;
    gs_module module;

    become_user(STRANGER);
    CHECK_OK(gs_attach(NULL, &session));
    gate_pass(&compilers->ready);
    gate_wait(&compilers->go, 1);
    for (unsigned i = 0; status == GS_OK; i++) {
        status = new_text_load(session, INSTRUCTIONS, i, &module);
        compilers->loads += status == GS_OK;
        if (status == GS_OK)
            status = gs_module_unload(module);
    }
    CHECK_STATUS(status, GS_ERR_INTERRUPTED); /* the operator ends it */
}

/* CPU time in seconds, by a line of a stat file; `name`: of a thread's name, of which it is to be.
 */
static bool stat_seconds(const char *path, const char *name, double *seconds)
{
    unsigned long user, system;
    char line[512];
    FILE *file = fopen(path, "r");

    if (!file)
        return false;
    const bool read =
        fgets(line, sizeof(line), file) && strstr(line, name) &&
        sscanf(strchr(line, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system) == 2;
    fclose(file);
    if (read)
        *seconds = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return read;
}

/* CPU time of the worker, which does nothing but compile here. It includes threads of the driver's
 * compiler, which end. */
static double compile_seconds(const struct server *server)
{
    char path[64];
    double seconds = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)server_worker_pid(server));
    CHECK(stat_seconds(path, "(", &seconds));
    return seconds;
}

/* How many of the worker's threads for long texts have taken CPU time. */
static unsigned busy_compilers(const struct server *server)
{
    const pid_t pid = server_worker_pid(server);
    char path[64];
    unsigned busy = 0;
    struct dirent *entry;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    CHECK(tasks != NULL);
    while ((entry = readdir(tasks))) {
        double seconds = 0;

        snprintf(path, sizeof(path), "/proc/%d/task/%.12s/stat", (int)pid, entry->d_name);
        busy += stat_seconds(path, "(gs-patient)", &seconds) && seconds > BUSY_SECONDS;
    }
    closedir(tasks);
    return busy;
}

/* Six sessions of a user compile without end. Of 5 percent of a CPU 1.5 s are saved up. */
static void who_compiles_without_end_has_its_share_of_a_cpu(void)
{
    struct server *server = shared_server((const char *const[]){"--cache", "none", NULL});
    struct compilers *compilers = shared_alloc(sizeof(*compilers));
    pid_t pid[COMPILERS];
    gs_session session;
    gs_module module;

    CHECK_EQUAL(gsctl("set", "--others", "--user-compile", "5", NULL), 0);
    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < COMPILERS; i++)
        pid[i] = tenant_start(compile_run, compilers);
    gate_wait(&compilers->ready, COMPILERS);
    gate_pass(&compilers->go);
    const uint64_t began = clock_ns();
    CHECK_WITHIN(30000, server_log_lines(server, "event=compile-held user=nobody uid=65534") == 1);
    CHECK(compile_seconds(server) >= 1.2);
    for (unsigned i = 0; i < 5; i++) { /* nobody else waits, whatever it takes */
        CHECK_OK(new_text_load(session, INSTRUCTIONS, i, &module));
        CHECK_OK(gs_module_unload(module));
    }
    const double own = compile_seconds(server);
    usleep(2000000);
    /* Three may have begun before the account was full. */
    const double taken = compile_seconds(server), seconds = (double)(clock_ns() - began) / 1e9;
    if (taken - own > 0.05 * seconds + 1 || compilers->loads == 0)
        test_fail(__FILE__, __LINE__,
                  "%.2f s of CPU time in %.2f s, %.2f at the end of its saving, %u loads", taken,
                  seconds, own, compilers->loads);
    /* Who waits for its share does not keep the worker, and the next one takes what waited up. */
    CHECK_EQUAL(gsctl("restart-worker", NULL, NULL, NULL, NULL), 0);
    const unsigned loads = compilers->loads;
    CHECK_WITHIN(20000, compilers->loads > loads + COMPILERS && compile_seconds(server) >= 1.5);
    /* A session that waits for its share ends at once. */
    CHECK_EQUAL(gsctl("kill", "--user", "65534", NULL, NULL), 0);
    server_wait_tenants(server, 1, 5000);
    for (unsigned i = 0; i < COMPILERS; i++)
        tenant_join(pid[i]);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Short and long texts ---- */

#define LONG_USERS 3u

struct long_load {
    uid_t uid;
    unsigned instructions;
    _Atomic bool *loaded;
};

static void long_text_run(void *argument)
{
    const struct long_load *load = argument;
    gs_session session;
    gs_module module;

    become_user(load->uid);
    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(new_text_load(session, load->instructions, 0, &module));
    *load->loaded = true;
    CHECK_OK(gs_detach(session));
}

/* Each of three users has a long text compiled, as many as may be at once. */
static void a_short_text_waits_for_no_long_one(void)
{
    struct server *server = shared_server((const char *const[]){"--cache", "none", NULL});
    _Atomic bool *loaded = shared_alloc(LONG_USERS * sizeof(*loaded));
    pid_t pid[LONG_USERS];
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    /* For some seconds of compiling: NVIDIA's compiler takes four times as long for twice as many.
     */
    const unsigned instructions = test_device_is_soft(session) ? 250000 : 50000;
    for (unsigned i = 0; i < LONG_USERS; i++)
        pid[i] = tenant_start(long_text_run,
                              &(struct long_load){STRANGER - i, instructions, &loaded[i]});
    CHECK_WITHIN(30000, busy_compilers(server) == LONG_USERS);
    CHECK_OK(new_text_load(session, 100, 1, &module));
    for (unsigned i = 0; i < LONG_USERS; i++)
        CHECK(!loaded[i]);
    for (unsigned i = 0; i < LONG_USERS; i++)
        tenant_join(pid[i]);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { KEPT_MOST_KIB = 64 << 10, FUNCTIONS = 16, ACCESSES = 32000 };

/* What the worker has of the machine's memory, without what it shares. */
static uint64_t worker_kib(const struct server *server)
{
    char path[64], line[128];
    unsigned long long kib = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)server_worker_pid(server));
    file = fopen(path, "re");
    CHECK(file != NULL);
    while (!kib && fgets(line, sizeof(line), file))
        sscanf(line, "RssAnon: %llu", &kib);
    fclose(file);
    CHECK(kib > 0);
    return kib;
}

/* Text for which the fence takes some hundred MiB, and which it refuses in the end. */
static char *large_text(void)
{
    const size_t room = 16 * MIB;
    char *text = malloc(room);
    size_t n;

    CHECK(text != NULL);
    n = (size_t)snprintf(text, room, ".version 7.8\n.target sm_80\n.address_size 64\n");
    for (unsigned f = 0; f < FUNCTIONS; f++) {
        n += (size_t)snprintf(text + n, room - n,
                              ".visible .entry k%u() {\n.reg .b64 a; .reg .b32 b;\n", f);
        for (unsigned i = 0; i < ACCESSES; i++)
            n += (size_t)snprintf(text + n, room - n, "ld.global.u32 b, [a];\n");
        n += (size_t)snprintf(text + n, room - n, "ret;\n}\n");
    }
    CHECK(n + 1 < room);
    return text;
}

static void the_memory_that_a_large_text_takes_is_given_back(void)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    struct server *server;
    gs_session session;
    gs_module module;
    uint64_t before;
    char *text;

    if (ADDRESS_SANITIZER || THREAD_SANITIZER)
        test_skip("sanitizers have an allocator of their own");
    server = server_start(NULL);
    text = large_text();
    params.fence = GS_FENCE_ON;
    CHECK_OK(gs_attach(&params, &session));
    kernels_load(session);
    before = worker_kib(server);
    CHECK_STATUS(gs_module_load(session, text, 0, &module), GS_ERR_PERMISSION);
    CHECK_TEXT(gs_last_error_message(), "too many large functions");
    CHECK_OK(gs_detach(session));
    CHECK_WITHIN(10000, worker_kib(server) < before + KEPT_MOST_KIB);
    free(text);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(who_compiles_without_end_has_its_share_of_a_cpu),
    TEST(a_short_text_waits_for_no_long_one),
    TEST(the_memory_that_a_large_text_takes_is_given_back),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
