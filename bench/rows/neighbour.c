/* neighbour.c - round trips of one tenant while another does something costly. */
#include <stdio.h>
#include <stdlib.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/stats.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define TRIPS_MAX        100000
#define PTX_INSTRUCTIONS 500
#define BLOCK_BYTES      (64u << 20)
#define LONG_SHARE       (20.0 / 45.0) /* 20 ms, of the long kernel's 45 */
#define LONG_IF_UNKNOWN  20000u

struct deed {
    const char *name;
    void (*act)(const struct device_ops *device, unsigned turn); /* NULL: nothing */
};

static void act_load(const struct device_ops *device, unsigned turn)
{
    CLEANUP_FREE char *ptx =
        kernels_large_ptx(PTX_INSTRUCTIONS, (unsigned)(clock_ns() >> 10) + turn);

    device->module_cycle(ptx);
}

static void act_alloc(const struct device_ops *device, unsigned turn)
{
    (void)turn;
    device->free(device->alloc(BLOCK_BYTES));
}

/* The neighbour's device is open when its turn begins. */
static void act_attach(const struct device_ops *device, unsigned turn)
{
    (void)turn;
    device->close();
    device->open();
}

static void act_run(const struct device_ops *device, unsigned turn)
{
    static uint64_t out;
    uint32_t iterations = plan.facts->long_iterations;
    struct kernel_args args;

    if (out == 0)
        out = device->alloc(256);
    args = (struct kernel_args){
        .a = out, .d = iterations ? (uint32_t)(iterations * LONG_SHARE) : LONG_IF_UNKNOWN};
    device->launch(KERNEL_CHAINS, &args);
    if (turn % 2 == 1) /* two in the queue: back to back on the device */
        device->sync();
}

static const struct deed deeds[] = {
    {"alone", NULL},        {"load", act_load},   {"alloc", act_alloc},
    {"attach", act_attach}, {"kernels", act_run},
};

/* What the two processes of a measurement share. */
struct pair {
    const struct deed *deed;
    _Atomic uint32_t over;
    double samples[TRIPS_MAX];
};

static void neighbour_body(struct tenant *tenant)
{
    struct pair *pair = (struct pair *)(uintptr_t)tenant->arg;
    const struct device_ops *device = device_start();
    unsigned turn = 0;

    tenant_arrive(tenant, 1);
    /* relaxed: a flag alone */
    while (pair->deed->act != NULL && !atomic_load_explicit(&pair->over, memory_order_relaxed))
        pair->deed->act(device, turn++);
    tenant->value[0] = turn;
}

static void victim_body(struct tenant *tenant)
{
    struct pair *pair = (struct pair *)(uintptr_t)tenant->arg;
    const struct device_ops *device = device_start();
    struct kernel_args args = {1, 2, 3, 4};
    uint64_t deadline;
    int n = 0;

    for (int i = 0; i < 100; i++)
        device->launch(KERNEL_NOP, &args);
    device->sync();
    tenant_arrive(tenant, 1);
    deadline = clock_ns() + (plan.quick ? 300000000u : 1000000000u);
    while (n < TRIPS_MAX && clock_ns() < deadline) {
        uint64_t start = clock_ns();

        device->launch(KERNEL_NOP, &args);
        device->sync();
        pair->samples[n++] = (double)(clock_ns() - start);
    }
    atomic_store_explicit(&pair->over, 1, memory_order_relaxed);
    tenant->value[0] = n;
}

static void pair_measure(const struct deed *deed)
{
    struct pair *pair = cell_shared(sizeof(*pair));
    struct tenants *neighbour, *victim;

    pair->deed = deed;
    neighbour = tenants_start(1, neighbour_body, pair);
    victim = tenants_start(1, victim_body, pair);
    tenants_await(neighbour, 1);
    tenants_await(victim, 1);
    tenants_go(neighbour, 1);
    tenants_go(victim, 1);
    tenants_join(victim);
    tenants_join(neighbour);
    cell_summary(pair->samples, (size_t)victim->tenant[0].value[0], deed->name);
    cell_metric(neighbour->tenant[0].value[0], "%s_turns", deed->name);
}

void row_neighbour(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(deeds); i++)
        pair_measure(&deeds[i]);
}
