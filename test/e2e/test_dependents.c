/* test_dependents.c - programmatic dependent launches: in which order they and what follows run. */
#include <string.h>

#include "harness/harness.h"

/* hold waits until [a] is not 0, then adds one to [b]; lets its dependents go before. brief adds
 * one to [a] and waits for nobody. signal sets [a], then tells in [c] what the launch before it has
 * left in [b]. step computes [a] = 3 [a] + b behind the launch before it. */
#define ENTRY(name, body)                                                                          \
    ".visible .entry " name "(.param .u64 a, .param .u64 b, .param .u64 c) {\n"                    \
    ".reg .b64 %a, %b, %c; .reg .b32 %v, %i; .reg .pred %p;\n"                                     \
    "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c];\n" body "ret; }\n"
#define LET_GO "griddepcontrol.launch_dependents;\n"
#define AWAIT  "griddepcontrol.wait;\n"

static const char text[] = ".version 7.8\n.target sm_90\n.address_size 64\n"
    /* */
    ENTRY("hold", LET_GO "again: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0;\n"
                         "@%p bra again; ld.global.u32 %v, [%b]; add.u32 %v, %v, 1;\n"
                         "st.global.u32 [%b], %v;\n")
        ENTRY("brief", LET_GO "red.global.add.u32 [%a], 1;\n")
            ENTRY("signal", "st.volatile.global.u32 [%a], 1;\n" AWAIT
                            "ld.global.u32 %v, [%b]; st.global.u32 [%c], %v;\n")
                ENTRY("step", LET_GO AWAIT "ld.global.u32 %v, [%a]; cvt.u32.u64 %i, %b;\n"
                                           "mad.lo.u32 %v, %v, 3, %i; st.global.u32 [%a], %v;\n");

enum { FLAG, LEFT, SEEN, BEGUN, WORDS = 64 };

struct scene {
    struct server *server;
    gs_session session;
    gs_module module;
    gs_stream stream, other;
    gs_devptr words;
};

static void scene_set(struct scene *scene)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;

    scene->server = server_start(NULL);
    CHECK_OK(server_attach(scene->server, &scene->session));
    CHECK_OK(gs_session_info(scene->session, &desc));
    if (desc.compute_major < 9)
        test_skip("the device has no dependent launches");
    CHECK_OK(gs_module_load(scene->session, text, sizeof(text), &scene->module));
    CHECK_OK(gs_stream_create(scene->session, NULL, &scene->stream));
    CHECK_OK(gs_stream_create(scene->session, NULL, &scene->other));
    CHECK_OK(gs_malloc(scene->session, WORDS * 4, &scene->words));
}

static void scene_end(struct scene *scene)
{
    CHECK_OK(gs_detach(scene->session));
    server_stop(scene->server);
}

static gs_devptr word(const struct scene *scene, unsigned number)
{
    return scene->words + 4 * number;
}

static void launch(const struct scene *scene, const char *name, bool programmatic, uint64_t a,
                   uint64_t b, uint64_t c)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_INIT;

    config.programmatic = programmatic;
    CHECK_OK(gs_launch(scene->stream, kernels_get(scene->module, name), &config,
                       (void *[]){&a, &b, &c}));
}

static void words_clear(const struct scene *scene)
{
    CHECK_OK(gs_memset(scene->session, scene->words, 0, WORDS * 4));
}

/* By another stream, beside what the first one runs. */
static uint32_t word_read(const struct scene *scene, unsigned number)
{
    uint32_t value;

    CHECK_OK(gs_memcpy_dtoh_async(scene->session, &value, word(scene, number), 4, scene->other));
    CHECK_OK(gs_stream_sync(scene->session, scene->other));
    return value;
}

static void flag_set(const struct scene *scene)
{
    CHECK_OK(gs_memset_async(scene->session, word(scene, FLAG), 1, 4, scene->other));
}

/* The first kernel ends only when the second has begun. */
static void in_a_graph_a_dependent_begins_before_the_launch_before_has_ended(void)
{
    struct scene s;
    gs_graph graph;

    scene_set(&s);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    launch(&s, "hold", false, word(&s, FLAG), word(&s, LEFT), 0);
    launch(&s, "signal", true, word(&s, FLAG), word(&s, LEFT), word(&s, SEEN));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    for (unsigned round = 0; round < 20; round++) {
        words_clear(&s);
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_EQUAL(word_read(&s, SEEN), 1);
    }
    scene_end(&s);
}

/* The launches behind the first one have begun, and done all that they do. */
static void what_follows_a_graph_waits_for_all_of_a_chain(void)
{
    struct scene s;
    gs_graph graph;
    gs_event event;

    scene_set(&s);
    CHECK_OK(gs_event_create(s.session, &event));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    launch(&s, "hold", false, word(&s, FLAG), word(&s, LEFT), 0);
    for (unsigned i = 0; i < 5; i++)
        launch(&s, "brief", true, word(&s, BEGUN), 0, 0);
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    for (unsigned round = 0; round < 5; round++) {
        words_clear(&s);
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_event_record(event, s.stream));
        launch(&s, "step", true, word(&s, LEFT), 7, 0);
        while (word_read(&s, BEGUN) < 5)
            test_pause();
        CHECK_STATUS(gs_event_query(event), GS_NOT_READY);
        CHECK_STATUS(gs_stream_query(s.session, s.stream), GS_NOT_READY);
        CHECK_EQUAL(word_read(&s, LEFT), 0);
        flag_set(&s);
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_EQUAL(word_read(&s, LEFT), 3 * 1 + 7);
    }
    scene_end(&s);
}

