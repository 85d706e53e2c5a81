/* test_client_qos.c - what the library makes of a quality of service, against a fake server that
 * grants what it is asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/session/session.h"
#include "client_checks.h"
#include "common/util.h"
#include "fake_server.h"
#include "gshare.h"

struct fixture {
    char instance[32];
    struct fake *fake;
    gs_session s;
    gs_kernel none;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_module module;

    snprintf(f->instance, sizeof(f->instance), "test-cq-%d", (int)getpid());
    f->fake = fake_start(f->instance);
    params.instance = f->instance;
    OK(gs_attach(&params, &f->s));
    OK(gs_module_load(f->s, ".version 8.0", 0, &module));
    OK(gs_kernel_get(module, "none", &f->none));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    OK(gs_detach(f->s));
    fake_stop(f->fake);
    free(f);
    return 0;
}

static void quality_of_service_beyond_its_limits_is_refused_by_name(void **state)
{
    static const struct {
        gs_qos qos;
        const char *text;
    } bad[] = {
        {{.cls = (gs_class)7}, "cls is 7"},
        {{.priority = -1}, "priority is -1"},
        {{.weight = 1001}, "1000"},
        {{.deadline_ns = UINT64_MAX}, "3600000000000"},
        {{.affinity = {.type = (gs_exec_affinity_type)4}}, "type is 4"},
        {{.affinity = {.type = GS_EXEC_AFFINITY_SM_COUNT}}, "sm_count is 0"},
        {{.affinity = {.type = GS_EXEC_AFFINITY_SM_MASK}}, "empty"},
        {{.affinity = {.type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE}}, "1 to 100"},
        {{.affinity = {.type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE, .percentage = 101}},
         "is 101"},
    };
    struct fixture *f = *state;
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_stream stream;

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        gs_qos qos = bad[i].qos;
        qos.size = sizeof(qos);
        config.qos = &qos;
        FAILS(gs_set_qos(f->s, &qos), GS_ERR_INVALID_VALUE, bad[i].text);
        FAILS(gs_stream_create(f->s, &qos, &stream), GS_ERR_INVALID_VALUE, bad[i].text);
        FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_INVALID_VALUE, bad[i].text);
    }
    OK(gs_sync(f->s));
}

static void a_stream_has_a_class_and_a_priority_of_its_own_and_no_more(void **state)
{
    struct fixture *f = *state;
    gs_qos qos = GS_QOS_INIT;
    gs_stream stream;

    qos.priority = 6;
    FAILS(gs_stream_create(f->s, &qos, &stream), GS_ERR_INVALID_VALUE, "0 to 5");
    qos.priority = 5;
    qos.cls = GS_CLASS_LATENCY;
    FAILS(gs_stream_create(f->s, &qos, &stream), GS_ERR_INVALID_VALUE,
          "GS_CLASS_LATENCY, above the session's GS_CLASS_NORMAL");
    qos.cls = GS_CLASS_BEST_EFFORT;
    OK(gs_stream_create(f->s, &qos, &stream));
    qos.weight = 2;
    FAILS(gs_stream_create(f->s, &qos, &stream), GS_ERR_NOT_SUPPORTED, "weight");
    qos.weight = 1; /* the session's */
    qos.deadline_ns = 5;
    FAILS(gs_stream_create(f->s, &qos, &stream), GS_ERR_NOT_SUPPORTED, "deadline_ns");
    qos.deadline_ns = 0;
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 2;
    FAILS(gs_stream_create(f->s, &qos, &stream), GS_ERR_NOT_SUPPORTED, "affinity");
}

