/*
 * test_programs.c - each CUDA program of programs/ runs as a tenant and prints what its own
 * comments say. A test for each, named as the program: test/rules.mk lists them.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/cuda_program.h"
#include "harness/harness.h"

static char output[16384];

/* The same, linked with NVIDIA's own runtime, by gshare-run. */
static void a_program_of_nvidias_runtime_runs_by_gshare_run(void)
{
    char path[512];

    snprintf(path, sizeof(path), "%s", test_build_path("test/cudart/native/symbols_are_copied"));
    if (access(path, X_OK) < 0)
        test_skip("there is no nvcc, or a sanitizer, whose library has to come first");
    cuda_program_run((const char *const[]){"bin/gshare-run", path, NULL},
                     "test/cudart/programs/symbols_are_copied.cu");
}

/* One of the runtime before. */
static void a_program_of_cuda_12_runs_by_gshare_run(void)
{
    char path[512];

    snprintf(path, sizeof(path), "%s", test_build_path("test/cudart/runtime12"));
    if (access(path, X_OK) < 0)
        test_skip("a sanitizer, whose library has to come first");
    cuda_program_run((const char *const[]){"bin/gshare-run", path, NULL},
                     "test/cudart/runtime12.c");
}

/* A takeover without a standby can take longer than gs_attach waits by itself, beside other
 * servers that make contexts on the device. */
static void a_program_waits_longer_than_gs_attach(void)
{
    const struct timespec longer = {.tv_sec = 11};
    struct server *server;
    pid_t supervisor, child;

    if (access(test_build_path("test/cudart/programs/symbols_are_copied"), X_OK) < 0)
        test_skip("there is no nvcc");
    server = server_start(NULL);
    supervisor = server_supervisor(server);
    CHECK_EQUAL(kill(supervisor, SIGSTOP), 0);
    child = fork();
    if (child == 0) {
        nanosleep(&longer, NULL);
        _exit(kill(supervisor, SIGCONT) != 0);
    }
    CHECK(child > 0);
    cuda_program_test("test/cudart", "symbols_are_copied");
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
    server_stop(server);
}

/* What gshare-run itself says, without a server. */
static void gshare_run_says_what_it_cannot_run(void)
{
    const char *file;
    int fd = test_file_open(&file);
    static const char inside[] = "\177ELF /cudart.shm.%x", old[] = "\177ELF libcudart.so.11.0";
    static const char driver[] = "\177ELF libcudart.so.13 libcuda.so.1";
    static const char other[] = "\177ELF libcudart.so.13 libcufft.so.12";
    static const char script[] = "#!/bin/sh\necho /cudart.shm. libcudart.so.11.0\n";

    CHECK_EQUAL(
        program_run((const char *[]){"bin/gshare-run", "--help", NULL}, output, sizeof(output)), 0);
    CHECK_TEXT(output, "Usage: gshare-run PROGRAM");
    CHECK_EQUAL(program_run((const char *[]){"bin/gshare-run", "-V", NULL}, output, sizeof(output)),
                0);
    CHECK_TEXT(output, "gshare-run " GS_VERSION_STRING);
    CHECK_EQUAL(program_run((const char *[]){"bin/gshare-run", "./none-such", NULL}, output,
                            sizeof(output)),
                127);
    CHECK_TEXT(output, "gshare-run: ./none-such: not found");
    CHECK(fchmod(fd, 0600) == 0);
    CHECK_EQUAL(program_run((const char *[]){"bin/gshare-run", file, NULL}, output, sizeof(output)),
                126);
    CHECK_TEXT(output, " is not a program");
    CHECK_EQUAL(program_run((const char *[]){"bin/gshare-run", "/", NULL}, output, sizeof(output)),
                126);
    CHECK_TEXT(output, "gshare-run: / is not a program");

    CHECK(fchmod(fd, 0700) == 0 && pwrite(fd, inside, sizeof(inside), 0) > 0);
    program_run((const char *[]){"bin/gshare-run", file, NULL}, output, sizeof(output));
    CHECK_TEXT(output, "has NVIDIA's runtime inside");
    CHECK(pwrite(fd, old, sizeof(old), 0) > 0);
    program_run((const char *[]){"bin/gshare-run", file, NULL}, output, sizeof(output));
    CHECK_TEXT(output, "asks for an older CUDA runtime");
    CHECK(pwrite(fd, other, sizeof(other), 0) > 0);
    program_run((const char *[]){"bin/gshare-run", file, NULL}, output, sizeof(output));
    CHECK_TEXT(output, "asks for libcufft.so.12, which gshare does not have");
    CHECK(strstr(output, "libcuda.so") == NULL);
    CHECK(pwrite(fd, driver, sizeof(driver), 0) > 0);
    program_run((const char *[]){"bin/gshare-run", file, NULL}, output, sizeof(output));
    CHECK_TEXT(output, "asks for libcuda.so.1, which gshare does not have");
    CHECK(pwrite(fd, script, sizeof(script) - 1, 0) > 0);
    program_run((const char *[]){"bin/gshare-run", file, NULL}, output, sizeof(output));
    CHECK(strstr(output, "will not run on gshare") == NULL);
    close(fd);
}

