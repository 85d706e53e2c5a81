/* test_assembler.c - gshared --ptxas: PTX is compiled by a process of its own, and what becomes of
 * it concerns nobody but its session. On the software device, whose machine code is text, with
 * test/shim/ptxas.c. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/harness.h"

static struct server *server_with(const char *program, const char *fence)
{
    const char *const arguments[] = {"--fence", fence, "--ptxas", program, NULL};

    return server_start(&(struct server_options){.device = "soft", .arguments = arguments});
}

/* The stand-in, beside this test. */
static const char *stand_in(void)
{
    static char path[4096];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - sizeof("ptxas"));

    CHECK(size > 0);
    path[size] = '\0';
    memcpy(strrchr(path, '/') + 1, "ptxas", sizeof("ptxas"));
    return path;
}

static struct server *server_with_assembler(const char *fence)
{
    return server_with(stand_in(), fence);
}

static gs_status kernel_load(gs_session session, const char *name, gs_module *module)
{
    char text[256];

    snprintf(text, sizeof(text),
             ".version 7.8\n.target sm_80\n.address_size 64\n"
             ".visible .entry %s(.param .u64 p)\n"
             "{ .reg .b64 %%rd; ld.param.u64 %%rd, [p]; st.global.u32 [%%rd], 42; ret; }\n",
             name);
    return gs_module_load(session, text, 0, module);
}

/* Whether a kernel can be loaded and runs. */
static void check_goes_on(gs_session session)
{
    const gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_kernel kernel;
    gs_module module;
    gs_devptr out;
    uint32_t value = 0;

    CHECK_OK(kernel_load(session, "good", &module));
    CHECK_OK(gs_kernel_get(module, "good", &kernel));
    CHECK_OK(gs_malloc(session, sizeof(value), &out));
    CHECK_OK(gs_launch(NULL, kernel, &config, (void *[]){&out}));
    CHECK_OK(gs_memcpy_dtoh(session, &value, out, sizeof(value)));
    CHECK_EQUAL(value, 42);
    CHECK_OK(gs_free(session, out));
    CHECK_OK(gs_module_unload(module));
}

