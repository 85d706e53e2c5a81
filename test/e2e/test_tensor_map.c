/*
 * test_tensor_map.c - tensor maps of fenced sessions: a map leads into the memory of the session
 * that has made it, and what is no such map leads nowhere.
 */
#include <signal.h>
#include <string.h>

#include "harness/harness.h"

#define WORDS 16u
/* A session knows so many of its last maps, and at most twice as many. */
#define KNOWN 4096u

static const struct server_options always = {.arguments =
                                                 (const char *const[]){"--fence", "always", NULL}};

/* put: the map's first 16 words become `value`. */
static const char put_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry put(.param .u32 value, .param .align 64 .b8 map[128])\n"
    "{ .reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .pred %p; .shared .align 128 .b8 box[64];\n"
    "  ld.param.u32 %r0, [value]; mov.u32 %r1, 0;\n"
    "  mov.u32 %r2, box;\n"
    "again: st.shared.u32 [%r2], %r0; add.u32 %r2, %r2, 4; add.u32 %r1, %r1, 1;\n"
    "  setp.lt.u32 %p, %r1, 16; @%p bra again;\n"
    "  fence.proxy.async.shared::cta; mov.b64 %rd0, map; cvta.param.u64 %rd1, %rd0;\n"
    "  mov.u32 %r1, 0;\n"
    "  cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [box];\n"
    "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }\n";

struct tenant {
    gs_session session;
    gs_kernel put;
    gs_devptr memory; /* 4 KiB of zeros */
};

static struct tenant tenant_begin(const struct server *server)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    struct tenant tenant;
    gs_module module;

    CHECK_OK(server_attach(server, &tenant.session));
    CHECK_OK(gs_session_info(tenant.session, &desc));
    if (desc.compute_major < 9)
        test_skip("a device without tensor copies");
    CHECK_EQUAL(desc.fenced, GS_FENCE_ON);
    CHECK_OK(gs_malloc(tenant.session, 4096, &tenant.memory));
    CHECK_OK(gs_memset(tenant.session, tenant.memory, 0, 4096));
    CHECK_OK(gs_module_load(tenant.session, put_ptx, sizeof(put_ptx), &module));
    CHECK_OK(gs_kernel_get(module, "put", &tenant.put));
    return tenant;
}

/* So many words from there on. */
static gs_tensor_map_desc words_at(gs_devptr address, uint64_t words)
{
    gs_tensor_map_desc desc = GS_TENSOR_MAP_DESC_INIT;

    desc.address = address;
    desc.type = 2; /* CU_TENSOR_MAP_DATA_TYPE_UINT32 */
    desc.dim[0] = words;
    desc.box[0] = WORDS;
    return desc;
}

static gs_tensor_map map_make(const struct tenant *tenant, uint64_t words)
{
    const gs_tensor_map_desc desc = words_at(tenant->memory, words);
    gs_tensor_map map;

    CHECK_OK(gs_tensor_map_encode(tenant->session, &desc, &map));
    return map;
}

static gs_status put(const struct tenant *tenant, gs_tensor_map map, uint32_t value)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);

    CHECK_OK(gs_launch(NULL, tenant->put, &config, (void *[]){&value, &map}));
    return gs_sync(tenant->session);
}

static void check_words(const struct tenant *tenant, uint32_t value)
{
    uint32_t words[WORDS + 1];

    CHECK_OK(gs_memcpy_dtoh(tenant->session, words, tenant->memory, sizeof(words)));
    for (unsigned i = 0; i < WORDS; i++)
        CHECK_EQUAL(words[i], value);
    CHECK_EQUAL(words[WORDS], 0);
}

static void a_map_leads_into_the_memory_of_its_session(void)
{
    struct server *server = server_start(&always);
    const struct tenant tenant = tenant_begin(server);

    CHECK_OK(put(&tenant, map_make(&tenant, WORDS), 7));
    check_words(&tenant, 7);
    CHECK_OK(gs_detach(tenant.session));
    server_stop(server);
}

