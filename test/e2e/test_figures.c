/*
 * test_figures.c - what the server counts for operators: the waits and latencies of launches, SMs
 * over time, strays, attaches that were refused, workers whose place another took. Read by `gsctl
 * metrics`, whose form test_metrics.c checks.
 */
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gsctl_run.h"
#include "harness/harness.h"

#define NOWHERE UINT64_C(0x123450)

static const char stray_ptx[] =
    PTX_HEAD ".visible .entry stray(.param .u64 at)\n"
             "{ .reg .b64 %rd; ld.param.u64 %rd, [at]; st.global.u32 [%rd], 7; ret; }\n";

static const char hold_ptx[] = PTX_HEAD PTX_HOLD;

/* The figure of this name that has this label, as the server says now; 0 for the count of a
 * histogram that is not there, since nothing is in it. */
static double figure(const char *name, const char *label)
{
    const size_t length = strlen(name);

    GSCTL_OK("metrics");
    for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n")) {
        if (!strncmp(line, name, length) && line[length] == '{' && strstr(line, label))
            return strtod(strrchr(line, ' '), NULL);
    }
    if (strstr(name, "_seconds_count"))
        return 0;
    test_fail(__FILE__, __LINE__, "no figure %s with %s", name, label);
}

static gs_session attach(gs_fence fence)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    params.fence = fence;
    CHECK_OK(gs_attach(&params, &session));
    return session;
}

static gs_kernel kernel_of(gs_session session, const char *ptx, const char *name)
{
    gs_module module;

    CHECK_OK(gs_module_load(session, ptx, strlen(ptx), &module));
    return kernels_get(module, name);
}

