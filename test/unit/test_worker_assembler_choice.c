/*
 * test_worker_assembler_choice.c - the toolkit's assembler under a worker that runs: where it is
 * removed or replaced the driver compiles from then on, but no text that it refuses or crashes on
 * has that effect; and one that others than root can change is not used. The stand-ins are scripts
 * in a folder that only root can change; without one the tests that need it are skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "fake_driver.h"
#include "worker/driver/worker.h"
#include "worker/jobs/job.h"
#include "worker/module/assembler_choice.h"
#include "worker/module/assembler_process.h"
#include "worker/module/compile.h"

#define VERSION "echo 'Cuda compilation tools, release 13.0, V13.0.88'"

static struct session session = {.id = 1, .fenced = true};
static struct link_stats stats;
static unsigned compilations; /* by the driver */
static char code[] = "code";
static char folder[PATH_MAX + 16], program[PATH_MAX + 16], interpreter[PATH_MAX + 16];
static int said = -1; /* what the worker logs */

/* ---- A driver -------------------------------------------------------------------------------- */

static CUresult driver_version(int *out)
{
    *out = 13000;
    return CUDA_SUCCESS;
}

static CUresult link_create(unsigned int count, CUjit_option *options, void **values,
                            CUlinkState *state)
{
    (void)count;
    (void)options;
    (void)values;
    *state = (CUlinkState)&compilations;
    return CUDA_SUCCESS;
}

static CUresult link_add(CUlinkState state, CUjitInputType type, void *data, size_t size,
                         const char *name, unsigned int count, CUjit_option *options, void **values)
{
    (void)state;
    (void)type;
    (void)data;
    (void)size;
    (void)name;
    (void)count;
    (void)options;
    (void)values;
    compilations++;
    return CUDA_SUCCESS;
}

static CUresult link_complete(CUlinkState state, void **made, size_t *size)
{
    (void)state;
    *made = code;
    *size = sizeof(code);
    return CUDA_SUCCESS;
}

static CUresult link_destroy(CUlinkState state)
{
    (void)state;
    return CUDA_SUCCESS;
}

/* ---- A toolkit ------------------------------------------------------------------------------- */

/* Puts a program in the place of the one that is there, as a package manager does. It tells its
 * version, and does what a text has it do. */
static void program_write(const char *version)
{
    char beside[PATH_MAX + 24];
    FILE *file;

    snprintf(beside, sizeof(beside), "%s.new", program);
    file = fopen(beside, "w");
    assert_non_null(file);
    fprintf(file,
            "#!%s\ncase $1 in --version) %s; exit;; esac\n"
            "while read -r line; do case $line in\n"
            "*crashes*) kill -SEGV $$;;\n*is_lost*) exit 127;;\nesac; done <$2\n"
            "echo no; exit 255\n",
            interpreter, version);
    assert_int_equal(fchmod(fileno(file), 0755), 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(beside, program), 0);
}

/* Whether only root can change the folder and those above. */
static bool folder_is_roots(void)
{
    char path[PATH_MAX];
    struct stat part;
    bool roots = realpath(folder, path);

    while (roots) {
        roots = stat(*path ? path : "/", &part) == 0 && part.st_uid == 0 && !(part.st_mode & 022);
        if (!*path)
            break;
        *strrchr(path, '/') = '\0';
    }
    return roots;
}

static int toolkit_make(void **state)
{
    char path[PATH_MAX];

    (void)state;
    fake_cu.cuDriverGetVersion = driver_version;
    fake_cu.cuLinkCreate_v2 = link_create;
    fake_cu.cuLinkAddData_v2 = link_add;
    fake_cu.cuLinkComplete = link_complete;
    fake_cu.cuLinkDestroy = link_destroy;
    session.stats = &stats;
    worker_begin()->machine_code = true;
    worker_begin()->info.compute_major = 9;
    compilations = 0;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length <= 0)
        return -1;
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    snprintf(folder, sizeof(folder), "%s/toolkit-XXXXXX", path); /* beside this test */
    if (!mkdtemp(folder) || chmod(folder, 0755) || !realpath(folder, path))
        return -1;
    snprintf(interpreter, sizeof(interpreter), "%s/sh", path);
    snprintf(program, sizeof(program), "%s/ptxas", path);
    said = memfd_create("said", MFD_CLOEXEC);
    if (symlink("/bin/sh", interpreter) || said < 0)
        return -1;
    program_write(VERSION);
    return 0;
}

