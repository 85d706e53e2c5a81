/*
 * test_code_cache.c - what a server has compiled the next one finds in its directory; what was
 * damaged there, or is not the server's alone, it does without. The results are right in any case.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/harness.h"

#define USED "of the disk is used"

static char parent[] = "/tmp/gshare-test-code-XXXXXX", directory[64];

static void directory_make(void)
{
    CHECK(mkdtemp(parent) != NULL);
    snprintf(directory, sizeof(directory), "%s/cache", parent);
}

static void directory_remove(void)
{
    char command[96];

    snprintf(command, sizeof(command), "rm -rf %s", parent);
    CHECK_EQUAL(system(command), 0);
}

/* argument: one more, with its value; NULL: none. */
static struct server *start(const char *cache, const char *argument, const char *value)
{
    const char *const arguments[] = {"--cache", cache, argument, value, NULL};
    const char *const environment[] = {"GSHARE_LOG=debug", NULL};

    return server_start(
        &(struct server_options){.arguments = arguments, .environment = environment});
}

static void work(const struct server *server)
{
    uint32_t words[1024], value = 7, n = 1024;
    gs_session session;
    gs_devptr data;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, sizeof(words), &data));
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(session), "fill"), 8, 128,
                            (void *[]){&data, &value, &n}));
    CHECK_OK(gs_memcpy_dtoh(session, words, data, sizeof(words)));
    for (uint32_t i = 0; i < n; i++)
        CHECK_EQUAL(words[i], value + i);
    CHECK_OK(gs_detach(session));
}

/* The only file, in a static buffer; NULL: there is none, or it is not whole yet. */
static const char *file_find(void)
{
    static char path[400];
    const struct dirent *entry;
    bool any = false;
    DIR *names = opendir(directory);

    while (names && (entry = readdir(names))) {
        if (strlen(entry->d_name) != 32)
            continue;
        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        any = true;
    }
    if (names)
        closedir(names);
    return any ? path : NULL;
}

static void first_server(const char *argument, const char *value)
{
    struct server *server = start(directory, argument, value);

    work(server);
    CHECK_WITHIN(10000, file_find() != NULL);
    CHECK_EQUAL(server_log_lines(server, USED), 0);
    server_stop(server);
}

/* How often it has used what was on disk. */
static unsigned next_server(const char *argument, const char *value)
{
    struct server *server = start(directory, argument, value);
    unsigned used;

    work(server);
    used = server_log_lines(server, USED);
    work(server); /* a second time it is in memory */
    CHECK_EQUAL(server_log_lines(server, USED), used);
    server_stop(server);
    return used;
}

static void the_next_server_does_not_compile_again(void)
{
    struct stat status;

    directory_make();
    first_server(NULL, NULL);
    CHECK_EQUAL(stat(directory, &status), 0);
    CHECK_EQUAL(status.st_mode & 0777, 0700);
    CHECK_EQUAL(stat(file_find(), &status), 0);
    CHECK_EQUAL(status.st_mode & 0777, 0600);
    CHECK_EQUAL(next_server(NULL, NULL), 1);
    directory_remove();
}

/* Its user cannot write there, and need not. */
static void a_worker_of_another_user_has_it_too(void)
{
    const struct passwd *user;
    char name[64] = "";
    struct stat status;

    if (geteuid() != 0)
        test_skip("needs root, to have workers of another user");
    setpwent();
    while (!name[0] && (user = getpwent()))
        if (user->pw_uid != 0 && user->pw_uid < 60000)
            snprintf(name, sizeof(name), "%s", user->pw_name);
    endpwent();
    if (!name[0])
        test_skip("the machine has no user besides root and nobody");
    directory_make();
    first_server("--worker-user", name);
    CHECK_EQUAL(stat(file_find(), &status), 0);
    CHECK_EQUAL(status.st_uid, 0);
    CHECK_EQUAL(next_server("--worker-user", name), 1);
    directory_remove();
}

