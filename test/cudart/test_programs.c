/*
 * test_programs.c - each CUDA program of programs/ runs as a tenant and prints what its own
 * comments say. A test for each, named as the program: the Makefile lists them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/harness.h"

static char wanted[16384], output[16384];

/* The lines after "//>" in the program's source, of this folder. */
static void wanted_read(const char *source)
{
    const char *root = getenv("GSHARE_SOURCE_DIR");
    char path[512], line[1024];
    size_t used = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/test/cudart/%s", root ? root : ".", source);
    f = fopen(path, "r");
    if (f == NULL)
        test_fail(__FILE__, __LINE__, "cannot read %s", path);
    while (fgets(line, sizeof(line), f) != NULL) {
        const char *mark = strstr(line, "//> ");

        if (mark != NULL)
            used += (size_t)snprintf(wanted + used, sizeof(wanted) - used, "%s", mark + 4);
    }
    fclose(f);
    CHECK(used > 0 && used < sizeof(wanted));
}

/* The library's own lines are none of the runtime's behaviour. */
static void library_lines_drop(void)
{
    static const char prefix[] = "libgshare_cudart: ";
    char *to = output;

    for (char *line = output, *next; *line != '\0'; line = next) {
        next = strchr(line, '\n');
        next = next != NULL ? next + 1 : line + strlen(line);
        if (strncmp(line, prefix, sizeof(prefix) - 1) != 0) {
            memmove(to, line, (size_t)(next - line));
            to += next - line;
        }
    }
    *to = '\0';
}

static void run(const char *const *arguments, const char *source)
{
    struct server *server = server_start(NULL);
    int status;

    wanted_read(source);
    status = program_run(arguments, output, sizeof(output));
    if (strncmp(source, "programs/own_", 13) != 0)
        library_lines_drop();
    if (status != 0 || strcmp(output, wanted) != 0)
        test_fail(__FILE__, __LINE__, "status %d\n--- wanted\n%s--- printed\n%s---", status, wanted,
                  output);
    server_stop(server);
}

static void program(const char *name)
{
    char path[256], source[256];

    snprintf(path, sizeof(path), "test/cudart/programs/%s", name);
    snprintf(source, sizeof(source), "programs/%s.cu", name);
    if (access(test_build_path(path), X_OK) < 0)
        test_skip("there is no nvcc");
    run((const char *const[]){path, NULL}, source);
}

/* The same, linked with NVIDIA's own runtime, by gshare-run. */
static void a_program_of_nvidias_runtime_runs_by_gshare_run(void)
{
    char path[512];

    snprintf(path, sizeof(path), "%s", test_build_path("test/cudart/native/symbols_are_copied"));
    if (access(path, X_OK) < 0)
        test_skip("there is no nvcc, or a sanitizer, whose library has to come first");
    run((const char *const[]){"bin/gshare-run", path, NULL}, "programs/symbols_are_copied.cu");
}

/* One of the runtime before. */
static void a_program_of_cuda_12_runs_by_gshare_run(void)
{
    char path[512];

    snprintf(path, sizeof(path), "%s", test_build_path("test/cudart/runtime12"));
    if (access(path, X_OK) < 0)
        test_skip("a sanitizer, whose library has to come first");
    run((const char *const[]){"bin/gshare-run", path, NULL}, "runtime12.c");
}

/* What gshare-run itself says, without a server. */
static void gshare_run_says_what_it_cannot_run(void)
{
    const char *file;
    int fd = test_file_open(&file);
    static const char inside[] = "\177ELF /cudart.shm.%x", old[] = "\177ELF libcudart.so.11.0";
    static const char script[] = "#!/bin/sh\necho /cudart.shm. libcudart.so.11.0\n";

    CHECK_EQUAL(
        program_run((const char *[]){"bin/gshare-run", "--help", NULL}, output, sizeof(output)), 0);
    CHECK_TEXT(output, "usage: gshare-run PROGRAM");
    CHECK_EQUAL(program_run((const char *[]){"bin/gshare-run", "-V", NULL}, output, sizeof(output)),
                0);
    CHECK_TEXT(output, "gshare-run " GS_VERSION_STRING);
    CHECK_EQUAL(program_run((const char *[]){"bin/gshare-run", "./none-such", NULL}, output,
                            sizeof(output)),
                127);
    CHECK_TEXT(output, "gshare-run: ./none-such: not found");

    CHECK(fchmod(fd, 0700) == 0 && pwrite(fd, inside, sizeof(inside), 0) > 0);
    program_run((const char *[]){"bin/gshare-run", file, NULL}, output, sizeof(output));
    CHECK_TEXT(output, "has NVIDIA's runtime inside");
    CHECK(pwrite(fd, old, sizeof(old), 0) > 0);
    program_run((const char *[]){"bin/gshare-run", file, NULL}, output, sizeof(output));
    CHECK_TEXT(output, "asks for an older CUDA runtime");
    CHECK(pwrite(fd, script, sizeof(script) - 1, 0) > 0);
    program_run((const char *[]){"bin/gshare-run", file, NULL}, output, sizeof(output));
    CHECK(strstr(output, "will not run on gshare") == NULL);
    close(fd);
}

#define PROGRAM(name)                                                                              \
    static void name(void)                                                                         \
    {                                                                                              \
        program(#name);                                                                            \
    }
#include "programs.inc"
#undef PROGRAM

static const struct test tests[] = {
#define PROGRAM(name) TEST(name),
#include "programs.inc"
#undef PROGRAM
    TEST(a_program_of_nvidias_runtime_runs_by_gshare_run),
    TEST(a_program_of_cuda_12_runs_by_gshare_run),
    TEST(gshare_run_says_what_it_cannot_run),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
