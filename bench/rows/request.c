/*
 * request.c - what a tenant that answers requests notices of tenants that fill the device. A
 * request is 20 small kernels and a sync; the neighbours run kernels of 600 us back to back.
 *
 * The tenants take part in phases: one with requests alone, all with requests, these beside the
 * neighbours, the neighbours alone. Phases of a kind come by turns, so that all meet the same
 * machine. On the sides that know none of gshare's classes, requests go to a stream of the highest
 * priority.
 */
#include <stdio.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/gsctl.h"
#include "lib/load.h"
#include "lib/stats.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define KERNELS     20 /* of a request */
#define BLOCKS      16 /* of each: one an SM of those that are kept free */
#define BLOCKS_MORE 32
#define WIDE_NS     600e3
#define PACE_NS     10000000u /* 100 requests a second */
#define SETTLE_NS   60000000u /* at the start of a phase, not measured */
#define SAMPLES_MAX 65536
#define TENANTS_MAX 4
#define PHASES_MAX  16
#define CAPPED      75 /* percent, of an MPS client */

/* Which tenants work in a phase. */
enum kind { KIND_ALONE, KIND_ALL, KIND_BESIDE, KIND_BACK, KIND_WARM /* as beside */, KINDS };

struct phase {
    enum kind kind;
    unsigned ms;
};

/* Memory of all that take part. */
struct party {
    unsigned latency, back; /* tenants */
    bool paced;
    unsigned blocks;      /* of a small kernel */
    unsigned mps_percent; /* of the neighbours */
    unsigned phases;
    struct phase phase[PHASES_MAX];
    uint64_t start; /* of the phase */
    size_t count[TENANTS_MAX][KINDS];
    double kernels[TENANTS_MAX][KINDS], seconds[TENANTS_MAX][KINDS]; /* of neighbours */
    double samples[TENANTS_MAX][KINDS][SAMPLES_MAX];
};

static uint64_t phase_end(const struct party *party, unsigned i)
{
    return party->start + party->phase[i].ms * 1000000ull;
}

/* ---- Tenants --------------------------------------------------------------------------------- */

static void requests_send(struct party *party, unsigned tenant, unsigned phase,
                          const struct device_ops *device, uint64_t out)
{
    enum kind kind = party->phase[phase].kind;
    uint64_t next = party->start, until = phase_end(party, phase);
    size_t *count = &party->count[tenant][kind];

    while (clock_ns() < until) {
        uint64_t start;

        if (party->paced)
            cell_sleep_until(next += PACE_NS);
        start = clock_ns();
        for (int i = 0; i < KERNELS; i++)
            load_small(device, out, party->blocks);
        device->sync();
        if (start > party->start + SETTLE_NS && *count < SAMPLES_MAX)
            party->samples[tenant][kind][(*count)++] = (double)(clock_ns() - start);
    }
}

static void latency_body(struct tenant *tenant)
{
    struct party *party = (struct party *)(uintptr_t)tenant->arg;
    const struct device_ops *device = device_start_as(&(struct role){.cls = ROLE_LATENCY});
    uint64_t out = device->alloc(256);

    load_small(device, out, party->blocks);
    device->sync();
    for (unsigned i = 0; i < party->phases; i++) {
        enum kind kind = party->phase[i].kind;

        tenant_arrive(tenant, i + 1);
        if (kind != KIND_BACK && (kind != KIND_ALONE || tenant->index == 0))
            requests_send(party, tenant->index, i, device, out);
    }
    tenant_arrive(tenant, party->phases + 1);
    device->close();
}

/* Keeps the device full, and counts from the phase's settling to its end. */
static void kernels_run(struct party *party, unsigned tenant, unsigned phase,
                        struct saturation *load, const struct device_ops *device)
{
    enum kind kind = party->phase[phase].kind;
    uint64_t from = party->start + SETTLE_NS, until = phase_end(party, phase);
    double first = -1;

