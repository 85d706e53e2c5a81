/*
 * test_params.c - parameters of up to 32,764 bytes, which CUDA takes from 12.1 on, arrive whole
 * whichever way a launch goes; and more are refused.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "harness/harness.h"

#define MOST       32764u
#define CLASSIC    4096u /* what kernels take before CUDA 12.1 */
#define POINTER    8u    /* the first parameter */
#define LAUNCHES   24u
#define RING_BYTES 65536u

static const unsigned sizes[] = {CLASSIC, CLASSIC + 1, 20000, MOST};

/* hash: *out = a hash of the bytes of its other parameter, so that all parameters have `bytes`
 * bytes.  hold: sets words[1], and runs until words[0] is set. */
static const char *hash_text(const char *version, unsigned bytes)
{
    static char text[2048];

    snprintf(text, sizeof(text),
             ".version %s\n.target sm_80\n.address_size 64\n"
             ".visible .entry hash(.param .u64 out, .param .align 4 .b8 data[%u])\n"
             "{ .reg .b64 %%rd<2>; .reg .b32 %%r<3>; .reg .pred %%p; ld.param.u64 %%rd0, [out];\n"
             "  mov.b64 %%rd1, data; mov.u32 %%r0, %u; mov.u32 %%r1, 0;\n"
             "again: ld.param.u8 %%r2, [%%rd1]; mad.lo.u32 %%r1, %%r1, 31, %%r2;\n"
             "  add.u64 %%rd1, %%rd1, 1; sub.u32 %%r0, %%r0, 1; setp.ne.u32 %%p, %%r0, 0;\n"
             "  @%%p bra again; st.global.u32 [%%rd0], %%r1; ret; }\n"
             ".visible .entry hold(.param .u64 words)\n"
             "{ .reg .b64 %%rd; .reg .b32 %%r; .reg .pred %%p; ld.param.u64 %%rd, [words];\n"
             "  st.volatile.global.u32 [%%rd+4], 1;\n"
             "again: ld.volatile.global.u32 %%r, [%%rd]; setp.eq.u32 %%p, %%r, 0;\n"
             "  @%%p bra again; ret; }\n",
             version, bytes - POINTER, bytes - POINTER);
    return text;
}

struct scene {
    struct server *server;
    gs_session session;
    gs_module module;
    gs_kernel hash;
    gs_devptr out; /* LAUNCHES words */
    unsigned bytes;
};

static void scene_load(struct scene *scene, unsigned bytes)
{
    const char *text = hash_text("8.1", bytes);
    gs_kernel_desc desc = GS_KERNEL_DESC_INIT;

    scene->bytes = bytes;
    CHECK_OK(gs_module_load(scene->session, text, strlen(text), &scene->module));
    scene->hash = kernels_get(scene->module, "hash");
    CHECK_OK(gs_kernel_info(scene->hash, &desc));
    CHECK_EQUAL(desc.param_bytes, bytes);
    CHECK_OK(gs_malloc(scene->session, LAUNCHES * sizeof(uint32_t), &scene->out));
    CHECK_OK(gs_memset(scene->session, scene->out, 0, LAUNCHES * sizeof(uint32_t)));
}

static void scene_set(struct scene *scene, unsigned bytes)
{
    scene->server = server_start(NULL);
    CHECK_OK(server_attach(scene->server, &scene->session));
    scene_load(scene, bytes);
}

static void scene_end(struct scene *scene)
{
    CHECK_OK(gs_detach(scene->session));
    server_stop(scene->server);
}

static void data_fill(unsigned char data[MOST], unsigned seed)
{
    for (unsigned i = 0; i < MOST; i++)
        data[i] = (unsigned char)(seed * 7 + i * 13 + i / 256);
}

/* Launch number `at`, whose data `seed` decides. */
static gs_status hash_configured(const struct scene *scene, gs_stream stream, unsigned at,
                                 unsigned seed, const gs_launch_config *config)
{
    gs_devptr out = scene->out + at * sizeof(uint32_t);
    unsigned char data[MOST];

    data_fill(data, seed);
    return gs_launch(stream, scene->hash, config, (void *[]){&out, data});
}

static void hash_launch(const struct scene *scene, gs_stream stream, unsigned at, unsigned seed)
{
    CHECK_OK(
        hash_configured(scene, stream, at, seed, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1)));
}

