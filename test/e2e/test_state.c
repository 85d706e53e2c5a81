/* test_state.c - the state file: one server's at a time, and what does not fit the machine is said.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "harness/harness.h"

static char output[32768]; /* of the last program */

struct folder {
    char name[32], path[64]; /* of the file in it */
};

static struct folder folder_make(const char *text)
{
    struct folder folder = {.name = "/tmp/gshare-test-XXXXXX"};
    FILE *file;

    CHECK(mkdtemp(folder.name) != NULL);
    snprintf(folder.path, sizeof(folder.path), "%s/state", folder.name);
    if (text) {
        file = fopen(folder.path, "w");
        CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    }
    return folder;
}

/* Nothing else may be left in it. */
static void folder_remove(const struct folder *folder)
{
    CHECK(unlink(folder->path) == 0);
    CHECK(rmdir(folder->name) == 0);
}

static int gsctl(const char *a, const char *b, const char *c, const char *d)
{
    return program_run((const char *const[]){"bin/gsctl", a, b, c, d, NULL}, output,
                       sizeof(output));
}

/* ---- One server's at a time ------------------------------------------------------------------ */

static void refused_to_a_second_server(const struct folder *folder)
{
    char name[48];

    snprintf(name, sizeof(name), "second-%d", (int)getpid());
    const char *const second[] = {"bin/gshared", "-f",      "--instance", name, "--device",
                                  "soft",        "--state", folder->path, NULL};
    CHECK_EQUAL(program_run(second, output, sizeof(output)), 1);
    CHECK_TEXT(output, "another server uses it");
    CHECK_TEXT(output, folder->path);
}

static void a_state_file_is_one_servers_until_its_death(void)
{
    const struct folder folder = folder_make(NULL);
    const char *options[] = {"--state", folder.path, NULL};
    struct server_options kept = {.arguments = options};
    struct server *server = server_start(&kept);

    refused_to_a_second_server(&folder); /* also before anything is set */
    CHECK_EQUAL(gsctl("set", "--default", "--weight", "3"), 0);
    refused_to_a_second_server(&folder); /* which replaced the file */
    CHECK_EQUAL(gsctl("get", "--default", NULL, NULL), 0);
    CHECK_TEXT(output, "weight 3");

    server_kill(server);
    kept.instance = server->instance;
    server = server_start(&kept);
    CHECK_EQUAL(gsctl("get", "--default", NULL, NULL), 0);
    CHECK_TEXT(output, "weight 3");
    server_stop(server);
    folder_remove(&folder);
}

/* ---- What does not fit ----------------------------------------------------------------------- */

/* More than any device has, or this server. */
static const char misfit[] = "[default]\n"
                             "sms = 500\n"
                             "weight = 7\n"
                             "[user 4711]\n"
                             "mask = 400-411\n"
                             "[device 0]\n"
                             "latency-sms = 500\n"
                             "[device 7]\n"
                             "latency-sms = 2\n"
                             "[reservation large]\n"
                             "sms = 500\n"
                             "[reservation elsewhere]\n"
                             "device = 7\n"
                             "sms = 2\n";

static void log_read(const struct server *server)
{
    FILE *file = fopen(server->log, "r");
    size_t n;

    CHECK(file != NULL);
    n = fread(output, 1, sizeof(output) - 1, file);
    output[n] = '\0';
    fclose(file);
}

static void what_does_not_fit_the_machine_is_said(void)
{
    static const char *const logged[] = {
        "[default] sms = 500 does not fit",
        "[user 4711] mask = 400-411 does not fit",
        "[device 0] latency-sms = 500 does not fit",
        "event=not-applied device=7 reason=",
        "event=not-applied device=0 reservation=large reason=",
        "event=not-applied device=7 reservation=elsewhere reason=",
    };
    const struct folder folder = folder_make(misfit);
    const char *options[] = {"--state", folder.path, NULL};
    struct server *server = server_start(&(struct server_options){.arguments = options});
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    log_read(server);
    for (size_t i = 0; i < ARRAY_SIZE(logged); i++)
        CHECK_TEXT(output, logged[i]);
    CHECK(strstr(output, "weight = 7") == NULL);

    CHECK_EQUAL(gsctl("get", NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "default: sms 500 (does not fit, see the server's log), weight 7\n");
    CHECK_TEXT(output, "user 4711: mask 400-411 (does not fit");
    CHECK_TEXT(output, "latency-sms (does not fit");
    CHECK_TEXT(output, "reservation large: nothing is reserved");
    CHECK_TEXT(output, "reservation elsewhere: nothing is reserved, the server has no device 7\n");
    CHECK_EQUAL(gsctl("get", "--json", NULL, NULL), 0);
    CHECK_TEXT(output, "\"set\":{\"sms\":500,\"weight\":7},\"unfit\":[\"sms\"]");
    CHECK_TEXT(output, "\"name\":\"elsewhere\",\"device\":7,\"sm_count\":0,\"sms\":\"\","
                       "\"state\":\"no such device\"");

    /* And nobody is given them. */
    params.reservation = "large";
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_NO_DEVICE);
    CHECK_TEXT(gs_last_error_message(), "'large' did not fit");
    params.reservation = "elsewhere";
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_NO_DEVICE);

    /* It is kept for the machine that it fits, until it is replaced, and hinders no other change.
     */
    CHECK_EQUAL(gsctl("set", "--default", "--weight", "8"), 0);
    CHECK_EQUAL(gsctl("get", "--default", NULL, NULL), 0);
    CHECK_TEXT(output, "default: sms 500 (does not fit, see the server's log), weight 8\n");
    CHECK_EQUAL(gsctl("set", "--default", "--unset", "sms"), 0);
    CHECK_EQUAL(gsctl("get", NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "default: weight 8\n");
    CHECK_TEXT(output, "reservation elsewhere");
    server_stop(server);
    folder_remove(&folder);
}