    saturation_begin(load, device, WIDE_NS);
    do {
        saturation_step(load);
        if (first < 0 && load->done_ns > from) {
            from = from > load->former_ns ? from : load->former_ns;
            first = saturation_at(load, from);
        }
    } while (load->done_ns < until);
    if (until > from) {
        party->kernels[tenant][kind] += saturation_at(load, until) - first;
        party->seconds[tenant][kind] += (double)(until - from) / 1e9;
    }
    saturation_end(load);
}

static void back_body(struct tenant *tenant)
{
    struct party *party = (struct party *)(uintptr_t)tenant->arg;
    const struct role role = {.cls = ROLE_BEST_EFFORT, .mps_percent = party->mps_percent};
    const struct device_ops *device = device_start_as(&role);
    struct saturation load = {0};

    for (unsigned i = 0; i < party->phases; i++) {
        enum kind kind = party->phase[i].kind;

        tenant_arrive(tenant, i + 1);
        if (kind == KIND_BESIDE || kind == KIND_BACK || kind == KIND_WARM)
            kernels_run(party, tenant->index, i, &load, device);
    }
    tenant_arrive(tenant, party->phases + 1);
    device->close();
}

/* ---- The cell -------------------------------------------------------------------------------- */

static void party_run(struct party *party)
{
    struct tenants *latency = tenants_start(party->latency, latency_body, party);
    struct tenants *back = tenants_start(party->back, back_body, party);

    for (uint32_t step = 1; step <= party->phases + 1; step++) {
        tenants_await(latency, step);
        tenants_await(back, step);
        party->start = clock_ns();
        tenants_go(back, step);
        tenants_go(latency, step);
    }
    tenants_join(latency);
    tenants_join(back);
}

/* What the phases of a kind came to: of the tenants' requests the worst p99, and kernels a second
 * of all neighbours. */
static struct summary worst_of(struct party *party, enum kind kind)
{
    struct summary worst = {0};

    for (unsigned i = 0; i < party->latency; i++) {
        struct summary s = stats_summarise(party->samples[i][kind], party->count[i][kind]);

        if (s.p99 > worst.p99)
            worst = s;
    }
    return worst;
}

static double rate_of(const struct party *party, enum kind kind)
{
    double rate = 0;

    for (unsigned i = 0; i < party->back; i++)
        rate += party->seconds[i][kind] > 0 ? party->kernels[i][kind] / party->seconds[i][kind] : 0;
    return rate;
}

static void summary_tell(const struct summary *s, const char *name)
{
    cell_metric(s->p50, "%s_p50", name);
    cell_metric(s->p99, "%s_p99", name);
    cell_metric((double)s->count, "%s_n", name);
}

/* Notes requests and neighbours beside each other as multiples of what each does alone. */
static void beside_tell(struct party *party, double alone_p99, double back_rate, const char *name)
{
    struct summary beside = worst_of(party, KIND_BESIDE);

    summary_tell(&beside, name);
    if (alone_p99 > 0)
        cell_metric(beside.p99 / alone_p99, "%s_ratio", name);
    if (back_rate > 0)
        cell_metric(rate_of(party, KIND_BESIDE) / back_rate, "%s_neighbour", name);
}

static struct party *party_new(unsigned latency, unsigned back)
{
    struct party *party = cell_shared(sizeof(*party));

    party->latency = latency;
    party->back = back;
    party->blocks = BLOCKS;
    return party;
}

static void party_add(struct party *party, enum kind kind, unsigned ms)
{
    party->phase[party->phases++] = (struct phase){kind, plan.quick ? ms / 2 : ms};
}

/* ---- The parts ------------------------------------------------------------------------------- */

/* Figures of one_beside_one, by which the parts that change one thing are told. */
static struct {
    double alone_p99, back_rate;
} base;

static void one_beside_one(void)
{
    bool native = plan.side == SIDE_NATIVE;
    struct party *party = party_new(1, native ? 0 : 1);
    struct summary alone;

    if (!native)
        party_add(party, KIND_WARM, 300);
    for (int i = 0; i < 3; i++) {
        party_add(party, KIND_ALONE, 400);
        if (native)
            continue;
        party_add(party, KIND_BESIDE, 700);
        party_add(party, KIND_BACK, 400);
    }
    party_run(party);
    alone = worst_of(party, KIND_ALONE);
    summary_tell(&alone, "alone");
    base.alone_p99 = alone.p99;
    base.back_rate = rate_of(party, KIND_BACK);
    if (native)
        return;
    cell_metric(base.back_rate, "back_rate");
    beside_tell(party, base.alone_p99, base.back_rate, "beside");
}

