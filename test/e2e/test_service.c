/* test_service.c - the server as a service: what it tells a service manager, the policy file read
 * again at SIGHUP, its check, and what is said of a device that "auto" chose. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/harness.h"

static char output[32768];

struct file {
    char path[40];
};

static void file_write(const struct file *file, const char *text)
{
    FILE *out = fopen(file->path, "w");

    CHECK(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

static struct file file_make(const char *text)
{
    struct file file = {"/tmp/gshare-service-XXXXXX"};
    int fd = mkstemp(file.path);

    CHECK(fd >= 0 && close(fd) == 0);
    file_write(&file, text);
    return file;
}

static struct server *start(const struct file *file)
{
    return server_start(&(struct server_options){
        .arguments = (const char *const[]){"--config", file->path, NULL}, .notified = true});
}

/* Returns what the server says when it has done with the file. */
static const char *reload(const struct server *server, const struct file *file, const char *text)
{
    file_write(file, text);
    CHECK(kill(server->pid, SIGHUP) == 0);
    CHECK_TEXT(server_notified(server), "RELOADING=1\nMONOTONIC_USEC=");
    const char *told = server_notified(server);
    CHECK_TEXT(told, "READY=1\nSTATUS=serving");
    return told;
}

static void end(struct server *server, const struct file *file)
{
    CHECK(unlink(file->path) == 0);
    server_stop(server);
}

static const char *got(const char *what)
{
    const char *const arguments[] = {"bin/gsctl", "get", what, NULL};

    CHECK_EQUAL(program_run(arguments, output, sizeof(output)), 0);
    return output;
}

/* ---- What the service manager is told -------------------------------------------------------- */

static void a_service_manager_is_told_of_reload_and_end(void)
{
    struct file file = file_make("[default]\ninflight = 40\n");
    struct server *server = start(&file);
    uint64_t before = clock_ns() / 1000;

    file_write(&file, "[default]\ninflight = 30\n");
    CHECK(kill(server->pid, SIGHUP) == 0);
    const char *told = server_notified(server);
    CHECK_TEXT(told, "RELOADING=1\n");
    const char *usec = strstr(told, "MONOTONIC_USEC=");
    CHECK(usec != NULL);
    unsigned long long at = strtoull(usec + strlen("MONOTONIC_USEC="), NULL, 10);
    CHECK(at >= before && at <= clock_ns() / 1000);
    told = server_notified(server);
    CHECK_TEXT(told, "READY=1\nSTATUS=serving; read again: /tmp/gshare-service-");
    CHECK_TEXT(got("--default"), "default: inflight 30\n");
    CHECK(kill(server->pid, SIGTERM) == 0);
    CHECK_TEXT(server_notified(server), "STOPPING=1\nSTATUS=ending");
    end(server, &file);
}

/* ---- Reload ---------------------------------------------------------------------------------- */

static unsigned sms(gs_session session)
{
    gs_exec_affinity affinity;

    CHECK_OK(gs_get_exec_affinity(session, &affinity));
    return affinity.sm_count;
}

static void limits_of_a_running_session_follow_the_file(void)
{
    struct file file = file_make("[default]\npercentage = 100\n");
    struct server *server = start(&file);
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    unsigned all = sms(session);
    reload(server, &file, "[default]\npercentage = 50\n");
    CHECK_WITHIN(5000, sms(session) <= all / 2);
    reload(server, &file, "");
    CHECK_WITHIN(5000, sms(session) == all);
    CHECK_OK(gs_detach(session));
    end(server, &file);
}

static void a_wrong_file_changes_nothing_and_is_named(void)
{
    struct file file = file_make("[default]\ninflight = 40\n");
    struct server *server = start(&file);

    CHECK_TEXT(reload(server, &file, "[default]\ninflight = 30\nweight = 2000\n"),
               "line 3: weight = 2000: 1 to 1000");
    CHECK_TEXT(got("--default"), "default: inflight 40\n");
    CHECK_EQUAL(server_log_lines(server, "line 3: weight = 2000: 1 to 1000; what was in force"), 1);
    CHECK(chmod(file.path, 0666) == 0);
    CHECK_TEXT(reload(server, &file, "[default]\ninflight = 30\n"), "can write it");
    CHECK_TEXT(got("--default"), "default: inflight 40\n");
    CHECK(chmod(file.path, 0600) == 0);
    CHECK_TEXT(reload(server, &file, "[default]\ninflight = 30\n"), "read again");
    CHECK_TEXT(got("--default"), "default: inflight 30\n");
    end(server, &file);
}