static void gshare_run_refuses_without_gshares_runtime(void)
{
    char script[512];

    snprintf(script, sizeof(script), "sed 's|^folder=.*|folder=/none-such|' %s | sh -s -- ls",
             test_build_path("bin/gshare-run"));
    CHECK_EQUAL(program_run((const char *[]){"bin/gshare-run", "sh", "-c", script, NULL}, output,
                            sizeof(output)),
                126);
    CHECK_TEXT(output, "gshare-run: /none-such has no CUDA runtime");
}

static void gshare_run_warns_of_an_rpath_to_another_runtime(void)
{
    char path[512];

    snprintf(path, sizeof(path), "%s", test_build_path("test/cudart/rpath/program"));
    if (access(path, X_OK) < 0)
        test_skip("a sanitizer, whose library has to come first");
    program_run((const char *[]){"bin/gshare-run", path, NULL}, output, sizeof(output));
    CHECK_TEXT(output, "will not run on gshare: its RPATH leads to ");
    CHECK_TEXT(output, "test/cudart/rpath/libcudart.so.13;");
    snprintf(path, sizeof(path), "%s", test_build_path("test/cudart/runtime12"));
    program_run((const char *[]){"bin/gshare-run", path, NULL}, output, sizeof(output));
    CHECK(strstr(output, "RPATH") == NULL);
}

/* Programs about several devices have a server of several, and one about a limited user has one
 * that limits all users. */
static void program_test(const char *name)
{
    static const char *const arguments[] = {"--devices", "all", NULL};
    const char *const peers =
        strstr(name, "without_peer_access") != NULL ? "GSHARE_SOFT_PEERS=0" : NULL;
    const char *const environment[] = {"GSHARE_SOFT_DEVICES=2", peers, NULL};
    const struct server_options options = {.arguments = arguments, .environment = environment};
    const char *const device = getenv("GSHARE_TEST_DEVICE");

    if (peers != NULL && device != NULL && strcmp(device, "cuda") == 0)
        test_skip("it is for the machine to say whether its devices reach each other");
    const bool limited = strstr(name, "limited_user") != NULL;
    struct server *server = NULL;

    if (strstr(name, "devices_") != NULL)
        server = server_start(&options);
    else if (limited)
        server = server_start(NULL);
    if (limited)
        CHECK_EQUAL(program_run((const char *const[]){"bin/gsctl", "set", "--default", "--user-mem",
                                                      "64M", "--user-host-mem", "64M", NULL},
                                output, sizeof(output)),
                    0);
    cuda_program_test("test/cudart", name);
    if (server != NULL)
        server_stop(server);
}

#define PROGRAM(name)                                                                              \
    static void name(void)                                                                         \
    {                                                                                              \
        program_test(#name);                                                                       \
    }
#include "programs.inc"
#undef PROGRAM

static const struct test tests[] = {
#define PROGRAM(name) TEST(name),
#include "programs.inc"
#undef PROGRAM
    TEST(a_program_of_nvidias_runtime_runs_by_gshare_run),
    TEST(a_program_of_cuda_12_runs_by_gshare_run),
    TEST(a_program_waits_longer_than_gs_attach),
    TEST(gshare_run_says_what_it_cannot_run),
    TEST(gshare_run_refuses_without_gshares_runtime),
    TEST(gshare_run_warns_of_an_rpath_to_another_runtime),
};

int main(int argc, char **argv)
{
    return test_main_with_server(argc, argv, tests, ARRAY_SIZE(tests));
}