static uint32_t hash_expected(unsigned bytes, unsigned seed)
{
    unsigned char data[MOST];
    uint32_t hash = 0;

    data_fill(data, seed);
    for (unsigned i = 0; i < bytes - POINTER; i++)
        hash = hash * 31 + data[i];
    return hash;
}

/* The first `count` words are of the seeds from `seed` on. */
static void out_check(const struct scene *scene, unsigned count, unsigned seed)
{
    uint32_t words[LAUNCHES];

    CHECK_OK(gs_memcpy_dtoh(scene->session, words, scene->out, sizeof(words)));
    for (unsigned i = 0; i < count; i++)
        CHECK_EQUAL(words[i], hash_expected(scene->bytes, seed + i));
}

/* ---- Ways of a launch ------------------------------------------------------------------------ */

/* In rows, so that graphs are made and set anew, and around the ring's end. */
static void launches_in_a_row_take_their_own(void)
{
    struct scene s;

    for (unsigned size = 0; size < ARRAY_SIZE(sizes); size++) {
        scene_set(&s, sizes[size]);
        for (unsigned round = 0; round < 4; round++) {
            for (unsigned i = 0; i < LAUNCHES; i++)
                hash_launch(&s, NULL, i, 100 * round + i);
            out_check(&s, LAUNCHES, 100 * round);
        }
        scene_end(&s);
    }
}

/* A record is in one piece: in the middle of the ring the largest one needs a padding with which it
 * is more than the ring. */
static void the_largest_launch_goes_from_any_place_of_the_ring(void)
{
    const gs_launch_config one = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_kernel nothing;
    struct scene s;

    scene_set(&s, MOST);
    nothing = kernels_get(kernels_load(s.session), "nothing");
    for (unsigned small = 0; small <= RING_BYTES / 64; small += small == 511 ? 1 : 73) {
        gs_stream stream;

        CHECK_OK(gs_stream_create(s.session, NULL, &stream));
        for (unsigned i = 0; i < small; i++)
            CHECK_OK(gs_launch(stream, nothing, &one, NULL));
        hash_launch(&s, stream, 0, small);
        hash_launch(&s, stream, 1, small + 1);
        CHECK_OK(gs_stream_sync(s.session, stream));
        out_check(&s, 2, small);
        CHECK_OK(gs_stream_destroy(stream));
    }
    scene_end(&s);
}

/* Requests of the latency class go as one graph when they come again. */
static void requests_take_their_own(void)
{
    struct scene s;

    for (unsigned size = 0; size < ARRAY_SIZE(sizes); size++) {
        gs_devptr fill;
        gs_kernel kernel;

        s.server = server_start(NULL);
        s.session = attach_class(GS_CLASS_LATENCY);
        scene_load(&s, sizes[size]);
        CHECK_OK(gs_malloc(s.session, sizeof(uint32_t), &fill));
        kernel = kernels_get(kernels_load(s.session), "fill");
        for (unsigned round = 0; round < 12; round++) {
            CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&fill, &round, &(uint32_t){1}}));
            hash_launch(&s, NULL, 0, round);
            CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&fill, &round, &(uint32_t){1}}));
            CHECK_OK(gs_sync(s.session));
            out_check(&s, 1, round);
        }
        scene_end(&s);
    }
}

static void recorded_launches_keep_theirs(void)
{
    for (unsigned size = 0; size < ARRAY_SIZE(sizes); size++) {
        gs_stream stream;
        gs_graph graph;
        struct scene s;

        scene_set(&s, sizes[size]);
        CHECK_OK(gs_stream_create(s.session, NULL, &stream));
        CHECK_OK(gs_graph_begin(s.session, stream));
        for (unsigned i = 0; i < LAUNCHES; i++)
            hash_launch(&s, stream, i, 50 + i);
        CHECK_OK(gs_graph_end(s.session, stream, &graph));
        for (unsigned round = 0; round < 3; round++) {
            CHECK_OK(gs_memset(s.session, s.out, 0, LAUNCHES * sizeof(uint32_t)));
            CHECK_OK(gs_graph_launch(graph, stream));
            CHECK_OK(gs_stream_sync(s.session, stream));
            out_check(&s, LAUNCHES, 50);
        }
        CHECK_OK(gs_graph_destroy(graph));
        scene_end(&s);
    }
}

