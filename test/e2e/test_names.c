/* test_names.c - a server's name belongs to its user: others can neither hold it nor stand for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/names.h"
#include "harness/harness.h"

#define STRANGER 65534u

struct scene {
    struct gate ready, go, done;
    char instance[32];
    pid_t server;
};

static struct scene *scene_new(void)
{
    struct scene *scene = shared_alloc(sizeof(*scene));

    if (geteuid() != 0)
        test_skip("only root can become another user");
    snprintf(scene->instance, sizeof(scene->instance), "test-name-%d", (int)getpid());
    return scene;
}

static void become_stranger(void)
{
    CHECK(setgid(STRANGER) == 0 && setuid(STRANGER) == 0);
}

static gs_status attach_to(const char *instance, gs_session *session)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;

    params.instance = instance;
    return gs_attach(&params, session);
}

static void attach_and_detach(const char *instance)
{
    gs_session session;

    CHECK_OK(attach_to(instance, &session));
    CHECK_OK(gs_detach(session));
}

/* ---- A dead server's queue ---- */

static void queue_opener_run(void *argument)
{
    struct scene *scene = argument;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char name[WIRE_NAME_MAX];
    mqd_t control;

    name_control(name, 0, scene->instance);
    become_stranger();
    control = mq_open(name, O_WRONLY | O_CLOEXEC);
    CHECK(control >= 0);
    name_lock(name, 0, scene->instance);
    CHECK(mq_open(name, O_WRONLY | O_CLOEXEC) < 0 && errno == EACCES);
    CHECK(mq_open(name, O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
    gate_pass(&scene->ready);
    /* Every lock there is, as soon as the server is gone. */
    CHECK(fcntl(control, F_OFD_SETLKW, &lock) == 0);
    CHECK(flock(control, LOCK_EX) == 0);
    gate_pass(&scene->done);
    for (;;)
        pause();
}

static void a_stranger_who_waits_for_the_lock_keeps_no_server_from_starting(void)
{
    struct scene *scene = scene_new();
    struct server_options same = {.instance = scene->instance};
    struct server *server = server_start(&same);
    pid_t stranger = tenant_start(queue_opener_run, scene);
    gs_session session;

    gate_wait(&scene->ready, 1);
    server_kill(server);
    gate_wait(&scene->done, 1);
    /* That lock is not taken for a server's. */
    CHECK_STATUS(attach_to(scene->instance, &session), GS_ERR_NO_SERVER);
    server = server_start(&same);
    attach_and_detach(scene->instance);
    tenant_kill(stranger, SIGKILL);
    server_stop(server);
}

/* ---- Names taken before the server comes ---- */

static void squatter_run(void *argument)
{
    struct scene *scene = argument;
    char name[WIRE_NAME_MAX];
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    mqd_t queue[2];

    become_stranger();
    for (int i = 0; i < 2; i++) {
        (i ? name_lock : name_control)(name, 0, scene->instance);
        queue[i] = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0622, NULL);
        CHECK(queue[i] >= 0 && fchmod(queue[i], 0622) == 0);
        CHECK(fcntl(queue[i], F_OFD_SETLK, &lock) == 0 && flock(queue[i], LOCK_EX) == 0);
    }
    gate_pass(&scene->ready);
    for (;;)
        pause();
}

static void root_takes_its_name_from_a_squatter(void)
{
    struct scene *scene = scene_new();
    struct server_options same = {.instance = scene->instance};
    pid_t squatter = tenant_start(squatter_run, scene);
    struct server *server;
    gs_session session;

    gate_wait(&scene->ready, 1);
    /* The squatter's queue looks served, and has the right name. */
    CHECK_STATUS(attach_to(scene->instance, &session), GS_ERR_NO_SERVER);
    CHECK_TEXT(gs_last_error_message(), "another user's");
    server = server_start(&same);
    attach_and_detach(scene->instance);
    tenant_kill(squatter, SIGKILL);
    server_stop(server);
}

/* ---- A user's server and root's, of one name ---- */

static void own_server_run(void *argument)
{
    struct scene *scene = argument;
    struct server *own;
    char roots[48];

    become_stranger();
    own = server_start(&(struct server_options){.instance = scene->instance});
    scene->server = own->pid;
    gate_pass(&scene->ready);
    gate_wait(&scene->go, 1);
    attach_and_detach(scene->instance); /* its own comes first */
    CHECK_EQUAL(server_tenants(own), 0);
    snprintf(roots, sizeof(roots), "root:%s", scene->instance);
    attach_and_detach(roots);
    server_stop(own);
    attach_and_detach(scene->instance); /* now root's */
    gate_pass(&scene->done);
}

static void roots_name_is_free_of_a_users_server_of_that_name(void)
{
    struct scene *scene = scene_new();
    pid_t stranger = tenant_start(own_server_run, scene);
    const char *const status[] = {"bin/gsctl", "status", "--instance", NULL, NULL};
    const char *arguments[5];
    char its[48], output[4096];
    struct server *server;
    gs_session session;

    gate_wait(&scene->ready, 1);
    /* Root is not led to that user's server unless it asks for it. */
    CHECK_STATUS(attach_to(scene->instance, &session), GS_ERR_NO_SERVER);
    snprintf(its, sizeof(its), "%u:%s", STRANGER, scene->instance);
    attach_and_detach(its);
    memcpy(arguments, status, sizeof(arguments));
    arguments[3] = its;
    CHECK_EQUAL(program_run(arguments, output, sizeof(output)), 0);
    CHECK_TEXT(output, "of nobody");
    server = server_start(&(struct server_options){.instance = scene->instance});
    arguments[3] = scene->instance;
    CHECK_EQUAL(program_run(arguments, output, sizeof(output)), 0);
    CHECK_TEXT(output, "of root");
    gate_pass(&scene->go);
    gate_wait(&scene->done, 1);
    tenant_join(stranger);
    server_stop(server);
}

/* ---- Other users' servers ---- */

static void asker_run(void *argument)
{
    const char *instance = argument;
    const char *const start[] = {"bin/gshared", "--instance", "root:x", NULL};
    char output[512], owned[48];
    gs_session session;

    CHECK(setgid(STRANGER - 1) == 0 && setuid(STRANGER - 1) == 0);
    CHECK_STATUS(attach_to(instance, &session), GS_ERR_NO_SERVER);
    snprintf(owned, sizeof(owned), "nobody:%s", instance);
    CHECK_STATUS(attach_to(owned, &session), GS_ERR_REFUSED);
    CHECK_STATUS(attach_to("no-such-user:x", &session), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "no such user");
    CHECK_EQUAL(program_run(start, output, sizeof(output)), 2);
    CHECK_TEXT(output, "a server of user root");
}

static void lone_server_run(void *argument)
{
    struct scene *scene = argument;
    struct server *own;

    become_stranger();
    own = server_start(&(struct server_options){.instance = scene->instance});
    gate_pass(&scene->ready);
    gate_wait(&scene->go, 1);
    server_stop(own);
}

static void another_users_server_is_found_only_by_its_user(void)
{
    struct scene *scene = scene_new();
    pid_t owner = tenant_start(lone_server_run, scene);

    gate_wait(&scene->ready, 1);
    tenant_join(tenant_start(asker_run, scene->instance));
    gate_pass(&scene->go);
    tenant_join(owner);
}

/* ---- Which servers run ---- */

/* What `gsctl servers [--json]` prints, and its exit status. */
static int servers_list(const char *option, char *output, size_t size)
{
    const char *const list[] = {"bin/gsctl", "servers", option, NULL};

    return program_run(list, output, size);
}

static void listing_owner_run(void *argument)
{
    struct scene *scene = argument;
    struct server *own;
    char output[16384], its[48], roots[48];

    become_stranger();
    own = server_start(&(struct server_options){.instance = scene->instance});
    snprintf(its, sizeof(its), "nobody:%s ", scene->instance);
    snprintf(roots, sizeof(roots), "root:%s ", scene->instance);
    CHECK_EQUAL(servers_list(NULL, output, sizeof(output)), 0);
    CHECK_TEXT(output, its);
    CHECK_TEXT(output, roots);
    gate_pass(&scene->ready);
    gate_wait(&scene->go, 1);
    server_stop(own);
}

static void third_user_run(void *argument)
{
    const struct scene *scene = argument;
    char output[16384], roots[48], its[48];

    CHECK(setgid(STRANGER - 1) == 0 && setuid(STRANGER - 1) == 0);
    snprintf(its, sizeof(its), "nobody:%s ", scene->instance);
    snprintf(roots, sizeof(roots), "root:%s ", scene->instance);
    CHECK_EQUAL(servers_list(NULL, output, sizeof(output)), 0);
    CHECK_TEXT(output, roots);
    CHECK(strstr(output, its) == NULL);
}

static void each_user_lists_the_servers_that_serve_it_and_root_lists_all(void)
{
    struct scene *scene = scene_new();
    struct server *server = server_start(&(struct server_options){.instance = scene->instance});
    pid_t owner = tenant_start(listing_owner_run, scene);
    char output[16384], its[48], json[80];
    const char *const status[] = {"bin/gsctl", "status", "--instance", its, NULL};

    gate_wait(&scene->ready, 1);
    tenant_join(tenant_start(third_user_run, scene));
    snprintf(its, sizeof(its), "nobody:%s ", scene->instance);
    CHECK_EQUAL(servers_list(NULL, output, sizeof(output)), 0);
    CHECK_TEXT(output, its);
    CHECK_TEXT(strstr(output, its), "ready");
    snprintf(json, sizeof(json), "{\"instance\":\"%s\",\"owner\":\"nobody\"", scene->instance);
    CHECK_EQUAL(servers_list("--json", output, sizeof(output)), 0);
    CHECK_TEXT(output, json);
    gate_pass(&scene->go);
    tenant_join(owner);
    CHECK_EQUAL(servers_list(NULL, output, sizeof(output)), 0);
    CHECK(strstr(output, its) == NULL);
    its[strlen(its) - 1] = '\0';
    CHECK_EQUAL(program_run(status, output, sizeof(output)), 3);
    CHECK_TEXT(output, "of user nobody runs; only that user can start it");
    server_stop(server);
}

static void alone_in_its_namespace_run(void *argument)
{
    struct scene *scene = argument;
    const char *const status[] = {"bin/gsctl", "status", "--instance", "another", NULL};
    char output[4096], roots[48];
    struct server *server;
    gs_session session;

    if (unshare(CLONE_NEWIPC) < 0)
        return;
    CHECK_EQUAL(servers_list(NULL, output, sizeof(output)), 3);
    CHECK_TEXT(output, "start one: gshared -d\n");
    CHECK_EQUAL(program_run(status, output, sizeof(output)), 3);
    CHECK(strstr(output, "gsctl servers") == NULL);
    server = server_start(&(struct server_options){.instance = scene->instance});
    CHECK_OK(attach_to(scene->instance, &session));
    CHECK_EQUAL(servers_list(NULL, output, sizeof(output)), 0);
    snprintf(roots, sizeof(roots), "\nroot:%s ", scene->instance);
    CHECK_TEXT(output, roots);
    CHECK_EQUAL(program_run(status, output, sizeof(output)), 3);
    CHECK_TEXT(output, "gsctl servers lists those that run");
    /* The tenant still has the page of the server that was killed. */
    server_kill(server);
    CHECK_EQUAL(servers_list(NULL, output, sizeof(output)), 3);
    gs_detach(session);
}

static void where_no_server_runs_the_list_says_how_to_start_one(void)
{
    tenant_join(tenant_start(alone_in_its_namespace_run, scene_new()));
}

static const struct test tests[] = {
    TEST(a_stranger_who_waits_for_the_lock_keeps_no_server_from_starting),
    TEST(root_takes_its_name_from_a_squatter),
    TEST(roots_name_is_free_of_a_users_server_of_that_name),
    TEST(another_users_server_is_found_only_by_its_user),
    TEST(each_user_lists_the_servers_that_serve_it_and_root_lists_all),
    TEST(where_no_server_runs_the_list_says_how_to_start_one),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
