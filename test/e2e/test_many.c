/*
 * test_many.c - many sessions at once, each launching. 100 by default; GSHARE_TEST_SESSIONS says
 * how many (1,000 is what a server is built for).
 */
#include <stdlib.h>
#include <string.h>

#include "bystander.h"
#include "harness/harness.h"

#define PROCESSES 10u
#define WORDS     128u

struct crowd {
    unsigned each;
    struct gate attached, go, done;
};

static void member_run(void *argument)
{
    struct crowd *crowd = argument;
    gs_session *session = calloc(crowd->each, sizeof(*session));
    gs_kernel *chain = calloc(crowd->each, sizeof(gs_kernel));
    gs_devptr *data = calloc(crowd->each, sizeof(*data));
    uint32_t words[WORDS], n = WORDS, rounds = 4;

    CHECK(session != NULL && chain != NULL && data != NULL);
    for (unsigned i = 0; i < crowd->each; i++) {
        CHECK_OK(gs_attach(NULL, &session[i]));
        chain[i] = kernels_get(kernels_load(session[i]), "chain");
        CHECK_OK(gs_malloc(session[i], sizeof(words), &data[i]));
    }
    gate_pass(&crowd->attached);
    gate_wait(&crowd->go, 1);
    for (uint32_t round = 0; round < 5; round++) {
        for (uint32_t i = 0; i < crowd->each; i++) {
            CHECK_OK(gs_memset_async(session[i], data[i], (int)i, sizeof(words), NULL));
            CHECK_OK(kernels_launch(NULL, chain[i], 1, WORDS,
                                    (void *[]){&data[i], &n, &rounds, &round}));
        }
        for (uint32_t i = 0; i < crowd->each; i++) {
            CHECK_OK(gs_memcpy_dtoh(session[i], words, data[i], sizeof(words)));
            for (unsigned k = 0; k < WORDS; k++)
                CHECK_EQUAL(words[k], chain_expected((i & 0xFF) * 0x01010101u, rounds, round));
        }
    }
    gate_pass(&crowd->done);
    gate_wait(&crowd->go, 2);
    /* Half of them leave in good order, half just end. */
    for (unsigned i = 0; i < crowd->each; i += 2)
        CHECK_OK(gs_detach(session[i]));
    free(session);
    free(chain);
    free(data);
}

static unsigned sessions_wanted(void)
{
    const char *text = getenv("GSHARE_TEST_SESSIONS");

    return text != NULL ? (unsigned)atoi(text) : 100;
}

static void many_sessions_compute_at_once(void)
{
    unsigned sessions = sessions_wanted();
    struct server *server = server_start(NULL);
    struct crowd *crowd = shared_alloc(sizeof(*crowd));
    pid_t pid[PROCESSES];

    crowd->each = (sessions + PROCESSES - 1) / PROCESSES;
    for (unsigned i = 0; i < PROCESSES; i++)
        pid[i] = tenant_start(member_run, crowd);
    gate_wait(&crowd->attached, PROCESSES);
    CHECK_EQUAL(server_tenants(server), crowd->each * PROCESSES);
    gate_pass(&crowd->go);
    gate_wait(&crowd->done, PROCESSES);
    gate_pass(&crowd->go);
    for (unsigned i = 0; i < PROCESSES; i++)
        tenant_join(pid[i]);
    CHECK_WITHIN(5000, server_tenants(server) == 0 && server_memory_used(server) == 0);
    server_stop(server);
}

/* Each SM has as many of these sessions as any other, give or take one; each session has `sms`. */
static void spread_check(const gs_session *session, unsigned count, unsigned sms,
                         const gs_session_desc *device)
{
    unsigned load[GS_SM_MASK_WORDS * 64] = {0}, least = count, most = 0;

    for (unsigned i = 0; i < count; i++) {
        gs_exec_affinity affinity;

        CHECK_OK(gs_get_exec_affinity(session[i], &affinity));
        CHECK_EQUAL(affinity.sm_count, sms);
        for (unsigned sm = 0; sm < device->sm_count; sm++)
            load[sm] += affinity.sm_mask[sm / 64] >> sm % 64 & 1;
    }
    for (unsigned sm = 0; sm < device->sm_count; sm++) {
        least = load[sm] < least ? load[sm] : least;
        most = load[sm] > most ? load[sm] : most;
    }
    CHECK(most - least <= 1);
}

static void many_capped_sessions_are_spread_over_the_device(void)
{
    struct server *server = server_start(NULL);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    unsigned sessions = sessions_wanted();
    gs_session *session = calloc(sessions, sizeof(*session));
    gs_qos qos = GS_QOS_INIT;

    CHECK(session != NULL);
    CHECK_OK(gs_attach(NULL, &session[0]));
    CHECK_OK(gs_session_info(session[0], &desc));
    CHECK_OK(gs_detach(session[0]));
    if (desc.sm_granularity == 0)
        test_skip("the device has no partitions of SMs");
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 1;
    params.qos = &qos;
    for (unsigned i = 0; i < sessions; i++)
        CHECK_OK(gs_attach(&params, &session[i]));
    spread_check(session, sessions, desc.sm_granularity, &desc);
    qos.affinity.sm_count = 2 * desc.sm_granularity;
    for (unsigned i = 0; i < sessions; i++)
        CHECK_OK(gs_set_qos(session[i], &qos));
    spread_check(session, sessions, 2 * desc.sm_granularity, &desc);
    for (unsigned i = 0; i < sessions; i++)
        CHECK_OK(gs_detach(session[i]));
    free(session);
    server_stop(server);
}

static const struct test tests[] = {
    TEST_WITHIN(many_sessions_compute_at_once, 120),
    TEST_WITHIN(many_capped_sessions_are_spread_over_the_device, 120),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
