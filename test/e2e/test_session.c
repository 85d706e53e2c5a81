/* test_session.c - attaching, what a session says of itself, limits, and many sessions at once. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin.h"
#include "bystander.h"
#include "harness/harness.h"

#define MIB (UINT64_C(1) << 20)

static void a_session_attaches_tells_of_itself_and_detaches(void)
{
    struct server *server = server_start(NULL);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_session_info(session, &desc));
    CHECK(desc.session_id != 0);
    CHECK_EQUAL(desc.device, 0);
    CHECK_EQUAL(desc.server_pid, server->pid);
    CHECK_TEXT(desc.instance, server->instance);
    CHECK(desc.device_name[0] != '\0');
    CHECK(desc.compute_major > 0 && desc.sm_count > 0);
    CHECK(desc.max_threads_per_block >= 1024 && desc.max_block_dim[0] >= 1024);
    CHECK(desc.max_grid_dim[0] >= 65535 && desc.max_grid_dim[2] > 0);
    CHECK(desc.max_dynamic_smem >= 32768);
    CHECK(desc.max_streams > 1 && desc.max_streams <= 63);
    CHECK(desc.device_memory > 0 && desc.mem_limit > 0);
    /* A power of two in size, aligned to its size. */
    CHECK(desc.window_size >= UINT64_C(1) << 32);
    CHECK_EQUAL(desc.window_size & (desc.window_size - 1), 0);
    CHECK_EQUAL(desc.window_base % desc.window_size, 0);
    CHECK_OK(gs_detach(session));
    CHECK_STATUS(gs_detach(session), GS_ERR_INVALID_HANDLE);
    CHECK_EQUAL(server_tenants(server), 0);
    server_stop(server);
}

static void the_server_shows_who_is_attached(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    struct ctl_tenant row;
    gs_session session;
    gs_devptr memory;

    params.name = "a name of more than thirty-one bytes";
    params.mem_limit = 64 * MIB;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_session_info(session, &desc));
    CHECK_OK(gs_malloc(session, 3 * MIB, &memory));
    CHECK_OK(gs_memset(session, memory, 1, MIB));
    CHECK(admin_tenant(server, desc.session_id, &row));
    CHECK_WITHIN(2000, admin_tenant(server, desc.session_id, &row) && row.pid == getpid());
    CHECK_EQUAL(row.uid, getuid());
    CHECK_EQUAL(row.memory_limit, 64 * MIB);
    CHECK(row.memory_used >= 3 * MIB && row.memory_used <= 64 * MIB);
    CHECK_EQUAL(strcmp(row.name, "a name of more than thirty-one "), 0);
    CHECK_EQUAL(admin_rows(server), 1);
    CHECK_OK(gs_detach(session));
    CHECK(!admin_tenant(server, desc.session_id, &row));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

static void the_library_tells_its_version_and_names_statuses(void)
{
    unsigned version = 0;

    CHECK_OK(gs_version(&version));
    CHECK_EQUAL(version, GS_VERSION);
    CHECK_STATUS(gs_version(NULL), GS_ERR_INVALID_VALUE);
    for (int status = GS_OK; status <= GS_ERR_ILLEGAL_ADDRESS; status++) {
        CHECK_TEXT(gs_status_name((gs_status)status), "GS_");
        CHECK(strchr(gs_status_name((gs_status)status), '?') == NULL);
        CHECK(gs_strerror((gs_status)status)[0] != '\0');
    }
    CHECK_TEXT(gs_status_name((gs_status)-1), "GS_STATUS_?");
    CHECK_TEXT(gs_status_name((gs_status)1000), "GS_STATUS_?");
    CHECK(gs_strerror((gs_status)1000) != NULL);
}

/* ---- Several sessions ---- */

static void sessions_of_one_process_are_apart(void)
{
    struct server *server = server_start(NULL);
    gs_session session[8];
    gs_devptr memory[8];
    unsigned char got[1000], wanted[1000];

    for (unsigned i = 0; i < ARRAY_SIZE(session); i++) {
        CHECK_OK(gs_attach(NULL, &session[i]));
        CHECK_OK(gs_malloc(session[i], sizeof(got), &memory[i]));
        for (unsigned k = 0; k < i; k++)
            CHECK(memory[k] != memory[i]);
        CHECK_OK(gs_memset(session[i], memory[i], (int)i + 1, sizeof(got)));
    }
    CHECK_EQUAL(server_tenants(server), ARRAY_SIZE(session));
    for (unsigned i = 0; i < ARRAY_SIZE(session); i++) {
        CHECK_OK(gs_memcpy_dtoh(session[i], got, memory[i], sizeof(got)));
        memset(wanted, (int)i + 1, sizeof(wanted));
        CHECK_MEMORY(got, wanted, sizeof(got));
    }
    for (unsigned i = 0; i < ARRAY_SIZE(session); i += 2)
        CHECK_OK(gs_detach(session[i]));
    for (unsigned i = 1; i < ARRAY_SIZE(session); i += 2) {
        CHECK_OK(gs_memcpy_dtoh(session[i], got, memory[i], sizeof(got)));
        memset(wanted, (int)i + 1, sizeof(wanted));
        CHECK_MEMORY(got, wanted, sizeof(got));
        CHECK_OK(gs_detach(session[i]));
    }
    CHECK_EQUAL(server_tenants(server), 0);
    server_stop(server);
}

