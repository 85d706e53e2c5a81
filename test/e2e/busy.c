/* busy.c - see busy.h. */
#include "busy.h"

#include "bystander.h"
#include "harness/harness.h"

#define N 2048u

struct self {
    struct busy *shared;
    unsigned number;
};

/* Launches without waiting for each, one of them measured; allocates, and asks for another weight.
 * Every word is checked. */
static void work_run(void *argument)
{
    const struct self *self = argument;
    uint32_t words[N], n = N, rounds = 4;
    gs_launch_config measured = GS_LAUNCH_CONFIG_1D(N / 128, 128);
    gs_report report = GS_REPORT_INIT;
    gs_qos qos = GS_QOS_INIT;
    gs_report_id id;
    gs_session session;
    gs_kernel chain;
    gs_stream stream;
    gs_devptr data;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_malloc(session, sizeof(words), &data));
    chain = kernels_get(kernels_load(session), "chain");
    measured.report = &id;
    while (!atomic_load(&self->shared->stop)) {
        uint32_t seed = (uint32_t)test_random();
        gs_devptr more;

        for (uint32_t i = 0; i < N; i++)
            words[i] = i;
        CHECK_OK(gs_memcpy_htod(session, data, words, sizeof(words)));
        for (uint32_t launch = 0; launch < 7; launch++)
            CHECK_OK(
                kernels_launch(stream, chain, N / 128, 128, (void *[]){&data, &n, &rounds, &seed}));
        CHECK_OK(gs_launch(stream, chain, &measured, (void *[]){&data, &n, &rounds, &seed}));
        CHECK_OK(gs_malloc(session, (size_t)3 << 20, &more));
        qos.weight = 1 + seed % 4;
        CHECK_OK(gs_set_qos(session, &qos));
        CHECK_OK(gs_stream_sync(session, stream));
        CHECK_OK(gs_memcpy_dtoh(session, words, data, sizeof(words)));
        for (uint32_t i = 0; i < N; i++) {
            uint32_t wanted = i;
            for (uint32_t launch = 0; launch < 8; launch++)
                wanted = chain_expected(wanted, 4, seed);
            CHECK_EQUAL(words[i], wanted);
        }
        CHECK_WITHIN(20000, gs_launch_report(session, id, &report) != GS_NOT_READY);
        CHECK_OK(gs_free(session, more));
        atomic_fetch_add(&self->shared->rounds[self->number], 1);
    }
    CHECK_OK(gs_detach(session));
}

static void attach_run(void *argument)
{
    const struct self *self = argument;

    while (!atomic_load(&self->shared->stop)) {
        gs_session session;

        CHECK_OK(gs_attach(NULL, &session));
        CHECK_OK(gs_detach(session));
        atomic_fetch_add(&self->shared->rounds[self->number], 1);
    }
}

struct busy *busy_start(enum busy_with with)
{
    struct busy *busy = shared_alloc(sizeof(*busy));

    for (unsigned i = 0; i < BUSY_TENANTS; i++)
        busy->pid[i] =
            tenant_start(with == BUSY_WORKING ? work_run : attach_run, &(struct self){busy, i});
    busy_go_on(busy);
    return busy;
}

void busy_go_on(struct busy *busy)
{
    uint32_t before[BUSY_TENANTS];

    for (unsigned i = 0; i < BUSY_TENANTS; i++)
        before[i] = atomic_load(&busy->rounds[i]);
    for (unsigned i = 0; i < BUSY_TENANTS; i++)
        CHECK_WITHIN(20000, atomic_load(&busy->rounds[i]) > before[i]);
}

void busy_stop(struct busy *busy)
{
    atomic_store(&busy->stop, 1);
    for (unsigned i = 0; i < BUSY_TENANTS; i++)
        tenant_join(busy->pid[i]);
}