static int toolkit_remove(void **state)
{
    (void)state;
    unlink(program);
    unlink(interpreter);
    close(said);
    return rmdir(folder);
}

/* ---- The worker ------------------------------------------------------------------------------ */

static void begin(void)
{
    if (!folder_is_roots())
        skip();
    assembler_choose_toolkits(program);
    assert_true(assembler_wanted());
    assert_int_equal(assembler_version() != 0, 1);
}

/* How often the worker logs the event meanwhile. */
static unsigned logs(const char *event, gs_status (*act)(const char *), const char *name,
                     gs_status expected)
{
    const int before = dup(STDERR_FILENO);
    char text[4096];
    unsigned count = 0;
    gs_status status;

    assert_int_equal(ftruncate(said, 0) | lseek(said, 0, SEEK_SET), 0);
    assert_true(before >= 0 && dup2(said, STDERR_FILENO) >= 0);
    status = act(name);
    dup2(before, STDERR_FILENO);
    close(before);
    assert_int_equal(status, expected);
    const ssize_t size = pread(said, text, sizeof(text) - 1, 0);
    text[size < 0 ? 0 : size] = '\0';
    for (const char *at = text; (at = strstr(at, event)); at++)
        count++;
    return count;
}

/* Has a text compiled that names that. */
static gs_status compile(const char *name)
{
    struct job job = {.session = &session};
    char text[128];

    snprintf(text, sizeof(text), ".visible .entry %s() { ret; }\n", name);
    unsigned char *image = (unsigned char *)strdup(text);
    uint64_t size = strlen(text);
    assert_non_null(image);
    const gs_status status = image_compile(&job, &image, &size, true);
    assert_string_equal(image, status == GS_OK ? code : text);
    free(image);
    return status;
}

/* The driver compiles now, and whoever loads next learns nothing of it. */
static void check_lost(void)
{
    assert_int_equal(logs("event=ptxas-lost", compile, "good", GS_OK), 1);
    assert_int_equal(compilations, 1);
    assert_false(assembler_wanted());
    assert_int_equal(logs("event=", compile, "crashes", GS_OK), 0);
    assert_int_equal(compilations, 2);
}

/* ---- What is tested -------------------------------------------------------------------------- */

static void no_text_has_the_driver_compile(void **state)
{
    static const char *const names[] = {"good", "crashes", "is_lost", "good"};

    (void)state;
    begin();
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        assert_int_equal(logs("event=ptxas-lost", compile, names[i], GS_ERR_BAD_IMAGE), 0);
    assert_int_equal(compilations, 0);
    assert_true(assembler_wanted());
}

static void where_it_is_removed_the_driver_compiles(void **state)
{
    (void)state;
    begin();
    assert_int_equal(unlink(program), 0);
    check_lost();
    program_write(VERSION); /* until the worker is another */
    assert_int_equal(logs("event=", compile, "good", GS_OK), 0);
}

static void where_it_may_not_be_executed_the_driver_compiles(void **state)
{
    (void)state;
    begin();
    assert_int_equal(chmod(program, 0644), 0);
    check_lost();
}

/* As where a library of it is gone. */
static void where_the_system_cannot_start_it_the_driver_compiles(void **state)
{
    (void)state;
    begin();
    assert_int_equal(unlink(interpreter), 0);
    check_lost();
}

static void where_another_version_takes_its_place_the_driver_compiles(void **state)
{
    (void)state;
    begin();
    program_write("echo 'Cuda compilation tools, release 12.8, V12.8.61'");
    check_lost();
}

static void where_others_can_change_it_now_the_driver_compiles(void **state)
{
    (void)state;
    begin();
    assert_int_equal(chmod(program, 0775), 0);
    check_lost();
}

/* As the system ends a process where it has no memory left, which a tenant can bring about. */
static void a_look_that_tells_nothing_has_no_effect(void **state)
{
    (void)state;
    begin();
    program_write("kill -KILL $$");
    assert_int_equal(logs("event=ptxas-lost", compile, "good", GS_ERR_BAD_IMAGE), 0);
    assert_int_equal(logs("event=ptxas-lost", compile, "is_lost", GS_ERR_BAD_IMAGE), 0);
    assert_int_equal(compilations, 0);
    assert_true(assembler_wanted());
}