static void each_launch_counts_once_in_both_histograms(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach(GS_FENCE_AUTO);
    gs_kernel nothing = kernels_get(kernels_load(session), "nothing");
    double wait, latency, seconds;

    for (int i = 0; i < 990; i++)
        CHECK_OK(kernels_launch(NULL, nothing, 1, 1, NULL));
    CHECK_OK(gs_sync(session));
    for (int i = 0; i < 10; i++) { /* each alone: some of these go without a fence */
        CHECK_OK(kernels_launch(NULL, nothing, 1, 1, NULL));
        CHECK_OK(gs_sync(session));
    }
    CHECK_WITHIN(10000, figure("gshare_launch_latency_seconds_count", "session=\"1\"") == 1000);
    CHECK(figure("gshare_queue_wait_seconds_count", "session=\"1\"") == 1000);
    CHECK(figure("gshare_launches_total", "session=\"1\"") == 1000);
    CHECK(figure("gshare_queue_depth", "session=\"1\"") == 0);
    wait = figure("gshare_queue_wait_seconds_sum", "session=\"1\"");
    latency = figure("gshare_launch_latency_seconds_sum", "session=\"1\"");
    CHECK(latency > 0 && latency >= wait);
    CHECK(figure("gshare_launch_latency_seconds_bucket", "le=\"+Inf\"") == 1000);
    /* One block takes one SM. */
    seconds = figure("gshare_kernel_seconds_total", "session=\"1\"");
    CHECK(seconds > 0);
    CHECK(figure("gshare_sm_seconds_total", "session=\"1\"") <= seconds * 1.001 + 1e-6);
    CHECK(figure("gshare_sm_seconds_total", "session=\"1\"") >= seconds * 0.999 - 1e-6);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* The operator lets one launch at a time go to the device, so that the other waits in the ring. */
static void a_launch_waits_and_takes_as_long_as_it_does(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach(GS_FENCE_AUTO);
    gs_kernel hold = kernel_of(session, hold_ptx, "hold");
    const uint32_t one = 1;
    uint64_t held_ns;
    gs_devptr words;
    gs_stream aside;

    CHECK_OK(gs_malloc(session, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_memset(session, words, 0, 2 * sizeof(uint32_t)));
    CHECK_OK(gs_stream_create(session, NULL, &aside));
    CHECK_OK(gs_sync(session));
    GSCTL_OK("set", "1", "--inflight", "1");
    for (int i = 0; i < 2; i++)
        CHECK_OK(kernels_launch(NULL, hold, 1, 1, (void *[]){&words}));
    CHECK_WITHIN(10000, figure("gshare_queue_depth", "session=\"1\"") == 1);
    CHECK_EQUAL(figure("gshare_launch_latency_seconds_count", "session=\"1\""), 0);
    held_ns = clock_ns();
    CHECK_WITHIN(10000, clock_ns() - held_ns >= 400000000u);
    GSCTL_OK("set", "1", "--unset", "inflight"); /* for the copy, too */
    CHECK_OK(gs_memcpy_htod_async(session, words, &one, sizeof(one), aside));
    CHECK_OK(gs_sync(session));
    CHECK_WITHIN(10000, figure("gshare_launch_latency_seconds_count", "session=\"1\"") == 2);
    /* Where the ends of both are seen at a time, each counts with a half of it. */
    CHECK_EQUAL(figure("gshare_launch_latency_seconds_bucket", "le=\"0.1\""), 0);
    CHECK(figure("gshare_launch_latency_seconds_sum", "session=\"1\"") >= 0.6);
    CHECK_EQUAL(figure("gshare_queue_wait_seconds_bucket", "le=\"0.2\""), 1);
    CHECK(figure("gshare_queue_wait_seconds_sum", "session=\"1\"") >= 0.4);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void an_attach_that_is_refused_counts_by_its_status(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    CHECK(figure("gshare_refusals_total", "GS_ERR_NO_DEVICE") == 0);
    params.device = 7;
    for (int i = 0; i < 3; i++)
        CHECK_STATUS(gs_attach(&params, &session), GS_ERR_NO_DEVICE);
    CHECK(figure("gshare_refusals_total", "GS_ERR_NO_DEVICE") == 3);
    params.device = GS_DEVICE_AUTO;
    params.reservation = "nobody's";
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_NOT_FOUND);
    CHECK(figure("gshare_refusals_total", "GS_ERR_NOT_FOUND") == 1);
    CHECK(figure("gshare_attaches_total", "server=") == 0);
    server_stop(server);
}

static void takeovers_count_by_their_cause_and_by_whose_fault_it_was(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_session bystander = attach(GS_FENCE_AUTO), session = attach(GS_FENCE_AUTO);
    gs_devptr words;
    char user[96];

    snprintf(user, sizeof(user), "user=\"%s\"", getpwuid(geteuid())->pw_name);
    CHECK(figure("gshare_takeovers_total", "cause=\"eviction\"") == 0);
    GSCTL_OK("set", "2", "--kernel-limit", "300");
    CHECK_OK(gs_malloc(session, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_memset(session, words, 0, 2 * sizeof(uint32_t)));
    CHECK_OK(kernels_launch(NULL, kernel_of(session, hold_ptx, "hold"), 1, 1, (void *[]){&words}));
    CHECK_STATUS(gs_sync(session), GS_ERR_FAULT);
    CHECK_STATUS(gs_detach(session), GS_ERR_FAULT);
    CHECK(figure("gshare_takeovers_total", "cause=\"eviction\"") == 1);
    CHECK(figure("gshare_takeovers_blamed_total", user) == 1);

    CHECK_WITHIN(20000, gsctl("restart-worker", "--force", NULL) == 0);
    CHECK(figure("gshare_takeovers_total", "cause=\"restart\"") == 1);
    CHECK(figure("gshare_faults_total", "gpu=\"0\"") == 1);

    CHECK_WITHIN(20000, server_worker_pid(server) != 0);
    kill(server_worker_pid(server), SIGKILL);
    CHECK_WITHIN(20000, figure("gshare_takeovers_total", "cause=\"worker\"") == 1);

    CHECK_WITHIN(20000, server_worker_pid(server) != 0);
    session = attach(GS_FENCE_AUTO);
    CHECK_OK(kernels_launch(NULL, kernel_of(session, stray_ptx, "stray"), 1, 1,
                            (void *[]){&(gs_devptr){NOWHERE}}));
    CHECK_STATUS(gs_sync(session), GS_ERR_FAULT);
    CHECK_STATUS(gs_detach(session), GS_ERR_FAULT);
    CHECK(figure("gshare_takeovers_total", "cause=\"fault\"") == 1);
    CHECK(figure("gshare_takeovers_blamed_total", user) == 2);
    CHECK(figure("gshare_faults_total", "gpu=\"0\"") == 3);
    gs_detach(bystander);
    server_stop(server);
}

static void strays_count(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach(GS_FENCE_REPORT);
    gs_kernel stray = kernel_of(session, stray_ptx, "stray");

    CHECK(figure("gshare_strays_total", "session=\"1\"") == 0);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(kernels_launch(NULL, stray, 1, 32, (void *[]){&(gs_devptr){NOWHERE}}));
        CHECK_OK(gs_sync(session));
    }
    CHECK_WITHIN(10000, figure("gshare_strays_total", "session=\"1\"") == 64);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_device_is_named_as_other_programs_name_it(void)
{
    struct server *server = server_start(NULL);
    const char *uuid;

    GSCTL_OK("metrics");
    uuid = strstr(output, "UUID=\"");
    CHECK(uuid && !strncmp(uuid + 6, "GPU-", 4) && strcspn(uuid + 6, "\"") == 40);
    CHECK(figure("gshare_device_ready", "pci_bus_id=\"0000") == 1);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(each_launch_counts_once_in_both_histograms),
    TEST(a_launch_waits_and_takes_as_long_as_it_does),
    TEST(an_attach_that_is_refused_counts_by_its_status),
    TEST(takeovers_count_by_their_cause_and_by_whose_fault_it_was),
    TEST(strays_count),
    TEST(a_device_is_named_as_other_programs_name_it),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