static void a_wish_is_granted_by_the_server_and_told_from_the_segment(void **state)
{
    struct fixture *f = *state;
    gs_qos qos = GS_QOS_INIT, got = GS_QOS_INIT;
    gs_exec_affinity affinity;

    qos.cls = GS_CLASS_LATENCY;
    qos.priority = 3;
    qos.weight = 7;
    qos.deadline_ns = 1000;
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 6;
    OK(gs_set_qos(f->s, &qos));
    OK(gs_get_qos(f->s, &got));
    assert_int_equal(got.cls, GS_CLASS_LATENCY);
    assert_int_equal(got.priority, 3);
    assert_int_equal(got.weight, 7);
    assert_int_equal(got.deadline_ns, 1000);
    assert_int_equal(got.affinity.type, GS_EXEC_AFFINITY_SM_MASK);
    OK(gs_get_exec_affinity(f->s, &affinity));
    assert_int_equal(affinity.type, GS_EXEC_AFFINITY_SM_COUNT);
    assert_int_equal(affinity.sm_count, 6);
    assert_int_equal(affinity.percentage, 26); /* 4.16, rounded up to 6 */
    assert_int_equal(affinity.sm_mask[0], 0x3F);
    qos = (gs_qos)GS_QOS_INIT;
    OK(gs_set_qos(f->s, &qos));
    OK(gs_get_qos(f->s, &got));
    assert_int_equal(got.affinity.type, GS_EXEC_AFFINITY_NONE);
    assert_int_equal(got.affinity.sm_count, FAKE_SM_COUNT);
}

static void a_launch_of_its_own_kind_stays_within_the_grant(void **state)
{
    struct fixture *f = *state;
    gs_qos qos = GS_QOS_INIT, own = GS_QOS_INIT;
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_graph graph;

    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 6;
    OK(gs_set_qos(f->s, &qos));
    config.qos = &own;
    OK(gs_launch(NULL, f->none, &config, NULL)); /* all defaults */
    own.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    own.affinity.sm_count = 7;
    FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_INVALID_VALUE, "granted 6");
    own.affinity.type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE;
    own.affinity.percentage = 38; /* 7 of 16 */
    FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_INVALID_VALUE, "granted 6");
    own.affinity.percentage = 37;
    OK(gs_launch(NULL, f->none, &config, NULL));
    own.affinity.type = GS_EXEC_AFFINITY_SM_MASK;
    own.affinity.sm_mask[0] = 0xC0;
    FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_INVALID_VALUE, "not among the 6");
    own.affinity.sm_mask[0] = 0x6;
    FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_INVALID_VALUE,
          "whole groups of 2 SMs: SMs 0-1 are granted together");
    own.affinity.sm_mask[0] = 0xC;
    OK(gs_launch(NULL, f->none, &config, NULL));
    own.affinity.exclusive = 1;
    FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_NOT_SUPPORTED, "exclusive");
    own.affinity.exclusive = 0;
    own.weight = 3;
    FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_NOT_SUPPORTED, "weight");
    own = (gs_qos)GS_QOS_INIT;
    own.cls = GS_CLASS_LATENCY;
    FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_INVALID_VALUE, "only go down");
    own.cls = GS_CLASS_BEST_EFFORT;
    own.priority = 6;
    FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_INVALID_VALUE, "0 to 5");
    own.priority = 5;
    own.deadline_ns = 1;
    OK(gs_launch(NULL, f->none, &config, NULL));
    OK(gs_graph_begin(f->s, NULL));
    FAILS(gs_launch(NULL, f->none, &config, NULL), GS_ERR_RECORDING, "quality of service");
    FAILS(gs_graph_end(f->s, NULL, &graph), GS_ERR_RECORDING, "quality of service");
    OK(gs_get_qos(f->s, &own)); /* what was granted may be said again */
    config.qos = &own;
    OK(gs_launch(NULL, f->none, &config, NULL));
    OK(gs_sync(f->s));
}

/* The server's answer may take as long as another tenant's kernel: a limit for attaching is none
 * for that, or what was refused here would hold there. */
static void a_wish_waits_as_long_as_the_server_may_take(void **state)
{
    struct fixture *f = *state;
    struct session *session;
    gs_qos qos = GS_QOS_INIT;
    uint64_t timeout_ns;

    OK(session_use(handle_decode(f->s), HANDLE_SESSION, &session));
    timeout_ns = session->timeout_ns;
    session->timeout_ns = 1;
    for (unsigned i = 0; i < 100; i++)
        OK(gs_set_qos(f->s, &qos));
    session->timeout_ns = timeout_ns;
    session_leave(session);
}

