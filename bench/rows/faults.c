/*
 * faults.c - a tenant that trains beside others of which each faults: an illegal address, from a
 * process of its own, one after the other. How often the first is lost with them (it is begun anew,
 * as a job would be), and whether all its results are right.
 *
 * A step takes a batch to the device, launches kernels whose results are known, and reads these and
 * a part of a model that was written once. gshare runs unfinished work of it again
 * (GS_ON_FAULT_REPLAY), for a step may be done twice.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define FAULTS       20u
#define FAULTS_QUICK 10u
#define TRIES        20u /* of a faulting run that is refused, at most */
#define TRY_NS       500000000u
#define NOWHERE      256u /* an address of nobody's */
#define KERNELS      32u
#define ROUNDS       64u /* of a kernel, at most */
#define BATCH        65536u
#define MODEL        (16u * BATCH)

static struct page {
    _Atomic uint32_t stop;
    _Atomic uint64_t steps;  /* whose results were all right */
    _Atomic uint64_t wrong;  /* words */
    _Atomic uint64_t gap_ns; /* the longest from one step's end to the next's, of one process */
} * page;

/* ---- The trainer ----------------------------------------------------------------------------- */

/* What the kernel `chains` leaves after so many rounds; see kernels.c. */
static float chains_expected(unsigned rounds)
{
    float x[4] = {1, 2, 3, 4}, m, k;
    const uint32_t bits[2] = {0x3f7fbe77, 0x3a83126f};

    memcpy(&m, &bits[0], sizeof(m));
    memcpy(&k, &bits[1], sizeof(k));
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned chain = 0; chain < 4; chain++)
            x[chain] = fmaf(x[chain], m, k);
    }
    return (x[0] + x[1]) + (x[2] + x[3]);
}

static uint32_t model_word(uint64_t index)
{
    return (uint32_t)index * 2654435761u + 12345;
}

struct trainer {
    const struct device_ops *device;
    uint64_t model, batch, results;
    float expected[ROUNDS];
};

static void trainer_open(struct trainer *trainer)
{
    uint32_t *model = malloc(MODEL);

    trainer->device = device_start_as(&(struct role){.replay = true});
    trainer->model = trainer->device->alloc(MODEL);
    trainer->batch = trainer->device->alloc(BATCH);
    trainer->results = trainer->device->alloc(KERNELS * sizeof(float));
    if (model == NULL)
        cell_fail("no memory for a model");
    for (uint64_t i = 0; i < MODEL / 4; i++)
        model[i] = model_word(i);
    trainer->device->htod(trainer->model, model, MODEL);
    free(model);
    for (unsigned i = 0; i < ROUNDS; i++)
        trainer->expected[i] = chains_expected(i);
}

/* Returns the number of wrong words. */
static uint64_t trainer_step(const struct trainer *trainer, uint32_t step)
{
    static uint32_t batch[BATCH / 4], back[BATCH / 4];
    const uint64_t slice = step % (MODEL / BATCH);
    float results[KERNELS];
    uint64_t wrong = 0;

    for (uint32_t i = 0; i < BATCH / 4; i++)
        batch[i] = step + i;
    trainer->device->htod(trainer->batch, batch, BATCH);
    for (uint32_t i = 0; i < KERNELS; i++)
        trainer->device->launch(KERNEL_CHAINS,
                                &(struct kernel_args){.a = trainer->results + i * sizeof(float),
                                                      .d = (step + i) % ROUNDS});
    trainer->device->sync();
    trainer->device->dtoh(results, trainer->results, sizeof(results));
    for (uint32_t i = 0; i < KERNELS; i++)
        wrong += memcmp(&results[i], &trainer->expected[(step + i) % ROUNDS], sizeof(float)) != 0;
    trainer->device->dtoh(back, trainer->batch, BATCH);
    wrong += memcmp(back, batch, BATCH) != 0;
    trainer->device->dtoh(back, trainer->model + slice * BATCH, BATCH);
    for (uint32_t i = 0; i < BATCH / 4; i++)
        wrong += back[i] != model_word(slice * (BATCH / 4) + i);
    return wrong;
}

