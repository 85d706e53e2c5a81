/* idle.c - processor time of gshared and its workers while 100 tenants that have worked do nothing.
 */
#include <poll.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/cpu_time.h"
#include "lib/device.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define TENANTS   100
#define LAUNCHES  100
#define SETTLE_MS 500 /* the end of the dispatcher's own spinning */

static void idle_body(struct tenant *tenant)
{
    struct kernel_args args = {1, 2, 3, 4};
    const struct device_ops *device = device_start();

    for (int i = 0; i < LAUNCHES; i++)
        device->launch(KERNEL_NOP, &args);
    device->sync();
    tenant_arrive(tenant, 1);
    device->close();
}

void row_idle(void)
{
    struct tenants *group = tenants_start(TENANTS, idle_body, NULL);
    struct cpu_servers servers;
    double before, used;
    uint64_t start;

    tenants_await(group, 1);
    poll(NULL, 0, SETTLE_MS);
    cpu_servers_find(&servers);
    if (servers.count < 2)
        cell_fail("gshared has no worker process whose time can be read");
    start = clock_ns();
    before = cpu_servers_ns(&servers);
    poll(NULL, 0, plan.quick ? 3000 : 10000); /* the time that is measured */
    used = cpu_servers_ns(&servers) - before;
    cell_metric(used / (double)(clock_ns() - start), "core_share");
    tenants_go(group, 1);
    tenants_join(group);
}
