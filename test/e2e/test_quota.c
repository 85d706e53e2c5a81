/*
 * test_quota.c - the memory that all sessions of a user may hold together: set by the operator
 * while they run, counted in physical memory, once however many of them share it.
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/harness.h"

#define MIB ((size_t)1 << 20)

/* gsctl set --user ME --user-mem LIMIT; its exit status. */
static int user_limit_set(unsigned uid, const char *limit, char *output, size_t size)
{
    char user[16];
    const char *const arguments[] = {"bin/gsctl", "set", "--user", user, "--user-mem", limit, NULL};

    snprintf(user, sizeof(user), "%u", uid);
    return program_run(arguments, output, size);
}

static void limit_me(const char *limit)
{
    char output[512];

    if (user_limit_set(geteuid(), limit, output, sizeof(output)) != 0)
        test_fail(__FILE__, __LINE__, "gsctl set: %s", output);
}

static void check_info(gs_session session, size_t wanted_free, size_t wanted_total)
{
    size_t free_bytes, total;

    CHECK_OK(gs_mem_info(session, &free_bytes, &total));
    CHECK_EQUAL(free_bytes, wanted_free);
    CHECK_EQUAL(total, wanted_total);
}

/* gsctl ps shows the limit that counts, of the session or of its user. */
static void shown_limit_is(const char *first, const char *second)
{
    const char *const arguments[] = {"bin/gsctl", "ps", NULL};
    char output[1024], *row;

    CHECK_EQUAL(program_run(arguments, output, sizeof(output)), 0);
    row = strchr(output, '\n');
    CHECK(row != NULL);
    CHECK_TEXT(row, first);
    row = strchr(row + 1, '\n');
    CHECK(row != NULL);
    CHECK_TEXT(row, second);
    CHECK(strstr(row, first) == NULL);
}

static void sessions_of_a_user_share_its_limit(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session a, b, late;
    gs_devptr in_a, in_b, more;
    char whose[64];

    CHECK_OK(server_attach(server, &a));
    params.mem_limit = 8 * MIB;
    CHECK_OK(gs_attach(&params, &b));
    limit_me("12M");
    check_info(a, 12 * MIB, 12 * MIB);
    shown_limit_is("12.0 MiB", "8.0 MiB");
    check_info(b, 8 * MIB, 8 * MIB);
    CHECK_OK(gs_malloc(a, 6 * MIB, &in_a));
    check_info(b, 6 * MIB, 8 * MIB);
    CHECK_OK(gs_malloc(b, 4 * MIB + 1, &in_b));
    check_info(a, 0, 12 * MIB);
    check_info(b, 0, 8 * MIB);
    CHECK_STATUS(gs_malloc(a, 5, &more), GS_ERR_QUOTA);
    const struct passwd *user = getpwuid(geteuid());
    CHECK(user != NULL);
    snprintf(whose, sizeof(whose), "12 MiB of user %s's limit of 12 MiB", user->pw_name);
    CHECK_TEXT(gs_last_error_message(), "5 bytes wanted, counted in pieces of 2 MiB as 2 MiB");
    CHECK_TEXT(gs_last_error_message(), whose);
    /* A session that comes later is under it too. */
    CHECK_OK(server_attach(server, &late));
    CHECK_STATUS(gs_malloc(late, 5, &more), GS_ERR_QUOTA);
    check_info(late, 0, 12 * MIB);
    /* What one gives back, by gs_free or by its end, another can have. */
    CHECK_OK(gs_free(a, in_a));
    CHECK_OK(gs_malloc(late, 6 * MIB, &more));
    CHECK_OK(gs_detach(b));
    CHECK_OK(gs_malloc(a, 6 * MIB, &in_a));
    CHECK_OK(gs_detach(late));
    CHECK_OK(gs_detach(a));
    server_stop(server);
}

static void a_limit_can_be_raised_and_lowered_live(void)
{
    struct server *server = server_start(NULL);
    gs_devptr memory, more;
    char output[512];
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    limit_me("4M");
    CHECK_OK(gs_malloc(session, 4 * MIB, &memory));
    CHECK_STATUS(gs_malloc(session, 1, &more), GS_ERR_QUOTA);
    limit_me("8M");
    CHECK_OK(gs_malloc(session, 1, &more));
    /* Below what is in use: the operator is told, what is in use stays, and nothing is added. */
    CHECK_EQUAL(user_limit_set(geteuid(), "4M", output, sizeof(output)), 0);
    CHECK_TEXT(output, "hold 6 MiB: that stays, new allocations are refused");
    check_info(session, 0, 4 * MIB);
    CHECK_STATUS(gs_malloc(session, 2 * MIB, &memory), GS_ERR_QUOTA);
    CHECK_OK(gs_free(session, memory));
    check_info(session, 2 * MIB, 4 * MIB);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void another_users_limit_is_not_mine(void)
{
    struct server *server = server_start(NULL);
    char output[512];
    gs_devptr memory;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    CHECK_EQUAL(user_limit_set(geteuid() + 12345, "2M", output, sizeof(output)), 0);
    CHECK_OK(gs_malloc(session, 20 * MIB, &memory));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Memory that sessions of one user share is one user's memory, once; it stays counted while one of
 * them has it. */
static void what_is_shared_counts_once_for_its_user(void)
{
    struct server *server = server_start(NULL);
    gs_session a, b;
    gs_mem_handle handle;
    gs_devptr memory, at;

    CHECK_OK(server_attach(server, &a));
    CHECK_OK(server_attach(server, &b));
    limit_me("12M");
    CHECK_OK(gs_malloc(a, 8 * MIB, &memory));
    CHECK_OK(gs_mem_export(a, memory, GS_EXPORT_TO_USER, &handle));
    CHECK_OK(gs_mem_import(b, &handle, &at, NULL));
    check_info(a, 4 * MIB, 12 * MIB);
    CHECK_OK(gs_free(a, memory));
    check_info(a, 4 * MIB, 12 * MIB);
    CHECK_STATUS(gs_malloc(a, 6 * MIB, &memory), GS_ERR_QUOTA);
    CHECK_OK(gs_free(b, at));
    check_info(a, 12 * MIB, 12 * MIB);
    CHECK_OK(gs_malloc(a, 12 * MIB, &memory));
    CHECK_OK(gs_mem_export(a, memory, GS_EXPORT_TO_USER, &handle));
    CHECK_OK(gs_mem_import(b, &handle, &at, NULL));
    CHECK_OK(gs_detach(a));
    check_info(b, 0, 12 * MIB);
    CHECK_OK(gs_free(b, at));
    check_info(b, 12 * MIB, 12 * MIB);
    CHECK_OK(gs_detach(b));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(sessions_of_a_user_share_its_limit),
    TEST(a_limit_can_be_raised_and_lowered_live),
    TEST(another_users_limit_is_not_mine),
    TEST(what_is_shared_counts_once_for_its_user),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