/* Whether or not the server lets them begin early: a graph of them is made when they come again. */
static void what_follows_in_a_stream_waits_for_all_of_a_chain(void)
{
    struct scene s;
    gs_event event;

    scene_set(&s);
    CHECK_OK(gs_event_create(s.session, &event));
    for (unsigned round = 0; round < 10; round++) {
        words_clear(&s);
        launch(&s, "hold", false, word(&s, FLAG), word(&s, LEFT), 0);
        for (unsigned i = 0; i < 20; i++)
            launch(&s, "brief", true, word(&s, BEGUN), 0, 0);
        CHECK_OK(gs_event_record(event, s.stream));
        for (unsigned i = 0; i < 20; i++)
            word_read(&s, BEGUN);
        CHECK_STATUS(gs_event_query(event), GS_NOT_READY);
        CHECK_STATUS(gs_stream_query(s.session, s.stream), GS_NOT_READY);
        flag_set(&s);
        CHECK_OK(gs_event_sync(event));
        CHECK_EQUAL(word_read(&s, LEFT), 1);
        CHECK_EQUAL(word_read(&s, BEGUN), 20);
    }
    scene_end(&s);
}

static void dependents_see_what_the_launch_before_has_written(void)
{
    uint32_t expected = 0;
    struct scene s;

    scene_set(&s);
    words_clear(&s);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 50; i++) {
            launch(&s, "step", i % 7 != 0, word(&s, LEFT), i, 0);
            expected = 3 * expected + i;
        }
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_EQUAL(word_read(&s, LEFT), expected);
    }
    scene_end(&s);
}

/* Also what waits for a step that is left out: for what that one waits for. */
static void steps_of_a_chain_can_be_left_out_and_changed(void)
{
    enum { STEPS = 4 };
    static const unsigned second[] = {1};
    struct scene s;
    gs_graph graph;

    scene_set(&s);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    for (unsigned i = 0; i < STEPS; i++)
        launch(&s, "step", i > 0, word(&s, LEFT), i + 1, 0);
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    for (unsigned mask = 0; mask < 2u << STEPS; mask++) {
        uint32_t expected = 0;

        for (unsigned i = 0; i < STEPS; i++) {
            CHECK_OK(gs_graph_enable(graph, &i, 1, mask >> i & 1));
            if (mask >> i & 1)
                expected = 3 * expected + (i == 1 && mask >> STEPS ? 9 : i + 1);
        }
        if (mask == 1u << STEPS) {
            CHECK_OK(gs_graph_begin(s.session, s.stream));
            launch(&s, "step", true, word(&s, LEFT), 9, 0);
            CHECK_OK(gs_graph_change(s.session, s.stream, graph, second, 1));
        }
        words_clear(&s);
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_EQUAL(word_read(&s, LEFT), expected);
    }
    scene_end(&s);
}

/* Two launches that the chain waits for, and a copy between. */
static void a_dependent_of_several_steps_waits_for_all(void)
{
    const unsigned both[] = {0, 1};
    struct scene s;
    gs_graph graph;

    scene_set(&s);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    launch(&s, "hold", false, word(&s, FLAG), word(&s, LEFT), 0);
    CHECK_OK(gs_graph_after(s.session, s.stream, NULL, 0));
    launch(&s, "step", true, word(&s, SEEN), 5, 0);
    CHECK_OK(gs_graph_after(s.session, s.stream, both, 2));
    launch(&s, "brief", true, word(&s, BEGUN), 0, 0);
    CHECK_OK(gs_memcpy_dtod_async(s.session, word(&s, BEGUN + 1), word(&s, LEFT), 4, s.stream));
    launch(&s, "step", true, word(&s, BEGUN + 1), 6, 0);
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    words_clear(&s);
    CHECK_OK(gs_graph_launch(graph, s.stream));
    while (word_read(&s, SEEN) != 5)
        test_pause();
    CHECK_EQUAL(word_read(&s, BEGUN), 0);
    flag_set(&s);
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_EQUAL(word_read(&s, BEGUN), 1);
    CHECK_EQUAL(word_read(&s, BEGUN + 1), 3 * 1 + 6);
    scene_end(&s);
}

static const struct test tests[] = {
    TEST(in_a_graph_a_dependent_begins_before_the_launch_before_has_ended),
    TEST(what_follows_a_graph_waits_for_all_of_a_chain),
    TEST(what_follows_in_a_stream_waits_for_all_of_a_chain),
    TEST(dependents_see_what_the_launch_before_has_written),
    TEST(steps_of_a_chain_can_be_left_out_and_changed),
    TEST(a_dependent_of_several_steps_waits_for_all),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
