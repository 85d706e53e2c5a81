/*
 * standby.c - what it costs in normal running that a worker can be lost: a standby process with a
 * context, a vault that holds a descriptor of each piece of memory, journals. Beside a server that
 * has none of it (--no-takeover): launches a second, allocations, and memory of the device.
 *
 * Tenants load PTX: a session with machine code ends with its worker, and nothing of it is kept.
 */
#include <stdio.h>

#include "common/util.h"
#include "gshare.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/gshare_call.h"
#include "lib/server_log.h"
#include "lib/service.h"
#include "lib/tenants.h"
#include "lib/turns.h"
#include "rows/rows.h"

#define BLOCKS_MAX 32
#define ROUNDS     4

static const char *const kept[] = {"--log", "debug", NULL};
static const char *const unkept[] = {"--log", "debug", "--no-takeover", NULL};
static const char *const *const modes[TURN_MODES] = {[TURN_ON] = kept, [TURN_OFF] = unkept};

static const struct {
    const char *name;
    size_t size;
    unsigned blocks;
} sizes[] = {{"2M", 2u << 20, BLOCKS_MAX}, {"64M", 64u << 20, 8}};

/* What a tenant of one server tells: times of its allocations. */
struct page {
    double samples[ARRAY_SIZE(sizes)][ROUNDS * BLOCKS_MAX];
};

static void settle(const char *path)
{
    FILE *log = server_log_open(path);

    server_log_standby(log, NULL);
    fclose(log);
}

/* ---- Allocations, and memory of the device --------------------------------------------------- */

static void tenant_body(struct tenant *tenant)
{
    struct page *page = (struct page *)(uintptr_t)tenant->arg;
    gs_devptr block[BLOCKS_MAX];
    gs_session session;
    gs_module module;

    GS(gs_attach, NULL, &session);
    GS(gs_module_load, session, kernels_ptx, 0, &module);
    tenant_arrive(tenant, 1);
    for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
        for (unsigned i = 0; i < ROUNDS * sizes[s].blocks; i++) {
            const unsigned at = i % sizes[s].blocks;
            const uint64_t start = clock_ns();

            GS(gs_malloc, session, sizes[s].size, &block[at]);
            page->samples[s][i] = (double)(clock_ns() - start);
            for (unsigned j = 0; at == sizes[s].blocks - 1 && j <= at; j++)
                GS(gs_free, session, block[j]);
        }
    }
    tenant_arrive(tenant, 2);
    GS(gs_detach, session);
}

/* From a context of its own, made before any server is there. */
static void watch_body(struct tenant *tenant)
{
    device_cuda.prepare();
    device_cuda.open();
    for (uint32_t step = 1; step <= 4; step++) {
        tenant->value[0] = device_memory_used();
        tenant_arrive(tenant, step);
    }
}

/* Bytes in use on the device, of all processes. */
static double memory_used(struct tenants *watch, uint32_t *step)
{
    tenants_go(watch, *step);
    tenants_await(watch, ++*step);
    return watch->tenant[0].value[0];
}

/* One server with one tenant; notes its allocations. Returns the memory that the device has given
 * with both at rest. */
static double mode_run(int mode, struct tenants *watch, uint32_t *step)
{
    const char *name = mode == TURN_ON ? "kept" : "unkept";
    struct page *page = cell_shared(sizeof(*page));
    char path[4200], text[FAILURE_TEXT_MAX], metric[METRIC_NAME_MAX];
    struct server server;
    struct tenants *tenant;
    double used = 0;

    snprintf(path, sizeof(path), "%s/gshared-memory-%s.log", plan.output, name);
    remove(path);
    if (!server_start(&server, plan.gshared, plan.facts->soft ? "soft" : "cuda", modes[mode], path,
                      text, sizeof(text)))
        cell_fail("%s", text);
    tenant = tenants_start(1, tenant_body, page);
    tenants_await(tenant, 1);
    if (mode == TURN_ON)
        settle(path);
    tenants_go(tenant, 1);
    tenants_await(tenant, 2);
    if (watch != NULL)
        used = memory_used(watch, step);
    tenants_go(tenant, 2);
    tenants_join(tenant);
    for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
        snprintf(metric, sizeof(metric), "malloc_%s_%s", name, sizes[s].name);
        cell_summary(page->samples[s], ROUNDS * sizes[s].blocks, metric);
    }
    if (!server_stop(&server, text, sizeof(text)))
        cell_fail("%s", text);
    return used;
}

void row_standby(void)
{
    const struct turns turns = {
        .server =
            {[TURN_ON] = {"gshared-kept.log", kept}, [TURN_OFF] = {"gshared-unkept.log", unkept}},
        .image = kernels_ptx,
        .settle = settle};
    struct tenants *watch = NULL;
    uint32_t step = 1;
    double used[TURN_MODES];

    if (!plan.facts->soft) { /* the software device's memory is each process's own */
        watch = tenants_start(1, watch_body, NULL);
        tenants_await(watch, step);
    }
    for (int mode = 0; mode < TURN_MODES; mode++)
        used[mode] = mode_run(mode, watch, &step);
    if (watch != NULL) {
        cell_metric(used[TURN_ON] - used[TURN_OFF], "memory");
        tenants_free(watch);
    }
    turns_measure(&turns);
}
