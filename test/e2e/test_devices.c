/*
 * test_devices.c - a server of several devices: which one a session gets, by its number, by its
 * rank in an MPI job, or where the fewest are. On the software device, which can be several.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/harness.h"

#define MIB ((size_t)1 << 20)

static const char *const rank_variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                             "PMI_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
                                             "SLURM_LOCALID"};

static struct server *server_of(const char *devices, const char *how_many)
{
    const char *const arguments[] = {"--devices", how_many, NULL};
    const char *const environment[] = {devices, NULL};
    const struct server_options options = {
        .device = "soft", .arguments = arguments, .environment = environment};

    for (unsigned i = 0; i < ARRAY_SIZE(rank_variables); i++)
        unsetenv(rank_variables[i]);
    return server_start(&options);
}

static int device_of(gs_session session)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;

    CHECK_OK(gs_session_info(session, &desc));
    return desc.device;
}

static void a_rank_decides_modulo_the_devices(void)
{
    struct server *server = server_of("GSHARE_SOFT_DEVICES=2", "2");
    gs_session session[ARRAY_SIZE(rank_variables) * 4];
    unsigned count = 0;

    for (unsigned v = 0; v < ARRAY_SIZE(rank_variables); v++) {
        /* The first of each four is the odd one, so that counting sessions would choose another. */
        static const char *const ranks[] = {"1", "3", "5", "0"};
        for (unsigned i = 0; i < ARRAY_SIZE(ranks); i++) {
            setenv(rank_variables[v], ranks[i], 1);
            CHECK_OK(server_attach(server, &session[count]));
            CHECK_EQUAL(device_of(session[count]), atoi(ranks[i]) % 2);
            count++;
        }
        unsetenv(rank_variables[v]);
    }
    while (count > 0)
        CHECK_OK(gs_detach(session[--count]));
    server_stop(server);
}

static void the_launchers_variable_hides_slurms_and_a_number_hides_both(void)
{
    struct server *server = server_of("GSHARE_SOFT_DEVICES=2", "2");
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    setenv("SLURM_LOCALID", "0", 1);
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
    CHECK_OK(server_attach(server, &session));
    CHECK_EQUAL(device_of(session), 1);
    CHECK_OK(gs_detach(session));
    params.device = 0;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_EQUAL(device_of(session), 0);
    CHECK_OK(gs_detach(session));
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "first", 1);
    CHECK_STATUS(server_attach(server, &session), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "OMPI_COMM_WORLD_LOCAL_RANK");
    CHECK_OK(gs_attach(&params, &session)); /* it does not matter there */
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void without_a_rank_sessions_go_where_the_fewest_are(void)
{
    struct server *server = server_of("GSHARE_SOFT_DEVICES=3", "all");
    gs_session session[9];
    unsigned on[3] = {0};

    for (unsigned i = 0; i < ARRAY_SIZE(session); i++) {
        CHECK_OK(server_attach(server, &session[i]));
        CHECK(device_of(session[i]) < 3);
        on[device_of(session[i])]++;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(on); i++)
        CHECK_EQUAL(on[i], 3);
    for (unsigned i = 0; i < ARRAY_SIZE(session); i++)
        CHECK_OK(gs_detach(session[i]));
    server_stop(server);
}

static void each_device_works(void)
{
    struct server *server = server_of("GSHARE_SOFT_DEVICES=2", "all");
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session[2], third;
    gs_devptr memory;

    for (unsigned i = 0; i < 2; i++) {
        uint32_t n = 1000, value = 40 + i, words[1000];
        gs_module module;

        params.device = (int)i;
        CHECK_OK(gs_attach(&params, &session[i]));
        module = kernels_load(session[i]);
        CHECK_OK(gs_malloc(session[i], MIB, &memory));
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "fill"), 8, 128,
                                (void *[]){&memory, &value, &n}));
        CHECK_OK(gs_memcpy_dtoh(session[i], words, memory, sizeof(words)));
        CHECK_EQUAL(words[999], value + 999);
    }
    params.device = 2;
    CHECK_STATUS(gs_attach(&params, &third), GS_ERR_NO_DEVICE);
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(gs_detach(session[i]));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* So an address tells which of the process's sessions it belongs to. */
static void a_process_has_its_windows_apart_on_all_devices(void)
{
    struct server *server = server_of("GSHARE_SOFT_DEVICES=3", "all");
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session_desc desc[6];
    gs_session session[6];

    for (unsigned i = 0; i < ARRAY_SIZE(session); i++) {
        params.device = (int)i % 3;
        params.fence = i < 3 ? GS_FENCE_AUTO : GS_FENCE_ON;
        CHECK_OK(gs_attach(&params, &session[i]));
        desc[i] = (gs_session_desc)GS_SESSION_DESC_INIT;
        CHECK_OK(gs_session_info(session[i], &desc[i]));
        CHECK_EQUAL(desc[i].device_count, 3);
        CHECK_EQUAL(desc[i].window_reserved, 1);
        for (unsigned j = 0; j < i; j++)
            CHECK(desc[i].window_base >= desc[j].window_base + desc[j].window_size ||
                  desc[j].window_base >= desc[i].window_base + desc[i].window_size);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(session); i++)
        CHECK_OK(gs_detach(session[i]));
    server_stop(server);
}

static void more_devices_than_there_are_are_refused_by_number(void)
{
    char instance[32], output[4096];
    const char *const start[] = {"bin/gshared", "-f",        "--instance", instance, "--device",
                                 "soft",        "--devices", "2",          NULL};

    snprintf(instance, sizeof(instance), "too-many-%d", (int)getpid());
    setenv("GSHARE_SOFT_DEVICES", "1", 1);
    CHECK_EQUAL(program_run(start, output, sizeof(output)), 1);
    unsetenv("GSHARE_SOFT_DEVICES");
    CHECK_TEXT(output, "device 1: the driver has 1, counted from 0");
}

static const struct test tests[] = {
    TEST(a_rank_decides_modulo_the_devices),
    TEST(the_launchers_variable_hides_slurms_and_a_number_hides_both),
    TEST(without_a_rank_sessions_go_where_the_fewest_are),
    TEST(each_device_works),
    TEST(a_process_has_its_windows_apart_on_all_devices),
    TEST(more_devices_than_there_are_are_refused_by_number),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