/* Who starts a server in the background sees it too; nobody may read the log. */
static void what_does_not_fit_is_told_to_who_starts_the_server(void)
{
    const struct folder folder = folder_make(misfit);
    char name[48];

    snprintf(name, sizeof(name), "daemon-%d", (int)getpid());
    const char *const start[] = {"bin/gshared", "-d",      "--instance", name, "--device",
                                 "soft",        "--state", folder.path,  NULL};
    const char *const quit[] = {"bin/gsctl", "quit", "--instance", name, NULL};
    CHECK_EQUAL(program_run(start, output, sizeof(output)), 0);
    CHECK_TEXT(output,
               "gshared: event=not-applied device=0 reason=\"[default] sms = 500 does not fit");
    CHECK_TEXT(output, "gshared: event=not-applied device=7 reason=");
    CHECK(strstr(output, "ready") == NULL);
    CHECK_EQUAL(program_run(quit, output, sizeof(output)), 0);
    folder_remove(&folder);
}

/* ---- What cannot be saved -------------------------------------------------------------------- */

static void not_saved(void)
{
    CHECK_EQUAL(gsctl("set", "--default", "--percentage", "50"), 1);
    CHECK_TEXT(output, "done, but not saved: ");
    CHECK_EQUAL(gsctl("provision", "uniform", NULL, NULL), 1);
    CHECK_TEXT(output, "done, but not saved: ");
}

static void a_change_that_is_not_saved_is_no_success(void)
{
    const struct folder folder = folder_make(NULL);
    const char *options[] = {"--state", folder.path, NULL};
    struct server *server = server_start(&(struct server_options){.arguments = options});
    gs_session session;
    pid_t worker;

    CHECK_OK(server_attach(server, &session));
    CHECK_EQUAL(gsctl("set", "--default", "--percentage", "40"), 0);
    folder_remove(&folder); /* as good as a full disk */
    not_saved();
    CHECK_EQUAL(gsctl("get", NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "50");
    worker = server_worker_pid(server);
    kill(worker, SIGSTOP);
    CHECK_EQUAL(gsctl("set", "--default", "--percentage", "30"), 1);
    CHECK_TEXT(output, "done, but not saved: ");
    CHECK_TEXT(output, "does not answer");
    kill(worker, SIGKILL);
    not_saved();
    CHECK_OK(gs_detach(session)); /* the next worker has taken it up */
    server_stop(server);
}

/* A file system of the test's own that is full, and has room again later. */
static void a_change_on_a_full_disk_is_no_success(void)
{
    static char zeros[4096];
    char folder[] = "/tmp/gshare-full.XXXXXX", path[64], filler[64];
    const char *options[] = {"--state", path, NULL};
    struct server *server;
    int fd;

    if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        test_skip("only root can mount the disk to be filled");
    CHECK(mkdtemp(folder) != NULL);
    CHECK(mount("tmpfs", folder, "tmpfs", 0, "mode=0700,size=256k") == 0);
    snprintf(path, sizeof(path), "%s/state", folder);
    snprintf(filler, sizeof(filler), "%s/filler", folder);
    server = server_start(&(struct server_options){.arguments = options});
    CHECK_EQUAL(gsctl("set", "--default", "--percentage", "40"), 0);
    fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (write(fd, zeros, sizeof(zeros)) > 0)
        ;
    CHECK_EQUAL(errno, ENOSPC);
    close(fd);
    not_saved();
    kill(server_worker_pid(server), SIGSTOP);
    CHECK_EQUAL(gsctl("set", "--default", "--percentage", "30"), 1);
    CHECK_TEXT(output, "done, but not saved: ");
    kill(server_worker_pid(server), SIGKILL);
    not_saved();
    CHECK(unlink(filler) == 0);
    CHECK_EQUAL(gsctl("set", "--default", "--percentage", "60"), 0);
    server_stop(server);
    CHECK(umount2(folder, MNT_DETACH) == 0);
    CHECK(rmdir(folder) == 0);
}

static const struct test tests[] = {
    TEST(a_state_file_is_one_servers_until_its_death),
    TEST(what_does_not_fit_the_machine_is_said),
    TEST(what_does_not_fit_is_told_to_who_starts_the_server),
    TEST(a_change_that_is_not_saved_is_no_success),
    TEST(a_change_on_a_full_disk_is_no_success),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
