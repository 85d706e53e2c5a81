/*
 * test_many.c - many sessions at once, each launching. 100 by default; GSHARE_TEST_SESSIONS says
 * how many (1,000 is what a server is built for).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bystander.h"
#include "common/sanitizers.h"
#include "harness/harness.h"
#include "where.h"

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

/* ---- What an operator sees of them ----------------------------------------------------------- */

#if THREAD_SANITIZER
#define OPERATED 100u
#else
#define OPERATED 1000u
#endif
#define COPY_BYTES 512u

/* Each session copies COPY_BYTES to the device, once. */
static void copier_run(void *argument)
{
    struct crowd *crowd = argument;
    gs_session *session = calloc(crowd->each, sizeof(*session));
    static const char bytes[COPY_BYTES];

    CHECK(session != NULL);
    for (unsigned i = 0; i < crowd->each; i++) {
        gs_devptr data;

        CHECK_OK(gs_attach(NULL, &session[i]));
        CHECK_OK(gs_malloc(session[i], sizeof(bytes), &data));
        CHECK_OK(gs_memcpy_htod(session[i], data, bytes, sizeof(bytes)));
    }
    gate_pass(&crowd->attached);
    gate_wait(&crowd->go, 1);
    for (unsigned i = 0; i < crowd->each; i++)
        CHECK_OK(gs_detach(session[i]));
    free(session);
}

/* What an awk program makes of what a command of gsctl prints, which is longer than the buffer of
 * gsctl_run.h: two numbers. */
static void counted(const char *command, const char *program, uint64_t numbers[2])
{
    char gsctl[4096], line[4600];
    unsigned long long a, b;
    FILE *pipe;

    snprintf(gsctl, sizeof(gsctl), "%s", test_build_path("bin/gsctl"));
    snprintf(line, sizeof(line), "'%s' %s | awk -F'\t' '%s'", gsctl, command, program);
    pipe = popen(line, "r");
    CHECK(pipe != NULL);
    if (fscanf(pipe, "%llu %llu", &a, &b) != 2)
        test_fail(__FILE__, __LINE__, "no numbers: %s", line);
    CHECK_EQUAL(pclose(pipe), 0);
    numbers[0] = a;
    numbers[1] = b;
}

/* However many pages the answers have: each session once, and the sums of all. */
static void an_operator_sees_a_thousand_sessions(void)
{
    static const struct {
        const char *command, *program; /* prints sessions, and bytes that were copied or sessions */
        bool bytes;
    } looks[] = {
        {"ps", "NR > 1 && !seen[$1]++ {n++} END {print n, n}", false},
        {"ps --json", "{n = gsub(/\"session\":/, \"\"); print n, n}", false},
        {"dump", "$1 == \"session\" && !seen[$2]++ {n++; b += $19} END {print n, b}", true},
        {"metrics",
         "/^gshare_sessions / || /^gshare_sessions[{]/ {sub(/.* /, \"\"); n = $0} "
         "/^gshare_copied_bytes_total[{]/ {sub(/.* /, \"\"); b += $0} END {print n, b}",
         true},
        {"metrics", "/^gshare_session_info[{]/ && !seen[$0]++ {n++} END {print n, n}", false},
    };
    struct server *server = server_start(NULL);
    struct crowd *crowd = shared_alloc(sizeof(*crowd));
    pid_t pid[PROCESSES];

    crowd->each = OPERATED / PROCESSES;
    for (unsigned i = 0; i < PROCESSES; i++)
        pid[i] = tenant_start(copier_run, crowd);
    gate_wait(&crowd->attached, PROCESSES);
    CHECK_EQUAL(server_tenants(server), OPERATED);
    for (unsigned i = 0; i < ARRAY_SIZE(looks); i++) {
        uint64_t numbers[2];

        counted(looks[i].command, looks[i].program, numbers);
        if (numbers[0] != OPERATED || numbers[1] != OPERATED * (looks[i].bytes ? COPY_BYTES : 1))
            test_fail(__FILE__, __LINE__, "gsctl %s: %llu sessions, %llu", looks[i].command,
                      (unsigned long long)numbers[0], (unsigned long long)numbers[1]);
    }
    gate_pass(&crowd->go);
    for (unsigned i = 0; i < PROCESSES; i++)
        tenant_join(pid[i]);
    server_stop(server);
}

/* ---- Capped sessions ------------------------------------------------------------------------- */

/* Each session has `sms`. Each SM has as many sessions as any other, give or take one; where the
 * groups of SMs cannot be divided by so many, give or take two and a quarter of the mean. */
static void spread_check(const gs_session *session, unsigned count, unsigned sms,
                         const gs_session_desc *device)
{
    unsigned load[GS_SM_MASK_WORDS * 64] = {0}, least = count, most = 0;
    unsigned distance = device->sm_count % sms ? 2 + count * sms / device->sm_count / 4 : 1;

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
    CHECK(most - least <= distance);
}

struct capped {
    struct server *server;
    gs_session_desc device;
    bool soft;
    unsigned count;
    gs_session *session;
};

/* setting: of the software device; NULL: none. */
static struct capped capped_start(const char *setting)
{
    const char *environment[] = {setting, NULL};
    struct capped capped = {.device = GS_SESSION_DESC_INIT, .count = sessions_wanted()};
    gs_session session;