static void a_damaged_file_is_compiled_anew(void)
{
    struct stat status;
    unsigned char byte;
    int file;

    directory_make();
    first_server(NULL, NULL);
    file = open(file_find(), O_RDWR | O_CLOEXEC);
    CHECK(file >= 0 && fstat(file, &status) == 0);
    CHECK_EQUAL(pread(file, &byte, 1, status.st_size - 2), 1);
    byte ^= 1;
    CHECK_EQUAL(pwrite(file, &byte, 1, status.st_size - 2), 1);
    close(file);
    CHECK_EQUAL(next_server(NULL, NULL), 0);
    CHECK_EQUAL(next_server(NULL, NULL), 1); /* what the one before has compiled */
    CHECK_EQUAL(truncate(file_find(), status.st_size / 2), 0);
    CHECK_EQUAL(next_server(NULL, NULL), 0);
    CHECK_EQUAL(next_server(NULL, NULL), 1);
    directory_remove();
}

static void a_directory_that_is_open_to_others_is_not_used(void)
{
    struct server *server;

    directory_make();
    first_server(NULL, NULL);
    CHECK_EQUAL(chmod(directory, 0755), 0);
    server = start(directory, NULL, NULL);
    work(server);
    CHECK_WITHIN(10000, server_log_lines(server, "no machine code is kept: its mode is 755") > 0);
    CHECK_EQUAL(server_log_lines(server, USED), 0);
    server_stop(server);
    directory_remove();
}

static void none_keeps_nothing(void)
{
    struct server *server;

    directory_make();
    server = start("none", NULL, NULL);
    work(server);
    CHECK_EQUAL(server_log_lines(server, "of the disk"), 0);
    server_stop(server);
    CHECK(file_find() == NULL);
    directory_remove();
}

static void what_is_no_directory_is_refused(void)
{
    static char output[4096];
    const char *const wrong[] = {"", "relative", "./relative"};

    for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
        CHECK_EQUAL(
            program_run((const char *const[]){"bin/gshared", "-f", "--device", "soft", "--instance",
                                              "none-such", "--cache", wrong[i], NULL},
                        output, sizeof(output)),
            2);
        CHECK_TEXT(output, "the whole path of a directory");
    }
}

/* It may wait for its parent to look. */
static bool process_ended(pid_t pid)
{
    char path[64], line[256] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return true;
    const bool read = fgets(line, sizeof(line), file) != NULL;
    fclose(file);
    return !read || strstr(line, ") Z ");
}

/* Its process is stopped, as one that waits for a disk which does not answer. */
static void a_disk_that_does_not_answer_keeps_nobody_waiting(void)
{
    char command[96], line[32] = "";
    struct server *server;
    FILE *pipe;
    pid_t child;

    directory_make();
    server = start(directory, "--no-standby", NULL);
    snprintf(command, sizeof(command), "cat /proc/%d/task/%d/children",
             (int)server_worker_pid(server), (int)server_worker_pid(server));
    pipe = popen(command, "r");
    CHECK(pipe != NULL && fgets(line, sizeof(line), pipe) != NULL);
    pclose(pipe);
    child = (pid_t)atoi(line);
    CHECK(child > 0 && kill(child, SIGSTOP) == 0);
    work(server);
    CHECK_EQUAL(server_log_lines(server, "the disk does not answer"), 1);
    work(server);
    CHECK_EQUAL(server_log_lines(server, "the disk does not answer"), 1);
    kill(child, SIGCONT);
    server_stop(server);
    CHECK_WITHIN(10000, process_ended(child));
    directory_remove();
}

static const struct test tests[] = {
    TEST(the_next_server_does_not_compile_again),
    TEST(a_worker_of_another_user_has_it_too),
    TEST(a_damaged_file_is_compiled_anew),
    TEST(a_directory_that_is_open_to_others_is_not_used),
    TEST(none_keeps_nothing),
    TEST(what_is_no_directory_is_refused),
    TEST(a_disk_that_does_not_answer_keeps_nobody_waiting),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