static void four_processes_compute_side_by_side(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *tenants = bystanders_start(4);

    CHECK_EQUAL(server_tenants(server), 4);
    CHECK_WITHIN(20000, bystanders_rounds(tenants) > 100);
    bystanders_stop(tenants);
    CHECK_EQUAL(server_tenants(server), 0);
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

static void attaching_again_and_again_leaves_nothing(void)
{
    struct server *server = server_start(NULL);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    uint64_t last = 0;

    for (unsigned i = 0; i < 200; i++) {
        gs_session session;
        gs_devptr memory;

        CHECK_OK(gs_attach(NULL, &session));
        CHECK_OK(gs_session_info(session, &desc));
        CHECK(desc.session_id > last);
        last = desc.session_id;
        CHECK_OK(gs_malloc(session, 4096, &memory));
        CHECK_OK(gs_memset(session, memory, 1, 4096));
        CHECK_OK(gs_detach(session));
    }
    CHECK_EQUAL(server_tenants(server), 0);
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

static void more_tenants_than_allowed_are_refused(void)
{
    static const char *const arguments[] = {"--max-tenants", "3", NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    gs_session session[3], fourth;

    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(gs_attach(NULL, &session[i]));
    CHECK_STATUS(gs_attach(NULL, &fourth), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "3");
    CHECK_OK(gs_detach(session[1]));
    CHECK_OK(gs_attach(NULL, &fourth));
    CHECK_OK(gs_detach(fourth));
    CHECK_OK(gs_detach(session[0]));
    CHECK_OK(gs_detach(session[2]));
    server_stop(server);
}

/* ---- Memory limits ---- */

static void mem_check(gs_session session, size_t total, size_t at_most_free)
{
    size_t free_bytes, total_bytes;

    CHECK_OK(gs_mem_info(session, &free_bytes, &total_bytes));
    CHECK_EQUAL(total_bytes, total);
    CHECK(free_bytes <= at_most_free);
    CHECK_OK(gs_mem_info(session, NULL, NULL));
    CHECK_OK(gs_mem_info(session, &free_bytes, NULL));
}

static void a_session_holds_no_more_than_its_limit(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session limited, other;
    gs_devptr a, b, c;
    size_t before, after;

    params.mem_limit = 64 * MIB;
    CHECK_OK(gs_attach(&params, &limited));
    CHECK_OK(gs_attach(NULL, &other));
    mem_check(limited, 64 * MIB, 64 * MIB);
    CHECK_OK(gs_mem_info(limited, &before, NULL));
    CHECK_OK(gs_malloc(limited, 40 * MIB, &a));
    mem_check(limited, 64 * MIB, 24 * MIB);
    b = 12345;
    CHECK_STATUS(gs_malloc(limited, 40 * MIB, &b), GS_ERR_QUOTA);
    CHECK_TEXT(gs_last_error_message(), "limit of 64 MiB");
    CHECK_EQUAL(b, 12345);
    CHECK_OK(gs_malloc(other, 40 * MIB, &c)); /* another's limit is another's */
    CHECK_OK(gs_free(limited, a));
    CHECK_OK(gs_malloc(limited, 40 * MIB, &b));
    CHECK_OK(gs_free(limited, b));
    CHECK_OK(gs_mem_info(limited, &after, NULL));
    CHECK_EQUAL(after, before);
    CHECK_OK(gs_detach(limited));
    CHECK_OK(gs_detach(other));
    server_stop(server);
}

static void the_environment_only_lowers_the_limit(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    size_t total;
    gs_session session;

    params.mem_limit = 64 * MIB;
    setenv("GSHARE_MEM_LIMIT", "32M", 1);
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_mem_info(session, NULL, &total));
    CHECK_EQUAL(total, 32 * MIB);
    CHECK_OK(gs_detach(session));
    setenv("GSHARE_MEM_LIMIT", "1G", 1);
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_mem_info(session, NULL, &total));
    CHECK_EQUAL(total, 64 * MIB);
    CHECK_OK(gs_detach(session));
    setenv("GSHARE_MEM_LIMIT", "much", 1);
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "much");
    unsetenv("GSHARE_MEM_LIMIT");
    setenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=16M,1=8M", 1);
    params.device = 0;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_mem_info(session, NULL, &total));
    CHECK_EQUAL(total, 16 * MIB);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void the_servers_limit_holds_for_all(void)
{
    static const char *const arguments[] = {"--mem-limit", "32M", NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    gs_devptr memory;
    size_t total;

    params.mem_limit = 1024 * MIB;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_mem_info(session, NULL, &total));
    CHECK_EQUAL(total, 32 * MIB);
    CHECK_STATUS(gs_malloc(session, 33 * MIB, &memory), GS_ERR_QUOTA);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void too_much_for_the_device_is_refused(void)
{
    struct server *server = server_start(NULL);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_devptr memory;
    gs_status status;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_session_info(session, &desc));
    status = gs_malloc(session, desc.device_memory + MIB, &memory);
    CHECK(status == GS_ERR_QUOTA || status == GS_ERR_NO_DEVICE_MEMORY);
    CHECK(gs_last_error_message()[0] != '\0');
    CHECK_OK(gs_malloc(session, MIB, &memory));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Quality of service ---- */

static void class_and_priority_are_granted_and_kept_when_a_wish_is_refused(void)
{
    struct server *server = server_start(NULL);
    gs_qos qos = GS_QOS_INIT, read = GS_QOS_INIT;
    gs_session session;
    gs_stream stream;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_get_qos(session, &read));
    CHECK_EQUAL(read.cls, GS_CLASS_NORMAL);
    qos.cls = GS_CLASS_LATENCY;
    qos.priority = 2;
    CHECK_OK(gs_set_qos(session, &qos));
    CHECK_OK(gs_get_qos(session, &read));
    CHECK_EQUAL(read.cls, GS_CLASS_LATENCY);
    CHECK_EQUAL(read.priority, 2);
    CHECK_OK(gs_stream_create(session, &qos, &stream));
    CHECK_OK(gs_stream_destroy(stream));

    qos = (gs_qos)GS_QOS_INIT;
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 2;
    CHECK_STATUS(gs_stream_create(session, &qos, &stream), GS_ERR_NOT_SUPPORTED);
    qos = (gs_qos)GS_QOS_INIT;
    qos.cls = (gs_class)3;
    CHECK_STATUS(gs_set_qos(session, &qos), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "3");
    CHECK_OK(gs_get_qos(session, &read));
    CHECK_EQUAL(read.cls, GS_CLASS_LATENCY);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_session_may_run_on_the_whole_device(void)
{
    struct server *server = server_start(NULL);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_exec_affinity affinity;
    unsigned bits = 0;
    gs_session session;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_session_info(session, &desc));
    CHECK_OK(gs_get_exec_affinity(session, &affinity));
    CHECK_EQUAL(affinity.type, GS_EXEC_AFFINITY_SM_COUNT);
    CHECK_EQUAL(affinity.sm_count, desc.sm_count);
    CHECK_EQUAL(affinity.percentage, 100);
    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++)
        bits += (unsigned)__builtin_popcountll(affinity.sm_mask[i]);
    CHECK_EQUAL(bits, desc.sm_count);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Headers of other versions ---- */