static void trainer_body(struct tenant *tenant)
{
    struct trainer trainer;
    uint64_t last;

    trainer_open(&trainer);
    tenant_arrive(tenant, 1);
    last = clock_ns();
    for (uint32_t step = 0; !atomic_load(&page->stop); step++) {
        const uint64_t wrong = trainer_step(&trainer, step), now = clock_ns();

        atomic_fetch_add(&page->wrong, wrong);
        atomic_fetch_add(&page->steps, wrong == 0);
        if (now - last > atomic_load(&page->gap_ns))
            atomic_store(&page->gap_ns, now - last);
        last = now;
    }
    trainer.device->close();
}

/* ---- Those that fault ------------------------------------------------------------------------ */

/* value[0]: the culprit's kernel has been launched; value[1]: it has done no harm. */
static void culprit_body(struct tenant *tenant)
{
    const struct device_ops *device = device_start();

    device->launch(KERNEL_ADD, &(struct kernel_args){.a = NOWHERE, .d = 1});
    tenant->value[0] = 1;
    device->sync();
    tenant->value[1] = 1;
}

/* Makes one faulting run, again and again while the device takes no new process, as just after the
 * fault before. False: the device never took it. */
static bool culprit_run(void)
{
    for (unsigned i = 0; i < TRIES; i++) {
        struct tenants *culprit = tenants_start(1, culprit_body, NULL);
        bool launched, harmless;

        culprit->tolerant = true;
        tenants_join(culprit);
        launched = culprit->tenant[0].value[0] != 0;
        harmless = culprit->tenant[0].value[1] != 0;
        tenants_free(culprit);
        if (harmless)
            cell_fail("the harmful kernel did no harm");
        if (launched)
            return true;
        cell_sleep_until(clock_ns() + TRY_NS);
    }
    return false;
}

/* ---- What is measured ------------------------------------------------------------------------ */

static struct tenants *trainer_start(void)
{
    for (unsigned i = 0; i < TRIES; i++) {
        struct tenants *trainer = tenants_start(1, trainer_body, NULL);

        trainer->tolerant = true;
        if (tenants_await(trainer, 1) == 1) {
            tenants_go(trainer, 1);
            return trainer;
        }
        tenants_free(trainer);
        cell_sleep_until(clock_ns() + TRY_NS);
    }
    cell_fail("the trainer was refused %u times", TRIES);
}

/* Whether the trainer ends a step that begins from now on. */
static bool trainer_goes_on(struct tenants *trainer)
{
    const uint64_t seen = atomic_load(&page->steps) + atomic_load(&page->wrong);

    while (!trainer->tenant[0].ended) {
        if (atomic_load(&page->steps) + atomic_load(&page->wrong) > seen + 1)
            return true;
        cell_sleep_until(clock_ns() + 1000000);
        tenants_check(trainer);
    }
    return false;
}

static unsigned faults_wanted(void)
{
    const char *text = getenv("BENCH_FAULTS");

    if (text != NULL && atoi(text) > 0)
        return (unsigned)atoi(text);
    return plan.quick ? FAULTS_QUICK : FAULTS;
}

void row_faults(void)
{
    const unsigned wanted = faults_wanted();
    unsigned faults = 0, lost = 0;
    struct tenants *trainer;

    page = cell_shared(sizeof(*page));
    trainer = trainer_start();
    while (faults < wanted && culprit_run()) {
        faults++;
        if (!trainer_goes_on(trainer)) {
            cell_note("fault %u: the trainer was lost: %s", faults, trainer->tenant[0].failure);
            lost++;
            tenants_free(trainer);
            trainer = trainer_start();
        }
    }
    atomic_store(&page->stop, 1);
    tenants_join(trainer);
    if (faults < wanted)
        cell_note("after %u faults no further one was admitted", faults);
    cell_metric(faults, "faults");
    cell_metric(lost, "lost");
    cell_metric(faults ? (double)lost / faults : 0, "lost_share");
    cell_metric((double)atomic_load(&page->wrong), "wrong");
    cell_metric((double)atomic_load(&page->steps), "steps");
    cell_metric((double)atomic_load(&page->gap_ns), "pause_max");
}
