/*
 * crowd.c - a thousand processes attach at the same moment, each launches 10 kernels that add to a
 * word, and checks the sum; all stay attached until the last is done.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define LAUNCHES 10

/* What each tenant times. */
enum phase { PHASE_ATTACH, PHASE_LOAD, PHASE_ALLOC, PHASE_HTOD, PHASE_LAUNCH, PHASE_DTOH, PHASES };
static const char *const phase_names[PHASES] = {"attach", "load",   "alloc",
                                                "htod",   "launch", "dtoh"};

#define REASONS 16

/* Nanoseconds since *start, which becomes now. */
static double lap(uint64_t *start)
{
    uint64_t before = *start;

    *start = clock_ns();
    return (double)(*start - before);
}

static void crowd_body(struct tenant *tenant)
{
    const struct device_ops *device = device_of_side();
    uint64_t word, sum = 1000000 + tenant->index, start;
    double *took = tenant->value;
    struct kernel_args args = {.d = tenant->index + 1};
    uint64_t expected = sum + LAUNCHES * (uint64_t)args.d;

    device->prepare();
    tenant_arrive(tenant, 1);
    start = clock_ns();
    device->open();
    took[PHASE_ATTACH] = lap(&start);
    tenant_arrive(tenant, 2);
    start = clock_ns();
    device->load(plan.facts->image, plan.facts->image_size);
    took[PHASE_LOAD] = lap(&start);
    word = device->alloc(sizeof(sum));
    took[PHASE_ALLOC] = lap(&start);
    device->htod(word, &sum, sizeof(sum));
    took[PHASE_HTOD] = lap(&start);
    args.a = word;
    for (int i = 0; i < LAUNCHES; i++)
        device->launch(KERNEL_ADD, &args);
    device->sync();
    took[PHASE_LAUNCH] = lap(&start);
    device->dtoh(&sum, word, sizeof(sum));
    took[PHASE_DTOH] = lap(&start);
    if (sum != expected)
        cell_fail("wrong sum: %llu instead of %llu", (unsigned long long)sum,
                  (unsigned long long)expected);
    tenant_arrive(tenant, 3);
    device->close();
}

/* Counts the failures by call and status: a failure's text up to the second colon. */
static void failures_tell(const struct tenants *group)
{
    char reason[REASONS][64] = {""};
    unsigned times[REASONS] = {0};

    for (unsigned i = 0; i < group->count; i++) {
        const struct tenant *t = &group->tenant[i];
        const char *end = strchr(t->failure, ':');
        char text[64];

        if (!t->ended || t->status == 0)
            continue;
        end = end != NULL ? strchrnul(end + 1, ':') : strchrnul(t->failure, '\0');
        snprintf(text, sizeof(text), "%.*s", (int)(end - t->failure),
                 t->failure[0] != '\0' ? t->failure : "died");
        for (int r = 0; r < REASONS; r++) {
            if (times[r] != 0 && strcmp(reason[r], text) != 0)
                continue;
            memcpy(reason[r], text, sizeof(text));
            times[r]++;
            break;
        }
    }
    for (int r = 0; r < REASONS && times[r] != 0; r++)
        cell_note("%u of %u tenants failed: %s", times[r], group->count, reason[r]);
}

static void limits_tell(void)
{
    struct rlimit files, processes, queues;

    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NPROC, &processes);
    getrlimit(RLIMIT_MSGQUEUE, &queues);
    cell_note("limits: %lld files, %lld processes, %lld bytes of queues", (long long)files.rlim_cur,
              (long long)processes.rlim_cur, (long long)queues.rlim_cur);
}

void row_crowd(void)
{
    unsigned count = plan.side == SIDE_MPS ? 64 : plan.quick ? 200 : 1000, attached, right;
    struct tenants *group = tenants_start(count, crowd_body, NULL);
    double *samples = cell_shared(count * sizeof(*samples));
    uint64_t start;

    limits_tell();
    group->tolerant = true;
    tenants_await(group, 1);
    start = tenants_go(group, 1);
    attached = tenants_await(group, 2);
    cell_metric((double)(clock_ns() - start), "attach_all");
    start = tenants_go(group, 2);
    right = tenants_await(group, 3);
    cell_metric((double)(clock_ns() - start), "work_all");
    cell_metric(count, "started");
    cell_metric(attached, "attached");
    cell_metric(right, "right");
    for (int phase = 0; phase < PHASES; phase++) {
        uint32_t step = phase == PHASE_ATTACH ? 2 : 3;
        size_t n = 0;

        for (unsigned i = 0; i < count; i++) {
            if (atomic_load_explicit(&group->tenant[i].step, memory_order_acquire) >= step)
                samples[n++] = group->tenant[i].value[phase];
        }
        cell_summary(samples, n, phase_names[phase]);
    }
    tenants_go(group, 3);
    tenants_join(group);
    failures_tell(group);
}