/* A report, a deadline and a class of its own follow the parameters: no record is larger. */
static void launches_of_their_own_kind_take_theirs(void)
{
    for (unsigned size = 0; size < ARRAY_SIZE(sizes); size++) {
        gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
        gs_report report = GS_REPORT_INIT;
        gs_qos qos = GS_QOS_INIT;
        gs_report_id id;
        struct scene s;

        scene_set(&s, sizes[size]);
        config.report = &id;
        CHECK_OK(hash_configured(&s, NULL, 0, 7, &config));
        CHECK_OK(gs_launch_report_for(s.session, id, &report, UINT64_C(20000000000)));
        qos.deadline_ns = 1000000000;
        config.qos = &qos;
        CHECK_OK(hash_configured(&s, NULL, 1, 8, &config));
        CHECK_OK(gs_launch_report_for(s.session, id, &report, UINT64_C(20000000000)));
        config = (gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1);
        config.cooperative = 1;
        CHECK_OK(hash_configured(&s, NULL, 2, 9, &config));
        CHECK_OK(gs_sync(s.session));
        out_check(&s, 3, 7);
        scene_end(&s);
    }
}

/* ---- Another worker -------------------------------------------------------------------------- */

/* Waits until the kernel that holds the device runs, also once more. */
static void hold_await(const struct scene *s, gs_devptr words, gs_stream aside)
{
    uint32_t started = 0;

    while (!started) {
        CHECK_OK(gs_memcpy_dtoh_async(s->session, &started, words + 4, sizeof(started), aside));
        CHECK_OK(gs_stream_sync(s->session, aside));
    }
    started = 0;
    CHECK_OK(gs_memcpy_htod_async(s->session, words + 4, &started, sizeof(started), aside));
    CHECK_OK(gs_stream_sync(s->session, aside));
}

/* What waits behind a kernel that runs, and a graph. */
static void another_worker_takes_them_up(void)
{
    for (unsigned size = 1; size < ARRAY_SIZE(sizes); size++) {
        gs_attach_params params = GS_ATTACH_PARAMS_INIT;
        const uint32_t one = 1;
        gs_stream aside;
        gs_devptr words;
        gs_graph graph;
        struct scene s;

        s.server = server_start(&server_unfenced);
        params.on_fault = GS_ON_FAULT_REPLAY;
        CHECK_OK(gs_attach(&params, &s.session));
        scene_load(&s, sizes[size]);
        CHECK_OK(gs_malloc(s.session, 2 * sizeof(uint32_t), &words));
        CHECK_OK(gs_stream_create(s.session, NULL, &aside));
        CHECK_OK(gs_graph_begin(s.session, aside));
        hash_launch(&s, aside, 1, 4);
        CHECK_OK(gs_graph_end(s.session, aside, &graph));
        CHECK_OK(kernels_launch(NULL, kernels_get(s.module, "hold"), 1, 1, (void *[]){&words}));
        hash_launch(&s, NULL, 0, 3);
        hold_await(&s, words, aside);
        server_worker_replace(s.server, 0);
        hold_await(&s, words, aside);
        CHECK_OK(gs_memcpy_htod_async(s.session, words, &one, sizeof(one), aside));
        CHECK_OK(gs_graph_launch(graph, aside));
        CHECK_OK(gs_sync(s.session));
        out_check(&s, 2, 3);
        scene_end(&s);
    }
}

/* ---- Too many -------------------------------------------------------------------------------- */

static void more_are_refused(void)
{
    static const struct {
        const char *version;
        unsigned bytes;
    } table[] = {{"8.1", MOST + 1}, {"8.0", 4353}};
    struct server *server = server_start(NULL);
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < ARRAY_SIZE(table); i++) {
        const char *text = hash_text(table[i].version, table[i].bytes);
        const gs_status status = gs_module_load(session, text, strlen(text), &module);

        CHECK(status != GS_OK);
        CHECK_TEXT(gs_last_error_message(), "parameter");
    }
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST_WITHIN(launches_in_a_row_take_their_own, 120),
    TEST_WITHIN(the_largest_launch_goes_from_any_place_of_the_ring, 120),
    TEST_WITHIN(requests_take_their_own, 120),
    TEST_WITHIN(recorded_launches_keep_theirs, 120),
    TEST_WITHIN(launches_of_their_own_kind_take_theirs, 120),
    TEST_WITHIN(another_worker_takes_them_up, 120),
    TEST(more_are_refused),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