static void what_it_refuses_is_a_bad_image(void)
{
    struct server *server = server_with_assembler("always");
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    check_goes_on(session);
    CHECK_STATUS(kernel_load(session, "assembler_refuses", &module), GS_ERR_BAD_IMAGE);
    CHECK_TEXT(gs_last_error_message(), "ptxas refuses it: ptxas: no");
    CHECK_STATUS(kernel_load(session, "assembler_is_silent", &module), GS_ERR_BAD_IMAGE);
    CHECK_TEXT(gs_last_error_message(), "what ptxas has made is no machine code: it is empty");
    check_goes_on(session);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* It is the operator's to mend. */
static void one_that_cannot_be_run_is_told(void)
{
    static const char text[] = "#!/no/such/interpreter\n";
    char path[] = "/tmp/gshare-ptxas-XXXXXX";
    const int fd = mkstemp(path);
    struct server *server;
    gs_session session;
    gs_module module;

    CHECK(fd >= 0 && write(fd, text, sizeof(text) - 1) > 0 && fchmod(fd, 0755) == 0);
    CHECK(close(fd) == 0);
    server = server_with(path, "always");
    CHECK_OK(server_attach(server, &session));
    CHECK_STATUS(kernel_load(session, "good", &module), GS_ERR_DRIVER);
    CHECK_TEXT(gs_last_error_message(), "ptxas cannot be run: ");
    CHECK_EQUAL(server_log_lines(server, "event=no-ptxas program=/tmp/gshare-ptxas-"), 1);
    for (unsigned i = 0; i < 20; i++)
        CHECK_STATUS(kernel_load(session, "good", &module), GS_ERR_DRIVER);
    CHECK(server_log_lines(server, "event=no-ptxas") <= 16); /* eight in ten seconds */
    CHECK_OK(gs_detach(session));
    server_stop(server);
    CHECK(unlink(path) == 0);
}

static void it_compiles_for_sessions_that_are_not_fenced(void)
{
    struct server *server = server_with_assembler("never");
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    check_goes_on(session);
    CHECK_STATUS(kernel_load(session, "assembler_refuses", &module), GS_ERR_BAD_IMAGE);
    check_goes_on(session);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* The software device has machine code of its own. */
static void the_toolkits_is_for_an_nvidia_gpu(void)
{
    struct server *server = server_with("auto", "always");
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    check_goes_on(session);
    CHECK_EQUAL(server_log_lines(server, "event=ptxas"), 0);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_module_of_variables_alone_is_loaded(void)
{
    static const char text[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                               ".visible .global .u32 numbers[4] = {1, 2, 3, 42};\n// the end";
    struct server *server = server_with_assembler("always");
    uint32_t numbers[4];
    gs_session session;
    gs_module module;
    unsigned kernels;
    gs_devptr at;
    size_t size;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_module_load(session, text, 0, &module));
    CHECK_OK(gs_global_get(module, "numbers", &at, &size));
    CHECK_EQUAL(size, sizeof(numbers));
    CHECK_OK(gs_memcpy_dtoh(session, numbers, at, sizeof(numbers)));
    CHECK_EQUAL(numbers[3], 42);
    CHECK_OK(gs_module_kernel_count(module, &kernels));
    CHECK_EQUAL(kernels, 0);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void its_crash_harms_nobody(void)
{
    struct server *server = server_with_assembler("always");
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    CHECK_STATUS(kernel_load(session, "assembler_crashes", &module), GS_ERR_BAD_IMAGE);
    CHECK_TEXT(gs_last_error_message(), "ptxas was ended by signal 11");
    check_goes_on(session);
    CHECK_EQUAL(server_log_lines(server, "event=fault"), 0);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* What takes it over is to find no way out. */
static void it_reaches_no_other_process(void)
{
    struct server *server = server_with_assembler("always");
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    CHECK_STATUS(kernel_load(session, "assembler_signals", &module), GS_ERR_BAD_IMAGE);
    CHECK_TEXT(gs_last_error_message(), "ptxas refuses it: it cannot");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Which would have memory and time of its own, and could outlive a worker that is lost. */
static void it_starts_no_process(void)
{
    struct server *server = server_with_assembler("always");
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    CHECK_STATUS(kernel_load(session, "assembler_forks", &module), GS_ERR_BAD_IMAGE);
    CHECK_TEXT(gs_last_error_message(), "ptxas refuses it: it cannot");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void it_opens_no_files(void)
{
    struct server *server;
    gs_session session;
    gs_module module;

    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0)
        test_skip("this kernel has no Landlock");
    server = server_with_assembler("always");
    CHECK_OK(server_attach(server, &session));
    CHECK_STATUS(kernel_load(session, "assembler_opens", &module), GS_ERR_BAD_IMAGE);
    CHECK_TEXT(gs_last_error_message(), "ptxas refuses it: no more");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Makes the program one that takes texts as the stand-in does, or refuses all. */
static void program_write(const char *path, bool compiles)
{
    static const char refuses[] = "#!/bin/sh\necho refused >&2\nexit 255\n";
    const int from = compiles ? open(stand_in(), O_RDONLY) : -1;
    const int to = open(path, O_WRONLY | O_TRUNC);

    CHECK(to >= 0 && compiles == (from >= 0) && fchmod(to, 0755) == 0);
    if (compiles)
        CHECK(sendfile(to, from, NULL, 1 << 30) > 0 && close(from) == 0);
    else
        CHECK_EQUAL(write(to, refuses, sizeof(refuses) - 1), sizeof(refuses) - 1);
    CHECK(close(to) == 0);
}

/* A standby of another version begins with what it keeps when it takes over, and not before. */
static void a_standby_leaves_the_code_that_is_kept_alone(void)
{
    char path[] = "/tmp/gshare-ptxas-XXXXXX";
    struct server *server;
    gs_session session;
    gs_module module;
    pid_t standby;

    CHECK(close(mkstemp(path)) == 0);
    program_write(path, true);
    server = server_with(path, "always");
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(kernel_load(session, "good", &module));
    CHECK_OK(gs_module_unload(module));
    CHECK_WITHIN(20000, (standby = server_standby_pid(server)) != 0);
    program_write(path, false);
    CHECK(kill(standby, SIGKILL) == 0);
    CHECK_WITHIN(20000, server_standby_pid(server) != 0 && server_standby_pid(server) != standby);
    CHECK_STATUS(kernel_load(session, "other", &module), GS_ERR_BAD_IMAGE);
    CHECK_OK(kernel_load(session, "good", &module));
    CHECK_OK(gs_detach(session));
    server_stop(server);
    CHECK(unlink(path) == 0);
}

/* Whether a process has the word on its command line. */
static bool runs(const char *word)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    bool found = false;

    CHECK(processes != NULL);
    while (!found && (entry = readdir(processes)) != NULL) {
        char path[300], line[1024];
        FILE *file;
        size_t size;

        snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
        file = atoi(entry->d_name) > 0 ? fopen(path, "r") : NULL;
        if (file == NULL)
            continue;
        size = fread(line, 1, sizeof(line), file);
        fclose(file);
        found = memmem(line, size, word, strlen(word)) != NULL;
    }
    closedir(processes);
    return found;
}

static void endless_run(void *argument)
{
    gs_session session;
    gs_module module;

    CHECK_OK(gs_attach(NULL, &session));
    kernel_load(session, argument, &module);
}

static void it_ends_with_its_session(void)
{
    struct server *server = server_with_assembler("always");
    char name[64];
    pid_t tenant;

    snprintf(name, sizeof(name), "assembler_runs_on_%d", (int)getpid());
    tenant = tenant_start(endless_run, name);
    CHECK_WITHIN(20000, runs(name));
    tenant_kill(tenant, SIGKILL);
    CHECK_WITHIN(20000, server_log_lines(server, "event=detached session=1 ") == 1);
    CHECK(!runs(name));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(what_it_refuses_is_a_bad_image),
    TEST(one_that_cannot_be_run_is_told),
    TEST(it_compiles_for_sessions_that_are_not_fenced),
    TEST(the_toolkits_is_for_an_nvidia_gpu),
    TEST(a_module_of_variables_alone_is_loaded),
    TEST(its_crash_harms_nobody),
    TEST(it_reaches_no_other_process),
    TEST(it_starts_no_process),
    TEST(it_opens_no_files),
    TEST(a_standby_leaves_the_code_that_is_kept_alone),
    TEST(it_ends_with_its_session),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