static void less_memory_than_a_session_holds_lets_it_keep_that(void)
{
    struct file file = file_make("");
    struct server *server = start(&file);
    gs_session session;
    gs_devptr memory;
    size_t limit;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, 64 << 20, &memory));
    CHECK_TEXT(reload(server, &file, "[default]\nmem = 16M\ninflight = 9\n"), "read again");
    CHECK_EQUAL(server_log_lines(server, "session 1 holds 64 MiB: that stays"), 1);
    CHECK_WITHIN(5000, gs_mem_info(session, NULL, &limit) == GS_OK && limit == 16 << 20);
    CHECK_STATUS(gs_malloc(session, 2 << 20, &memory), GS_ERR_QUOTA);
    CHECK_TEXT(reload(server, &file, "[default]\nmem = 128M\n"), "read again");
    /* The worker has it a moment later. */
    CHECK_WITHIN(5000, gs_mem_info(session, NULL, &limit) == GS_OK && limit == 128 << 20);
    CHECK_STATUS(gs_malloc(session, 100 << 20, &memory), GS_ERR_QUOTA);
    CHECK_OK(gs_detach(session));
    end(server, &file);
}

static void what_is_fixed_at_the_start_stays(void)
{
    struct file file = file_make("[server]\nmax-tenants = 100\nmem-limit = 1G\n");
    struct server *server = start(&file);
    const char *const status[] = {"bin/gsctl", "status", NULL};

    reload(server, &file, "[server]\nmax-tenants = 50\n");
    CHECK_EQUAL(server_log_lines(server, "max-tenants = 50 holds from the server's next start"), 1);
    CHECK_EQUAL(program_run(status, output, sizeof(output)), 0);
    CHECK_TEXT(output, "of at most 100");
    if (geteuid() == 0)
        CHECK_TEXT(reload(server, &file, "[server]\nallow-users =\n"), "settled at the server's");
    end(server, &file);
}

struct stranger {
    unsigned uid;
    gs_status wanted;
    struct gate attached, go;
};

static void stranger_run(void *argument)
{
    struct stranger *stranger = argument;

    gs_session session;

    CHECK(setgid(stranger->uid) == 0 && setuid(stranger->uid) == 0);
    CHECK_EQUAL(gs_attach(NULL, &session), stranger->wanted);
    gate_pass(&stranger->attached);
    if (stranger->wanted != GS_OK)
        return;
    gate_wait(&stranger->go, 1);
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_detach(session));
}

static void a_user_no_longer_served_keeps_the_sessions_that_are_open(void)
{
    struct stranger *before = shared_alloc(sizeof(*before)), *after = shared_alloc(sizeof(*after));

    if (geteuid() != 0)
        test_skip("only root's server serves others");
    struct file file = file_make("[server]\nallow-users = 65532, 65533\n");
    struct server *server = start(&file);
    before->uid = after->uid = 65532;
    after->wanted = GS_ERR_REFUSED;
    pid_t first = tenant_start(stranger_run, before);
    gate_wait(&before->attached, 1);
    reload(server, &file, "[server]\nallow-users = 65533\n");
    tenant_join(tenant_start(stranger_run, after));
    CHECK_EQUAL(server_tenants(server), 1);
    gate_pass(&before->go);
    tenant_join(first);
    server_wait_tenants(server, 0, 10000);
    end(server, &file);
}

struct looker {
    unsigned uid;
    bool sees; /* what is set for root */
};

static void look_run(void *argument)
{
    const struct looker *looker = argument;

    CHECK(setgid(looker->uid) == 0 && setuid(looker->uid) == 0);
    CHECK_EQUAL(strstr(got(NULL), "inflight 77") != NULL, looker->sees);
}

static void look(unsigned uid, bool sees)
{
    struct looker looker = {uid, sees};

    tenant_join(tenant_start(look_run, &looker));
}

static void observers_are_those_whom_the_file_names_last(void)
{
    if (geteuid() != 0)
        test_skip("only root's server serves others");
    struct file file = file_make("[server]\nobservers = 65533\n[user root]\ninflight = 77\n");
    struct server *server = start(&file);
    look(65532, false);
    look(65533, true);
    CHECK_TEXT(reload(server, &file, "[server]\nobservers = 65532\n[user root]\ninflight = 77\n"),
               "read again");
    CHECK_EQUAL(server_log_lines(server, "observers=65532 observers_was=65533"), 1);
    look(65532, true);
    look(65533, false);
    CHECK_TEXT(reload(server, &file, "[user root]\ninflight = 77\n"), "read again");
    look(65532, false);
    end(server, &file);
}

