/*
 * memory.c - device memory that a further tenant costs beyond what it allocates. The cell watches
 * the whole device's use from a context of its own, made before the first tenant. Not on the
 * software device, whose memory is each process's own.
 */
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define OWN_BYTES                                                                                  \
    (2u << 20) /* what each allocates: the driver's granularity, so nothing is lost                \
                */
#define LAUNCHES 100
#define GROUPS   3

static void memory_body(struct tenant *tenant)
{
    struct kernel_args args = {1, 2, 3, 4};
    const struct device_ops *device;

    tenant_arrive(tenant, 1);
    device = device_start();
    device->stream_create();
    device->alloc(OWN_BYTES);
    for (int i = 0; i < LAUNCHES; i++)
        device->launch(KERNEL_NOP, &args);
    device->sync();
    tenant_arrive(tenant, 2);
}

void row_memory(void)
{
    /* So many in all after each group has come. Without gshare a tenant costs half a GiB and 0.2 s;
     * MPS admits 48. */
    static const unsigned many[GROUPS] = {1, 50, 200}, few[GROUPS] = {1, 4, 8};
    const unsigned *total = plan.side == SIDE_GSHARE ? many : few;
    struct tenants *group[GROUPS];
    double used[GROUPS], before;
    unsigned started = 0;

    for (int i = 0; i < GROUPS; i++) { /* forked before this process uses the device */
        group[i] = tenants_start(total[i] - started, memory_body, NULL);
        started = total[i];
    }
    device_cuda.prepare();
    device_cuda.open();
    before = device_memory_used();
    for (int i = 0; i < GROUPS; i++) {
        tenants_await(group[i], 1);
        tenants_go(group[i], 1);
        tenants_await(group[i], 2);
        used[i] = device_memory_used();
    }
    cell_metric(used[0] - before - OWN_BYTES, "first");
    cell_metric((used[1] - used[0]) / (total[1] - 1) - OWN_BYTES, "further_some");
    cell_metric((used[2] - used[0]) / (total[2] - 1) - OWN_BYTES, "further_many");
    cell_metric(total[1], "some");
    cell_metric(total[2], "many");
    for (int i = 0; i < GROUPS; i++) {
        tenants_go(group[i], 2);
        tenants_join(group[i]);
    }
}
