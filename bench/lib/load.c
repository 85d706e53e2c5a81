/* load.c - see load.h. */
#include "lib/load.h"

#include "common/util.h"
#include "lib/cell.h"
#include "lib/tenants.h"

#define LOAD_BLOCK_NS     15000.0 /* of a wide kernel's block, while the device is full of them */
#define WIDE_THREADS      256u
#define BLOCKS_AN_SM      8u /* at a time: 2,048 threads */
#define CALIBRATION_WAVES 64u
#define SMALL_THREADS     128u
#define SMALL_ROUNDS      200u
#define MEASURE_NS        10e6
#define MEASURE_REPEATS   5
#define RUN_NS            1e6 /* of kernels between two events of a saturation */
#define RUN_MOST          64u
#define RUNS              EVENTS

/* The software device interprets: a warp to an SM, and a hundredth of the rounds. */
static unsigned wave(void)
{
    return (unsigned)plan.facts->sm_count * (plan.facts->soft ? 1 : BLOCKS_AN_SM);
}

static void wide_launch(const struct device_ops *device, uint64_t out, unsigned blocks,
                        uint32_t rounds)
{
    const struct kernel_args args = {.a = out, .d = rounds};

    device->launch_grid(KERNEL_CHAINS, &args, blocks, plan.facts->soft ? 32 : WIDE_THREADS);
}

void load_small(const struct device_ops *device, uint64_t out, unsigned blocks)
{
    const struct kernel_args args = {.a = out, .d = plan.facts->soft ? 2 : SMALL_ROUNDS};

    if (plan.facts->soft)
        device->launch_grid(KERNEL_CHAINS, &args, 1, 32);
    else
        device->launch_grid(KERNEL_CHAINS, &args, blocks, SMALL_THREADS);
}

void load_wide(const struct device_ops *device, uint64_t out, double ns)
{
    double blocks = ns / LOAD_BLOCK_NS * wave();

    wide_launch(device, out, blocks < 1 ? 1 : (unsigned)blocks, plan.facts->wide_rounds);
}

double load_measure(const struct device_ops *device, uint64_t out, double ns)
{
    unsigned count = ns < MEASURE_NS / 2 ? (unsigned)(MEASURE_NS / ns) : 2;
    double least = 0;

    load_wide(device, out, ns);
    device->sync();
    for (int repeat = 0; repeat < MEASURE_REPEATS; repeat++) {
        uint64_t start = clock_ns();
        double each;

        for (unsigned i = 0; i < count; i++)
            load_wide(device, out, ns);
        device->sync();
        each = (double)(clock_ns() - start) / count;
        least = least == 0 || each < least ? each : least;
    }
    return least;
}

/* ---- Calibration ----------------------------------------------------------------------------- */

/* Nanoseconds that a wave of blocks takes in a kernel of many waves. */
static double wave_ns(const struct device_ops *device, uint64_t out, uint32_t rounds)
{
    unsigned waves = plan.facts->soft ? 4 : CALIBRATION_WAVES;
    uint64_t start = clock_ns();

    wide_launch(device, out, waves * wave(), rounds);
    device->sync();
    return (double)(clock_ns() - start) / waves;
}

static void calibrate(struct tenant *tenant)
{
    const struct device_ops *device = device_start();
    uint64_t out = device->alloc(256);
    uint32_t rounds = 1;
    double ns;

    (void)tenant;
    wave_ns(device, out, rounds);
    while ((ns = wave_ns(device, out, rounds)) < LOAD_BLOCK_NS / 2 && rounds < 1u << 24)
        rounds *= 2;
    for (int i = 0; i < 2; i++) {
        rounds = (uint32_t)(rounds * LOAD_BLOCK_NS / ns);
        rounds = rounds > 0 ? rounds : 1;
        ns = wave_ns(device, out, rounds);
    }
    plan.facts->wide_rounds = rounds;
}

void load_calibrate(void)
{
    if (plan.facts->wide_rounds == 0)
        tenants_join(tenants_start(1, calibrate, NULL));
}

/* ---- Saturation ------------------------------------------------------------------------------ */

static void run_issue(struct saturation *s)
{
    for (uint32_t i = 0; i < s->run; i++)
        load_wide(s->device, s->out, s->ns);
    s->device->event_record(s->issued / s->run % RUNS);
    s->issued += s->run;
}

void saturation_begin(struct saturation *s, const struct device_ops *device, double ns)
{
    double run = RUN_NS / ns;
    uint64_t out = s->out != 0 ? s->out : device->alloc(256);

    *s = (struct saturation){.device = device,
                             .out = out,
                             .ns = ns,
                             .run = run < 1          ? 1
                                    : run > RUN_MOST ? RUN_MOST
                                                     : (uint32_t)run,
                             .done_ns = clock_ns()};
    s->former_ns = s->done_ns;
    for (unsigned i = 0; i + 1 < RUNS; i++)
        run_issue(s);
}

void saturation_step(struct saturation *s)
{
    run_issue(s);
    s->device->event_wait(s->done / s->run % RUNS);
    s->former = s->done;
    s->former_ns = s->done_ns;
    s->done += s->run;
    s->done_ns = clock_ns();
}

double saturation_at(const struct saturation *s, uint64_t time)
{
    double part = (double)(time - s->former_ns) / (double)(s->done_ns - s->former_ns);

    return (double)s->former + part * (double)(s->done - s->former);
}

void saturation_end(struct saturation *s)
{
    s->device->sync();
}