static void what_the_environment_leaves_is_not_exceeded_by_a_wish(void **state)
{
    static const struct {
        gs_exec_affinity asked;
        unsigned sms;
        uint64_t mask;
    } table[] = {
        {{.type = GS_EXEC_AFFINITY_NONE}, 4, 0xF},
        {{.type = GS_EXEC_AFFINITY_SM_COUNT, .sm_count = 8}, 4, 0xF},
        {{.type = GS_EXEC_AFFINITY_SM_COUNT, .sm_count = 2}, 2, 0x3},
        {{.type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE, .percentage = 50}, 4, 0xF},
        {{.type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE, .percentage = 10}, 2, 0x3},
        {{.type = GS_EXEC_AFFINITY_SM_MASK, .sm_mask = {0xFF0}}, 4, 0x0F0},
        {{.type = GS_EXEC_AFFINITY_SM_MASK, .sm_mask = {0xC00}}, 2, 0xC00},
    };
    struct fixture *f = *state;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_qos qos = GS_QOS_INIT, got = GS_QOS_INIT;
    gs_exec_affinity affinity;
    gs_stream stream;
    gs_module module;
    gs_kernel none;
    gs_session s;

    setenv("GSHARE_ACTIVE_THREAD_PERCENTAGE", "25", 1);
    setenv("GSHARE_PRIORITY", "2", 1);
    params.instance = f->instance;
    OK(gs_attach(&params, &s));
    unsetenv("GSHARE_ACTIVE_THREAD_PERCENTAGE");
    unsetenv("GSHARE_PRIORITY");
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        qos.affinity = table[i].asked;
        OK(gs_set_qos(s, &qos));
        OK(gs_get_exec_affinity(s, &affinity));
        assert_int_equal(affinity.sm_count, table[i].sms);
        assert_int_equal(affinity.sm_mask[0], table[i].mask);
    }
    qos.priority = 4;
    OK(gs_set_qos(s, &qos));
    OK(gs_get_qos(s, &got));
    assert_int_equal(got.priority, 2);
    got = (gs_qos)GS_QOS_INIT;
    got.priority = 3;
    FAILS(gs_stream_create(s, &got, &stream), GS_ERR_INVALID_VALUE, "0 to 2");
    OK(gs_module_load(s, ".version 8.0", 0, &module));
    OK(gs_kernel_get(module, "none", &none));
    config.qos = &got;
    FAILS(gs_launch(NULL, none, &config, NULL), GS_ERR_INVALID_VALUE, "0 to 2");
    OK(gs_detach(s));
    /* Attached with the same wishes it is the same. */
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        qos.affinity = table[i].asked;
        params.qos = &qos;
        setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "25", 1);
        setenv("CUDA_MPS_CLIENT_PRIORITY", "1", 1);
        OK(gs_attach(&params, &s));
        unsetenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
        unsetenv("CUDA_MPS_CLIENT_PRIORITY");
        OK(gs_get_exec_affinity(s, &affinity));
        assert_int_equal(affinity.sm_mask[0], table[i].mask);
        qos.cls = GS_CLASS_LATENCY;
        OK(gs_set_qos(s, &qos));
        OK(gs_get_qos(s, &got));
        assert_int_equal(got.cls, GS_CLASS_BEST_EFFORT);
        assert_int_equal(got.priority, 0);
        OK(gs_detach(s));
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        T(quality_of_service_beyond_its_limits_is_refused_by_name),
        T(a_stream_has_a_class_and_a_priority_of_its_own_and_no_more),
        T(a_wish_is_granted_by_the_server_and_told_from_the_segment),
        T(a_launch_of_its_own_kind_stays_within_the_grant),
        T(a_wish_waits_as_long_as_the_server_may_take),
        T(what_the_environment_leaves_is_not_exceeded_by_a_wish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