/* The same with kernels that want more SMs than are kept free. */
static void one_beside_one_wider(void)
{
    struct party *party = party_new(1, 1);
    double alone;

    party->blocks = BLOCKS_MORE;
    party_add(party, KIND_WARM, 300);
    party_add(party, KIND_ALONE, 600);
    party_add(party, KIND_BESIDE, 800);
    party_run(party);
    alone = worst_of(party, KIND_ALONE).p99;
    cell_metric(alone, "wider_alone_p99");
    beside_tell(party, alone, base.back_rate, "wider");
}

/* The same with less of the device for the neighbour. */
static void one_beside_less(unsigned mps_percent, const char *name)
{
    struct party *party = party_new(1, 1);

    party->mps_percent = mps_percent;
    party_add(party, KIND_WARM, 300);
    party_add(party, KIND_ALONE, 100); /* as between the phases of the first part */
    party_add(party, KIND_BESIDE, 800);
    party_run(party);
    beside_tell(party, base.alone_p99, base.back_rate, name);
}

static void one_now_and_then(void)
{
    bool native = plan.side == SIDE_NATIVE;
    struct party *party = party_new(1, native ? 0 : 1);
    struct summary alone;

    party->paced = true;
    party_add(party, KIND_ALONE, 4000);
    if (!native) {
        party_add(party, KIND_WARM, 300);
        party_add(party, KIND_BESIDE, 5000);
        party_add(party, KIND_BACK, 700);
    }
    party_run(party);
    alone = worst_of(party, KIND_ALONE);
    summary_tell(&alone, "paced_alone");
    if (!native)
        beside_tell(party, alone.p99, rate_of(party, KIND_BACK), "paced");
}

static void four_beside_four(void)
{
    struct party *party = party_new(TENANTS_MAX, TENANTS_MAX);
    struct summary four;

    party_add(party, KIND_WARM, 300);
    for (int i = 0; i < 2; i++) {
        party_add(party, KIND_ALONE, 400);
        party_add(party, KIND_ALL, 400);
        party_add(party, KIND_BESIDE, 800);
        party_add(party, KIND_BACK, 400);
    }
    party_run(party);
    four = worst_of(party, KIND_ALL);
    summary_tell(&four, "four");
    beside_tell(party, worst_of(party, KIND_ALONE).p99, rate_of(party, KIND_BACK), "eight");
    if (four.p99 > 0)
        cell_metric(worst_of(party, KIND_BESIDE).p99 / four.p99, "eight_by_four");
}

/* False: the device has no partitions, or too few SMs. */
static bool spare(unsigned percent)
{
    char sms[16];
    const char *const args[] = {"set", "--device", "0", "--latency-sms", sms, NULL};

    snprintf(sms, sizeof(sms), "%u", ((unsigned)plan.facts->sm_count * percent + 99) / 100);
    return gsctl_run(args, NULL, 0);
}

void row_request(void)
{
    static const unsigned percents[] = {4, 8, 25};

    load_calibrate();
    one_beside_one();
    if (plan.side == SIDE_MPS)
        one_beside_less(CAPPED, "capped");
    if (plan.side == SIDE_SLICED)
        return;
    one_now_and_then();
    if (plan.side == SIDE_NATIVE)
        return;
    four_beside_four();
    if (plan.side == SIDE_GSHARE && !plan.facts->soft)
        one_beside_one_wider();
    for (size_t i = 0; plan.side == SIDE_GSHARE && i < ARRAY_SIZE(percents); i++) {
        char name[16];

        snprintf(name, sizeof(name), "spare%u", percents[i]);
        if (spare(percents[i]))
            one_beside_less(0, name);
    }
}