static void a_tensor_outside_of_the_session_has_no_map(void)
{
    struct server *server = server_start(&always);
    const struct tenant tenant = tenant_begin(server), other = tenant_begin(server);
    const uint64_t most = UINT64_C(1) << 32;
    gs_tensor_map_desc desc[6];
    gs_tensor_map map;

    desc[0] = words_at(other.memory, WORDS);
    desc[1] = words_at(tenant.memory, most);
    desc[2] = words_at(tenant.memory - (UINT64_C(8) << 30), WORDS);
    desc[3] = words_at(tenant.memory, WORDS);
    desc[3].rank = 2;
    desc[3].dim[1] = most;
    desc[3].stride[0] = 64;
    desc[4] = desc[3];
    desc[4].dim[1] = 2;
    desc[4].stride[0] = UINT64_C(1) << 39;
    desc[5] = desc[4];
    desc[5].rank = 5;
    for (unsigned i = 1; i < 5; i++) {
        desc[5].dim[i] = most;
        desc[5].stride[i - 1] = (UINT64_C(1) << 40) - 16;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(desc); i++) {
        CHECK_STATUS(gs_tensor_map_encode(tenant.session, &desc[i], &map), GS_ERR_INVALID_VALUE);
        CHECK_TEXT(gs_last_error_message(), "does not lie in the memory of the session");
    }
    desc[0] = words_at(tenant.memory, WORDS);
    desc[0].interleave = 1;
    CHECK_STATUS(gs_tensor_map_encode(tenant.session, &desc[0], &map), GS_ERR_NOT_SUPPORTED);
    CHECK_OK(gs_detach(tenant.session));
    CHECK_OK(gs_detach(other.session));
    server_stop(server);
}

/* Those of another session, and whatever a program makes up. */
static void other_maps_lead_nowhere(void)
{
    struct server *server = server_start(&always);
    const struct tenant other = tenant_begin(server);
    gs_tensor_map maps[3];

    maps[0] = maps[1] = map_make(&other, WORDS);
    maps[1].opaque[15] ^= 1;
    memset(&maps[2], 0, sizeof(maps[2]));
    for (unsigned i = 0; i < ARRAY_SIZE(maps); i++) {
        const struct tenant tenant = tenant_begin(server);

        map_make(&tenant, WORDS);
        CHECK(put(&tenant, maps[i], 7) != GS_OK);
        gs_detach(tenant.session);
        check_words(&other, 0);
    }
    CHECK_OK(put(&other, maps[0], 9));
    check_words(&other, 9);
    CHECK_OK(gs_detach(other.session));
    server_stop(server);
}

static void worker_kill(const struct server *server)
{
    pid_t worker;

    CHECK_WITHIN(20000, (worker = server_worker_pid(server)) > 0);
    CHECK_EQUAL(kill(worker, SIGKILL), 0);
}

static void a_map_outlives_workers(void)
{
    struct server *server = server_start(&always);
    const struct tenant tenant = tenant_begin(server);
    const gs_tensor_map map = map_make(&tenant, WORDS);

    for (uint32_t value = 7; value < 10; value++) {
        worker_kill(server);
        CHECK_OK(put(&tenant, map, value));
        check_words(&tenant, value);
    }
    CHECK_OK(gs_detach(tenant.session));
    server_stop(server);
}

static void a_map_counts_as_long_as_it_is_used(void)
{
    struct server *server = server_start(&always);
    const struct tenant tenant = tenant_begin(server);
    const gs_tensor_map used = map_make(&tenant, WORDS), unused = map_make(&tenant, WORDS + 1);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_tensor_map recorded = map_make(&tenant, WORDS + 2);
    uint32_t value = 0, in_graph = 1000;
    gs_graph graph;

    CHECK_OK(gs_graph_begin(tenant.session, NULL));
    CHECK_OK(gs_launch(NULL, tenant.put, &config, (void *[]){&in_graph, &recorded}));
    CHECK_OK(gs_graph_end(tenant.session, NULL, &graph));
    /* One of each shape. */
    for (unsigned more = 0; more < 4 * KNOWN + KNOWN / 2; more++) {
        gs_tensor_map_desc desc = words_at(tenant.memory, 4);
        gs_tensor_map map;

        desc.rank = 2;
        desc.dim[1] = 1 + more / 64;
        desc.stride[0] = 16 * (1 + more % 64);
        desc.box[0] = 4;
        CHECK_OK(gs_tensor_map_encode(tenant.session, &desc, &map));
        if (more % 1000 == 0) {
            CHECK_OK(put(&tenant, used, ++value));
            check_words(&tenant, value);
            CHECK_OK(gs_graph_launch(graph, NULL));
            CHECK_OK(gs_sync(tenant.session));
            check_words(&tenant, in_graph);
        }
    }
    worker_kill(server);
    CHECK_OK(put(&tenant, used, 77));
    check_words(&tenant, 77);
    CHECK_OK(gs_graph_launch(graph, NULL));
    CHECK_OK(gs_sync(tenant.session));
    check_words(&tenant, in_graph);
    CHECK(put(&tenant, unused, 78) != GS_OK);
    gs_detach(tenant.session);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(a_map_leads_into_the_memory_of_its_session),
    TEST(a_tensor_outside_of_the_session_has_no_map),
    TEST(other_maps_lead_nowhere),
    TEST(a_map_outlives_workers),
    TEST_WITHIN(a_map_counts_as_long_as_it_is_used, 120),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