/* Each signal counts, though the file is being read: the last text is what is in force. */
static void many_hangups_leave_what_the_file_says_last(void)
{
    struct file file = file_make("");
    struct server *server = start(&file);
    char text[64];

    for (unsigned i = 1; i <= 50; i++) {
        snprintf(text, sizeof(text), "[default]\ninflight = %u\n", i);
        struct file next = file_make(text);
        CHECK(rename(next.path, file.path) == 0);
        CHECK(kill(server->pid, SIGHUP) == 0);
    }
    CHECK_WITHIN(10000, strstr(got("--default"), "inflight 50\n"));
    end(server, &file);
}

/* ---- The check ------------------------------------------------------------------------------- */

static void the_check_names_every_error_with_its_line(void)
{
    struct file file =
        file_make("[server]\nmax-tenants = 5000\n[bogus]\nx = 3\n"
                  "[others]\nweight = 2000\ntrust = yes\npercentage 5\n"
                  "[default]\nexclusive = yes\n[default]\n"
                  "[user no-such-user]\nclass = fast\nexclusive = yes\n[group no-such-group]\n"
                  "mem = 1\n");
    const char *const check[] = {"bin/gshared", "--check-config", file.path, NULL};
    static const char *const parts[] = {"line 2: max-tenants = 5000: 1 to 4096\n",
                                        "line 3: [bogus]: there are",
                                        "line 6: weight = 2000: 1 to 1000\n",
                                        "line 7: there is no setting 'trust' here\n",
                                        "line 8: 'percentage 5' is no 'name = value'\n",
                                        "line 11: a section ends here that is exclusive without",
                                        "line 11: [default] a second time\n",
                                        "line 12: 'no-such-user' is no user\n",
                                        "line 13: class = fast: latency, normal or best-effort\n",
                                        "line 15: 'no-such-group' is no group\n",
                                        "line 15: a section ends here that is exclusive without",
                                        "line 16: mem = 1: bytes, 2M at least"};
    unsigned lines = 0;

    CHECK_EQUAL(program_run(check, output, sizeof(output)), 1);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        CHECK_TEXT(output, parts[i]);
    for (const char *at = output; (at = strchr(at, '\n')); at++)
        lines++;
    CHECK_EQUAL(lines, ARRAY_SIZE(parts));
    file_write(&file, "[default]\nweight = 2\n");
    CHECK_EQUAL(program_run(check, output, sizeof(output)), 0);
    CHECK_TEXT(output, "nothing is wrong");
    CHECK(unlink(file.path) == 0);
    CHECK_EQUAL(program_run(check, output, sizeof(output)), 1);
    CHECK_TEXT(output, "No such file");
}

static void the_check_says_that_none_is_no_policy_file(void)
{
    const char *const check[] = {"bin/gshared", "--check-config", "--config", "none", NULL};

    CHECK_EQUAL(program_run(check, output, sizeof(output)), 0);
    CHECK_TEXT(output, "none: a server with that reads no policy file\n");
}

/* ---- The device that "auto" chose ------------------------------------------------------------ */

static void a_driver_that_does_not_work_is_named_where_the_software_device_stands_in(void)
{
    char folder[] = "/tmp/gshare-service-XXXXXX", library[64], environment[64];
    FILE *out;

    CHECK(mkdtemp(folder) && chmod(folder, 0755) == 0);
    snprintf(library, sizeof(library), "%s/libcuda.so.1", folder);
    snprintf(environment, sizeof(environment), "LD_LIBRARY_PATH=%s", folder);
    CHECK((out = fopen(library, "w")) && fputs("no library", out) >= 0 && fclose(out) == 0);
    struct server *server = server_start(
        &(struct server_options){.device = "auto",
                                 .arguments = (const char *const[]){"--no-standby", NULL},
                                 .environment = (const char *const[]){environment, NULL}});
    CHECK_EQUAL(server_log_lines(server, "the NVIDIA driver does not work ("), 1);
    CHECK_EQUAL(server_log_lines(server, "): the software device runs kernels"), 1);
    server_stop(server);
    CHECK(unlink(library) == 0 && rmdir(folder) == 0);
}

static const struct test tests[] = {
    TEST(a_service_manager_is_told_of_reload_and_end),
    TEST(limits_of_a_running_session_follow_the_file),
    TEST(a_wrong_file_changes_nothing_and_is_named),
    TEST(less_memory_than_a_session_holds_lets_it_keep_that),
    TEST(what_is_fixed_at_the_start_stays),
    TEST(a_user_no_longer_served_keeps_the_sessions_that_are_open),
    TEST(observers_are_those_whom_the_file_names_last),
    TEST(many_hangups_leave_what_the_file_says_last),
    TEST(the_check_names_every_error_with_its_line),
    TEST(the_check_says_that_none_is_no_policy_file),
    TEST(a_driver_that_does_not_work_is_named_where_the_software_device_stands_in),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