static void older_and_newer_headers_are_answered(void)
{
    struct server *server = server_start(NULL);
    union {
        gs_attach_params params;
        unsigned char bytes[sizeof(gs_attach_params) + 64];
    } newer = {.params = GS_ATTACH_PARAMS_INIT};
    struct {
        gs_session_desc desc;
        unsigned char more[64];
    } bigger;
    unsigned char older[sizeof(gs_session_desc) + 16];
    size_t size;
    gs_session session;
    gs_session_desc desc = GS_SESSION_DESC_INIT;

    /* A newer header whose further fields are zero asks for nothing that this version lacks. */
    newer.params.size = sizeof(newer.bytes);
    CHECK_OK(gs_attach(&newer.params, &session));
    CHECK_OK(gs_session_info(session, &desc));

    /* An older one knows the first fields only: no byte beyond them may be touched. */
    memset(older, 0xEE, sizeof(older));
    size = offsetof(gs_session_desc, instance);
    memcpy(older, &size, sizeof(size));
    CHECK_OK(gs_session_info(session, (gs_session_desc *)(void *)older));
    CHECK_MEMORY(older + sizeof(size), (unsigned char *)&desc + sizeof(size), size - sizeof(size));
    CHECK_EQUAL(older[size], 0xEE);
    memcpy(&size, older, sizeof(size));
    CHECK_EQUAL(size, offsetof(gs_session_desc, instance));

    memset(&bigger, 0xEE, sizeof(bigger));
    bigger.desc.size = sizeof(bigger);
    CHECK_OK(gs_session_info(session, &bigger.desc));
    CHECK_EQUAL(bigger.desc.session_id, desc.session_id);
    CHECK_EQUAL(bigger.more[0], 0);
    CHECK_EQUAL(bigger.more[63], 0);
    CHECK_OK(gs_detach(session));

    /* A field that only a newer version knows, set: it cannot be honoured. */
    newer.bytes[sizeof(gs_attach_params) + 8] = 1;
    CHECK_STATUS(gs_attach(&newer.params, &session), GS_ERR_INVALID_VALUE);
    newer.bytes[sizeof(gs_attach_params) + 8] = 0;
    newer.params.size = 3;
    CHECK_STATUS(gs_attach(&newer.params, &session), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "3");
    newer.params.size = SIZE_MAX;
    CHECK_STATUS(gs_attach(&newer.params, &session), GS_ERR_INVALID_VALUE);
    CHECK_EQUAL(server_tenants(server), 0);
    server_stop(server);
}