    capped.server = server_start(&(struct server_options){.environment = environment});
    capped.session = calloc(capped.count, sizeof(session));
    CHECK(capped.session != NULL);
    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_session_info(session, &capped.device));
    capped.soft = test_device_is_soft(session);
    CHECK_OK(gs_detach(session));
    if (capped.device.sm_granularity == 0) {
        server_stop(capped.server);
        test_skip("the device has no partitions of SMs");
    }
    return capped;
}

static void capped_attach(struct capped *capped, gs_qos qos)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;

    params.qos = &qos;
    for (unsigned i = 0; i < capped->count; i++)
        CHECK_OK(gs_attach(&params, &capped->session[i]));
}

static void capped_end(struct capped *capped)
{
    for (unsigned i = 0; i < capped->count; i++)
        CHECK_OK(gs_detach(capped->session[i]));
    free(capped->session);
    server_stop(capped->server);
}

static void capped_are_spread(struct capped *capped)
{
    unsigned group = capped->device.sm_granularity;
    gs_qos qos = where_count(2 * group);

    capped_attach(capped, where_count(1));
    spread_check(capped->session, capped->count, group, &capped->device);
    for (unsigned i = 0; i < capped->count; i++)
        CHECK_OK(gs_set_qos(capped->session[i], &qos));
    spread_check(capped->session, capped->count, 2 * group, &capped->device);
    capped_end(capped);
}

static void many_capped_sessions_are_spread_over_the_device(void)
{
    struct capped capped = capped_start(NULL);

    capped_are_spread(&capped);
}

/* As an H200 has them. */
static void many_capped_sessions_are_spread_over_132_sms(void)
{
    struct capped capped = capped_start("GSHARE_SOFT_SMS=132");

    if (!capped.soft) {
        server_stop(capped.server);
        test_skip("a GPU has the SMs that it has");
    }
    capped_are_spread(&capped);
}

/* A percentage each, all of them: more different sets would be wanted than a device can have. */
static void many_sessions_with_different_shares_have_what_they_ask_for(void)
{
    struct capped capped = capped_start("GSHARE_SOFT_SMS=132");
    struct where device = {.granularity = capped.device.sm_granularity};

    capped_attach(&capped, where_count(1));
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < capped.count; i++) {
            unsigned percentage = 1 + (i * 37 + round * 50) % 100;
            gs_qos qos = where_percentage(percentage);
            gs_exec_affinity affinity;

            CHECK_OK(gs_set_qos(capped.session[i], &qos));
            CHECK_OK(gs_get_exec_affinity(capped.session[i], &affinity));
            CHECK_EQUAL(
                affinity.sm_count,
                where_rounded(&device, sm_count_of_percentage(capped.device.sm_count, percentage)));
        }
    }
    capped_end(&capped);
}

/* ---- Addresses ------------------------------------------------------------------------------- */

#define THOUSAND 1000u

/* With as much memory as an H200 has, the first sessions' windows are wide, and all of them
 * together must fit into the 128 TiB of addresses that the worker has. */
static void a_thousand_sessions_find_addresses(gs_fence fence)
{
#if THREAD_SANITIZER
    test_skip("the sanitizer has most of the addresses");
#endif
    const char *environment[] = {"GSHARE_SOFT_MEM=139G", NULL};
    struct server *server = server_start(&(struct server_options){.environment = environment});
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session *session = calloc(THOUSAND, sizeof(*session));
    gs_session_desc first = GS_SESSION_DESC_INIT, desc = GS_SESSION_DESC_INIT;

    uint64_t taken = 0;

    CHECK(session != NULL);
    params.fence = fence;
    for (unsigned i = 0; i < THOUSAND; i++) {
        CHECK_OK(gs_attach(&params, &session[i]));
        CHECK_OK(gs_session_info(session[i], &desc));
        first = i == 0 ? desc : first;
        /* What a fenced window has at its ends keeps other windows away. */
        const uint64_t wide = desc.window_size * (desc.fenced ? 3 : 1), least = UINT64_C(60) << 30;
        taken += desc.fenced && wide < least ? least : wide;
    }
    CHECK(first.window_size >= first.device_memory);
    CHECK(desc.window_size >= UINT64_C(4) << 30);
    CHECK(taken <= UINT64_C(112) << 40);
    for (unsigned i = 0; i < THOUSAND; i++)
        CHECK_OK(gs_detach(session[i]));
    free(session);
    server_stop(server);
}

static void a_thousand_sessions_of_a_large_device_find_addresses(void)
{
    a_thousand_sessions_find_addresses(GS_FENCE_AUTO);
}

static void a_thousand_fenced_sessions_of_a_large_device_find_addresses(void)
{
    a_thousand_sessions_find_addresses(GS_FENCE_REPORT);
}

static const struct test tests[] = {
    TEST_WITHIN(an_operator_sees_a_thousand_sessions, 120),
    TEST_WITHIN(many_sessions_compute_at_once, 120),
    TEST_WITHIN(many_capped_sessions_are_spread_over_the_device, 120),
    TEST_WITHIN(many_capped_sessions_are_spread_over_132_sms, 120),
    TEST_WITHIN(many_sessions_with_different_shares_have_what_they_ask_for, 120),
    TEST_WITHIN(a_thousand_sessions_of_a_large_device_find_addresses, 120),
    TEST_WITHIN(a_thousand_fenced_sessions_of_a_large_device_find_addresses, 120),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