/* The file is the one that could not be looked at. */
static void a_look_that_told_nothing_is_made_again(void **state)
{
    char told[PATH_MAX + 64];

    (void)state;
    begin();
    snprintf(told, sizeof(told), "%s/told", folder);
    program_write("test -e ${0%/*}/told || kill -KILL $$; "
                  "echo 'Cuda compilation tools, release 12.8, V12.8.61'");
    assert_int_equal(logs("event=ptxas-lost", compile, "good", GS_ERR_BAD_IMAGE), 0);
    const int fd = open(told, O_CREAT | O_WRONLY, 0644);
    assert_true(fd >= 0 && close(fd) == 0);
    const unsigned count = logs("event=ptxas-lost", compile, "good", GS_OK);
    assert_int_equal(unlink(told), 0);
    assert_int_equal(count, 1);
}

static void one_that_suits_takes_its_place(void **state)
{
    (void)state;
    begin();
    program_write("echo 'Cuda compilation tools, release 13.1, V13.1.2'");
    assert_int_equal(logs("event=ptxas-lost", compile, "good", GS_ERR_BAD_IMAGE), 0);
    assert_int_equal(compilations, 0);
}

/* The operator wanted that one, and no other compiler. */
static void where_it_was_named_loads_fail_until_it_is_back(void **state)
{
    (void)state;
    if (!folder_is_roots())
        skip();
    assert_int_equal(setenv("GSHARE_PTXAS", program, 1), 0);
    assembler_choose();
    assert_int_equal(unlink(program), 0);
    assert_int_equal(logs("event=no-ptxas", compile, "good", GS_ERR_DRIVER), 1);
    assert_int_equal(compilations, 0);
    program_write(VERSION);
    assert_int_equal(compile("good"), GS_ERR_BAD_IMAGE);
}

static gs_status choose(const char *name)
{
    assembler_choose_toolkits(name);
    return assembler_wanted() ? GS_OK : GS_ERR_PERMISSION;
}

static void one_in_a_folder_that_others_can_change_is_not_used(void **state)
{
    char name[PATH_MAX], reason[PATH_MAX + 64];

    (void)state;
    assert_int_equal(chmod(folder, 0775), 0);
    assert_non_null(realpath(folder, name));
    if (geteuid() == 0) {
        snprintf(reason, sizeof(reason), "reason=\"others than root can change %s\"", name);
        assert_int_equal(logs(reason, choose, program, GS_ERR_PERMISSION), 1);
        assert_int_equal(chmod(folder, 01777), 0);
        assert_int_equal(logs(reason, choose, program, GS_ERR_PERMISSION), 1);
    }
    assert_int_equal(logs("used=no", choose, program, GS_ERR_PERMISSION), 1);
}

/* The file that the name leads to is what counts, and is used by its own name afterwards. */
static void links_are_resolved_before(void **state)
{
    char link[PATH_MAX + 64], used[PATH_MAX + 64];

    (void)state;
    begin();
    snprintf(link, sizeof(link), "%s/link", folder);
    assert_int_equal(symlink(program, link), 0);
    snprintf(used, sizeof(used), "program=%s used=yes", program);
    const unsigned count = logs(used, choose, link, GS_OK);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(count, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, toolkit_make, toolkit_remove)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(no_text_has_the_driver_compile),
        TEST(where_it_is_removed_the_driver_compiles),
        TEST(where_it_may_not_be_executed_the_driver_compiles),
        TEST(where_the_system_cannot_start_it_the_driver_compiles),
        TEST(where_another_version_takes_its_place_the_driver_compiles),
        TEST(where_others_can_change_it_now_the_driver_compiles),
        TEST(a_look_that_tells_nothing_has_no_effect),
        TEST(a_look_that_told_nothing_is_made_again),
        TEST(one_that_suits_takes_its_place),
        TEST(where_it_was_named_loads_fail_until_it_is_back),
        TEST(one_in_a_folder_that_others_can_change_is_not_used),
        TEST(links_are_resolved_before),
    };

    if (argc > 3 && !strcmp(argv[1], "--ptxas-run")) /* as gshared does */
        return assembler_main(argv + 2);
    log_init("test", NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
