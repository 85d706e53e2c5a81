/* test_policy.c - the policy file: who is served, what others may have, and what is wrong in it. */
#include <grp.h>
#include <pwd.h>
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

static struct file file_make(const char *text)
{
    struct file file = {"/tmp/gshare-policy-XXXXXX"};
    int fd = mkstemp(file.path);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
    return file;
}

static int gsctl(const char *a, const char *b, const char *c, const char *d, const char *e)
{
    const char *const arguments[] = {"bin/gsctl", a, b, c, d, e, NULL};

    return program_run(arguments, output, sizeof(output));
}

/* ---- What is wrong ---- */

static void what_is_wrong_is_named_with_file_line_key_value_and_limit(void)
{
    static const struct {
        const char *text, *part;
    } wrong[] = {
        {"[server]\nmax-tenants = 5000\n", "line 2: max-tenants = 5000: 1 to 4096"},
        {"[server]\nmax-tenants = 5\nmax-tenants = 5\n", "line 3: max-tenants a second time"},
        {"[server]\nmem-limit = 1M\n", "line 2: mem-limit = 1M: bytes, 2M at least, or whole K"},
        {"\n[server]\nallow-users = root,no-such-user-here\n",
         "line 3: allow-users = ...no-such-user-here: there is no such user"},
        {"[server]\nallow-users = no-such-user-here\n",
         "line 2: allow-users = no-such-user-here: there is no such user"},
        {"[server]\nmetrics = localhost:9\n", "line 2: metrics = localhost:9: ADDR:PORT, both in"},
        {"[server]\nmetrics = 70000\n", "line 2: metrics = 70000: ADDR:PORT"},
        {"[server]\ncolour = red\n",
         "line 2: [server] has allow-users, cache, max-tenants, mem-limit, metrics and observers"},
        {"[server]\ncache = here\n", "line 2: cache = here: a directory's whole path, or none"},
        {"[server]\ncache = /a\ncache = none\n", "line 3: cache a second time"},
        {"[server]\n[server]\n", "line 2: [server] a second time"},
        {"[others]\nweight = 2000\n", "line 2: weight = 2000: 1 to 1000"},
        {"[others]\ntrust = yes\n", "line 2: there is no setting 'trust' here"},
        {"[others]\nuser-sessions = 0\n", "line 2: user-sessions = 0: 1 to 4096"},
        {"[user no-such-user-here]\n", "line 1: 'no-such-user-here' is no user"},
        {"[group no-such-group-here]\n", "line 1: 'no-such-group-here' is no group"},
        {"[group root]\nweight = 2\n[group root]\n", "line 3: [group root] a second time"},
        {"[group root]\nlatency-sms = 2\n", "line 2: there is no setting 'latency-sms' here"},
        {"[reservation x]\nsms = 4\n", "line 1: [reservation]: there are [server], [default]"},
        {"[device 0]\nlatency-sms = 4\n", "line 1: [device]: there are"},
        {"[class fast]\n", "line 1: 'fast' is no class: latency, normal or best-effort"},
        {"[class normal]\nmem = 1G\n", "line 2: there is no setting 'mem' here"},
        {"[class normal]\nkernel-limit = 0\n", "line 2: kernel-limit = 0: 1 to 86400000 ms"},
        {"[class latency]\n[class normal]\n[class latency]\n", "line 3: [latency] a second time"},
        {"percentage = 50\n", "line 1: 'percentage' before the first [section]"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct file file = file_make(wrong[i].text);
        const char *const start[] = {"bin/gshared", "--instance", "test-policy", "--device",
                                     "soft",        "--config",   file.path,     NULL};

        CHECK_EQUAL(program_run(start, output, sizeof(output)), 1);
        CHECK_TEXT(output, file.path);
        CHECK_TEXT(output, wrong[i].part);
        CHECK(unlink(file.path) == 0);
    }
}

static void a_file_that_others_can_write_is_refused(void)
{
    struct file file = file_make("");
    const char *const start[] = {"bin/gshared", "--instance", "test-policy", "--device",
                                 "soft",        "--config",   file.path,     NULL};

    CHECK(chmod(file.path, 0664) == 0);
    CHECK_EQUAL(program_run(start, output, sizeof(output)), 1);
    CHECK_TEXT(output, "can write it");
    CHECK(unlink(file.path) == 0);
    CHECK_EQUAL(program_run(start, output, sizeof(output)), 1);
    CHECK_TEXT(output, "No such file");
}

/* ---- What it does ---- */

static void stranger_run(void *argument)
{
    const unsigned uid = *(const unsigned *)argument;
    gs_session session[4];
    gs_status status = GS_OK;
    unsigned attached = 0;

    CHECK(setgid(uid) == 0 && setuid(uid) == 0);
    while (status == GS_OK && attached < 4) {
        status = gs_attach(NULL, &session[attached]);
        attached += status == GS_OK;
    }
    CHECK_EQUAL(status, uid == 65533 ? GS_ERR_REFUSED : uid == 65534 ? GS_ERR_LIMIT : GS_OK);
    CHECK_EQUAL(attached, uid == 65533 ? 0 : uid == 65534 ? 2 : 4);
}

static void attach_as(unsigned uid)
{
    unsigned *argument = shared_alloc(sizeof(*argument));

    *argument = uid;
    tenant_join(tenant_start(stranger_run, argument));
}

/* gsctl's settings go before the file's, and what it unsets is the file's again. */
static void it_says_who_is_served_and_what_they_may_have(void)
{
    struct file file = file_make("# policy\n"
                                 "[server]\n"
                                 "allow-users = nobody, 65532\n"
                                 "max-tenants = 100\n"
                                 "[default]\n"
                                 "inflight = 40\n"
                                 "[others]\n"
                                 "user-sessions = 2\n"
                                 "[user 65532]\n"
                                 "user-sessions = 10\n"
                                 "user-mem = 1G\n"
                                 "trust = yes\n");
    struct server *server;

    if (geteuid() != 0)
        test_skip("only root's server serves others");
    server = server_start(
        &(struct server_options){.arguments = (const char *const[]){"--config", file.path, NULL}});
    CHECK(unlink(file.path) == 0);
    attach_as(65532);
    attach_as(65533);
    attach_as(65534);
    server_wait_tenants(server, 0, 10000);
    CHECK_EQUAL(gsctl("status", NULL, NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "of at most 100");
    CHECK_EQUAL(gsctl("get", NULL, NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "default: inflight 40\n");
    CHECK_TEXT(output, "user 65532: user-mem 1G, user-sessions 10, trust yes\n");
    CHECK_TEXT(output, "others: ");
    CHECK_TEXT(output, "user-sessions 2,");
    CHECK_EQUAL(gsctl("set", "--default", "--inflight", "50", NULL), 0);
    CHECK_EQUAL(gsctl("set", "--user", "65532", "--weight", "7"), 0);
    CHECK_EQUAL(gsctl("get", NULL, NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "default: inflight 50\n");
    CHECK_TEXT(output, "user 65532: weight 7, user-mem 1G, user-sessions 10, trust yes\n");
    CHECK_EQUAL(gsctl("trust", "--no", "65532", NULL, NULL), 0);
    CHECK_EQUAL(gsctl("get", "--user", "65532", NULL, NULL), 0);
    CHECK_TEXT(output, "trust no\n");
    CHECK_EQUAL(gsctl("set", "--default", "--unset", "all", NULL), 0);
    CHECK_EQUAL(gsctl("get", "--default", NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "default: inflight 40\n");
    server_stop(server);
}

/* The command line goes before the file. */
static gs_session attach_as_class(enum gs_class cls, char id[24])
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_qos qos = GS_QOS_INIT;
    gs_session session;

    qos.cls = cls;
    params.qos = &qos;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_session_info(session, &desc));
    snprintf(id, 24, "%llu", (unsigned long long)desc.session_id);
    return session;
}

/* The tighter of what is set for the user and for the class of the session holds. */
static void kernels_are_bounded_by_the_class_of_their_session(void)
{
    struct file file = file_make("[default]\n"
                                 "kernel-limit = 60000\n"
                                 "[class best-effort]\n"
                                 "kernel-limit = 300\n"
                                 "[class latency]\n"
                                 "kernel-limit = 70000\n");
    struct server *server = server_start(
        &(struct server_options){.arguments = (const char *const[]){"--config", file.path, NULL}});
    char best_id[24], normal_id[24], latency_id[24];
    gs_session best = attach_as_class(GS_CLASS_BEST_EFFORT, best_id),
               normal = attach_as_class(GS_CLASS_NORMAL, normal_id),
               latency = attach_as_class(GS_CLASS_LATENCY, latency_id);
    gs_fault fault = GS_FAULT_INIT;
    gs_devptr word;

    CHECK(unlink(file.path) == 0);
    CHECK_EQUAL(gsctl("explain", best_id, NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "[class best-effort] 300 ms");
    CHECK_EQUAL(gsctl("explain", normal_id, NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "60000 ms");
    CHECK(strstr(output, "[class") == NULL);
    CHECK_EQUAL(gsctl("explain", latency_id, NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "60000 ms");
    CHECK_OK(gs_malloc(best, sizeof(uint32_t), &word));
    CHECK_OK(gs_memset(best, word, 0, sizeof(uint32_t)));
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(best), "spin_until"), 1, 1,
                            (void *[]){&word}));
    CHECK_STATUS(gs_sync(best), GS_ERR_FAULT);
    CHECK_OK(gs_last_fault(best, &fault));
    CHECK_EQUAL(fault.kind, GS_FAULT_EVICTED);
    CHECK_TEXT(fault.message, "longer than its limit of 300 ms");
    gs_detach(best);
    CHECK_OK(gs_detach(normal));
    CHECK_OK(gs_detach(latency));
    server_stop(server);
}

static void the_command_line_goes_first(void)
{
    struct file file = file_make("[server]\nmax-tenants = 100\n");
    struct server *server = server_start(&(struct server_options){
        .arguments = (const char *const[]){"--config", file.path, "--max-tenants", "7", NULL}});

    CHECK_EQUAL(gsctl("status", NULL, NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "of at most 7");
    CHECK(unlink(file.path) == 0);
    server_stop(server);
}

static void the_example_is_a_policy_file(void)
{
    struct server *server;

    if (geteuid() != 0)
        test_skip("only root's server serves others");
    server = server_start(
        &(struct server_options){.arguments = (const char *const[]){"--config", EXAMPLE, NULL}});
    CHECK_EQUAL(gsctl("get", NULL, NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "user-mem 16G");
    CHECK_TEXT(output, "user-sessions 64");
    server_stop(server);
}

/* A user's own section goes before, and of several groups the first. */
static void members_of_a_group_have_what_it_is_granted(void)
{
    const struct passwd *nobody = getpwnam("nobody");
    const struct group *group = nobody ? getgrgid(nobody->pw_gid) : NULL;
    char text[512];

    if (geteuid() != 0)
        test_skip("only root's server serves others");
    if (!group || nobody->pw_uid != 65534)
        test_skip("the machine has no user nobody with a group");
    const unsigned uid = (unsigned)nobody->pw_uid;
    snprintf(text, sizeof(text),
             "[others]\nuser-sessions = 9\n"
             "[group %s]\nuser-sessions = 2\nweight = 5\n[user %u]\nweight = 7\n"
             "[group root]\nweight = 3\n",
             group->gr_name, uid);
    struct file file = file_make(text);
    struct server *server = server_start(
        &(struct server_options){.arguments = (const char *const[]){"--config", file.path, NULL}});

    CHECK(unlink(file.path) == 0);
    CHECK_EQUAL(gsctl("get", NULL, NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "user nobody: weight 7, user-sessions 2\n");
    CHECK_TEXT(output, "user root: weight 3\n");
    attach_as(uid);
    server_wait_tenants(server, 0, 10000);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(what_is_wrong_is_named_with_file_line_key_value_and_limit),
    TEST(a_file_that_others_can_write_is_refused),
    TEST(it_says_who_is_served_and_what_they_may_have),
    TEST(members_of_a_group_have_what_it_is_granted),
    TEST(kernels_are_bounded_by_the_class_of_their_session),
    TEST(the_command_line_goes_first),
    TEST(the_example_is_a_policy_file),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