/* ---- Privacy ---- */

#define SECRET_BYTES (8u << 20)

static void dirty(void *argument)
{
    gs_session session;
    gs_devptr memory[4];

    (void)argument;
    CHECK_OK(gs_attach(NULL, &session));
    for (unsigned i = 0; i < ARRAY_SIZE(memory); i++) {
        CHECK_OK(gs_malloc(session, SECRET_BYTES >> (4 * i), &memory[i]));
        CHECK_OK(gs_memset(session, memory[i], 0x5A, SECRET_BYTES >> (4 * i)));
    }
    CHECK_OK(gs_free(session, memory[0]));
    CHECK_OK(gs_detach(session));
}

static void zeros_check(gs_session session, size_t size)
{
    unsigned char *bytes = malloc(size);
    gs_devptr memory;

    CHECK(bytes != NULL);
    CHECK_OK(gs_malloc(session, size, &memory));
    memset(bytes, 0xFF, size);
    CHECK_OK(gs_memcpy_dtoh(session, bytes, memory, size));
    for (size_t i = 0; i < size; i++)
        CHECK(bytes[i] == 0);
    free(bytes);
}

static void what_one_tenant_freed_another_sees_as_zeros(void)
{
    struct server *server = server_start(NULL);

    for (unsigned round = 0; round < 3; round++) {
        gs_session session;
        gs_devptr again;

        tenant_join(tenant_start(dirty, NULL));
        CHECK_OK(gs_attach(NULL, &session));
        for (unsigned i = 0; i < 4; i++)
            zeros_check(session, SECRET_BYTES >> (4 * i));
        /* One's own memory comes back zeroed too. */
        CHECK_OK(gs_malloc(session, 10000, &again));
        CHECK_OK(gs_memset(session, again, 0x77, 10000));
        CHECK_OK(gs_free(session, again));
        zeros_check(session, 10000);
        CHECK_OK(gs_detach(session));
    }
    server_stop(server);
}

static void host_memory_comes_zeroed(void)
{
    struct server *server = server_start(NULL);
    gs_session session;

    CHECK_OK(gs_attach(NULL, &session));
    for (unsigned round = 0; round < 4; round++) {
        unsigned char *block;

        CHECK_OK(gs_host_alloc(session, 300000, (void **)&block));
        for (size_t i = 0; i < 300000; i++)
            CHECK(block[i] == 0);
        memset(block, 0xA5, 300000);
        CHECK_OK(gs_host_free(session, block));
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(a_session_attaches_tells_of_itself_and_detaches),
    TEST(the_server_shows_who_is_attached),
    TEST(the_library_tells_its_version_and_names_statuses),
    TEST(sessions_of_one_process_are_apart),
    TEST(four_processes_compute_side_by_side),
    TEST(attaching_again_and_again_leaves_nothing),
    TEST(more_tenants_than_allowed_are_refused),
    TEST(a_session_holds_no_more_than_its_limit),
    TEST(the_environment_only_lowers_the_limit),
    TEST(the_servers_limit_holds_for_all),
    TEST(too_much_for_the_device_is_refused),
    TEST(class_and_priority_are_granted_and_kept_when_a_wish_is_refused),
    TEST(a_session_may_run_on_the_whole_device),
    TEST(older_and_newer_headers_are_answered),
    TEST(what_one_tenant_freed_another_sees_as_zeros),
    TEST(host_memory_comes_zeroed),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
